// Feeds payloads and messages of another process to what reads them: what a reader accepts is
// written as it came, and nothing takes more memory than the bytes say.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/actors/remote/remote_frames.h"
#include "millrace/actors/remote/wire_type.h"
#include "millrace/core/base/check.h"

using namespace millrace;          // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::actors;  // NOLINT(google-build-using-namespace)

namespace {

enum class Color : std::uint8_t { kRed };
struct Point {
  std::int32_t x = 0;
  double y = 0;
  static constexpr auto fields() { return field_list("x", &Point::x, "y", &Point::y); }
};
struct Nothing {};
struct Message {
  bool flag = false;
  std::int64_t number = 0;
  float half = 0;
  Color color = Color::kRed;
  std::string text = {};
  std::vector<std::byte> bytes = {};
  std::vector<std::vector<Point>> points = {};
  std::optional<std::vector<std::optional<std::uint16_t>>> perhaps = {};
  std::vector<Nothing> nothings = {};
  static constexpr auto fields() {
    return field_list("flag", &Message::flag, "number", &Message::number, "half", &Message::half,
                      "color", &Message::color, "text", &Message::text, "bytes", &Message::bytes,
                      "points", &Message::points, "perhaps", &Message::perhaps, "nothings",
                      &Message::nothings);
  }
};

template <class T>
void expect_same(std::span<const std::byte> bytes, const T& read) {
  const net::Bytes written = encode(read);
  MILLRACE_CHECK(std::ranges::equal(written, bytes), "written as it came");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      if (const auto read = from_wire<Message>(bytes, "a message"))
        MILLRACE_CHECK(std::ranges::equal(to_wire(*read), bytes), "written as it came");
      break;
    case 1:
      if (const auto read = read_find(bytes)) expect_same(bytes, *read);
      break;
    case 2:
      if (const auto read = read_find_answer(bytes)) expect_same(bytes, *read);
      break;
    case 3:
      if (const auto read = read_error(bytes)) expect_same(bytes, *read);
      break;
    case 4:
      if (const auto read = read_exit(bytes)) expect_same(bytes, *read);
      break;
    default:
      if (const auto read = read_cast(bytes, 64)) expect_same(bytes, *read);
      break;
  }
  return 0;
}
