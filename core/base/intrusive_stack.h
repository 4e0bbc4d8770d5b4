// IntrusiveStack: a lock-free list onto which many threads push and of which one takes everything,
// the oldest entry first. One word holds all of it, so that a push and a change of state cannot
// miss each other: a mark with its owner's meaning (empty, asleep, closed), or the newest entry.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace millrace {

// kNext: T's pointer that is the list's while an entry is in it. Thread-safety: thread-safe.
template <class T, T* T::* kNext>
class IntrusiveStack {
 public:
  using Word = std::uintptr_t;
  // Marks are 0 (empty at first) to 3: no entry lies there.
  static bool holds_entries(Word word) { return word > 3; }

  explicit IntrusiveStack(Word mark = 0) : word_(mark) {}

  Word word() const { return word_.load(); }
  // Pushes unless the mark `closed` stands. Returns what stood before.
  Word push(T* entry, Word closed) {
    Word seen = word_.load();
    do {
      if (seen == closed) return closed;
      entry->*kNext = holds_entries(seen) ? reinterpret_cast<T*>(seen) : nullptr;
    } while (!word_.compare_exchange_weak(seen, reinterpret_cast<Word>(entry)));
    return seen;
  }
  // Leaves mark and returns what stood before, whose entries are the caller's.
  Word exchange(Word mark) { return word_.exchange(mark); }
  // One mark for another. False: something else stands.
  bool replace(Word from, Word to) { return word_.compare_exchange_strong(from, to); }
  // While no other thread knows the list. release: pairs with the loads of later threads.
  void set_unshared(Word mark) { word_.store(mark, std::memory_order_release); }

  // The entries of a word that was exchanged, linked through kNext, the oldest first.
  static T* oldest_first(Word word) {
    return holds_entries(word) ? reversed(reinterpret_cast<T*>(word)) : nullptr;
  }
  static T* reversed(T* list) {
    T* turned = nullptr;
    while (list != nullptr) {
      T* const after = std::exchange(list->*kNext, turned);
      turned = std::exchange(list, after);
    }
    return turned;
  }

 private:
  std::atomic<Word> word_;
};

}  // namespace millrace
