#include "millrace/core/async/key_value_store.h"

#include <utility>

#include "millrace/core/async/combinators.h"

namespace millrace {

namespace {

std::string text_of(std::string_view key) { return "the key '" + std::string(key) + "'"; }

}  // namespace

// A get that waits. Completed by the put, by its stop or deadline, or by the store's end.
class LocalKeyValueStore::Wait final : public Cell<std::string> {
 public:
  explicit Wait(std::string_view key) : key_(key) {}
  void give_up(detail::WaitEnd end) {
    const std::string what = text_of(key_);
    try_set(std::unexpected(
        end == detail::WaitEnd::kDue
            ? Error(ErrorCode::kDeadlineExceeded, what + " was not put before the deadline")
            : detail::wait_error(end, "before " + what + " was put")));
  }

 private:
  const std::string key_;
};

LocalKeyValueStore::LocalKeyValueStore(TimerQueue& timers) : timers_(timers) {}

LocalKeyValueStore::~LocalKeyValueStore() {
  Entries entries;
  {
    MutexLock lock(mutex_);
    entries.swap(entries_);
  }
  for (const auto& [key, entry] : entries) {
    for (const Ref<Wait>& wait : entry.waits) {
      wait->try_set(
          fail(ErrorCode::kAborted, "the store was destroyed before " + text_of(key) + " was put"));
    }
  }
}

Future<std::string> LocalKeyValueStore::get(std::string_view key, CallOptions call) {
  MILLRACE_TRY_STATUS(check_in_time(call, timers_.clock(), "the get of " + text_of(key)));
  auto wait = make_ref<Wait>(key);
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[std::string(key)];
    if (entry.value) return Result<std::string>(*entry.value);
    // Those that have ended early leave before the list grows.
    if (entry.waits.size() == entry.waits.capacity())
      std::erase_if(entry.waits, [](const Ref<Wait>& other) { return other->complete(); });
    entry.waits.push_back(wait);
  }
  detail::limit_wait(
      call, &timers_, Ref<AsyncValue>(wait), Ref<RefCounted>(wait),
      [](RefCounted& target, detail::WaitEnd end) { static_cast<Wait&>(target).give_up(end); });
  return Future<std::string>(Ref<Cell<std::string>>(std::move(wait)));
}

Future<std::string> LocalKeyValueStore::try_get(std::string_view key) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.value)
    return Result<std::string>(*found->second.value);
  return fail(ErrorCode::kNotFound, text_of(key) + " was not put");
}

Future<void> LocalKeyValueStore::put(std::string_view key, std::string_view value) {
  std::vector<Ref<Wait>> waits;
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[std::string(key)];
    if (entry.value && *entry.value != value) {
      return fail(ErrorCode::kAlreadyExists, text_of(key) + " has another value already");
    }
    entry.value = value;
    waits.swap(entry.waits);
  }
  for (const Ref<Wait>& wait : waits) wait->try_set(std::string(value));
  return make_ready();
}

}  // namespace millrace
