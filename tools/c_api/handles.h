// Handles: numbers that stand for objects on the C side. Each is given once in a process and shows
// what kind of thing it was given for, so that a wrong one is found and named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "millrace/core/base/error.h"
#include "millrace/core/base/mutex.h"

namespace millrace::c_api {

using Handle = std::uint64_t;
enum class HandleKind : std::uint8_t { kRuntime = 1, kExecutable, kBuffer, kOperation };

// A handle that was never given before. Thread-safe.
Handle make_handle(HandleKind kind);
// Why handle is none of the `kind` that are there: it is 0, of another kind (kInvalidArgument),
// never given, or gone (kNotFound).
std::unexpected<Error> no_such_handle(HandleKind kind, Handle handle);

// The objects of one runtime and one kind. T is copied out. Thread-safety: thread-safe.
template <class T>
class HandleTable {
 public:
  explicit HandleTable(HandleKind kind) : kind_(kind) {}

  Handle add(T object) {
    const Handle handle = make_handle(kind_);
    MutexLock lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  Result<T> find(Handle handle) const {
    {
      MutexLock lock(mutex_);
      if (const auto found = objects_.find(handle); found != objects_.end()) return found->second;
    }
    return no_such_handle(kind_, handle);
  }
  // Takes it out: the handle is gone.
  Result<T> take(Handle handle) {
    {
      MutexLock lock(mutex_);
      if (auto node = objects_.extract(handle)) return std::move(node.mapped());
    }
    return no_such_handle(kind_, handle);
  }
  // The same; the object is destroyed outside the lock.
  Status destroy(Handle handle) {
    MILLRACE_TRY([[maybe_unused]] const T object, take(handle));
    return {};
  }
  void clear() {
    std::unordered_map<Handle, T> all;  // destroyed outside the lock
    MutexLock lock(mutex_);
    all.swap(objects_);
  }

 private:
  const HandleKind kind_;
  mutable Mutex mutex_;
  std::unordered_map<Handle, T> objects_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::c_api
