// Frames of a store that the processes of a job share: what its users ask, and what the server
// answers. A pure codec; a decoder takes a stranger's bytes. Read next: store_table.h.
//
//   kStoreGet, kStoreTryGet   sequence: the number of the request; payload: the key
//   kStorePut                 words[0]: the length of the value; payload: the value, then the key
//   kStoreWithdraw            the get of that number is awaited no more; it has no answer
//   kStoreValue               the answer to a get: the value
//   kStoreDone                the answer to a put
//   kStoreError               words[0]: the ErrorCode; payload: its message
//
// A value travels in one frame, so members of a store take frames of kMostStorePayload bytes. What
// is in holds such values anyway; pieces would need a table of half values with bounds of its own,
// and a FrameParser holds no more than what has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"

namespace millrace::net {

inline constexpr std::size_t kMostKeyBytes = std::size_t{8} << 10;
inline constexpr std::size_t kMostValueBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMostStorePayload = kMostKeyBytes + kMostValueBytes;
inline constexpr std::size_t kMostErrorBytes = std::size_t{4} << 10;  // of a message

struct StoreRequest {
  FrameKind kind = FrameKind::kStoreGet;  // of the four
  std::uint64_t number = 0;               // by its maker, which uses none twice
  std::string key = {};
  Bytes value = {};  // of a put
};

struct StoreDone {};
struct StoreAnswer {
  std::uint64_t number = 0;
  std::variant<Bytes, StoreDone, Error> what = {};
};

// Key and value: CHECKed, within their bounds.
Frame encode(StoreRequest request);
// A longer message is cut.
Frame encode(StoreAnswer answer);

// What kinds these are: for the sink of a connection that carries other frames, too.
bool is_store_request(FrameKind kind);
bool is_store_answer(FrameKind kind);

// kInvalidArgument for what no encoder has made.
Result<StoreRequest> decode_store_request(Frame frame);
Result<StoreAnswer> decode_store_answer(Frame frame);

// A key as it stands in messages: quoted, without what does not print, and cut.
std::string key_text(std::string_view key);

}  // namespace millrace::net
