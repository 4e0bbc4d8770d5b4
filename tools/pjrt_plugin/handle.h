// Handle: the first word of what callers hold pointers to, by which a null, foreign or destroyed
// one is noticed where that costs nothing.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/pjrt/abi/implement.h"

namespace millrace::pjrt_plugin {

namespace abi = devices::pjrt::abi;

// Base of the objects of type T, which are not copied. Thread-safety: thread-safe.
template <class T>
class Handle {
 public:
  // An atomic store stays where that of a plain member would be left out.
  ~Handle() { mark_.store(nullptr, std::memory_order_relaxed); }
  bool is_live() const { return mark_.load(std::memory_order_relaxed) == &kMark; }

 private:
  friend T;
  Handle() = default;

  static inline const char kMark = 0;
  std::atomic<const void*> mark_{&kMark};
};

[[gnu::cold]] std::unexpected<Error> bad_handle(std::string_view call, std::string_view argument,
                                                bool is_null);

// The object that an argument of a call points to. kInvalidArgument, with the call and the
// argument, for null, for what is no such object of this plugin, and for one that was destroyed and
// whose memory is not used again yet.
template <class A, class T>
Result<std::reference_wrapper<T>> given(const A& /*args*/, T* handle, std::string_view argument) {
  if (handle != nullptr && handle->is_live()) [[likely]]
    return std::ref(*handle);
  constexpr bool kHasSlot = requires { abi::Call<A>::kSlot; };
  std::string_view call = "a function of an extension";
  if constexpr (kHasSlot) call = to_string(abi::Call<A>::kSlot);
  return bad_handle(call, argument, handle == nullptr);
}

// MILLRACE_GIVEN(client): the object behind a.client, as a reference, or the error.
#define MILLRACE_GIVEN(name, field)                                \
  auto name##_given = given(a, a.field, #field);                   \
  if (!name##_given) return std::unexpected(name##_given.error()); \
  [[maybe_unused]] auto& name = name##_given->get()

}  // namespace millrace::pjrt_plugin
