#include "millrace/tools/child/in_child.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/printed.h"

namespace millrace {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostWordsBytes = std::size_t{64} << 10;

// How the worker ended, as its supervisor saw it.
enum class Course {
  kUnknown,     // the supervisor was ended, and the worker with it
  kNotStarted,  // of this errno
  kEnded,       // with this status
  kLate
};

// Shared memory, not a pipe: plugins were seen to close descriptors that are not theirs. The answer
// counts once `answered` is set.
struct Answer {
  std::atomic<bool> answered{false};
  std::atomic<Course> course{Course::kUnknown};
  int number = 0;  // the errno or the status
  std::size_t bytes = 0;
  char text[kMostAnswerBytes];
};

// In the worker; never returns. An exception that would leave it ends the process.
[[noreturn]] void answer_parent(const std::function<std::string()>& work, pid_t supervisor,
                                const struct sigaction& of_children, Answer& answer,
                                int words) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(1);  // it had ended before it was watched
  ::sigaction(SIGCHLD, &of_children, nullptr);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(words, stream);
  // The work is short, and other arenas than the first grow by 4 KiB a time, with a call of the
  // system for each: 1,000 of them for the constructors of a plugin that a thread loads.
  ::mallopt(M_ARENA_MAX, 1);
  const std::string text = work();
  text.copy(answer.text, kMostAnswerBytes);
  answer.bytes = text.size();
  answer.answered = true;
  // Nothing of the work's threads and destructors: they may run on.
  ::_exit(0);
}

// Until the worker has ended, which its end of the pipe shows: true; or the deadline has come, or
// the caller is gone: false.
bool wait_for_end(int pipe, pid_t worker, pid_t caller, SteadyClock::time_point deadline) {
  while (::getppid() == caller) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now())
            .count();
    if (left <= 0) return false;
    pollfd polled{.fd = pipe, .events = POLLIN};
    // A process that the worker started may keep the pipe open: ask now and then.
    ::poll(&polled, 1, static_cast<int>(std::min<std::int64_t>(left, 200)));
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(worker), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == worker) return true;
    // Its descriptors are closed before it can be waited for; or the work has closed them.
    if ((polled.revents & POLLHUP) != 0) ::poll(nullptr, 0, 1);
  }
  return false;
}

// The children of this process, as /proc lists all processes.
std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code none;
  for (std::filesystem::directory_iterator i("/proc", none), end; !none && i != end;
       i.increment(none)) {
    const std::string name = i->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(i->path() / "stat");
    std::string text;
    std::getline(stat, text, '\0');
    // "12 (name) S 1 ...": the name may have anything in it.
    const std::size_t at = text.rfind(") ");
    if (at == std::string::npos || at + 4 > text.size()) continue;
    if (std::atoi(text.c_str() + at + 4) == ::getpid()) found.insert(std::atoi(name.c_str()));
  }
  return found;
}

bool has_children() {
  siginfo_t any{};
  return ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

// Ends what the worker has left to its supervisor, and what that leaves behind. For a while: a
// process in the kernel may not end.
void end_children() {
  const auto deadline = SteadyClock::now() + std::chrono::seconds(2);
  while (has_children() && SteadyClock::now() < deadline) {
    for (const pid_t child : children()) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, WNOHANG);
    }
    ::poll(nullptr, 0, 1);
  }
}

[[noreturn]] void end_as(Course course, int number, Answer& answer) {
  answer.number = number;
  answer.course = course;
  ::_exit(0);
}

