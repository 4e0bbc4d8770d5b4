// The extensions of a table, by their types and names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/tools/conform/table.h"

namespace millrace::conform {

inline constexpr std::size_t kMostExtensions = 256;  // a longer chain is a loop

const abi::Extension* first_extension(const Table& table);
// Null where there is none.
const abi::Extension* find_extension(const Table& table, int type);
// "Layouts", or "99" where it is not known.
std::string extension_name(int type);

template <class E>
inline constexpr int kTypeOf = -1;
template <>
inline constexpr int kTypeOf<abi::LayoutsExtension> = abi::kLayoutsExtension;
template <>
inline constexpr int kTypeOf<abi::AbiVersionExtension> = abi::kAbiVersionExtension;
template <>
inline constexpr int kTypeOf<abi::StreamExtension> = abi::kStreamExtension;

// Calls a function of an extension, which is called `name`. Its errors are the plugin's; it lacks
// what an extension lacks that is absent or ends before the function.
template <class E, class A>
Status call(const Table& table, abi::Error* (*E::*function)(A*), A& args, std::string_view name) {
  constexpr int kType = kTypeOf<E>;
  const auto* const e = static_cast<const E*>(find_extension(table, kType));
  if (e == nullptr) return lacks("there is no extension ", extension_name(kType));
  const auto begin = reinterpret_cast<std::uintptr_t>(e);
  const auto end = reinterpret_cast<std::uintptr_t>(&(e->*function)) + sizeof(e->*function);
  if (e->struct_size < end - begin || e->*function == nullptr) {
    return lacks("the extension ", extension_name(kType), " of ", e->struct_size,
                 " bytes has no function ", name);
  }
  args.struct_size = sizeof(A);
  abi::Error* const error = (e->*function)(&args);
  if (error == nullptr) return {};
  return std::unexpected(table.take_error(error, name));
}

}  // namespace millrace::conform
