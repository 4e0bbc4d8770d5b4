#include "millrace/tools/launch/rank_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "millrace/core/base/check.h"
#include "millrace/core/base/errno_code.h"

namespace millrace::launch {

namespace {

// Two pipes, a pidfd, two files of the log, a connection to the store, which waits twice at most;
// and what launch itself has open.
constexpr rlim_t kDescriptorsOfARank = 7;
constexpr rlim_t kDescriptorsOfLaunch = 64;
constexpr int kNotFound = 127;
constexpr int kNotRunnable = 126;
constexpr int kStreams = 3;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("making a pipe", errno);
  return Pipe{.read = Descriptor(ends[0]), .write = Descriptor(ends[1])};
}

void write_words(std::string_view words) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

// In the keeper's process; never returns.
[[noreturn]] void keep(int launch, std::array<std::atomic<int>, kMostRanks>& groups,
                       const std::string& folder) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "millrace-keeper");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
  // Readers of launch's streams do not wait for the keeper.
  ::dup2(launch, kStreams);
  ::close_range(kStreams + 1, ~0U, 0);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream < kStreams; ++stream) ::dup2(nothing, stream);
  char byte = 0;
  while (::read(kStreams, &byte, 1) < 0 && errno == EINTR) {
  }
  for (const std::atomic<int>& group : groups) {
    if (const int pid = group.load(); pid != 0) ::kill(-pid, SIGKILL);
  }
  JobFolder::remove(folder);
  ::_exit(0);
}

// In the rank's process; never returns.
[[noreturn]] void become(const std::vector<char*>& words, const std::vector<char*>& variables,
                         const std::vector<int>& cores, const Inherited& inherited, pid_t launch,
                         int out, int err) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch) ::_exit(kNotRunnable);  // it had ended before it was watched
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  const rlimit descriptors{.rlim_cur = inherited.soft_descriptors,
                           .rlim_max = inherited.hard_descriptors};
  ::setrlimit(RLIMIT_NOFILE, &descriptors);
  ::signal(SIGXFSZ, SIG_DFL);  // ours is ignored
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (int number = 1; number <= 64; ++number) {
    if ((inherited.blocked_signals >> (number - 1) & 1) != 0) ::sigaddset(&blocked, number);
  }
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  if (!cores.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(core, &set);
    ::sched_setaffinity(0, sizeof set, &set);
  }
  ::execvpe(words[0], words.data(), variables.data());
  const int number = errno;
  write_words("millrace launch: cannot run '" + std::string(words[0]) + "': " + ::strerror(number) +
              "\n");
  ::_exit(number == ENOENT ? kNotFound : kNotRunnable);
}

// By the flags of its first thread, the seventh field behind its name (proc(5)): PF_EXITING.
bool is_ending(int pid) {
  constexpr unsigned kExiting = 4;
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 6; ++i) fields >> skipped;
  unsigned flags = 0;
  return fields >> flags && (flags & kExiting) != 0;
}

}  // namespace

Result<GroupKeeper> GroupKeeper::start(const JobFolder& folder) {
  auto groups = std::make_unique<Groups>();
  if (groups->get() == nullptr) return errno_error("mapping memory for a launch", errno);
  MILLRACE_TRY(Pipe pipe, make_pipe());
  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("starting a process", errno);
  if (pid == 0) {
    pipe.write = Descriptor();  // the keeper waits for its end, also where close_range() is refused
    keep(pipe.read.get(), *groups->get(), folder.path());
  }
  return GroupKeeper(std::move(groups), std::move(pipe.write), pid);
}

GroupKeeper::~GroupKeeper() {
  if (!alive_) return;  // moved from
  alive_ = Descriptor();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void GroupKeeper::set(int rank, int group) {
  (*groups_->get())[static_cast<std::size_t>(rank)].store(group);
}

Result<Inherited> prepare_for_ranks(int ranks) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno_error("asking for a limit", errno);
  Inherited inherited{.soft_descriptors = limit.rlim_cur, .hard_descriptors = limit.rlim_max};
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (int number = 1; number <= 64; ++number) {
    if (::sigismember(&blocked, number) == 1) inherited.blocked_signals |= 1ULL << (number - 1);
  }
  const rlim_t needed = kDescriptorsOfLaunch + kDescriptorsOfARank * static_cast<rlim_t>(ranks);
  if (const Status allowed = allow_descriptors(needed); !allowed)
    return std::unexpected(allowed.error().with_context(std::to_string(ranks) + " ranks"));
  return inherited;
}

Result<RankProcess> start_rank(const RankProgram& program, const Inherited& inherited) {
  MILLRACE_TRY(Pipe out, make_pipe());
  MILLRACE_TRY(Pipe err, make_pipe());
  const std::vector<char*> words = pointers(program.words);
  const std::vector<char*> variables = pointers(program.variables);
  const pid_t launch = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("starting a process", errno);
  if (pid == 0) {
    become(words, variables, program.cores, inherited, launch, out.write.get(), err.write.get());
  }
  ::setpgid(pid, pid);  // by both, in any order: it must be done before it is signalled
  Descriptor end(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!end) {
    const int number = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return errno_error("watching a process", number);
  }
  return RankProcess{
      .pid = pid, .end = std::move(end), .out = std::move(out.read), .err = std::move(err.read)};
}

void signal_group(int pid, int signal) {
  MILLRACE_CHECK(pid > 1, "a process that was started has a group");
  ::kill(-pid, signal);
}

std::optional<ProcessEnd> end_of(const RankProcess& process) {
  siginfo_t info = {};
  const auto id = static_cast<id_t>(process.pid);
  if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return std::nullopt;
  if (info.si_code == CLD_EXITED) return ProcessEnd{.exit = info.si_status, .signal = 0};
  return ProcessEnd{.exit = 0, .signal = info.si_status};
}

std::optional<ProcessEnd> end_of_ending(const RankProcess& process, TimePoint deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock().now());
  pollfd end{.fd = process.end.get(), .events = POLLIN, .revents = 0};
  if (left.count() > 0 && is_ending(process.pid))
    static_cast<void>(::poll(&end, 1, static_cast<int>(left.count())));
  return end_of(process);
}

ProcessEnd reap(const RankProcess& process) {
  int status = 0;
  while (::waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {.exit = 0, .signal = WTERMSIG(status)};
  return {.exit = WEXITSTATUS(status), .signal = 0};
}

std::vector<int> own_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace millrace::launch
