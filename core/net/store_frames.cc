#include "millrace/core/net/store_frames.h"

#include <algorithm>
#include <array>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::net {
namespace {

constexpr std::size_t kMostShown = 100;

std::unexpected<Error> malformed(const char* what, const std::string& why) {
  return fail(ErrorCode::kInvalidArgument, "reading " + std::string(what) + ": " + why);
}

}  // namespace

bool is_store_request(FrameKind kind) {
  return kind >= FrameKind::kStoreGet && kind <= FrameKind::kStoreWithdraw;
}

bool is_store_answer(FrameKind kind) {
  return kind >= FrameKind::kStoreValue && kind <= FrameKind::kStoreError;
}

Frame encode(StoreRequest request) {
  MILLRACE_CHECK(is_store_request(request.kind), "a request is one of four kinds");
  MILLRACE_CHECK(request.key.size() <= kMostKeyBytes && request.value.size() <= kMostValueBytes,
                 "key and value are checked before they are sent");
  Frame frame{{.kind = request.kind, .sequence = request.number}, std::move(request.value)};
  frame.header.words[0] = frame.payload.size();
  append(frame.payload, request.key);
  return frame;
}

Frame encode(StoreAnswer answer) {
  FrameHeader header{.kind = FrameKind::kStoreDone, .sequence = answer.number};
  if (auto* const value = std::get_if<Bytes>(&answer.what)) {
    header.kind = FrameKind::kStoreValue;
    return {header, std::move(*value)};
  }
  const auto* const error = std::get_if<Error>(&answer.what);
  if (error == nullptr) return {header, {}};
  header.kind = FrameKind::kStoreError;
  header.words[0] = static_cast<std::uint64_t>(error->code());
  return {header, bytes_of(std::string_view(error->message()).substr(0, kMostErrorBytes))};
}

Result<StoreRequest> decode_store_request(Frame frame) {
  constexpr const char* kWhat = "a request to the store";
  const FrameHeader& header = frame.header;
  if (!is_store_request(header.kind)) return malformed(kWhat, "it is none");
  if (!has_only_words(header, 1)) return malformed(kWhat, "it has a field that its kind has not");
  const std::size_t size = frame.payload.size(), value = header.words[0];
  if (value > size || value > kMostValueBytes || size - value > kMostKeyBytes)
    return malformed(kWhat, "its key or its value is too long");
  if (value != 0 && header.kind != FrameKind::kStorePut)
    return malformed(kWhat, "it has a value and is no put");
  if (header.kind == FrameKind::kStoreWithdraw && size != 0)
    return malformed(kWhat, "it withdraws and has a key");
  StoreRequest request{.kind = header.kind, .number = header.sequence};
  request.key = text_of(std::span(frame.payload).subspan(value));
  frame.payload.resize(value);
  request.value = std::move(frame.payload);
  return request;
}

Result<StoreAnswer> decode_store_answer(Frame frame) {
  constexpr const char* kWhat = "an answer of the store";
  const FrameHeader& header = frame.header;
  if (!is_store_answer(header.kind)) return malformed(kWhat, "it is none");
  const bool failed = header.kind == FrameKind::kStoreError;
  if (!has_only_words(header, failed ? 1 : 0))
    return malformed(kWhat, "it has a field that its kind has not");
  StoreAnswer answer{.number = header.sequence, .what = StoreDone{}};
  if (header.kind == FrameKind::kStoreValue) {
    if (frame.payload.size() > kMostValueBytes) return malformed(kWhat, "its value is too long");
    answer.what = std::move(frame.payload);
    return answer;
  }
  if (frame.payload.size() > (failed ? kMostErrorBytes : 0))
    return malformed(kWhat, "it has more bytes than its kind");
  if (!failed) return answer;
  const std::uint64_t code = header.words[0];
  if (code < static_cast<std::uint64_t>(ErrorCode::kCancelled) ||
      code > static_cast<std::uint64_t>(ErrorCode::kUnauthenticated))
    return malformed(kWhat, "its error has a code that does not exist");
  answer.what = Error(static_cast<ErrorCode>(code), text_of(frame.payload));
  return answer;
}

std::string key_text(std::string_view key) {
  std::string text(key.substr(0, kMostShown));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  text = "the key '" + text + "'";
  if (key.size() > kMostShown) text += " and so on, of " + std::to_string(key.size()) + " bytes,";
  return text;
}

}  // namespace millrace::net
