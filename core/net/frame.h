// Frame: the unit in which processes talk: a header of 64 bytes, and a payload. A pure codec; no
// I/O. Read next: connection.h, which sends and receives frames.
//
// The header, little-endian:
//
//   0 magic "MRF1"   8 length of the payload   16 channel    32..63 four words, whose meaning
//   4 version        12 epoch                  24 sequence          the kind has (else 0)
//   5 kind    6 flags: 8 of the kind, 8 reserved and zero
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"

namespace millrace::net {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::uint8_t kFrameVersion = 1;

// Rooms above take numbers from kFirstOfUsers on.
enum class FrameKind : std::uint8_t {
  kNone = 0,  // never on a wire
  kHello = 1,
  kChallenge = 2,
  kProof = 3,
  kWelcome = 4,
  kRefusal = 5,
  kGoodbye = 6,
  kGoodbyeAnswer = 7,
  kStoreGet = 8,
  kStoreTryGet = 9,
  kStorePut = 10,
  kStoreWithdraw = 11,
  kStoreValue = 12,
  kStoreDone = 13,
  kStoreError = 14,
  kJobJoin = 15,
  kJobWelcome = 16,
  kJobRefusal = 17,
  kJobAlive = 18,
  kJobFailure = 19,
  kJobAsk = 20,
  kJobStatus = 21,
  kJobWorldAsk = 22,
  kJobWorld = 23,
  kLinkHello = 24,
  kLinkWelcome = 25,
  kLinkRefusal = 26,
  kJobNoWorld = 27,
  kJobWaits = 28,
  kJobLost = 29,
  kLinkAlive = 30,
  kFirstOfUsers = 32,
};

struct FrameHeader {
  FrameKind kind = FrameKind::kNone;
  std::uint8_t flags = 0;
  std::uint32_t epoch = 0;
  std::uint64_t channel = 0;
  std::uint64_t sequence = 0;
  std::array<std::uint64_t, 4> words = {};
  bool operator==(const FrameHeader&) const = default;
};

struct Frame {
  FrameHeader header = {};
  Bytes payload = {};
  // In place of the payload: its bytes where they arrived, until the call returns that was given
  // the frame; keep() copies them. The sender may change them meanwhile: they are only for what
  // takes any values.
  std::span<const std::byte> lent = {};

  std::span<const std::byte> bytes() const { return lent.empty() ? payload : lent; }
  // A payload that is lent becomes its own.
  void keep();
};

// Detail of the errors of a parser: what is wrong with the bytes.
enum class FrameFault : std::uint8_t {
  kMagic,     // another protocol: kInvalidArgument
  kVersion,   // another release: kUnimplemented
  kReserved,  // a reserved bit, or kind 0: kInvalidArgument
  kTooLong,   // kResourceExhausted
};

using HeaderBytes = std::array<std::byte, kHeaderBytes>;
// payload_bytes: CHECKed, below 4 GiB.
HeaderBytes encode_header(const FrameHeader& header, std::size_t payload_bytes);

// Makes frames of bytes that come in arbitrary pieces. What it holds grows with the bytes that have
// come (sixteen times as much at most), never with a length that a peer claims. After an error it
// gives that error for ever. Thread-safety: external.
class FrameParser {
 public:
  explicit FrameParser(std::size_t max_payload) : max_payload_(max_payload) {}

  // Takes bytes from the front of `bytes` up to the end of a frame; nullopt: it took all of them.
  Result<std::optional<Frame>> next(std::span<const std::byte>& bytes);
  // From now on it lends payloads of `least` bytes or more that lie in `bytes` as a whole.
  void lend(std::size_t least) { least_lent_ = least; }
  // For headers from now on.
  void set_max_payload(std::size_t bytes) { max_payload_ = bytes; }
  // False: the bytes so far end inside a frame.
  bool between_frames() const { return header_held_ == 0; }

 private:
  Status read_header();

  std::size_t max_payload_;
  std::size_t least_lent_ = ~std::size_t{0};
  HeaderBytes header_ = {};
  std::size_t header_held_ = 0;  // kHeaderBytes: frame_'s header is read
  std::size_t length_ = 0;
  Frame frame_;
  std::optional<Error> failed_;
};

// For codecs: only the first words have a meaning, and neither flags, epoch nor channel.
bool has_only_words(const FrameHeader& header, std::size_t words);

// Texts, for payloads.
Bytes bytes_of(std::string_view text);
std::string text_of(std::span<const std::byte> bytes);
void append(Bytes& bytes, std::string_view text);

// Little-endian numbers, for payloads.
template <class T>
void store_number(std::byte* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}
template <class T>
T load_number(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | (static_cast<T>(from[i]) << (8 * i)));
  return value;
}

}  // namespace millrace::net
