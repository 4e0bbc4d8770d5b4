// How a plugin fills its table: each function says which field of its structure is the last that it
// cannot do without. Callers may be older than this description, or newer:
//  - PA-1 a structure that ends before that field is refused, by the name of the call and the
//  field.
//  - PA-2 what lies between that field and the end of what the function knows is zero to it, and is
//    not written.
//  - PA-3 nothing is read or written behind the end that the caller states.
// Read next: api.h, the table; tools/pjrt_plugin, which uses this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::devices::pjrt::abi {

// What the first word of a plugin's errors and memories points to: facts of the ABI, as of 0.114.
struct ErrorTable {
  std::size_t struct_size;
  std::size_t instance_size;
  void* extension_start;
  void (*destroy)(Error* error);
  void (*message)(const Error* error, const char** message, std::size_t* message_size);
  int (*get_code)(const Error* error);
  void (*for_each_payload)(const Error* error, void* visitor, void* user_arg);
};
struct MemoryTable {
  std::size_t struct_size;
  void* extension_start;
  std::size_t instance_size;
  void* (*get_user_data)(Memory* memory, const void* key);
  void (*set_user_data)(Memory* memory, const void* key, void* data, void (*destructor)(void*));
};
static_assert(sizeof(ErrorTable) == 56 && sizeof(MemoryTable) == 40);

// A field's name as an argument of a template.
template <std::size_t kSize>
struct FieldName {
  constexpr FieldName(const char (&name)[kSize]) {  // NOLINT: a literal becomes one
    std::copy_n(name, kSize, text);
  }
  char text[kSize];
};

template <auto kField>
struct StructureOf;
template <class A, class T, T A::* kField>
struct StructureOf<kField> {
  using type = A;
};

// The bytes of a structure up to the end of that field.
template <class A, class T>
std::size_t end_of(T A::* field) {
  static const A whole{};
  const auto* const end = reinterpret_cast<const char*>(&(whole.*field) + 1);
  return static_cast<std::size_t>(end - reinterpret_cast<const char*>(&whole));
}

// Calls function with the whole structure: the caller's own where it is as long as kSize. kLast:
// the last field that it needs, and its name. kRefuse(call, given, needed, name): the error of
// PA-1.
template <std::size_t kSize, auto kLast, FieldName kName, auto kRefuse, class A, class F>
Error* received(std::string_view call, A* args, F function) {
  const std::size_t given = args == nullptr ? 0 : args->struct_size;
  if (given >= kSize) return function(*args);
  const std::size_t needed = end_of(kLast);
  if (given < needed) return kRefuse(call, given, needed, kName.text);
  A whole{};
  std::memcpy(static_cast<void*>(&whole), args, given);
  Error* const error = function(whole);
  std::memcpy(static_cast<void*>(args), &whole, given);
  return error;
}

// Puts a lambda without captures, which takes the whole structure, into its slot.
template <auto kLast, FieldName kName, auto kRefuse, class F>
void implement(Api& api, F /*function*/) {
  using A = typename StructureOf<kLast>::type;
  api.set([](A* args) -> Error* {
    return received<Call<A>::kSize, kLast, kName, kRefuse>(to_string(Call<A>::kSlot), args, F());
  });
}

// The same for a function that takes a pointer and needs all of its structure; it may give nothing.
template <auto kRefuse, class F, class R, class A>
void implement_whole(Api& api, F /*function*/, R (*)(A*)) {
  api.set([](A* args) -> Error* {
    const std::size_t given = args == nullptr ? 0 : args->struct_size;
    if (given < Call<A>::kSize)
      return kRefuse(to_string(Call<A>::kSlot), given, Call<A>::kSize, "its end");
    if constexpr (!std::is_void_v<R>) return F()(args);
    F()(args);
    return nullptr;
  });
}

// The same as a function of an extension, which has that name.
template <auto kLast, FieldName kName, FieldName kCall, auto kRefuse, class F>
Function<typename StructureOf<kLast>::type> extension_function(F /*function*/) {
  using A = typename StructureOf<kLast>::type;
  return [](A* args) -> Error* {
    return received<sizeof(A), kLast, kName, kRefuse>(kCall.text, args, F());
  };
}

// A structure that another one points to, as long as its caller made it, and zero behind that.
template <class S>
S whole_of(const S& given) {
  S whole{};
  std::memcpy(static_cast<void*>(&whole), &given, std::min(given.struct_size, sizeof(S)));
  return whole;
}

}  // namespace millrace::devices::pjrt::abi