// In the child; never returns. It inherits what the work leaves behind, and has no other children:
// those of the caller, and what they leave behind, are no affair of its.
[[noreturn]] void supervise(const std::function<std::string()>& work, pid_t caller,
                            SteadyClock::time_point deadline, Answer& answer, int words) noexcept {
  ::setpgid(0, 0);  // a Ctrl-C is the caller's, whose end is seen
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction of_caller{}, ours{};
  ours.sa_handler = SIG_DFL;  // where the caller ignores it, no end would be reported
  ::sigaction(SIGCHLD, &ours, &of_caller);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) end_as(Course::kNotStarted, errno, answer);
  const pid_t supervisor = ::getpid();
  const pid_t worker = ::fork();
  if (worker == 0) answer_parent(work, supervisor, of_caller, answer, words);
  if (worker < 0) end_as(Course::kNotStarted, errno, answer);
  ::setpgid(worker, worker);  // by both, in any order: it must be done before it is killed
  ::close(ends[1]);
  const bool in_time = wait_for_end(ends[0], worker, caller, deadline);
  // Its number, and that of its group, is its own until it is reaped.
  ::kill(-worker, SIGKILL);
  ::kill(worker, SIGKILL);
  int status = 0;
  while (::waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  end_children();
  end_as(in_time ? Course::kEnded : Course::kLate, status, answer);
}

std::string end_of(int status) {
  if (!WIFSIGNALED(status))
    return "the process ended with status " + std::to_string(WEXITSTATUS(status));
  const char* name = ::sigabbrev_np(WTERMSIG(status));
  return "the process was killed by SIG" + std::string(name != nullptr ? name : "?");
}

std::string read_words(int words) {
  std::string text(kMostWordsBytes, '\0');
  const off_t end = ::lseek(words, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, end - static_cast<off_t>(text.size()));
  const ssize_t count = ::pread(words, text.data(), text.size(), from);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

std::string refusal(const char* what) {
  return std::string("no process can be started: ") + what + ": " + ::strerror(errno);
}

}  // namespace

ChildEnd in_child(const std::function<std::string()>& work, double limit_seconds) {
  const SharedValue<Answer> answer;
  if (answer.get() == nullptr) return {.answer = {}, .why_not = refusal("mmap"), .words = {}};
  const Descriptor words(::memfd_create("words", MFD_CLOEXEC));
  if (!words) return {.answer = {}, .why_not = refusal("memfd_create"), .words = {}};
  const auto deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                 std::chrono::duration<double>(limit_seconds));
  const pid_t caller = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) supervise(work, caller, deadline, *answer.get(), words.get());
  if (child < 0) return {.answer = {}, .why_not = refusal("fork"), .words = {}};
  // Where this process was started to ignore SIGCHLD: until it has ended, without a status.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  ChildEnd end{.answer = {}, .why_not = {}, .words = read_words(words.get())};
  if (answer.get()->answered && answer.get()->bytes <= kMostAnswerBytes) {
    end.answer = std::string(answer.get()->text, answer.get()->bytes);
    return end;
  }
  if (answer.get()->answered) {
    end.why_not = "its answer has " + std::to_string(answer.get()->bytes) +
                  " bytes, and may have " + std::to_string(kMostAnswerBytes);
    return end;
  }
  const Course course = answer.get()->course;
  if (course == Course::kNotStarted) {
    errno = answer.get()->number;
    end.why_not = refusal("pipe2 or fork");
  } else {
    end.why_not = course == Course::kEnded  ? end_of(answer.get()->number)
                  : course == Course::kLate ? printed("no answer within %g s", limit_seconds)
                                            : "the process ended with the one that watches it";
  }
  return end;
}

std::string last_line(std::string_view words) {
  while (!words.empty()) {
    const std::size_t begin = words.rfind('\n') + 1;
    const std::string_view line = words.substr(begin);
    const std::size_t first = line.find_first_not_of(' ');
    const bool frame = line.starts_with("***") || line.starts_with("    @ ");
    if (first != std::string_view::npos && !frame) return std::string(line.substr(first));
    words = words.substr(0, begin == 0 ? 0 : begin - 1);
  }
  return {};
}

std::string last_said(std::string_view words) {
  const std::string line = last_line(words);
  return line.empty() ? line : "; last it said: " + line;
}

}  // namespace millrace
