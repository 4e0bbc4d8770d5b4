// Errors as PJRT has them: our code, which has PJRT's values, and our text. Read next: table.h.
#pragma once

#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

#include "millrace/core/async/future.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/pjrt/abi/implement.h"

namespace millrace::pjrt_plugin {

namespace abi = devices::pjrt::abi;

// The caller's, who destroys it.
abi::Error* make_error(const Error& error);
// For a caller's structure that ends too early (PA-1).
abi::Error* refuse(std::string_view call, std::size_t given, std::size_t needed, const char* field);
// An error that a caller brings: its code and text.
Error from_caller(int code, const char* message, std::size_t size);

void add_errors(abi::Api& api);

// What a function of the table answers: nullptr where it went well. Nothing is thrown through C.
template <class F>
abi::Error* answer(F&& function) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      function();
    } else {
      const Status status = function();
      if (!status) return make_error(status.error());
    }
    return nullptr;
  } catch (...) {  // std::bad_alloc
    return make_error(millrace::detail::exception_to_error(std::current_exception()));
  }
}

// Puts a lambda without captures into its slot, which takes the structure and gives a Status or
// nothing. kLast: the last field that it needs, and its name.
template <auto kLast, abi::FieldName kName, class F>
void add(abi::Api& api, F /*function*/) {
  abi::implement<kLast, kName, &refuse>(
      api, [](auto& args) -> abi::Error* { return answer([&args] { return F()(args); }); });
}

// The same as a function of an extension, with its name.
template <auto kLast, abi::FieldName kName, abi::FieldName kCall, class F>
auto extension_function(F /*function*/) {
  return abi::extension_function<kLast, kName, kCall, &refuse>(
      [](auto& args) -> abi::Error* { return answer([&args] { return F()(args); }); });
}

}  // namespace millrace::pjrt_plugin
