#include "millrace/tools/conform/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>

#include "millrace/tools/conform/runner.h"

namespace millrace::conform {
namespace {

using Clock = std::chrono::steady_clock;

// What parent and child share. The answer counts once `answered` is set.
struct Shared {
  Progress progress;
  std::atomic<bool> answered{false};
  Outcome outcome = Outcome::kFailed;
  char detail[4096] = {};
};

class SharedPage {
 public:
  SharedPage()
      : memory_(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) {
    if (memory_ != MAP_FAILED) shared_ = new (memory_) Shared;
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage() {
    if (shared_ != nullptr) ::munmap(memory_, sizeof(Shared));
  }
  Shared* get() const { return shared_; }

 private:
  void* memory_;
  Shared* shared_ = nullptr;
};

// Not of a check's own error: `why` is the plugin's, and the plugin need not have what was checked.
bool is_lack(const Error& why, Check::Need need) {
  if (need == Check::Need::kMust) return false;
  if (why.detail<Lacks>() != nullptr) return true;
  if (why.detail<PluginError>() == nullptr) return false;
  return why.code() == ErrorCode::kUnimplemented || need == Check::Need::kMay;
}

Answer try_with(const Check& check, const RunOptions& options, Progress* progress) {
  const Result<Table> table = Table::load(options.path, progress);
  if (!table) return {.outcome = Outcome::kFailed, .detail = table.error().message()};
  RigOptions rig_options = options.rig;
  rig_options.patience_seconds = options.deadline_seconds * 0.8;
  Rig rig(*table, std::move(rig_options));
  Status status = check.run(rig);
  const Status closed = rig.close();
  if (status && !closed) status = closed;
  if (status) return {.outcome = Outcome::kPassed, .detail = rig.remark()};
  const Error& why = status.error();
  if (why.detail<Skip>() != nullptr) {
    return {.outcome = Outcome::kSkipped, .detail = why.message()};
  }
  std::string text = why.message();
  if (why.detail<PluginError>() != nullptr) {
    text += " (" + std::string(millrace::to_string(why.code())) + ")";
  }
  return {.outcome = is_lack(why, check.need) ? Outcome::kUnsupported : Outcome::kFailed,
          .detail = std::move(text)};
}

// In the child; never returns.
[[noreturn]] void answer_parent(const Check& check, const RunOptions& options, Shared& shared,
                                int words) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (words >= 0) ::dup2(words, stream);
  }
  const Answer answer = try_with(check, options, &shared.progress);
  shared.outcome = answer.outcome;
  const std::size_t size = std::min(answer.detail.size(), sizeof(shared.detail) - 1);
  std::memcpy(shared.detail, answer.detail.data(), size);
  shared.answered = true;
  // Nothing of the plugin's threads and destructors: they may run on.
  ::_exit(0);
}

// The last line of what the child wrote that says something: none is, of a list of stack frames.
std::string last_words(int words) {
  std::string text(8192, '\0');
  const off_t end = ::lseek(words, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, end - static_cast<off_t>(text.size()));
  const ssize_t count = ::pread(words, text.data(), text.size(), from);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty()) {
    const std::size_t begin = text.rfind('\n') + 1;
    const std::string line = text.substr(begin);
    const std::size_t first = line.find_first_not_of(' ');
    const bool frame = line.starts_with("***") || line.starts_with("    @ ");
    if (first != std::string::npos && !frame) return line.substr(first);
    text.resize(begin == 0 ? 0 : begin - 1);
  }
  return {};
}

std::string place(const Progress& progress) {
  const int slot = progress.slot;
  if (slot < 0) return "before the first call";
  return "in or after " + std::string(abi::to_string(static_cast<abi::Slot>(slot)));
}

// Until the child has ended, which its end of the pipe shows, or the deadline. False: the deadline.
bool wait_for_end(int pipe, pid_t child, Clock::time_point deadline, int& status) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd polled{.fd = pipe, .events = POLLIN};
    // A process that the plugin started may keep the pipe open: ask now and then.
    ::poll(&polled, 1, static_cast<int>(std::min<std::int64_t>(left, 200)));
    if (::waitpid(child, &status, WNOHANG) == child) return true;
    // Its descriptors are closed before it can be waited for; or the plugin has closed them.
    if ((polled.revents & POLLHUP) != 0) ::poll(nullptr, 0, 1);
  }
}

Answer judge(const Shared& shared, int status, int words) {
  if (shared.answered) return {.outcome = shared.outcome, .detail = shared.detail};
  std::string detail;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = ::sigabbrev_np(signal);
    detail = "the process was killed by SIG" + std::string(name != nullptr ? name : "?") + ", ";
  } else {
    detail = "the process ended with status " + std::to_string(WEXITSTATUS(status)) + ", ";
  }
  detail += place(shared.progress);
  if (const std::string last = last_words(words); !last.empty())
    detail += "; last it said: " + last;
  return {.outcome = Outcome::kFailed, .detail = std::move(detail)};
}

}  // namespace

Answer try_here(const Check& check, const RunOptions& options) {
  Progress progress;
  return try_with(check, options, &progress);
}

Answer try_in_child(const Check& check, const RunOptions& options) {
  const SharedPage page;
  int ends[2] = {-1, -1};
  const int words = ::memfd_create("conform", MFD_CLOEXEC);
  if (page.get() == nullptr || ::pipe2(ends, O_CLOEXEC) != 0) {
    return {.outcome = Outcome::kFailed, .detail = "no memory or pipe for a process"};
  }
  const pid_t child = ::fork();
  if (child == 0) answer_parent(check, options, *page.get(), words);
  ::close(ends[1]);
  Answer answer;
  int status = 0;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(options.deadline_seconds));
  if (child < 0) {
    answer.detail = std::string("no process can be started: ") + std::strerror(errno);
  } else if (wait_for_end(ends[0], child, deadline, status)) {
    answer = judge(*page.get(), status, words);
  } else {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", options.deadline_seconds);
    answer.detail =
        "deadline: no answer within " + std::string(seconds) + " s, " + place(page.get()->progress);
  }
  ::close(ends[0]);
  ::close(words);
  return answer;
}

}  // namespace millrace::conform
