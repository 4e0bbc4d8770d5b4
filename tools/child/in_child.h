// InChild: work that may take its process along, done in a process of its own, which is ended when
// the work has its answer or its deadline has come. `millrace devices` looks at plugins in one, and
// tools/conform tries every check in one. Read next: in_child.cc.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace millrace {

inline constexpr std::size_t kMostAnswerBytes = std::size_t{16} << 20;

struct ChildEnd {
  std::optional<std::string> answer;  // of the work; nullopt: there is none
  // Where there is none: "the process was killed by SIGABRT", "the process ended with status 3",
  // "no answer within 30 s".
  std::string why_not;
  // What it wrote to its stdout and stderr, which are one file: the last 64 KiB of it.
  std::string words;
};

// Forks and waits, at most limit_seconds. Call it while this process has one thread: the child is a
// copy of the caller, and only its thread is in there. Only the answer of the work comes back; an
// exception of it ends the child. Processes that the child has left behind end with it, also those
// that have left its process group (setsid), as far as /proc lists them: a process between the
// caller and the child inherits them and ends them. Other children of the caller, and what they
// leave behind, are not touched. All of it ends with the caller, soon after it where the caller is
// killed.
ChildEnd in_child(const std::function<std::string()>& work, double limit_seconds);

// An object that this process and those it forks have in common. Thread-safety: that of T, across
// processes. Its memory is zeros before T is made in it, and none is taken before it is written.
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

// The last line of words that says something; a list of stack frames has none.
std::string last_line(std::string_view words);
// The same for the end of a message, behind "; last it said: "; nothing where there is none.
std::string last_said(std::string_view words);

}  // namespace millrace
