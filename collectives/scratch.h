// Scratch: what a schedule keeps between its steps. A message that came for it is not copied in: it
// stays where it is, and is read there. Pure. Read next: schedule_run.h.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "millrace/core/base/pool.h"
#include "millrace/core/net/frame.h"

namespace millrace::collectives {

// Bytes are found where they were put last; what was never put is zero. A span is valid until a
// call about bytes of which it has some. Ranges lie within its size (CHECKed). Thread-safety:
// confined.
class Scratch {
 public:
  explicit Scratch(std::size_t size) : size_(size) {}

  // message.size() bytes from begin on are from now on those of the message.
  void put(std::size_t begin, const std::shared_ptr<net::Bytes>& message,
           std::span<const std::byte> part);
  std::span<const std::byte> read(std::size_t begin, std::size_t bytes);
  std::span<std::byte> write(std::size_t begin, std::size_t bytes);
  // Messages go: they are of no use any more.
  void clear() { messages_.clear(); }

  std::size_t messages() const { return messages_.size(); }

 private:
  struct Message {
    std::span<const std::byte> bytes;
    std::shared_ptr<net::Bytes> owner;
  };
  using Messages = std::map<std::size_t, Message, std::less<>,
                            PoolAllocator<std::pair<const std::size_t, Message>>>;  // by begin

  void check(std::size_t begin, std::size_t bytes) const;
  // The first that ends behind begin.
  Messages::iterator first_behind(std::size_t begin);
  void copy_in(std::size_t begin, std::size_t bytes);
  void make_memory();

  const std::size_t size_;
  net::Bytes memory_ = {};  // none until it is needed
  Messages messages_ = {};  // that do not overlap
};

}  // namespace millrace::collectives
