// Feeds bytes of a stranger to the IDX reader, plain or compressed: whatever they are, it gives an
// array that is exactly as long as its header says, or an error with a position.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/transfer/formats/gzip.h"
#include "millrace/transfer/formats/idx.h"

using namespace millrace;            // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::transfer;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  std::unique_ptr<ByteSource> source = std::make_unique<MemorySource>("input", bytes);
  if (is_gzip(bytes)) source = std::make_unique<GzipSource>(std::move(source));
  const Result<devices::HostArray> array =
      read_idx(*source, {.max_bytes = std::uint64_t{64} << 20});
  if (array) {
    std::byte sum = {};
    for (const std::byte b : array->bytes()) sum ^= b;  // every byte is ours to read
    static_cast<void>(sum);
    MILLRACE_CHECK(array->bytes().size() == array->shape().size_bytes(), "the size is the shape's");
  } else {
    MILLRACE_CHECK(array.error().detail<FilePosition>() != nullptr, "an error has its position");
  }
  return 0;
}
