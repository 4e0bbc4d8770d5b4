#include "millrace/collectives/message_line.h"

#include <algorithm>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/net/spare_bytes.h"

namespace millrace::collectives {

void ProgramMessage::move_to(std::span<std::byte> bytes) {
  MILLRACE_CHECK(whole() && bytes.size() == total, "a message that is taken fits its place");
  std::size_t at = 0;
  for (net::Bytes& piece : pieces) {
    std::ranges::copy(piece, bytes.subspan(at).begin());
    at += piece.size();
    net::give_spare_bytes(std::move(piece));
  }
  pieces.clear();
}

Status MessageLine::add(std::uint64_t total, std::uint64_t offset, net::Bytes piece) {
  const bool first = messages_.empty() || messages_.back().whole();
  const std::uint64_t come = first ? 0 : messages_.back().come;
  if (offset != come || (!first && messages_.back().total != total)) {
    return fail(ErrorCode::kInvalidArgument,
                "a piece begins at byte " + std::to_string(offset) + " of " +
                    std::to_string(total) + ", where byte " + std::to_string(come) + " of " +
                    std::to_string(first ? total : messages_.back().total) + " is the next");
  }
  if (first) messages_.push_back({.total = total});
  messages_.back().come += piece.size();
  messages_.back().pieces.push_back(std::move(piece));
  return {};
}

ProgramMessage MessageLine::take() {
  MILLRACE_CHECK(ready(), "a message is taken once it is whole");
  ProgramMessage message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void MessageLine::drop_part() {
  if (!messages_.empty() && !messages_.back().whole()) messages_.pop_back();
}

}  // namespace millrace::collectives
