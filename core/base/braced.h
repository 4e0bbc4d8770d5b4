// What braces make inside an expression that is awaited: `co_await device.put({.data = x, ...})`.
// g++ 12 gets two things wrong there, and our parameters are made of these so that neither meets a
// user. An array behind braces does not compile ("array used as initializer"): ListOf is made of
// them by an ordinary constructor. An aggregate is copied bit by bit and both copies are destroyed:
// a member of it that owns something is Braced.
#pragma once

#include <concepts>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "millrace/core/base/pool.h"

namespace millrace {

// A T, as a member of an aggregate. A copy that no constructor has made knows itself by its address
// and owns nothing: the original lives as long as the expression. So it is copied where it should
// be moved; to move it as a T, std::move(options.stop), is for code that knows that it is no such
// copy. Thread-safety: as T's.
template <class T>
class Braced : public T {
 public:
  using T::T;
  Braced() = default;
  Braced(T value) noexcept : T(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Braced(const Braced& other) : T(static_cast<const T&>(other)) {}
  Braced(Braced&& other) noexcept
      : T(other.self_ == &other ? T(static_cast<T&&>(other)) : T(static_cast<const T&>(other))) {}
  Braced& operator=(const Braced& other) {  // NOLINT(bugprone-unhandled-self-assignment): T does
    T::operator=(static_cast<const T&>(other));
    return *this;
  }
  Braced& operator=(Braced&& other) noexcept {
    T::operator=(static_cast<T&&>(Braced(std::move(other))));
    return *this;
  }
  template <class U>
    requires(std::is_assignable_v<T&, U> && !std::is_convertible_v<U, Braced>)
  Braced& operator=(U&& value) {  // a string from a view of one, ...
    T::operator=(std::forward<U>(value));
    return *this;
  }
  ~Braced() {
    if (self_ != this) ::new (static_cast<void*>(static_cast<T*>(this))) T();
  }

 private:
  const void* self_ = this;
};

namespace detail {
template <class Item, class T>
concept ItemOf = std::convertible_to<const Item&, T> && requires(const Item& item) { T{item}; };
}  // namespace detail

// A list as a call takes it: what stands in braces, or a copy of a range (a vector, an array, a
// span). Items are T alone: braces narrow no number. Thread-safety: external.
template <class T>
class ListOf : public PooledVector<T> {
 public:
  ListOf() = default;
  template <class... Items>
    requires(sizeof...(Items) > 0 && (detail::ItemOf<Items, T> && ...))
  ListOf(const Items&... items) {  // NOLINT(google-explicit-constructor)
    this->reserve(sizeof...(Items));
    (this->emplace_back(items), ...);
  }
  template <class Range>
    requires(std::convertible_to<const Range&, std::span<const T>> && !std::same_as<Range, ListOf>)
  ListOf(const Range& range) {  // NOLINT(google-explicit-constructor)
    const std::span<const T> items(range);
    this->assign(items.begin(), items.end());
  }
};

}  // namespace millrace
