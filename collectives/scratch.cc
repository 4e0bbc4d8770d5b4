#include "millrace/collectives/scratch.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "millrace/core/base/check.h"

namespace millrace::collectives {

void Scratch::check(std::size_t begin, std::size_t bytes) const {
  MILLRACE_CHECK(begin <= size_ && bytes <= size_ - begin, "a schedule stays within its arrays");
}

Scratch::Messages::iterator Scratch::first_behind(std::size_t begin) {
  auto found = messages_.upper_bound(begin);
  if (found == messages_.begin()) return found;
  const auto before = std::prev(found);
  return before->first + before->second.bytes.size() > begin ? before : found;
}

// Messages that overlap the range become bytes of the memory.
void Scratch::copy_in(std::size_t begin, std::size_t bytes) {
  for (auto found = first_behind(begin);
       found != messages_.end() && found->first < begin + bytes;) {
    make_memory();
    const auto part = found->second.bytes;
    std::memcpy(memory_.data() + found->first, part.data(), part.size());
    found = messages_.erase(found);
  }
}

void Scratch::make_memory() {
  if (memory_.size() < size_) memory_.resize(size_);
}

void Scratch::put(std::size_t begin, const std::shared_ptr<net::Bytes>& message,
                  std::span<const std::byte> part) {
  check(begin, part.size());
  if (part.empty()) return;
  const std::size_t end = begin + part.size();
  for (auto found = first_behind(begin); found != messages_.end() && found->first < end;) {
    const std::size_t its_end = found->first + found->second.bytes.size();
    if (found->first >= begin && its_end <= end) {
      found = messages_.erase(found);
    } else {
      copy_in(found->first, found->second.bytes.size());
      found = first_behind(begin);
    }
  }
  messages_.emplace(begin, Message{part, message});
}

std::span<const std::byte> Scratch::read(std::size_t begin, std::size_t bytes) {
  check(begin, bytes);
  if (bytes == 0) return {};
  const auto found = first_behind(begin);
  if (found != messages_.end() && found->first <= begin &&
      begin + bytes <= found->first + found->second.bytes.size())
    return found->second.bytes.subspan(begin - found->first, bytes);
  copy_in(begin, bytes);
  make_memory();
  return std::span<const std::byte>(memory_).subspan(begin, bytes);
}

std::span<std::byte> Scratch::write(std::size_t begin, std::size_t bytes) {
  check(begin, bytes);
  copy_in(begin, bytes);
  make_memory();
  return std::span(memory_).subspan(begin, bytes);
}

}  // namespace millrace::collectives
