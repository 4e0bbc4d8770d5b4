// RemoteClass: what other processes may send to actors of a class, without its type. The class says
// it by a list of messages:
//
//   class Store final : public actors::Actor {
//    public:
//     using Remote = actors::RemoteMessages<Put, Get>;
//
// Messages that are cast say in themselves how the answers of two ranks become one:
//
//   struct Count {
//     static void reduce(std::uint64_t& into, std::uint64_t&& next) { into += next; }
//   };
//
// Read next: server.h, which delivers by it.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>

#include "millrace/actors/actor_ref.h"
#include "millrace/actors/remote/message_schema.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/net/frame.h"

namespace millrace::actors {

template <class... M>
struct RemoteMessages {
  static constexpr std::size_t kCount = sizeof...(M);
  // The place of a message in the list; kCount: it is not in it.
  template <class Message>
  static constexpr std::size_t place() {
    std::size_t place = 0;
    bool found = false;
    ((found = found || std::is_same_v<M, Message>, place += found ? 0 : 1), ...);
    return place;
  }
};

template <class A, class M>
concept HandlesRemotely = Handles<A, M> && (A::Remote::template place<M>() < A::Remote::kCount);

namespace detail {
template <class M, class R>
inline constexpr bool kReduces = std::is_void_v<R>;
template <class M, class R>
  requires requires(R& into, R&& next) { M::reduce(into, std::move(next)); }
inline constexpr bool kReduces<M, R> = true;
}  // namespace detail

// Its answers can be reduced: there are none, or the message says how.
template <class A, class M>
concept Casts = HandlesRemotely<A, M> && detail::kReduces<M, AnswerTo<A, M>>;

// One message on its way into an actor here, and the cell of its answer; empty for a tell.
struct OpenedMessage {
  std::unique_ptr<Envelope> envelope;
  Ref<AsyncValue> answer;
};

// Thread-safety: immutable.
struct RemoteMessage {
  const MessageSchema& schema;
  Result<OpenedMessage> (*open)(std::span<const std::byte> bytes, bool asked);
  // The bytes of a complete answer, or its error.
  Result<net::Bytes> (*encode)(AsyncValue& answer);
  // Ends an ask that is not wanted any more; loses quietly to its answer.
  void (*cancel)(AsyncValue& answer, const Error& why);
  // One answer of many, at least one, in their order; nullptr: it is not cast.
  Result<net::Bytes> (*reduce)(std::span<const net::Bytes> answers);
};

// Thread-safety: immutable.
struct RemoteClass {
  std::string_view type;
  std::span<const RemoteMessage> messages;

  const RemoteMessage* find(std::uint64_t fingerprint) const;
  const RemoteMessage* find_name(std::string_view name) const;
};

// The classes whose actors others may reach. Thread-safety: thread-safe.
class RemoteClasses {
 public:
  void add(std::type_index type, const RemoteClass& served);
  const RemoteClass* find(std::type_index type) const;

 private:
  mutable Mutex mutex_;
  std::map<std::type_index, const RemoteClass*> classes_ MILLRACE_GUARDED_BY(mutex_);
};

namespace detail {

// What a reduction throws is the error of the cast.
Result<net::Bytes> caught_reduction(const std::string& name);

template <class M, class R>
Result<net::Bytes> reduce_answers(std::span<const net::Bytes> answers) {
  if constexpr (std::is_void_v<R>) {
    return net::Bytes{};
  } else {
    const std::string what = "an answer to " + std::string(type_name<M>());
    MILLRACE_TRY(R reduced, from_wire<R>(answers[0], what));
    try {
      for (const net::Bytes& bytes : answers.subspan(1)) {
        MILLRACE_TRY(R next, from_wire<R>(bytes, what));
        M::reduce(reduced, std::move(next));
      }
    } catch (...) {
      return caught_reduction(what);
    }
    return to_wire(reduced);
  }
}

template <class A, class M>
struct RemoteMessageOf {
  using R = AnswerTo<A, M>;

  static Result<OpenedMessage> open(std::span<const std::byte> bytes, bool asked) {
    MILLRACE_TRY(M message, from_wire<M>(bytes, type_name<M>()));
    Ref<Cell<R>> answer;
    if (asked) answer = make_ref<Cell<R>>();
    auto envelope = std::make_unique<MessageEnvelope<A, M>>(std::move(message), answer);
    return OpenedMessage{std::move(envelope), std::move(answer)};
  }
  static Result<net::Bytes> encode(AsyncValue& answer) {
    const Result<R>& result = static_cast<Cell<R>&>(answer).result();
    if (!result) return std::unexpected(result.error());
    if constexpr (std::is_void_v<R>) {
      return net::Bytes{};
    } else {
      return to_wire(*result);
    }
  }
  static void cancel(AsyncValue& answer, const Error& why) {
    static_cast<Cell<R>&>(answer).try_set(std::unexpected(why));
  }
};

template <class A, class M>
RemoteMessage remote_message() {
  static_assert(Handles<A, M>, "the actor has no handler `on` for a message of its list");
  using Of = RemoteMessageOf<A, M>;
  using R = AnswerTo<A, M>;
  RemoteMessage message{message_schema<M, R>(), &Of::open, &Of::encode, &Of::cancel, nullptr};
  if constexpr (kReduces<M, R>) message.reduce = &reduce_answers<M, R>;
  return message;
}

template <class A, class... M>
const RemoteClass& remote_class(RemoteMessages<M...> /*of A*/) {
  static const std::array<RemoteMessage, sizeof...(M)> messages{remote_message<A, M>()...};
  static const RemoteClass made{wire_name<A>(), messages};
  return made;
}

}  // namespace detail

template <class A>
const RemoteClass& remote_class() {
  return detail::remote_class<A>(typename A::Remote());
}

}  // namespace millrace::actors
