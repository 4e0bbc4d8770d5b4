#include "millrace/transfer/formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::transfer {
namespace {

constexpr std::size_t kInputBytes = std::size_t{64} << 10;
constexpr std::uint64_t kMaxRatio = 1032;  // zlib's technical notes: the limit of deflate
constexpr int kGzipOnly = 15 + 16;         // inflateInit2: the largest window, gzip wrapper

}  // namespace

bool is_gzip(std::span<const std::byte> prefix) {
  return prefix.size() >= 2 && prefix[0] == std::byte{0x1f} && prefix[1] == std::byte{0x8b};
}

struct GzipSource::State {
  enum class Phase {
    kBetween,  // a member may start here -> kInside, or the file ends -> kEnd
    kInside,   // -> kBetween when the trailer of the member was right
    kEnd,      // final
    kFailed,   // final; error is set
  };

  std::unique_ptr<ByteSource> compressed;
  z_stream stream = {};
  Phase phase = Phase::kBetween;
  std::optional<Error> error;
  std::array<std::byte, kInputBytes> input;
  std::uint64_t input_start = 0;  // offset on disk of input[0]
  std::size_t input_bytes = 0;
  std::uint64_t members = 0;
  bool at_end = false;  // the compressed source has no more

  // Where the next unused byte of input is on disk.
  std::uint64_t disk_offset() const { return input_start + input_bytes - stream.avail_in; }

  std::unexpected<Error> set_error(Error e) {
    phase = Phase::kFailed;
    error = std::move(e);
    return std::unexpected(*error);
  }
  std::unexpected<Error> data_loss(std::string_view message) {
    return set_error(
        file_error(ErrorCode::kDataLoss, compressed->position(disk_offset()), message));
  }

  Status fill();
  Status start_member();
  Status inflate_some();
};

// Makes sure that there is input, unless the source has ended.
Status GzipSource::State::fill() {
  if (stream.avail_in > 0 || at_end) return {};
  input_start += input_bytes;
  input_bytes = 0;
  Result<std::size_t> count = compressed->read(input);
  if (!count) return set_error(std::move(count).error());
  at_end = *count == 0;
  input_bytes = *count;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(*count);
  return {};
}

Status GzipSource::State::start_member() {
  MILLRACE_TRY_STATUS(fill());
  if (stream.avail_in == 0 && members > 0) {
    phase = Phase::kEnd;
    return {};
  }
  if (stream.avail_in == 0) return data_loss("the file is empty, where a gzip header is expected");
  // zlib would name a wrong first byte too, but as corruption of the content.
  if (*stream.next_in != 0x1f) {
    return data_loss(members == 0
                         ? "no gzip header"
                         : "bytes follow the end of the gzip content that belong to nothing");
  }
  MILLRACE_CHECK(inflateReset2(&stream, kGzipOnly) == Z_OK, "a stream that was initialised resets");
  phase = Phase::kInside;
  return {};
}

Status GzipSource::State::inflate_some() {
  MILLRACE_TRY_STATUS(fill());
  if (stream.avail_in == 0) {
    return data_loss("truncated: the file ends inside its compressed content");
  }
  switch (const int code = inflate(&stream, Z_NO_FLUSH); code) {
    case Z_OK:
    case Z_BUF_ERROR:  // no progress with what there is: more input or more room comes next
      return {};
    case Z_STREAM_END:
      ++members;
      phase = Phase::kBetween;
      return {};
    case Z_MEM_ERROR:
      return set_error(file_error(ErrorCode::kResourceExhausted,
                                  compressed->position(disk_offset()), "zlib found no memory"));
    default:
      return data_loss(std::string("corrupt gzip content: ") +
                       (stream.msg != nullptr ? stream.msg : "a preset dictionary is asked for"));
  }
}

GzipSource::GzipSource(std::unique_ptr<ByteSource> compressed) : state_(new State) {
  state_->compressed = std::move(compressed);
  const int code = inflateInit2(&state_->stream, kGzipOnly);
  if (code != Z_OK) {
    static_cast<void>(state_->set_error(file_error(
        ErrorCode::kResourceExhausted, state_->compressed->position(0), "zlib found no memory")));
  }
}

GzipSource::~GzipSource() { inflateEnd(&state_->stream); }

Result<std::size_t> GzipSource::read(std::span<std::byte> out) {
  State& s = *state_;
  std::size_t done = 0;
  while (true) {
    switch (s.phase) {
      case State::Phase::kFailed:
        return std::unexpected(*s.error);
      case State::Phase::kEnd:
        return done;
      case State::Phase::kBetween:
        MILLRACE_TRY_STATUS(s.start_member());
        break;
      case State::Phase::kInside: {
        if (done == out.size()) return done;
        const std::size_t room = std::min<std::size_t>(out.size() - done, 1u << 30);
        s.stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
        s.stream.avail_out = static_cast<uInt>(room);
        MILLRACE_TRY_STATUS(s.inflate_some());
        done += room - s.stream.avail_out;
        break;
      }
    }
  }
}

FilePosition GzipSource::position(std::uint64_t offset) const {
  FilePosition position = state_->compressed->position(0);
  position.offset = offset;
  position.decompressed = true;
  return position;
}

std::optional<std::uint64_t> GzipSource::size_limit() const {
  const std::optional<std::uint64_t> on_disk = state_->compressed->size_limit();
  if (!on_disk || *on_disk > UINT64_MAX / kMaxRatio) return std::nullopt;
  return *on_disk * kMaxRatio;
}

}  // namespace millrace::transfer
