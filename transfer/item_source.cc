#include "millrace/transfer/item_source.h"

#include <algorithm>
#include <cstdio>

#include "millrace/core/base/check.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::transfer {

std::string ItemSource::size_text() const {
  std::string text = std::to_string(items()) + " items of ";
  const char* between = "";
  for (const Field& field : fields()) {
    text += between + field.name + " " + field.item.to_string();
    between = ", ";
  }
  return text;
}

std::string sampled_crc32(std::span<const std::byte> bytes, std::size_t row_bytes) {
  constexpr std::size_t kWholeBytes = std::size_t{1} << 20;
  constexpr std::size_t kFewestRows = 16;
  std::uint32_t sum = 0;
  if (bytes.size() <= kWholeBytes) {
    sum = crc32_of(bytes);
  } else {
    MILLRACE_CHECK(row_bytes > 0 && bytes.size() % row_bytes == 0, "rows make up the bytes");
    const std::size_t rows = bytes.size() / row_bytes;
    const std::size_t taken = std::min(rows, std::max(kFewestRows, kWholeBytes / row_bytes));
    for (std::size_t i = 0; i < taken; ++i) {
      // At most 2^20 are taken, so that the product fits up to 2^44 rows.
      const std::size_t row = taken == 1 ? 0 : i * (rows - 1) / (taken - 1);
      sum = crc32_of(bytes.subspan(row * row_bytes, row_bytes), sum);
    }
  }
  char text[16];
  std::snprintf(text, sizeof text, "%08x", sum);
  return text;
}

}  // namespace millrace::transfer
