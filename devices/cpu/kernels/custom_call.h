// custom_call: what a program asks for by name and StableHLO leaves open. Users of the CPU device
// register a handler per name; programs that are compiled afterwards find it:
//
//   register_custom_call("my.scale", [](const CustomCall& call) -> Status {
//     const double* by = find_attribute<double>(call.attributes, "by");
//     if (by == nullptr) return fail(ErrorCode::kInvalidArgument, "the attribute by is missing");
//     const auto* from = reinterpret_cast<const float*>(call.operands[0].data);
//     auto* to = reinterpret_cast<float*>(call.results[0].data);
//     for (std::int64_t i = 0; i < call.results[0].shape.elements(); ++i)
//       to[i] = from[i] * static_cast<float>(*by);
//     return {};
//   });
//
// runs jax.ffi.ffi_call("my.scale", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, by=2.0). Read next:
// kernels/kernel.h, which runs it as one step of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// What a call says of itself beside its operands: the constants of its backend_config, typed, as
// jax.ffi.ffi_call("name", ...)(x, eps=1e-5, axis=1) writes them.
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

// The value of that name if it is a T, one of CallValue's; else nullptr, so that a handler finds
// with one question what is missing: find_attribute<double>(call.attributes, "eps").
template <class T>
const T* find_attribute(std::span<const CallAttribute> attributes, std::string_view name) {
  for (const CallAttribute& a : attributes) {
    if (a.name == name) return std::get_if<T>(&a.value);
  }
  return nullptr;
}

// Dense, row-major arrays of the device: an operand of a call, and a result that is to be written.
struct ConstArray {
  Shape shape = {};
  const std::byte* data = nullptr;
};
struct MutableArray {
  Shape shape = {};
  std::byte* data = nullptr;
};

struct CustomCall {
  std::string_view target = {};          // call_target_name
  std::string_view backend_config = {};  // the attribute if it is a string, else ""
  std::span<const ConstArray> operands = {};
  std::span<const MutableArray> results = {};
  // The entries of mhlo.backend_config, or of backend_config where it is a dictionary.
  std::span<const CallAttribute> attributes = {};
};

// Runs on a thread of the device, perhaps several at once for several executions; writes every
// result. An error fails the execution. It keeps no pointer of the call.
using CustomCallHandler = std::function<Status(const CustomCall&)>;

// For this process. kAlreadyExists if the name has one. Thread-safety: thread-safe.
Status register_custom_call(std::string target, CustomCallHandler handler);
// nullptr if there is none.
std::shared_ptr<const CustomCallHandler> find_custom_call(std::string_view target);

}  // namespace millrace::devices::cpu
