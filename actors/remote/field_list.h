// FieldList: what a struct says of itself so that it can travel to another process: the names of
// its members, in order. A message, an answer, or a struct inside of them has one:
//
//   struct Put {
//     std::string key = {};
//     std::vector<double> values = {};
//     static constexpr auto fields() {
//       return actors::field_list("key", &Put::key, "values", &Put::values);
//     }
//   };
//
// A struct without members needs none. Read next: wire_type.h, which types members can have.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace millrace::actors {
namespace detail {

template <class C, class T>
struct Field {
  std::string_view name;
  T C::* member;
};

template <class Named, std::size_t... I>
constexpr auto pair_up(const Named& named, std::index_sequence<I...> /*pairs*/) {
  return std::make_tuple(
      Field{std::string_view(std::get<2 * I>(named)), std::get<2 * I + 1>(named)}...);
}

}  // namespace detail

// A name and a pointer to the member, for each member in turn.
template <class... Named>
constexpr auto field_list(const Named&... named) {
  static_assert(sizeof...(Named) % 2 == 0, "a field is a name and a pointer to the member");
  return detail::pair_up(std::tuple<const Named&...>(named...),
                         std::make_index_sequence<sizeof...(Named) / 2>());
}

template <class T>
concept ListsFields = std::is_class_v<T> && (std::is_empty_v<T> || requires { T::fields(); });

namespace detail {

// Calls f(name, member) for each field.
template <ListsFields T, class F>
void for_each_field(F&& f) {
  if constexpr (requires { T::fields(); }) {
    std::apply([&](const auto&... field) { (f(field.name, field.member), ...); }, T::fields());
  }
}

}  // namespace detail
}  // namespace millrace::actors
