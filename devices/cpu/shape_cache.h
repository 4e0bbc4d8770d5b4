// ShapeCache: what was made for the argument shapes of calls, so that a call with the same shapes
// finds it: bounded, the least recently used goes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// The arguments of a call, as many as size.
struct ArgumentShapes {
  std::size_t size = 0;
  FunctionRef<const Shape&(std::size_t)> at;
};

// T is a handle, cheap to copy. A hit costs a look-up and no allocation. Thread-safety:
// thread-safe.
template <class T>
class ShapeCache {
 public:
  using Make = FunctionRef<Result<T>(std::span<const Shape>)>;

  explicit ShapeCache(std::size_t capacity) : capacity_(capacity) {}

  // What make gave for these shapes: now, or to an earlier call. Of several calls with the same new
  // shapes one makes it and the others wait; those with other shapes do not. An error is not kept.
  Result<T> get(const ArgumentShapes& shapes, Make make) {
    const std::shared_ptr<Entry> entry = find_or_add(shapes);
    MutexLock lock(entry->mutex);
    if (entry->value) return *entry->value;
    Result<T> made = make(entry->shapes);
    if (!made) {
      erase(*entry);
      return made;
    }
    entry->value = *made;
    return made;
  }

  // Those that are there and were not among the `recent` last used.
  std::vector<T> older(std::size_t recent) const {
    std::vector<std::shared_ptr<Entry>> all;
    {
      MutexLock lock(mutex_);
      all = entries_;
      std::ranges::sort(all, std::greater(), [](const auto& e) { return e->used; });
    }
    std::vector<T> values;
    for (std::size_t i = recent; i < all.size(); ++i) {
      MutexLock lock(all[i]->mutex);
      if (all[i]->value) values.push_back(*all[i]->value);
    }
    return values;
  }

  std::size_t size() const {
    MutexLock lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::vector<Shape> shapes;
    std::uint64_t used = 0;  // guarded by the cache's mutex
    Mutex mutex;             // held while it is made
    std::optional<T> value MILLRACE_GUARDED_BY(mutex);
  };

  static std::uint64_t hash_of(const ArgumentShapes& shapes) {
    std::uint64_t hash = shapes.size;
    const auto mix = [&hash](std::uint64_t x) {
      hash = (hash ^ x) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    };
    for (std::size_t i = 0; i < shapes.size; ++i) {
      const Shape& shape = shapes.at(i);
      mix(static_cast<std::uint64_t>(shape.dtype()));
      for (const std::int64_t d : shape.dims()) mix(static_cast<std::uint64_t>(d));
    }
    return hash;
  }

  std::shared_ptr<Entry> find_or_add(const ArgumentShapes& shapes) {
    const std::uint64_t hash = hash_of(shapes);
    MutexLock lock(mutex_);
    for (const std::shared_ptr<Entry>& entry : entries_) {
      std::size_t i = 0;  // that are the same
      if (entry->hash != hash || entry->shapes.size() != shapes.size) continue;
      while (i < shapes.size && entry->shapes[i] == shapes.at(i)) ++i;
      if (i < shapes.size) continue;
      entry->used = ++clock_;
      return entry;
    }
    if (entries_.size() >= capacity_) {
      entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& e) { return e->used; }));
    }
    auto entry = std::make_shared<Entry>();
    entry->hash = hash;
    entry->used = ++clock_;
    for (std::size_t i = 0; i < shapes.size; ++i) entry->shapes.push_back(shapes.at(i));
    entries_.push_back(entry);
    return entry;
  }
  void erase(const Entry& entry) {
    MutexLock lock(mutex_);
    std::erase_if(entries_, [&](const auto& e) { return e.get() == &entry; });
  }

  const std::size_t capacity_;
  mutable Mutex mutex_;
  std::uint64_t clock_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<Entry>> entries_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::devices::cpu
