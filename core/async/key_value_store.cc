#include "millrace/core/async/key_value_store.h"

#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/executor.h"

namespace millrace {

Future<std::string> LocalKeyValueStore::get(std::string_view key, CallOptions call) {
  Future<std::string> there;
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[std::string(key)];
    if (entry.value) return Result<std::string>(*entry.value);
    entry.waiting.emplace_back();
    there = entry.waiting.back().future();
  }
  return with_options(there, call, timers_)
      .then(inline_executor(),
            [key = std::string(key)](Result<std::string> got) -> Result<std::string> {
              if (got || got.error().code() != ErrorCode::kDeadlineExceeded) return got;
              return fail(ErrorCode::kDeadlineExceeded,
                          "the key '" + key + "' was not put before the deadline");
            });
}

Future<std::string> LocalKeyValueStore::try_get(std::string_view key) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.value)
    return Result<std::string>(*found->second.value);
  return fail(ErrorCode::kNotFound, "the key '" + std::string(key) + "' was not put");
}

Future<void> LocalKeyValueStore::put(std::string_view key, std::string_view value) {
  std::vector<Promise<std::string>> waiting;
  {
    MutexLock lock(mutex_);
    Entry& entry = entries_[std::string(key)];
    if (entry.value && *entry.value != value) {
      return fail(ErrorCode::kAlreadyExists,
                  "the key '" + std::string(key) + "' has another value already");
    }
    entry.value = value;
    waiting.swap(entry.waiting);
  }
  for (Promise<std::string>& promise : waiting) promise.set(Result<std::string>(value));
  return make_ready();
}

}  // namespace millrace
