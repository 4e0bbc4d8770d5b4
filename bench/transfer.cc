// transfer.h2d_64MiB: bytes of the host to a buffer of the CPU device that is a copy of them, from
// the call to the last byte, in GiB/s; the peer is memcpy between blocks that were used before.
// transfer.zero_copy: a put that borrows the bytes, from the call to the handle; of 64 MiB beside
// one of 4 KiB, and beside its limit.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/figure.h"
#include "millrace/core/async/blocking.h"
#include "millrace/tools/api/runtime.h"

namespace millrace::bench {
namespace {

using devices::Buffer;
using devices::Device;
using devices::DType;
using devices::HostBufferSemantics;
using devices::Shape;

constexpr std::size_t kLarge = std::size_t{64} << 20;
constexpr std::size_t kSmall = std::size_t{4} << 10;
constexpr int kCopies = 5;
constexpr int kPuts = 2000;

using Block = std::shared_ptr<std::byte>;

// Aligned as the device wants memory that it borrows, and touched.
Block make_block(std::size_t bytes) {
  Block block(static_cast<std::byte*>(std::aligned_alloc(4096, bytes)), &std::free);
  std::memset(block.get(), 1, bytes);
  return block;
}

Buffer put(const Device& device, const Block& block, std::size_t bytes,
           HostBufferSemantics semantics) {
  return wait_blocking(
             device.put_borrowed(
                 {.data = block.get(), .shape = Shape(DType::kU8, {bytes}), .owner = block},
                 semantics))
      .value()
      .buffer;
}

double put_gib_per_s(const Device& device, const Block& block) {
  const double seconds = seconds_of([&] {
    for (int i = 0; i < kCopies; ++i) {
      const Buffer there =
          put(device, block, kLarge, HostBufferSemantics::kImmutableUntilTransferCompletes);
      static_cast<void>(wait_blocking(there.ready()));
    }
  });
  return kCopies / seconds / 16;
}

double memcpy_gib_per_s(const Block& from, const Block& to) {
  const double seconds = seconds_of([&] {
    for (int i = 0; i < kCopies; ++i) {
      std::memcpy(to.get(), from.get(), kLarge);
      // The copy is never read: the compiler must not know.
      asm volatile("" : : "r"(to.get()) : "memory");
    }
  });
  return kCopies / seconds / 16;
}

double zero_copy_us(const Device& device, const Block& block, std::size_t bytes) {
  return 1e6 / kPuts * seconds_of([&] {
           for (int i = 0; i < kPuts; ++i) {
             static_cast<void>(put(device, block, bytes, HostBufferSemantics::kImmutableZeroCopy));
           }
         });
}

void measure(Session& session) {
  RuntimeOptions options;
  options.devices = 1;
  auto runtime = Runtime::create(options);
  if (!runtime) give_up("transfer", runtime.error().to_string());
  const Device device = runtime->device(0);
  const Block large = make_block(kLarge), other = make_block(kLarge), small = make_block(kSmall);

  const Buffer check = put(device, large, kLarge, HostBufferSemantics::kImmutableZeroCopy);
  const auto access = check.host_access();
  if (!access || access->bytes.data() != large.get()) {
    give_up("transfer.zero_copy", "the device has made a copy");
  }
  session.measure(
      {.name = "transfer.h2d_64MiB",
       .unit = "GiB/s",
       .peer = "warm memcpy",
       .goal = Goal::kAtLeast,
       .limit = 0.9},
      [&] { return put_gib_per_s(device, large); }, [&] { return memcpy_gib_per_s(large, other); });
  // "The same": within the tenth that two runs of one thing differ by.
  session.measure(
      {.name = "transfer.zero_copy",
       .unit = "us",
       .peer = "the same of 4 KiB",
       .goal = Goal::kAtMost,
       .limit = 1.1},
      [&] { return zero_copy_us(device, large, kLarge); },
      [&] { return zero_copy_us(device, small, kSmall); });
  session.measure(
      {.name = "transfer.zero_copy_time",
       .unit = "us",
       .peer = "the limit",
       .goal = Goal::kAtMost,
       .limit = 1},
      [&] { return zero_copy_us(device, large, kLarge); }, [] { return 2.0; });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
