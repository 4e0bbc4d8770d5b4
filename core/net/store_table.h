// StoreTable: the keys of a store, and who waits for which. Pure: requests of its members go in,
// answers come out. Read next: store_server.h, which has the connections.
//
//  - ST-1 a request has one answer: a get that waits has it with the put of its key. A withdraw has
//    none, and takes that of the get that it names, unless it has been given.
//  - ST-2 a key keeps its first value.
//  - ST-3 what the table holds is within its limits, whatever its members ask.
//  - ST-4 nothing is left of a member that has ended but the keys that it has put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "millrace/core/net/store_frames.h"

namespace millrace::net {

struct StoreLimits {
  std::size_t keys = std::size_t{128} << 10;          // that were put, or are waited for
  std::size_t total_bytes = std::size_t{256} << 20;   // of those keys and their values
  std::size_t waiting_of_member = std::size_t{4096};  // gets
};

// Thread-safety: external.
class StoreTable {
 public:
  using Member = std::uint64_t;
  using Value = std::shared_ptr<const Bytes>;
  struct Answer {
    Member to = 0;
    std::uint64_t number = 0;
    std::variant<Value, StoreDone, Error> what = {};
  };
  using Answers = std::vector<Answer>;

  explicit StoreTable(const StoreLimits& limits) : limits_(limits) {}

  // kInvalidArgument where the member has a get of that number that waits: it breaks the protocol.
  Result<Answers> take(Member member, StoreRequest request);
  // Withdraws its gets.
  void end(Member member);

  std::size_t keys() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  using Get = std::pair<Member, std::uint64_t>;  // the member, and the number of its request
  struct Entry {
    Value value = {};             // nullptr: it was not put
    std::vector<Get> waits = {};  // for it, in the order of their coming
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  Result<Entries::iterator> find_or_make(std::string&& key, std::size_t value_bytes);
  Answer get(Member member, StoreRequest&& request, bool& waits);
  Answers put(Member member, StoreRequest&& request);
  void withdraw(std::map<Get, Entries::iterator>::iterator get);

  const StoreLimits limits_;
  Entries entries_;
  std::size_t bytes_ = 0;
  std::map<Get, Entries::iterator> waiting_;
  std::map<Member, std::size_t> waiting_of_;  // none has 0
};

}  // namespace millrace::net
