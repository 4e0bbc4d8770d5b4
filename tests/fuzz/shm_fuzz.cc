// Feeds what another process offers and puts into shared memory to what reads it: an offer that is
// taken is within its limits, and no position leads out of the ring.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/core/net/shm_memory.h"

using namespace millrace;       // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::net;  // NOLINT(google-build-using-namespace)

namespace {

// Numbers out of the bytes; zero once they have ended.
class Source {
 public:
  explicit Source(std::span<const std::byte> bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  std::span<const std::byte> take(std::size_t most) {
    const auto taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const auto taken = take(bytes);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }

 private:
  std::span<const std::byte> left_;
};

void look_at_offer(Source& source) {
  const std::size_t size = source.number(1) % 2 == 0 ? sizeof(ShmOffer) : source.number(1);
  const auto message = source.take(size);
  ShmFile file{.regular = source.number(1) % 2 == 0,
               .bytes = source.number(8),
               .seals = static_cast<int>(source.number(4))};
  const auto ring = read_offer(message, file);
  if (!ring) return;
  MILLRACE_CHECK(*ring >= kLeastRingBytes && *ring <= kMostRingBytes, "a ring has limits");
  MILLRACE_CHECK(file.bytes == kShmPageBytes + 2 * *ring, "the file holds both rings");
  MILLRACE_CHECK(std::ranges::equal(encode_offer(*ring), message),
                 "an offer is encoded as it came");
}

// As the streams touch the bytes of a ring.
void touch(std::vector<std::byte>& ring, std::size_t offset, std::size_t count) {
  MILLRACE_CHECK(offset < ring.size() && count <= ring.size(), "within the ring");
  const std::size_t first = std::min(count, ring.size() - offset);
  std::fill_n(ring.begin() + static_cast<long>(offset), first, std::byte{1});
  std::fill_n(ring.begin(), count - first, std::byte{2});
}

void run_rings(Source& source) {
  constexpr std::size_t kSize = 64;
  RingWords<ShmWord> in = {}, out = {};
  std::vector<std::byte> in_bytes(kSize), out_bytes(kSize);
  RingReader reader(in, kSize);
  RingWriter writer(out, kSize);
  while (!source.empty()) {
    const std::uint64_t what = source.number(1), number = source.number(what & 8 ? 8 : 1);
    bool good = true;
    switch (what & 7) {
      case 0:
        in.written.store(number);
        break;
      case 1:
        out.read.store(number);
        break;
      case 2:
        (number & 1 ? in.writer_sleeps : out.reader_sleeps).store(number >> 1);
        break;
      case 3:
        (number & 1 ? in.reader_sleeps : out.writer_sleeps).store(number >> 1);
        break;
      case 4:
        good = reader.may_sleep().has_value();
        break;
      case 5:
        good = writer.may_sleep().has_value();
        break;
      case 6: {
        const auto there = reader.available();
        good = there.has_value();
        if (!good) break;
        const std::size_t count = std::min<std::uint64_t>(number, *there);
        touch(in_bytes, reader.offset(), count);
        static_cast<void>(reader.release(count));
        break;
      }
      case 7: {
        const auto room = writer.room(number);
        good = room.has_value();
        if (!good) break;
        const std::size_t count = std::min<std::uint64_t>(number, *room);
        touch(out_bytes, writer.offset(), count);
        static_cast<void>(writer.publish(count));
        break;
      }
    }
    if (!good) return;  // the stream has ended
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source source({reinterpret_cast<const std::byte*>(data), size});
  source.number(1) % 2 == 0 ? look_at_offer(source) : run_rings(source);
  return 0;
}
