// StoreServer: a store that processes share, served over their connections. A get waits here, not
// by polls. Read next: store_table.h, what it holds; remote_store.h, its users' end.
//
//  - SS-1 a member's answers come in the order in which they were due, and hold no more than a few
//    frames of its connection's queue, however slowly it reads.
//  - SS-2 requests of a member that takes no answers are not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/async/future.h"
#include "millrace/core/net/connection.h"
#include "millrace/core/net/store_table.h"

namespace millrace::net {

// Thread-safety: confined to home. It is there for as long as a connection of a member.
class StoreServer final : public RefCounted {
 public:
  using Member = StoreTable::Member;

  explicit StoreServer(Executor& home, const StoreLimits& limits = {})
      : home_(home), table_(limits) {}

  // Until the connection ends.
  Member admit(const Ref<Connection>& connection);
  // A request of the member, for its connection's sink to return. An error: it is none.
  Future<void> take(Member member, Frame frame);
  // By the process that serves it; nothing where the key has a value, or there is no room.
  void put(std::string key, std::string_view value);

  const StoreTable& table() const { return table_; }

 private:
  struct Seat {
    Ref<Connection> connection;
    std::deque<StoreTable::Answer> due = {};
    std::size_t unsent = 0;                  // bytes that the connection has, and has not sent
    std::optional<Promise<void>> room = {};  // its requests wait for it
  };

  void give(StoreTable::Answers answers);
  void send_due(Member member);
  void sent(Member member, std::size_t bytes, const Status& status);
  void end(Member member);

  Executor& home_;
  StoreTable table_;
  std::map<Member, Seat> seats_;
  Member next_ = 1;  // 0: this process
};

}  // namespace millrace::net
