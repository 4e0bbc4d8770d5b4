// The typed side of graph_core.h: it stores values of a type, and calls a node's function with the
// values of its inputs. Internal; read graph.h.
#pragma once

#include <algorithm>
#include <array>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/graph_core.h"

namespace millrace {

// The values of a list of slots, for a node of GraphBuilder::node_list. Valid during the call.
template <class A>
class SlotValues {
 public:
  SlotValues(const std::byte* payloads, const std::vector<std::uint32_t>& offsets)
      : payloads_(payloads), offsets_(&offsets) {}
  std::size_t size() const { return offsets_->size(); }
  const A& operator[](std::size_t i) const {
    return *std::launder(reinterpret_cast<const A*>(payloads_ + (*offsets_)[i]));
  }

 private:
  const std::byte* payloads_;
  const std::vector<std::uint32_t>* offsets_;
};

namespace detail {

inline SlotStatus put_error(void* payload, Error error) {
  new (payload) Error(std::move(error));
  return SlotStatus::kError;
}

template <class R>
SlotStatus put_result(void* payload, Result<R> result) {
  if (!result) return put_error(payload, std::move(result).error());
  if constexpr (!std::is_void_v<R>) new (payload) R(*std::move(result));
  return SlotStatus::kValue;
}

template <class T>
struct SlotTypeOf {
  using Stored = std::conditional_t<std::is_void_v<T>, Error, T>;

  static void destroy([[maybe_unused]] void* payload) {
    if constexpr (!std::is_void_v<T>) static_cast<T*>(payload)->~T();
  }
  static SlotStatus take(AsyncValue& cell, void* payload) {
    try {
      return put_result<T>(payload, static_cast<Cell<T>&>(cell).take());
    } catch (...) {
      return put_error(payload, exception_to_error(std::current_exception()));
    }
  }
  static AsyncValue* make_output() { return new Cell<T>; }
  static void set_output(AsyncValue& cell, void* payload, bool move) {
    static_cast<Cell<T>&>(cell).try_set(output_value(payload, move));
  }
  static Result<T> output_value([[maybe_unused]] void* payload, [[maybe_unused]] bool move) {
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      T& value = *static_cast<T*>(payload);
      try {
        if constexpr (std::is_copy_constructible_v<T>) {
          if (!move) return Result<T>(std::as_const(value));
        }
        return Result<T>(std::move(value));
      } catch (...) {
        return std::unexpected(exception_to_error(std::current_exception()));
      }
    }
  }
  static void set_output_error(AsyncValue& cell, const Error& error) {
    static_cast<Cell<T>&>(cell).try_set(std::unexpected(error));
  }
};

template <class T>
inline constexpr SlotType kSlotType = {
    .size = std::max<std::uint32_t>(sizeof(typename SlotTypeOf<T>::Stored), sizeof(Error)),
    .align = std::max<std::uint32_t>(alignof(typename SlotTypeOf<T>::Stored), alignof(Error)),
    .trivial = std::is_void_v<T> || std::is_trivially_destructible_v<T>,
    .copyable = std::is_void_v<T> || std::is_copy_constructible_v<T>,
    .destroy = &SlotTypeOf<T>::destroy,
    .take = &SlotTypeOf<T>::take,
    .make_output = &SlotTypeOf<T>::make_output,
    .set_output = &SlotTypeOf<T>::set_output,
    .set_output_error = &SlotTypeOf<T>::set_output_error,
};

// A void input only orders: the function does not see it.
template <class A>
auto argument([[maybe_unused]] const std::byte* payloads, [[maybe_unused]] std::uint32_t offset) {
  if constexpr (std::is_void_v<A>) {
    return std::tuple<>();
  } else {
    return std::tuple<const A&>(*std::launder(reinterpret_cast<const A*>(payloads + offset)));
  }
}

// Calls call() and stores its result, an R, in the payload of the node.
template <class R, class Call>
SlotStatus run_node(const Call& call, void* payload, Ref<AsyncValue>* pending) {
  using T = typename Unwrapped<R>::type;
  try {
    if constexpr (kIsFuture<R>) {
      R future = call();
      if (!future.valid()) {
        return put_error(payload, Error(ErrorCode::kInternal, "a node returned an empty future"));
      }
      if (future.ready()) return put_result<T>(payload, future.take());
      *pending = Ref<AsyncValue>(future.cell());
      return SlotStatus::kEmpty;
    } else if constexpr (kIsResult<R>) {
      return put_result<T>(payload, call());
    } else if constexpr (std::is_void_v<R>) {
      call();
      return SlotStatus::kValue;
    } else {
      new (payload) R(call());
      return SlotStatus::kValue;
    }
  } catch (...) {
    return put_error(payload, exception_to_error(std::current_exception()));
  }
}

// Whether a function of a node wants the CallOptions of its run before the values of its inputs.
template <class F, class Values>
struct TakesCall;
template <class F, class... Values>
struct TakesCall<F, std::tuple<Values...>> {
  static consteval bool ask() {
    if constexpr (std::is_invocable_v<const F&, Values...>) {
      return false;
    } else {
      static_assert(std::is_invocable_v<const F&, const CallOptions&, Values...>,
                    "a node's function takes the values of its inputs, after the run's "
                    "`const CallOptions&` if it wants them");
      return true;
    }
  }
};

template <class F, class... Values>
decltype(auto) call_node(const F& f, [[maybe_unused]] const CallOptions& call,
                         std::tuple<Values...> values) {
  if constexpr (TakesCall<F, std::tuple<Values...>>::ask()) {
    return std::apply(f, std::tuple_cat(std::tuple<const CallOptions&>(call), std::move(values)));
  } else {
    return std::apply(f, std::move(values));
  }
}

// The inputs of a node, as the values that its function takes: each of a type of its own, or a list
// of one type.
template <class... As>
struct FixedInputs {
  std::array<std::uint32_t, sizeof...(As)> offsets;
  auto values([[maybe_unused]] const std::byte* payloads) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple_cat(argument<As>(payloads, offsets[I])...);
    }(std::index_sequence_for<As...>());
  }
};
template <class A>
struct ListInputs {
  std::vector<std::uint32_t> offsets;
  auto values(const std::byte* payloads) const {
    return std::tuple<const SlotValues<A>>(SlotValues<A>(payloads, offsets));
  }
};

// The closure of a node. Several runs may call it at once: f is const.
template <class F, class Inputs>
struct NodeBody {
  // By value: a reference that f returns is copied.
  using R = std::remove_cvref_t<decltype(call_node(std::declval<const F&>(),
                                                   std::declval<const CallOptions&>(),
                                                   std::declval<const Inputs&>().values(nullptr)))>;

  F f;
  Inputs inputs;

  static SlotStatus run(const void* self, const CallOptions& call, std::byte* payloads,
                        std::uint32_t result, Ref<AsyncValue>* pending) {
    const auto& body = *static_cast<const NodeBody*>(self);
    return run_node<R>([&]() -> R { return call_node(body.f, call, body.inputs.values(payloads)); },
                       payloads + result, pending);
  }
};

}  // namespace detail
}  // namespace millrace
