// SharedValue: an object that this process and those it forks have in common. Thread-safety: that
// of T, across processes.
#pragma once

#include <sys/mman.h>

#include <new>
#include <type_traits>

namespace millrace {

// Its memory is zeros before T is made in it, and none is taken before it is written.
template <class T>
class SharedValue {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  SharedValue()
      : memory_(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ != MAP_FAILED) value_ = new (memory_) T;
  }
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;
  ~SharedValue() {
    if (value_ != nullptr) ::munmap(memory_, sizeof(T));
  }

  T* get() const { return value_; }  // nullptr where there is no memory

 private:
  void* memory_;
  T* value_ = nullptr;
};

}  // namespace millrace
