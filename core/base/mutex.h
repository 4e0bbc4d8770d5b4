// Mutex, MutexLock and CondVar: std::mutex with clang's thread-safety annotations, so that
// a missing lock is a compile error. Use it where state cannot be shared by message; never call
// out while holding it.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define MILLRACE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define MILLRACE_THREAD_ANNOTATION(x)
#endif
#define MILLRACE_GUARDED_BY(x) MILLRACE_THREAD_ANNOTATION(guarded_by(x))
#define MILLRACE_REQUIRES(...) MILLRACE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define MILLRACE_EXCLUDES(...) MILLRACE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace millrace {

class MILLRACE_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() MILLRACE_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() MILLRACE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a Mutex for a block.
class MILLRACE_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MILLRACE_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() MILLRACE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Returns on notify or spuriously: wait in a loop over the condition.
  void wait(Mutex& mutex) MILLRACE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace millrace
