// MessageSchema: a message's list of fields and that of its answer, as a text and as a number, by
// which two processes find that they mean the same. Pure. Read next: remote_class.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "millrace/actors/message.h"
#include "millrace/actors/remote/wire_type.h"

namespace millrace::actors {

// FNV-1a, 64 bits.
std::uint64_t fingerprint_of(std::string_view text);

// By which name other processes know a type: its own, or kWireName, which stays where a type is
// renamed or moved.
template <class T>
constexpr std::string_view wire_name() {
  if constexpr (requires { T::kWireName; }) {
    return T::kWireName;
  } else {
    return detail::type_name<T>();
  }
}

// Thread-safety: immutable.
struct MessageSchema {
  MessageSchema(std::string_view type, std::string_view fields_and_answer);

  std::string name;   // of the message's type
  std::string lists;  // "{key: string, values: [f64]} -> u64"
  std::uint64_t fingerprint;

  std::string text() const { return name + lists; }
};

// The part of a text in front of its lists.
std::string_view name_in(std::string_view text);

template <class M, class R>
const MessageSchema& message_schema() {
  static_assert(Travels<M>, "a message to another process lists its fields (field_list.h)");
  static const MessageSchema schema = [] {
    std::string lists;
    WireType<M>::describe(lists, 0);
    if constexpr (!std::is_void_v<R>) {
      static_assert(Travels<R>, "the answer to another process is of a type of wire_type.h");
      lists += " -> ";
      WireType<R>::describe(lists, 0);
    }
    return MessageSchema(wire_name<M>(), lists);
  }();
  return schema;
}

}  // namespace millrace::actors
