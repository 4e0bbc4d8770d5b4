// What the actor room needs of a message: its name, the bytes that it stands for, and whether its
// handlers may overlap. A message is any movable struct, without requirements.
#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::actors {

// A message may define:
//  - std::size_t bytes() const: memory that it stands for, itself included (default: sizeof);
//  - static constexpr bool kConcurrent = true: its handler, which returns a Future, does not hold
//    the actor.
// Bytes of tensors never travel in messages, only handles: bytes() counts what the message owns.
struct MessageType {
  std::string_view name;
  bool concurrent = false;
};

namespace detail {

template <class M>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with M = Name; ...]" or "... [M = Name]"
  text.remove_prefix(text.find("M = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

template <class M>
constexpr bool is_concurrent() {
  if constexpr (requires { M::kConcurrent; }) {
    return M::kConcurrent;
  } else {
    return false;
  }
}

}  // namespace detail

template <class M>
inline constexpr MessageType kMessageType{detail::type_name<M>(), detail::is_concurrent<M>()};

template <class M>
std::size_t message_bytes(const M& message) {
  if constexpr (requires { message.bytes(); }) {
    const std::size_t bytes = message.bytes();
    return bytes > sizeof(M) ? bytes : sizeof(M);
  } else {
    return sizeof(M);
  }
}

}  // namespace millrace::actors
