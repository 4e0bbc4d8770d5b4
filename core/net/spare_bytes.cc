#include "millrace/core/net/spare_bytes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/core/base/mutex.h"

namespace millrace::net {
namespace {

using Bytes = std::vector<std::byte>;

// Thread-safety: thread-safe.
class Spares {
 public:
  // One that has room for it, given last: its bytes are in a cache, perhaps.
  Bytes take(std::size_t size) {
    MutexLock lock(mutex_);
    // What is held for a payload is bounded by its size, not by the spare's.
    const auto fits = [size](const Bytes& bytes) {
      return bytes.capacity() >= size && bytes.capacity() <= 2 * size;
    };
    const auto found = std::find_if(spares_.rbegin(), spares_.rend(), fits);
    if (found == spares_.rend()) return {};
    Bytes bytes = std::move(*found);
    spares_.erase(std::next(found).base());
    held_ -= bytes.capacity();
    return bytes;
  }
  void give(Bytes&& bytes) {
    MutexLock lock(mutex_);
    if (bytes.capacity() > kMostSpare - held_) return;
    bytes.clear();
    held_ += bytes.capacity();
    spares_.push_back(std::move(bytes));
  }

 private:
  Mutex mutex_;
  std::vector<Bytes> spares_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t held_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: threads that end late may still give.
Spares& spares() {
  static auto* const all = new Spares;
  return *all;
}

}  // namespace

Bytes take_spare_bytes(std::size_t size) {
  Bytes bytes = size < kLeastSpare ? Bytes() : spares().take(size);
  bytes.reserve(size);
  return bytes;
}

void give_spare_bytes(Bytes&& bytes) {
  Bytes given = std::move(bytes);  // freed here, where it is not kept
  if (given.capacity() >= kLeastSpare) spares().give(std::move(given));
}

}  // namespace millrace::net
