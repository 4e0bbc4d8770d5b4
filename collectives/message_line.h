// MessageLine: the messages of one process at one edge of a launch, in the order in which they
// came, each in the pieces in which it came. Read next: program_mail.h, which keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/net/frame.h"

namespace millrace::collectives {

struct ProgramMessage {
  std::uint64_t total = 0;
  std::uint64_t come = 0;
  PooledVector<net::Bytes> pieces = {};

  bool whole() const { return come == total; }
  // bytes: total of them. The message is empty afterwards.
  void move_to(std::span<std::byte> bytes);
};

// What it holds grows with the bytes that have come. Thread-safety: external.
class MessageLine {
 public:
  // kInvalidArgument: the piece is not the next of its message. A piece that is empty is a message.
  Status add(std::uint64_t total, std::uint64_t offset, net::Bytes piece);
  bool ready() const { return !messages_.empty() && messages_.front().whole(); }
  // The first, which is ready: CHECKed.
  ProgramMessage take();
  // The rest of it will not come.
  void drop_part();

 private:
  PooledDeque<ProgramMessage> messages_;
};

}  // namespace millrace::collectives
