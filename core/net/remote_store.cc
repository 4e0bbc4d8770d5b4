#include "millrace/core/net/remote_store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/net/store_frames.h"

namespace millrace::net {
namespace {

Status check_sizes(std::string_view key, std::string_view value) {
  const auto check = [&key](const char* what, std::size_t size, std::size_t most) -> Status {
    if (size <= most) return {};
    return fail(ErrorCode::kInvalidArgument, key_text(key) + " has a " + what + " of " +
                                                 std::to_string(size) + " bytes, where " +
                                                 std::to_string(most) + " is the limit");
  };
  MILLRACE_TRY_STATUS(check("name", key.size(), kMostKeyBytes));
  return check("value", value.size(), kMostValueBytes);
}

}  // namespace

// Kept by the store and by what waits. Thread-safety: thread-safe.
class RemoteStore::Core final : public RefCounted {
 public:
  Core(Ref<Connection> connection, TimerQueue& timers)
      : connection_(std::move(connection)), timers_(timers) {}

  // Makes a call of Promise<T>, and sends its request.
  template <class T>
  Future<T> ask(StoreRequest request, const CallOptions& call = {});
  Status take(StoreAnswer answer);
  void end(const Error& error);
  TimerQueue& timers() { return timers_; }

 private:
  using Completion = std::variant<Promise<std::string>, Promise<void>>;
  struct Call {
    std::string key;
    Completion completion;
  };
  // What a stop or a deadline of a call comes to.
  class Withdrawal final : public RefCounted {
   public:
    Withdrawal(Ref<Core> core, std::uint64_t number) : core_(std::move(core)), number_(number) {}
    void run(detail::WaitEnd end) { core_->withdraw(number_, end); }

   private:
    const Ref<Core> core_;
    const std::uint64_t number_;
  };

  static void fail_call(Completion& completion, const Error& error) {
    std::visit([&error](auto& promise) { promise.set_error(error); }, completion);
  }
  std::optional<Call> remove(std::uint64_t number) {
    MutexLock lock(mutex_);
    auto found = calls_.extract(number);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
  }
  void send(StoreRequest request);
  void withdraw(std::uint64_t number, detail::WaitEnd end);

  const Ref<Connection> connection_;
  TimerQueue& timers_;
  Mutex mutex_;
  std::map<std::uint64_t, Call> calls_ MILLRACE_GUARDED_BY(mutex_);  // that have no answer yet
  std::uint64_t next_ MILLRACE_GUARDED_BY(mutex_) = 1;
  std::optional<Error> end_ MILLRACE_GUARDED_BY(mutex_);
};

template <class T>
Future<T> RemoteStore::Core::ask(StoreRequest request, const CallOptions& call) {
  Promise<T> promise;
  Future<T> result = promise.future();
  {
    MutexLock lock(mutex_);
    if (end_) return *end_;
    request.number = next_++;
    calls_.emplace(request.number, Call{request.key, std::move(promise)});
  }
  const std::uint64_t number = request.number;
  send(std::move(request));
  if (call.stop.stop_possible() || call.deadline != kNoDeadline) {
    detail::limit_wait(
        call, &timers_, Ref<AsyncValue>(result.cell()),
        make_ref<Withdrawal>(Ref<Core>::share(this), number),
        [](RefCounted& target, detail::WaitEnd end) { static_cast<Withdrawal&>(target).run(end); });
  }
  return result;
}

void RemoteStore::Core::send(StoreRequest request) {
  const std::uint64_t number = request.number;
  connection_->send(encode(std::move(request)))
      .then(inline_executor(),
            [self = Ref<Core>::share(this), number](const Result<void>& sent) {
              if (sent) return;
              if (auto call = self->remove(number)) fail_call(call->completion, sent.error());
            })
      .ignore();
}

void RemoteStore::Core::withdraw(std::uint64_t number, detail::WaitEnd end) {
  auto call = remove(number);
  if (!call) return;
  send({.kind = FrameKind::kStoreWithdraw, .number = number});
  if (end == detail::WaitEnd::kDue) {
    return fail_call(call->completion,
                     Error(ErrorCode::kDeadlineExceeded,
                           key_text(call->key) + " was not put before the deadline"));
  }
  fail_call(call->completion,
            detail::wait_error(end, "before " + key_text(call->key) + " was put"));
}

Status RemoteStore::Core::take(StoreAnswer answer) {
  {
    MutexLock lock(mutex_);
    if (answer.number == 0 || answer.number >= next_)
      return fail(ErrorCode::kInvalidArgument, "an answer to what was not asked");
  }
  auto call = remove(answer.number);
  if (!call) return {};  // it was withdrawn meanwhile
  if (const auto* const error = std::get_if<Error>(&answer.what)) {
    fail_call(call->completion, *error);
    return {};
  }
  auto* const value = std::get_if<Bytes>(&answer.what);
  auto* const got = std::get_if<Promise<std::string>>(&call->completion);
  if ((value != nullptr) != (got != nullptr)) {
    const Error error(ErrorCode::kInvalidArgument,
                      "the store answered a put as a get, or a get as a put");
    fail_call(call->completion, error);
    return std::unexpected(error);
  }
  if (got != nullptr) {
    got->set(text_of(*value));
  } else {
    std::get<Promise<void>>(call->completion).set_value();
  }
  return {};
}

void RemoteStore::Core::end(const Error& error) {
  std::map<std::uint64_t, Call> calls;
  {
    MutexLock lock(mutex_);
    if (end_) return;
    end_ = error;
    calls.swap(calls_);
  }
  for (auto& [number, call] : calls) fail_call(call.completion, error);
}

RemoteStore::RemoteStore(Ref<Connection> connection, TimerQueue& timers)
    : core_(make_ref<Core>(std::move(connection), timers)) {}

RemoteStore::~RemoteStore() {
  core_->end(Error(ErrorCode::kAborted, "the store of the job was destroyed"));
}

Future<std::string> RemoteStore::get(std::string_view key, CallOptions call) {
  MILLRACE_TRY_STATUS(check_in_time(call, core_->timers().clock(), "the get of " + key_text(key)));
  MILLRACE_TRY_STATUS(check_sizes(key, {}));
  return core_->ask<std::string>({.kind = FrameKind::kStoreGet, .key = std::string(key)}, call);
}

Future<std::string> RemoteStore::try_get(std::string_view key) {
  MILLRACE_TRY_STATUS(check_sizes(key, {}));
  return core_->ask<std::string>({.kind = FrameKind::kStoreTryGet, .key = std::string(key)});
}

Future<void> RemoteStore::put(std::string_view key, std::string_view value) {
  MILLRACE_TRY_STATUS(check_sizes(key, value));
  return core_->ask<void>(
      {.kind = FrameKind::kStorePut, .key = std::string(key), .value = bytes_of(value)});
}

Status RemoteStore::take(Frame frame) {
  MILLRACE_TRY(StoreAnswer answer, decode_store_answer(std::move(frame)));
  return core_->take(std::move(answer));
}

void RemoteStore::end(const Error& error) { core_->end(error); }

}  // namespace millrace::net
