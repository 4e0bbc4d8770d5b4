#include "millrace/tools/serve/unpack_body.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/transfer/formats/byte_source.h"
#include "millrace/transfer/formats/gzip.h"

namespace millrace::serve {
namespace {

constexpr std::size_t kStep = std::size_t{64} << 10;
constexpr int kLargestWindow = 15;  // of inflateInit2; negative: deflate without a header

std::unexpected<Error> damaged(const char* format, const std::string& why) {
  return fail(ErrorCode::kInvalidArgument, std::string("the body is no ") + format + ": " + why);
}

// read: fills a span, fewer bytes at the end alone.
template <class Read>
Result<Body> collect(std::size_t most_bytes, const Read& read) {
  auto unpacked = std::make_shared<std::vector<std::byte>>();
  for (std::size_t size = 0;;) {
    unpacked->resize(size + kStep);
    MILLRACE_TRY(const std::size_t got, read(std::span(*unpacked).subspan(size)));
    size += got;
    if (size > most_bytes) {
      return fail(ErrorCode::kOutOfRange, "the body has more than " + std::to_string(most_bytes) +
                                              " bytes when it is unpacked");
    }
    if (got == kStep) continue;
    unpacked->resize(size);
    return Body{*unpacked, unpacked};
  }
}

Result<Body> unpack_gzip(const Body& body, std::size_t most_bytes) {
  transfer::GzipSource source(
      std::make_unique<transfer::MemorySource>("the request's body", body.bytes));
  return collect(most_bytes, [&](std::span<std::byte> out) -> Result<std::size_t> {
    Result<std::size_t> got = source.read(out);
    if (!got) return damaged("gzip", got.error().message());
    return got;
  });
}

bool has_zlib_header(std::span<const std::byte> bytes) {
  if (bytes.size() < 2) return false;
  const unsigned first = std::to_integer<unsigned>(bytes[0]);
  return (first & 15U) == Z_DEFLATED &&
         (first << 8U | std::to_integer<unsigned>(bytes[1])) % 31 == 0;
}

Result<Body> unpack_deflate(const Body& body, std::size_t most_bytes) {
  z_stream stream{};
  const int window = has_zlib_header(body.bytes) ? kLargestWindow : -kLargestWindow;
  if (inflateInit2(&stream, window) != Z_OK)
    return fail(ErrorCode::kResourceExhausted, "zlib found no memory to unpack a body");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends(&stream, &inflateEnd);
  std::span<const std::byte> left = body.bytes;
  bool ended = false;
  return collect(most_bytes, [&](std::span<std::byte> out) -> Result<std::size_t> {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    while (!ended && stream.avail_out > 0) {
      if (stream.avail_in == 0) {
        const std::span<const std::byte> next = left.first(std::min(left.size(), kStep));
        if (next.empty()) return damaged("deflate", "it ends inside its content");
        left = left.subspan(next.size());
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(next.data()));
        stream.avail_in = static_cast<uInt>(next.size());
      }
      const int code = inflate(&stream, Z_NO_FLUSH);
      ended = code == Z_STREAM_END;
      if (!ended && code != Z_OK && code != Z_BUF_ERROR)
        return damaged("deflate", stream.msg != nullptr ? stream.msg : "it wants a dictionary");
    }
    if (ended && stream.avail_in + left.size() > 0)
      return damaged("deflate", "bytes follow the end of its content");
    return out.size() - stream.avail_out;
  });
}

}  // namespace

Result<Body> unpack_body(const Body& body, std::string_view encoding, std::size_t most_bytes) {
  if (encoding.empty() || encoding == "identity") return body;
  if (encoding == "gzip") return unpack_gzip(body, most_bytes);
  if (encoding == "deflate") return unpack_deflate(body, most_bytes);
  return fail(ErrorCode::kUnimplemented, "the Content-Encoding '" +
                                             std::string(encoding.substr(0, 40)) +
                                             "' is not read here; gzip and deflate are, and none");
}

}  // namespace millrace::serve
