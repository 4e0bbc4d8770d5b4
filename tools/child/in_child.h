// InChild: work that may take its process along, done in a process of its own, which is ended when
// the work has its answer or its deadline has come. `millrace devices` looks at plugins in one, and
// tools/conform tries every check in one. Read next: in_child.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

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
// that have left its process group (setsid), as far as /proc tells of them: a process between the
// caller and the child inherits them and ends them. Other children of the caller, and what they
// leave behind, are not touched. All of it ends with the caller, soon after it where the caller is
// killed.
ChildEnd in_child(const std::function<std::string()>& work, double limit_seconds);

// The last line of words that says something; a list of stack frames has none.
std::string last_line(std::string_view words);
// The same for the end of a message, behind "; last it said: "; nothing where there is none.
std::string last_said(std::string_view words);

}  // namespace millrace
