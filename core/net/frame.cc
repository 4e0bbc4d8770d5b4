#include "millrace/core/net/frame.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/net/spare_bytes.h"

namespace millrace::net {
namespace {

constexpr std::uint32_t kMagic = 0x3146524d;  // "MRF1"
constexpr std::size_t kMostAhead = 16;        // times of the bytes that have come

std::unexpected<Error> fault(ErrorCode code, FrameFault what, const std::string& words) {
  return std::unexpected(Error(code, "reading a frame: " + words).with_detail(what));
}

}  // namespace

void Frame::keep() {
  if (lent.empty()) return;
  payload = take_spare_bytes(lent.size());
  payload.assign(lent.begin(), lent.end());
  lent = {};
}

HeaderBytes encode_header(const FrameHeader& header, std::size_t payload_bytes) {
  MILLRACE_CHECK(payload_bytes <= std::numeric_limits<std::uint32_t>::max(),
                 "the length of a frame has 32 bits");
  HeaderBytes bytes = {};
  std::byte* const to = bytes.data();
  store_number(to, kMagic);
  store_number(to + 4, kFrameVersion);
  store_number(to + 5, std::to_underlying(header.kind));
  store_number<std::uint16_t>(to + 6, header.flags);
  store_number(to + 8, static_cast<std::uint32_t>(payload_bytes));
  store_number(to + 12, header.epoch);
  store_number(to + 16, header.channel);
  store_number(to + 24, header.sequence);
  for (std::size_t i = 0; i < header.words.size(); ++i)
    store_number(to + 32 + 8 * i, header.words[i]);
  return bytes;
}

Status FrameParser::read_header() {
  const std::byte* const from = header_.data();
  if (load_number<std::uint32_t>(from) != kMagic) {
    return fault(ErrorCode::kInvalidArgument, FrameFault::kMagic,
                 "the bytes are no frame of Millrace; the other end speaks another protocol");
  }
  if (const auto version = load_number<std::uint8_t>(from + 4); version != kFrameVersion) {
    return fault(ErrorCode::kUnimplemented, FrameFault::kVersion,
                 "its version is " + std::to_string(version) + ", here it is " +
                     std::to_string(kFrameVersion) + "; run the same release in all processes");
  }
  const auto flags = load_number<std::uint16_t>(from + 6);
  FrameHeader& header = frame_.header;
  header.kind = static_cast<FrameKind>(from[5]);
  if (header.kind == FrameKind::kNone || (flags >> 8) != 0) {
    return fault(ErrorCode::kInvalidArgument, FrameFault::kReserved,
                 "its header has a kind or a flag that does not exist");
  }
  header.flags = static_cast<std::uint8_t>(flags);
  length_ = load_number<std::uint32_t>(from + 8);
  if (length_ > max_payload_) {
    return fault(ErrorCode::kResourceExhausted, FrameFault::kTooLong,
                 "it has " + std::to_string(length_) + " bytes, where " +
                     std::to_string(max_payload_) + " is the limit");
  }
  header.epoch = load_number<std::uint32_t>(from + 12);
  header.channel = load_number<std::uint64_t>(from + 16);
  header.sequence = load_number<std::uint64_t>(from + 24);
  for (std::size_t i = 0; i < header.words.size(); ++i)
    header.words[i] = load_number<std::uint64_t>(from + 32 + 8 * i);
  return {};
}

Result<std::optional<Frame>> FrameParser::next(std::span<const std::byte>& bytes) {
  if (failed_) return std::unexpected(*failed_);
  if (header_held_ < kHeaderBytes) {
    const std::size_t taken = std::min(bytes.size(), kHeaderBytes - header_held_);
    std::ranges::copy(bytes.first(taken), header_.begin() + static_cast<long>(header_held_));
    bytes = bytes.subspan(taken);
    header_held_ += taken;
    if (header_held_ < kHeaderBytes) return std::nullopt;
    if (Status read = read_header(); !read) {
      failed_ = read.error();
      return std::unexpected(*failed_);
    }
  }
  Bytes& payload = frame_.payload;
  if (payload.empty() && length_ >= least_lent_ && bytes.size() >= length_) {
    frame_.lent = bytes.first(length_);
    bytes = bytes.subspan(length_);
    header_held_ = 0;
    return std::exchange(frame_, {});
  }
  const std::size_t taken = std::min(bytes.size(), length_ - payload.size());
  if (payload.capacity() < payload.size() + taken) {
    const std::size_t room = std::min(length_, kMostAhead * (payload.size() + taken));
    if (payload.empty()) payload = take_spare_bytes(room);
    payload.reserve(room);
  }
  payload.insert(payload.end(), bytes.begin(), bytes.begin() + static_cast<long>(taken));
  bytes = bytes.subspan(taken);
  if (payload.size() < length_) return std::nullopt;
  header_held_ = 0;
  return std::exchange(frame_, {});
}

bool has_only_words(const FrameHeader& header, std::size_t words) {
  return header.flags == 0 && header.epoch == 0 && header.channel == 0 &&
         std::ranges::all_of(std::span(header.words).subspan(words),
                             [](std::uint64_t word) { return word == 0; });
}

Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  append(bytes, text);
  return bytes;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append(Bytes& bytes, std::string_view text) {
  const auto* const from = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), from, from + text.size());
}

}  // namespace millrace::net
