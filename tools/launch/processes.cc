#include "millrace/tools/launch/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/loop/event_loop.h"
#include "millrace/tools/launch/job_server.h"
#include "millrace/tools/launch/output.h"
#include "millrace/tools/launch/rank_environment.h"
#include "millrace/tools/launch/rank_process.h"

namespace millrace::launch {

namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

// How long a line of stderr waits for equal ones.
constexpr Duration kFoldWindow = 100ms;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;
// What an ended process may have left in a pipe: its capacity is 64 KiB, and 1 MiB at most where
// the process has raised it.
constexpr std::size_t kMostLeftBytes = std::size_t{1} << 20;
// How long a reader of launch's streams may take nothing once the job was asked to end and nothing
// more can be done for that.
constexpr Duration kReaderPatience = 1s;
// So long a failure may wait for the ends of ranks that the system is ending.
constexpr Duration kMostEnding = 200ms;

// SIGINT and SIGTERM as a descriptor, while it lives.
class Signals {
 public:
  Signals() {
    sigset_t caught;
    ::sigemptyset(&caught);
    for (const int number : {SIGINT, SIGTERM}) {
      struct sigaction action{};
      ::sigaction(number, nullptr, &action);
      if (action.sa_handler != SIG_IGN) ::sigaddset(&caught, number);
    }
    ::sigprocmask(SIG_BLOCK, &caught, &before_);
    descriptor_ = Descriptor(::signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  ~Signals() {
    while (next() != 0) {
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return descriptor_.get(); }
  // 0: none came.
  int next() const {
    signalfd_siginfo info{};
    const ssize_t size = ::read(descriptor_.get(), &info, sizeof info);
    return size == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

std::vector<std::string> own_variables() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

std::string log_path(const std::string& folder, int rank, const char* stream) {
  return folder + "/" + std::to_string(rank) + "." + stream;
}
Result<Descriptor> open_log(const std::string& folder, int rank, const char* stream) {
  const std::string path = log_path(folder, rank, stream);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return errno_error("writing " + path, errno);
  return file;
}

// path: of the file, which may be none.
Status write_all(const Descriptor& file, const std::string& path, std::string_view bytes) {
  while (file && !bytes.empty()) {
    const ssize_t size = ::write(file.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno_error("writing " + path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

net::JobFailure failure_of(const RankEnd& end, const std::string& words) {
  static constexpr net::FailureReason kReasons[] = {
      net::FailureReason::kExit, net::FailureReason::kSignal, net::FailureReason::kSilent,
      net::FailureReason::kNotStarted};
  return {.member = {.rank = static_cast<std::uint32_t>(end.rank),
                     .host = net::host_name(),
                     .pid = end.pid},
          .reason = kReasons[static_cast<std::size_t>(end.reason)],
          .number = end.reason == Reason::kExit ? end.end.exit : end.end.signal,
          .words = words};
}

class Launch {
 public:
  Launch(const LaunchOptions& options, LaunchListener& listener, const JobFolder& folder,
         GroupKeeper keeper, const Inherited& inherited, std::unique_ptr<EventLoop> loop)
      : options_(options),
        listener_(listener),
        folder_(folder),
        keeper_(std::move(keeper)),
        inherited_(inherited),
        loop_(std::move(loop)),
        machine_(options.rules),
        merged_(options.rules.ranks),
        folded_(options.rules.ranks, kFoldWindow),
        ranks_(static_cast<std::size_t>(options.rules.ranks)) {}

  Status open_logs();
  Status open_store();
  Result<int> run();

 private:
  enum class Stream : std::uint8_t { kOut, kErr };
  struct Rank {
    RankProcess process = {};
    std::unique_ptr<DescriptorWatch> end = {}, out = {}, err = {};  // of the process
    Descriptor out_log = {}, err_log = {};
    int incarnation = 0;
    int generation = 0;      // how many of its processes have ended
    bool end_seen = false;   // by look_for_failure()
    std::string words = {};  // the last ones of its process, or why there is none
  };

  static TimePoint now() { return steady_clock().now(); }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  // Ends the job at the first error.
  void check(const Status& status);

  Status wait_writable(int descriptor);
  bool is_watched(const Rank& rank) const;
  void look_for_failure();
  void press(const Commands& commands);
  void apply(const Commands& commands);
  void pass_on_failure(const Commands& commands);
  // On the loop, if the process is still the one of that generation.
  void about(int rank, int generation, Commands (LaunchMachine::*event)(int, TimePoint));
  void report_all_started();
  void start(int rank);
  void follow(int rank);
  void watch_signals();
  void read_when_ready(int rank, Stream stream);
  // How many bytes came; 0: the stream has ended; below 0: there is nothing now.
  ssize_t read_once(int rank, Stream stream);
  void ended_first(int rank);
  void ended(int rank);
  void set_timer();

  const LaunchOptions& options_;
  LaunchListener& listener_;
  const JobFolder& folder_;
  GroupKeeper keeper_;
  const Inherited inherited_;
  const Signals signals_;
  const std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<JobServer> server_;  // which posts to the loop
  const std::vector<std::string> variables_ = own_variables();
  const std::vector<int> cores_ = own_cores();
  LaunchMachine machine_;
  MergedLines merged_;
  FoldedLines folded_;
  std::vector<Rank> ranks_;
  std::unique_ptr<DescriptorWatch> signal_watch_;
  std::optional<std::pair<TimePoint, TimerQueue::Id>> timer_;
  std::vector<char> bytes_ = std::vector<char>(kReadBytes);
  bool all_started_ = false;
  bool passed_on_ = false;  // the job's failure
  bool no_reader_ = false;
  std::optional<Error> error_;
  std::optional<int> exit_code_;
};

Status Launch::open_logs() {
  const std::string& folder = options_.log_folder;
  if (folder.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return errno_error("making the folder " + folder, failed.value());
  for (int rank = 0; rank < options_.rules.ranks; ++rank) {
    MILLRACE_TRY(at(rank).out_log, open_log(folder, rank, "stdout"));
    MILLRACE_TRY(at(rank).err_log, open_log(folder, rank, "stderr"));
  }
  return {};
}

Status Launch::open_store() {
  JobServerHooks hooks;
  hooks.joined = [this](int rank, int generation) {
    about(rank, generation, &LaunchMachine::joined);
  };
  hooks.silent = [this](int rank, int generation) {
    about(rank, generation, &LaunchMachine::silent);
  };
  hooks.suspect = [this](const net::JobMember& member) {
    post(*loop_, [this, member] { listener_.suspect(member); });
  };
  const LaunchRules& rules = options_.rules;
  JobServerOptions server{.job = options_.job,
                          .ranks = rules.ranks,
                          .tcp = options_.tcp_store,
                          .secret = options_.transport == "tcp",
                          .silent_after = options_.silent_after};
  if (!rules.any_failure_ends()) server.least = rules.least > 0 ? rules.least : rules.ranks;
  MILLRACE_TRY(server_, JobServer::start(folder_, server, std::move(hooks)));
  return {};
}

void Launch::about(int rank, int generation, Commands (LaunchMachine::*event)(int, TimePoint)) {
  post(*loop_, [this, rank, generation, event] {
    if (at(rank).generation == generation) apply((machine_.*event)(rank, now()));
  });
}

Result<int> Launch::run() {
  Result<std::unique_ptr<DescriptorWatch>> watch = loop_->watch(signals_.descriptor());
  MILLRACE_CHECK(watch, "a signalfd can be watched");
  signal_watch_ = *std::move(watch);
  watch_signals();
  listener_.begin(server_->address(), [this](int d) { return wait_writable(d); });
  post(*loop_, [this] { apply(machine_.begin(now())); });
  loop_->run();
  signal_watch_.reset();
  if (error_) return std::unexpected(*error_);
  return *exit_code_;
}

// What a reader that is stuck must not hold up is done here: signals, the deadline and graces.
Status Launch::wait_writable(int descriptor) {
  while (!no_reader_) {
    const std::optional<TimePoint> next = machine_.next_timer();
    const bool is_over = machine_.asked_to_end() && !next;
    int wait_ms = -1;
    if (is_over || next) {
      const Duration left = is_over ? kReaderPatience : *next - now();
      const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      wait_ms = static_cast<int>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max()));
    }
    std::vector<pollfd> streams = {{.fd = descriptor, .events = POLLOUT, .revents = 0},
                                   {.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
    for (const Rank& rank : ranks_) {
      if (is_watched(rank))
        streams.push_back({.fd = rank.process.end.get(), .events = POLLIN, .revents = 0});
    }
    const int found = ::poll(streams.data(), streams.size(), wait_ms);
    if (streams[0].revents != 0) return {};
    look_for_failure();
    while (const int number = signals_.next()) press(machine_.signalled(number, now()));
    press(machine_.timer(now()));
    no_reader_ = is_over && found == 0;
  }
  return fail(ErrorCode::kDataLoss, "no reader takes what launch writes");
}

// Where the first failure ends the job, those who have joined hear of it although the loop does not
// run: the end of such a rank, and others that were seen, need no second look.
bool Launch::is_watched(const Rank& rank) const {
  return options_.rules.any_failure_ends() && !passed_on_ && rank.process.pid != 0 &&
         !rank.end_seen;
}

void Launch::look_for_failure() {
  for (int number = 0; number < options_.rules.ranks; ++number) {
    Rank& rank = at(number);
    if (!is_watched(rank)) continue;
    const std::optional<ProcessEnd> end = end_of(rank.process);
    if (!end) continue;
    rank.end_seen = true;
    const RankEnd found{.rank = number,
                        .pid = rank.process.pid,
                        .reason = end->signal != 0 ? Reason::kSignal : Reason::kExit,
                        .end = *end};
    if (!found.failed()) continue;
    passed_on_ = true;
    server_->fail(failure_of(found, folded_.words(number)));
  }
}

// In the middle of a call of the listener: signals at once, the rest after it.
void Launch::press(const Commands& commands) {
  Commands rest;
  for (const Command& command : commands) {
    if (command.kind == Command::Kind::kSignal) {
      signal_group(at(command.rank).process.pid, command.signal);
    } else {
      rest.push_back(command);
    }
  }
  if (!rest.empty()) post(*loop_, [this, rest = std::move(rest)] { apply(rest); });
}

void Launch::check(const Status& status) {
  if (status || error_ || no_reader_) return;
  error_ = status.error();
  post(*loop_, [this] { apply(machine_.signalled(SIGTERM, now())); });
}

void Launch::apply(const Commands& commands) {
  pass_on_failure(commands);
  for (const Command& command : commands) {
    const RankEnd& end = command.end;
    const std::string words = at(command.rank).words;
    switch (command.kind) {
      case Command::Kind::kStart:
        start(command.rank);
        break;
      case Command::Kind::kSignal:
        signal_group(at(command.rank).process.pid, command.signal);
        break;
      case Command::Kind::kEnded:
        check(listener_.ended(end, words));
        break;
      case Command::Kind::kFailed:
        check(listener_.failed(end, words));
        break;
      case Command::Kind::kRestart:
        at(command.rank).incarnation = end.incarnation + 1;
        check(listener_.restarting(end, words, machine_.restarts()));
        break;
      case Command::Kind::kLost:
        check(listener_.lost(end, words));
        break;
      case Command::Kind::kNotDue:  // pass_on_failure() has said it
        break;
      case Command::Kind::kFinish:
        check(listener_.err(folded_.flush()));
        exit_code_ = command.exit_code;
        loop_->stop();
        break;
    }
  }
  report_all_started();
  set_timer();
}

// Before what waits for a reader: those who have joined hear of it at once.
void Launch::pass_on_failure(const Commands& commands) {
  if (passed_on_) return;
  std::vector<std::pair<net::JobMember, bool>> over;  // and whether it has done its work
  for (const Command& command : commands) {
    const RankEnd& end = command.end;
    const net::JobFailure failure = failure_of(end, at(end.rank).words);
    if (command.kind == Command::Kind::kRestart || command.kind == Command::Kind::kLost)
      server_->lost(failure);
    const bool is_over = machine_.state(end.rank) == RankState::kEnded && !machine_.first_failure();
    if (command.kind == Command::Kind::kEnded && is_over)
      over.emplace_back(failure.member, !end.failed());
    if (command.kind == Command::Kind::kNotDue) over.emplace_back(failure.member, false);
    if (command.kind != Command::Kind::kFailed) continue;
    passed_on_ = true;
    server_->fail(failure);
  }
  // What has failed is heard of before.
  for (const auto& [member, well] : over) server_->over(member, well);
  if (passed_on_ || !machine_.asked_to_end()) return;
  passed_on_ = true;
  server_->fail({.reason = net::FailureReason::kAskedToEnd});
}

void Launch::report_all_started() {
  if (all_started_) return;
  for (int rank = 0; rank < options_.rules.ranks; ++rank) {
    const RankState state = machine_.state(rank);
    if (state == RankState::kQueued || state == RankState::kStarting) return;
  }
  all_started_ = true;
  check(listener_.all_started());
}

void Launch::start(int rank) {
  Rank& r = at(rank);
  const int ranks = options_.rules.ranks;
  RankProgram program{.words = options_.words, .variables = {}, .cores = {}};
  program.cores = core_share(cores_, rank, ranks);
  const int threads = std::max(1, static_cast<int>(program.cores.size()));
  program.variables = rank_variables(variables_, rank,
                                     {.ranks = ranks,
                                      .name = options_.job,
                                      .store = server_->address(),
                                      .secret_file = server_->secret_file(),
                                      .transport = options_.transport},
                                     threads);
  Result<RankProcess> started = start_rank(program, inherited_);
  if (!started) {
    r.words = started.error().message();
    ++r.generation;
    server_->ended(rank);
    post(*loop_, [this, rank] { apply(machine_.not_started(rank, now())); });
    return;
  }
  r.process = *std::move(started);
  keeper_.set(rank, r.process.pid);
  server_->started(rank, r.process.pid);
  post(*loop_, [this, rank] { follow(rank); });
}

void Launch::follow(int rank) {
  Rank& r = at(rank);
  check(listener_.started(rank, r.process.pid, r.incarnation));
  apply(machine_.started(rank, r.process.pid, now()));
  const auto watch = [this](const Descriptor& descriptor) {
    Result<std::unique_ptr<DescriptorWatch>> made = loop_->watch(descriptor.get());
    MILLRACE_CHECK(made, "a process and its pipes can be watched");
    return *std::move(made);
  };
  r.end = watch(r.process.end);
  r.out = watch(r.process.out);
  r.err = watch(r.process.err);
  read_when_ready(rank, Stream::kOut);
  read_when_ready(rank, Stream::kErr);
  r.end->wait(kReadable)
      .then(*loop_,
            [this, rank, pid = r.process.pid](const Result<unsigned>& ready) {
              if (ready && at(rank).process.pid == pid) ended_first(rank);
            })
      .ignore();
}

void Launch::watch_signals() {
  signal_watch_->wait(kReadable)
      .then(*loop_,
            [this](const Result<unsigned>& ready) {
              if (!ready) return;
              while (const int number = signals_.next()) apply(machine_.signalled(number, now()));
              watch_signals();
            })
      .ignore();
}

void Launch::read_when_ready(int rank, Stream stream) {
  Rank& r = at(rank);
  const std::unique_ptr<DescriptorWatch>& watch = stream == Stream::kOut ? r.out : r.err;
  watch->wait(kReadable)
      .then(*loop_,
            [this, rank, stream, pid = r.process.pid](const Result<unsigned>& ready) {
              if (!ready || at(rank).process.pid != pid) return;
              if (read_once(rank, stream) != 0) {
                read_when_ready(rank, stream);
              } else {
                (stream == Stream::kOut ? at(rank).out : at(rank).err).reset();
              }
              set_timer();
            })
      .ignore();
}

ssize_t Launch::read_once(int rank, Stream stream) {
  Rank& r = at(rank);
  const bool out = stream == Stream::kOut;
  const Descriptor& pipe = out ? r.process.out : r.process.err;
  const ssize_t size = ::read(pipe.get(), bytes_.data(), bytes_.size());
  if (size <= 0) return size;
  const std::string_view bytes(bytes_.data(), static_cast<std::size_t>(size));
  if (!options_.log_folder.empty()) {
    check(write_all(out ? r.out_log : r.err_log,
                    log_path(options_.log_folder, rank, out ? "stdout" : "stderr"), bytes));
  }
  check(out ? listener_.out(merged_.add(rank, bytes))
            : listener_.err(folded_.add(rank, bytes, now())));
  return size;
}

// Several may have ended since the loop looked last. A rank that has failed by itself may have done
// so because another was killed: that one's end came first. One that is starting is followed first.
void Launch::ended_first(int rank) {
  const auto is_killed = [](const std::optional<ProcessEnd>& end) {
    return end && end->signal != 0;
  };
  const std::optional<ProcessEnd> end = end_of(at(rank).process);
  if (end && end->exit != 0 && !machine_.first_failure()) {
    const TimePoint deadline = steady_clock().now() + kMostEnding;
    for (int other = 0; other < options_.rules.ranks; ++other) {
      const RankProcess& process = at(other).process;
      const bool runs = process.pid != 0 && machine_.state(other) != RankState::kStarting;
      if (runs && is_killed(end_of_ending(process, deadline))) ended(other);
    }
  }
  ended(rank);
}

void Launch::ended(int rank) {
  Rank& r = at(rank);
  if (r.process.pid == 0) return;
  // Its group's number is its own until it is reaped.
  signal_group(r.process.pid, SIGKILL);
  keeper_.set(rank, 0);
  for (const Stream stream : {Stream::kOut, Stream::kErr}) {
    std::size_t left = 0;
    for (ssize_t size = 1; size > 0 && left < kMostLeftBytes;
         left += static_cast<std::size_t>(size))
      size = std::max<ssize_t>(0, read_once(rank, stream));
  }
  check(listener_.out(merged_.end(rank)));
  check(listener_.err(folded_.end(rank, now())));
  r.words = folded_.words(rank);
  r.end.reset();
  r.out.reset();
  r.err.reset();
  const ProcessEnd end = reap(r.process);  // its group may be signalled until then
  r.process = {};
  ++r.generation;
  server_->ended(rank);
  apply(machine_.ended(rank, end, now()));
}

// One timer, for what comes next.
void Launch::set_timer() {
  std::optional<TimePoint> next = machine_.next_timer();
  if (const auto fold = folded_.next_timer(); fold && (!next || *fold < *next)) next = fold;
  if (timer_ && next == timer_->first) return;
  if (timer_) loop_->timers().cancel(timer_->second);
  timer_.reset();
  if (!next) return;
  const TimerQueue::Id id = loop_->timers().schedule(*next, [this] {
    timer_.reset();
    check(listener_.err(folded_.timer(now())));
    apply(machine_.timer(now()));
  });
  timer_.emplace(*next, id);
}

}  // namespace

Result<int> run_launch(const LaunchOptions& options, LaunchListener& listener) {
  MILLRACE_CHECK(options.rules.ranks >= 1 && options.rules.ranks <= kMostRanks, "1 to 1024 ranks");
  MILLRACE_TRY(const Inherited inherited, prepare_for_ranks(options.rules.ranks));
  MILLRACE_TRY(const JobFolder folder, JobFolder::create());
  MILLRACE_TRY(GroupKeeper keeper, GroupKeeper::start(folder));
  MILLRACE_TRY(std::unique_ptr<EventLoop> loop, create_uv_event_loop());
  Launch launch(options, listener, folder, std::move(keeper), inherited, std::move(loop));
  MILLRACE_TRY_STATUS(launch.open_logs());
  MILLRACE_TRY_STATUS(launch.open_store());
  return launch.run();
}

}  // namespace millrace::launch
