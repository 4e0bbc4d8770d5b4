// Feeds bytes of a stranger to the NPY reader: it gives an array as long as its header says, or an
// error with a position; and what it gives can be written.
#include <cstddef>
#include <cstdint>
#include <span>

#include "millrace/core/base/check.h"
#include "millrace/transfer/formats/npy.h"

using namespace millrace;            // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::transfer;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  MemorySource source("input", {reinterpret_cast<const std::byte*>(data), size});
  const Result<devices::HostArray> array = read_npy(source, {.max_bytes = std::uint64_t{64} << 20});
  if (array) {
    MILLRACE_CHECK(array->bytes().size() == array->shape().size_bytes(), "the size is the shape's");
    MILLRACE_CHECK(make_npy_header(array->shape()).has_value(), "what is read can be written");
  } else {
    MILLRACE_CHECK(array.error().detail<FilePosition>() != nullptr, "an error has its position");
  }
  return 0;
}
