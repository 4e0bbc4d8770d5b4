// RefCounted and Ref<T>: the only reference count of the project.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace millrace {

// Base of shared objects; born with one reference, for make_ref or Ref::adopt. Thread-safe.
class RefCounted {
 public:
  RefCounted() = default;
  // Made with more: one for each owner that gets it at once.
  explicit RefCounted(std::uint32_t references) : refs_(references) {}
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  // relaxed: a thread that adds a reference holds one: the object is alive, nothing is published.
  void add_ref() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  // For a caller through whom alone others could get a reference while there is only one.
  void add_ref_confined() const noexcept {
    if (unique()) {
      refs_.store(2, std::memory_order_relaxed);
    } else {
      add_ref();
    }
  }
  // No other thread can take or drop the last reference, so it needs no locked instruction.
  // acquire and acq_rel: the last release must see what every other holder wrote before its own.
  void release() const noexcept {
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  // Drops one of two references that the caller holds: where there are no others, no thread counts.
  void release_second() const noexcept {
    if (refs_.load(std::memory_order_acquire) == 2) {
      refs_.store(1, std::memory_order_relaxed);
    } else {
      refs_.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  // True: the caller's reference is the only one, so no other thread can take one.
  bool unique() const noexcept { return refs_.load() == 1; }

 protected:
  virtual ~RefCounted() = default;

 private:
  mutable std::atomic<std::uint32_t> refs_{1};
};

// A shared owner of a RefCounted object; may be empty. Thread-safety: external, like any pointer.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}                               // NOLINT(google-explicit-constructor)
  static Ref adopt(T* object) { return Ref(object); }  // takes over one reference
  static Ref share(T* object) {
    if (object != nullptr) object->add_ref();
    return Ref(object);
  }

  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) object_->add_ref();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U> other) : object_(other.detach()) {}  // NOLINT(google-explicit-constructor)
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref& other) const { return object_ == other.object_; }
  // Gives the reference to the caller, who releases it.
  T* detach() { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(T* object) : object_(object) {}
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace millrace
