#include "millrace/tools/child/in_child.h"

#include <errno.h>
#include <fcntl.h>
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
#include <cstdio>

#include "millrace/tools/child/shared_value.h"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostWordsBytes = std::size_t{64} << 10;

// Shared memory, not a pipe: plugins were seen to close descriptors that are not theirs. The answer
// counts once `answered` is set.
struct Answer {
  std::atomic<bool> answered{false};
  std::size_t bytes = 0;
  char text[kMostAnswerBytes];
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int get() const { return number_; }

 private:
  int number_;
};

// In the child; never returns. An exception that would leave it ends the process.
[[noreturn]] void answer_parent(const std::function<std::string()>& work, pid_t parent,
                                Answer& answer, int words) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it had ended before it was watched
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(words, stream);
  const std::string text = work();
  text.copy(answer.text, kMostAnswerBytes);
  answer.bytes = text.size();
  answer.answered = true;
  // Nothing of the work's threads and destructors: they may run on.
  ::_exit(0);
}

enum class Wait {
  kEnded,    // the child is there to be reaped
  kUnknown,  // it has ended, and its number may be somebody else's by now
  kLate
};

// Until the child has ended, which its end of the pipe shows, or the deadline.
Wait wait_for_end(int pipe, pid_t child, Clock::time_point deadline) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Wait::kLate;
    pollfd polled{.fd = pipe, .events = POLLIN};
    // A process that the child started may keep the pipe open: ask now and then.
    ::poll(&polled, 1, static_cast<int>(std::min<std::int64_t>(left, 200)));
    siginfo_t ended{};
    const int asked =
        ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == child) return Wait::kEnded;
    // Where this process was started to ignore SIGCHLD, nobody is left to be asked.
    if (asked != 0 && errno == ECHILD) return Wait::kUnknown;
    // Its descriptors are closed before it can be waited for; or the work has closed them.
    if ((polled.revents & POLLHUP) != 0) ::poll(nullptr, 0, 1);
  }
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
  int ends[2] = {-1, -1};
  if (words.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    return {.answer = {}, .why_not = refusal("memfd_create or pipe2"), .words = {}};
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(limit_seconds));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) answer_parent(work, parent, *answer.get(), words.get());
  if (child < 0) return {.answer = {}, .why_not = refusal("fork"), .words = {}};
  ::setpgid(child, child);  // whoever comes first: it must be done before it is killed
  theirs.close();
  const Wait waited = wait_for_end(ours.get(), child, deadline);
  // Its number, and that of its group, is its own until it is reaped.
  if (waited != Wait::kUnknown) {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(child, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  ChildEnd end{.answer = {}, .why_not = {}, .words = read_words(words.get())};
  if (answer.get()->answered && answer.get()->bytes <= kMostAnswerBytes) {
    end.answer = std::string(answer.get()->text, answer.get()->bytes);
  } else if (answer.get()->answered) {
    end.why_not = "its answer has " + std::to_string(answer.get()->bytes) +
                  " bytes, and may have " + std::to_string(kMostAnswerBytes);
  } else if (waited != Wait::kLate) {
    end.why_not = reaped == child ? end_of(status) : "the process ended, nobody is told how";
  } else {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", limit_seconds);
    end.why_not = "no answer within " + std::string(seconds) + " s";
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
