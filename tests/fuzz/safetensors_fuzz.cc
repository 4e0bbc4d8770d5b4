// Feeds bytes of a stranger to the safetensors reader: its arrays cover the bytes behind the header
// exactly, and what it gives can be written and read again; or it gives an error with a position.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/transfer/formats/safetensors.h"

using namespace millrace;            // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::transfer;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const Result<SafetensorsHeader> header = parse_safetensors(file, "input");
  if (!header) {
    MILLRACE_CHECK(header.error().detail<FilePosition>() != nullptr, "an error has its position");
    return 0;
  }
  std::uint64_t next = header->data_offset;
  std::vector<NamedArray> arrays;
  for (const SafetensorsArray& array : header->arrays) {
    MILLRACE_CHECK(array.offset == next, "no byte is left out or had twice");
    next += array.shape.size_bytes();
    MILLRACE_CHECK(next <= size, "every byte is in the file");
    arrays.push_back(
        {array.name, array.shape, file.subspan(array.offset, array.shape.size_bytes())});
  }
  MILLRACE_CHECK(next == size, "every byte belongs to an array");

  const Result<SafetensorsLayout> layout = lay_out_safetensors(arrays, header->metadata);
  MILLRACE_CHECK(layout.has_value(), "what is read can be written");
  std::string again = layout->front;
  for (const std::size_t i : layout->order) {
    again.append(reinterpret_cast<const char*>(arrays[i].bytes.data()), arrays[i].bytes.size());
  }
  const auto reread = parse_safetensors(std::as_bytes(std::span(again)), "again");
  MILLRACE_CHECK(reread && reread->arrays.size() == arrays.size(), "and be read again");
  return 0;
}
