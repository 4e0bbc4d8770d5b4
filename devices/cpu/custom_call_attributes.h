// What a custom call says of itself beside its operands: the constants of its backend_config,
// typed, as jax.ffi.ffi_call("name", ...)(x, eps=1e-5, axis=1) writes them. Read next:
// custom_call.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

struct CallAttribute;
using CallAttributes = std::vector<CallAttribute>;

// A number, flag, text, array of one of these or dictionary. Integers are in two's complement of 64
// bits (ui64 beyond 2^63 by their bits); a flag in an array is a byte 0 or 1; the elements of a
// dense array of several dimensions are in row-major order.
using CallValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::uint8_t>,
                               std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>, CallAttributes>;

// Value type. Thread-safety: external.
struct CallAttribute {
  std::string name;
  CallValue value;
  DType type = DType::kInvalid;  // of its numbers and flags, as the program has them: kF32, kI1
};

// The value of that name if it is a T, one of CallValue's; else nullptr, so that a handler tells
// with one question what is missing: find_attribute<double>(call.attributes, "eps").
template <class T>
const T* find_attribute(std::span<const CallAttribute> attributes, std::string_view name) {
  for (const CallAttribute& a : attributes) {
    if (a.name == name) return std::get_if<T>(&a.value);
  }
  return nullptr;
}

}  // namespace millrace::devices::cpu
