// message: the words of an error from its parts. The verifier and the specialiser report with it
// what they found and what they expected.
#pragma once

#include <concepts>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/op.h"

namespace millrace::devices::stablehlo::ir {

// "2x?x3" or "scalar".
inline std::string dims_text(Ints dims) {
  std::string out = dims.empty() ? "scalar" : "";
  for (const std::int64_t dim : dims) {
    if (!out.empty()) out += 'x';
    append_extent(out, dim);
  }
  return out;
}

template <class T>
void append_part(std::string& out, const T& part) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out += std::string_view(part);
  } else if constexpr (std::is_arithmetic_v<T>) {
    out += std::to_string(part);
  } else if constexpr (std::is_convertible_v<const T&, Ints>) {
    out += dims_text(part);
  } else if constexpr (std::same_as<T, DType>) {
    out += to_string(part);
  } else {
    out += part.to_string();
  }
}

// Text, numbers, element types, types, and dimensions, in a row.
template <class... Parts>
std::string message(const Parts&... parts) {
  std::string out;
  (append_part(out, parts), ...);
  return out;
}

// The operation that an error is about, and the place in our sources that makes the error.
struct About {
  About(const Op& op,  // NOLINT(google-explicit-constructor)
        std::source_location where = std::source_location::current())
      : op(op), where(where) {}
  const Op& op;
  std::source_location where;
};

// "12:5: stablehlo.add: " and the parts, as kInvalidArgument.
template <class... Parts>
std::unexpected<Error> invalid(const About& about, const Parts&... parts) {
  return fail(ErrorCode::kInvalidArgument, message(about.op.where(), ": ", parts...), about.where);
}
// The same as kUnimplemented.
template <class... Parts>
std::unexpected<Error> unimplemented(const About& about, const Parts&... parts) {
  return fail(ErrorCode::kUnimplemented, message(about.op.where(), ": ", parts...), about.where);
}

}  // namespace millrace::devices::stablehlo::ir
