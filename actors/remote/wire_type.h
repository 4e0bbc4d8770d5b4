// WireType<T>: how a value of type T travels between processes, and how its type reads in a list of
// fields. Types: bool, integers, float, double, enums, std::string, std::vector (of bytes: at
// once), std::optional, and structs that list their fields (field_list.h). Pure. Read next:
// message_schema.h.
//
//  - RW-1 what is read takes no more memory than a multiple of the bytes that came: no length of
//  the
//    other end is believed before its bytes are there.
//  - RW-2 each value has one form: what was read is written as the same bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/actors/remote/field_list.h"
#include "millrace/core/base/check.h"
#include "millrace/core/net/wire_bytes.h"

namespace millrace::actors {

// A struct in a struct, and so on: a type that contains itself has no list.
inline constexpr int kMostNested = 16;

template <class T>
struct WireType;

template <class T>
concept Travels = requires(std::string& text, net::WireWriter& writer, net::WireReader& reader,
                           const T& from, T& into) {
  WireType<T>::describe(text, 0);
  WireType<T>::write(writer, from);
  WireType<T>::read(reader, into);
};

template <>
struct WireType<bool> {
  static void describe(std::string& text, int /*depth*/) { text += "bool"; }
  static void write(net::WireWriter& writer, bool value) { writer.byte(value ? 1 : 0); }
  static void read(net::WireReader& reader, bool& value) { value = reader.number(1) != 0; }
};

// Integers in 7 bits a byte; of signed ones those near 0 are short.
template <std::integral T>
struct WireType<T> {
  using Bits = std::make_unsigned_t<T>;

  static void describe(std::string& text, int /*depth*/) {
    text += (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
  }
  static void write(net::WireWriter& writer, T value) {
    const auto bits = static_cast<Bits>(value);
    if constexpr (std::is_signed_v<T>) {
      writer.number(static_cast<Bits>((bits << 1) ^
                                      (value < 0 ? std::numeric_limits<Bits>::max() : Bits{0})));
    } else {
      writer.number(bits);
    }
  }
  static void read(net::WireReader& reader, T& value) {
    const auto bits = static_cast<Bits>(reader.number(std::numeric_limits<Bits>::max()));
    if constexpr (std::is_signed_v<T>) {
      value = static_cast<T>((bits >> 1) ^
                             ((bits & 1) != 0 ? std::numeric_limits<Bits>::max() : Bits{0}));
    } else {
      value = bits;
    }
  }
};

// The bits as they are, also of what is no number.
template <std::floating_point T>
  requires(sizeof(T) == 4 || sizeof(T) == 8)
struct WireType<T> {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  static void describe(std::string& text, int /*depth*/) {
    text += "f" + std::to_string(8 * sizeof(T));
  }
  static void write(net::WireWriter& writer, T value) {
    const auto bits = std::bit_cast<Bits>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i)
      writer.byte(static_cast<std::uint8_t>(bits >> 8 * i));
  }
  static void read(net::WireReader& reader, T& value) {
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) bits |= static_cast<Bits>(reader.byte()) << 8 * i;
    value = std::bit_cast<T>(bits);
  }
};

template <class T>
  requires std::is_enum_v<T>
struct WireType<T> {
  using Number = std::underlying_type_t<T>;

  static void describe(std::string& text, int depth) {
    text += "enum ";
    WireType<Number>::describe(text, depth);
  }
  static void write(net::WireWriter& writer, T value) {
    WireType<Number>::write(writer, std::to_underlying(value));
  }
  static void read(net::WireReader& reader, T& value) {
    Number number{};
    WireType<Number>::read(reader, number);
    value = static_cast<T>(number);
  }
};

template <>
struct WireType<std::string> {
  static void describe(std::string& text, int /*depth*/) { text += "string"; }
  static void write(net::WireWriter& writer, std::string_view value) { writer.text(value); }
  static void read(net::WireReader& reader, std::string& value) {
    value = reader.text(std::numeric_limits<std::size_t>::max());
  }
};

template <>
struct WireType<std::vector<std::byte>> {
  static void describe(std::string& text, int /*depth*/) { text += "bytes"; }
  static void write(net::WireWriter& writer, const std::vector<std::byte>& value) {
    writer.text({reinterpret_cast<const char*>(value.data()), value.size()});
  }
  static void read(net::WireReader& reader, std::vector<std::byte>& value) {
    const std::string text = reader.text(std::numeric_limits<std::size_t>::max());
    const auto* const from = reinterpret_cast<const std::byte*>(text.data());
    value.assign(from, from + text.size());
  }
};

// Each item takes a byte at least, so that a count is checked against the bytes that came.
template <class T>
struct WireType<std::vector<T>> {
  static void describe(std::string& text, int depth) {
    text += "[";
    WireType<T>::describe(text, depth);
    text += "]";
  }
  static void write(net::WireWriter& writer, const std::vector<T>& value) {
    writer.number(value.size());
    for (const T& item : value) WireType<T>::write(writer, item);
  }
  static void read(net::WireReader& reader, std::vector<T>& value) {
    const std::size_t count = reader.count(std::numeric_limits<std::size_t>::max());
    value.clear();
    for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
      T item{};
      WireType<T>::read(reader, item);
      value.push_back(std::move(item));
    }
  }
};

template <class T>
struct WireType<std::optional<T>> {
  static void describe(std::string& text, int depth) {
    WireType<T>::describe(text, depth);
    text += "?";
  }
  static void write(net::WireWriter& writer, const std::optional<T>& value) {
    writer.byte(value ? 1 : 0);
    if (value) WireType<T>::write(writer, *value);
  }
  static void read(net::WireReader& reader, std::optional<T>& value) {
    value.reset();
    if (reader.number(1) == 0) return;
    WireType<T>::read(reader, value.emplace());
  }
};

template <ListsFields T>
struct WireType<T> {
  static void describe(std::string& text, int depth) {
    MILLRACE_CHECK(depth < kMostNested, "a message that contains itself has no list of fields");
    text += "{";
    const char* before = "";
    detail::for_each_field<T>([&]<class M>(std::string_view name, M T::* /*member*/) {
      text += std::exchange(before, ", ");
      text += name;
      text += ": ";
      WireType<M>::describe(text, depth + 1);
    });
    text += "}";
  }
  static void write(net::WireWriter& writer, const T& value) {
    bool empty = true;
    detail::for_each_field<T>([&]<class M>(std::string_view /*name*/, M T::* member) {
      empty = false;
      WireType<M>::write(writer, value.*member);
    });
    if (empty) writer.byte(0);
  }
  static void read(net::WireReader& reader, T& value) {
    bool empty = true;
    detail::for_each_field<T>([&]<class M>(std::string_view /*name*/, M T::* member) {
      empty = false;
      WireType<M>::read(reader, value.*member);
    });
    if (empty) reader.number(0);
  }
};

template <Travels T>
net::WireBytes to_wire(const T& value) {
  net::WireWriter writer;
  WireType<T>::write(writer, value);
  return writer.take();
}

// kInvalidArgument for bytes that are no such value. what: for the error.
template <Travels T>
Result<T> from_wire(std::span<const std::byte> bytes, std::string_view what) {
  net::WireReader reader(bytes);
  T value{};
  WireType<T>::read(reader, value);
  MILLRACE_TRY_STATUS(reader.end(what));
  return value;
}

}  // namespace millrace::actors
