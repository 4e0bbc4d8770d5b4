// `millrace launch`: a program many times, as the ranks of one job. What happens when is in
// launch/launch_machine.h, how in launch/processes.h; here are the options, words and events.
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"
#include "millrace/core/net/link_kind.h"
#include "millrace/tools/child/in_child.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/launch/processes.h"
#include "millrace/tools/launch/rank_process.h"

namespace millrace::commands {

namespace {

using launch::RankEnd;
using launch::Reason;
using Json = nlohmann::ordered_json;

// Not CLI::Range: it takes a NaN.
const CLI::Validator kSeconds(
    [](std::string& text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 1e6) return "";
      return "'" + text + "' is no number of seconds from 0 to 1000000";
    },
    "SECONDS");

const CLI::Validator kLinkKind(
    [](std::string& text) -> std::string {
      const auto kind = net::read_link_kind(text);
      return kind ? "" : kind.error().message();
    },
    net::link_kind_names());

Duration to_duration(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// Which no other job has.
std::string make_job_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(steady_clock().now().time_since_epoch().count());
  return printed("%016llx", static_cast<unsigned long long>(number));  // NOLINT
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string signal_text(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

// "rank 2 (pid 4711) ended with exit code 3"
std::string text_of(const RankEnd& end) {
  std::string text = "rank " + std::to_string(end.rank);
  if (end.reason == Reason::kNotStarted) return text + " could not be started";
  text += " (pid " + std::to_string(end.pid) + ")";
  if (end.reason == Reason::kSilent) return text + " was silent, and killed";
  if (end.end.signal != 0) return text + " was killed by " + signal_text(end.end.signal);
  return text + " ended with exit code " + std::to_string(end.end.exit);
}

Json facts_of(const RankEnd& end, const std::string& words) {
  Json json = {{"exit", nullptr},
               {"signal", nullptr},
               {"reason", launch::name_of(end.reason)},
               {"words", words}};
  if (end.reason == Reason::kExit) json["exit"] = end.end.exit;
  if (end.end.signal != 0) json["signal"] = end.end.signal;
  return json;
}

// Writes what is heard of a launch: the ranks' lines, words for people, events with --json.
class Reporter final : public launch::LaunchListener {
 public:
  Reporter(Console& console, const LaunchFlags& flags, std::string job)
      : console_(console), flags_(flags), job_(std::move(job)) {}

  void begin(const std::string& store, std::function<Status(int)> wait_writable) override {
    store_ = store;
    console_.set_wait([this, wait = std::move(wait_writable)](int descriptor) {
      Status ready = wait(descriptor);
      no_reader_ = no_reader_ || !ready;
      return ready;
    });
  }
  Status out(std::string_view text) override {
    if (text.empty()) return {};
    if (std::exchange(line_broken_, false) && text.starts_with('\n')) text.remove_prefix(1);
    line_open_ = !text.ends_with('\n');
    return console_.data(text);
  }
  Status err(std::string_view text) override {
    if (!text.empty()) console_.words(text);
    return {};
  }
  Status started(int rank, int pid, int incarnation) override {
    pids_[rank] = pid;
    return event(
        {{"event", "rank_start"}, {"rank", rank}, {"pid", pid}, {"incarnation", incarnation}});
  }
  Status all_started() override {
    Json ranks = Json::array();
    for (const auto& [rank, pid] : pids_) ranks.push_back({{"rank", rank}, {"pid", pid}});
    begun_ = true;
    MILLRACE_TRY_STATUS(event({{"event", "launch_start"},
                               {"job", job_},
                               {"world_size", flags_.ranks},
                               {"store", store_},
                               {"ranks", ranks}}));
    for (const Json& held : std::exchange(held_, {})) MILLRACE_TRY_STATUS(write(held));
    return {};
  }
  void suspect(const net::JobMember& member) override {
    console_.warning(to_string(member) + " has given no sign of life for " +
                     printed("%g s", flags_.silent_after_seconds / 2));
  }
  Status ended(const RankEnd& end, const std::string& words) override {
    Json json = {{"event", "rank_end"}, {"rank", end.rank}, {"pid", end.pid}};
    json["incarnation"] = end.incarnation;
    json.update(facts_of(end, words));
    return event(std::move(json));
  }
  Status failed(const RankEnd& end, const std::string& words) override {
    first_failure_ = {{"rank", end.rank}, {"host", net::host_name()}, {"pid", end.pid}};
    first_failure_.update(facts_of(end, words));
    console_.error(Error(ErrorCode::kAborted, text_of(end) + last_said(words)));
    return {};
  }
  Status restarting(const RankEnd& end, const std::string& words, int n) override {
    restarts_ = n;
    console_.warning(text_of(end) + last_said(words) + "; it is restarted (" + std::to_string(n) +
                     " of " + std::to_string(flags_.restarts) + ")");
    return {};
  }

  Status lost(const RankEnd& end, const std::string& words) override {
    console_.warning(text_of(end) + last_said(words) + "; the job goes on without it");
    return {};
  }

  Status done(int exit, double seconds) {
    return event({{"event", "launch_done"},
                  {"ok", exit == 0},
                  {"exit", exit},
                  {"first_failure", first_failure_},
                  {"restarts", restarts_},
                  {"seconds", seconds}});
  }
  bool has_failed() const { return !first_failure_.is_null(); }
  bool no_reader() const { return no_reader_; }

 private:
  // An event is a line of its own, also where a rank has not ended its own one.
  Status write(const Json& json) {
    line_broken_ = line_broken_ || line_open_;
    return console_.data((std::exchange(line_open_, false) ? "\n" : "") + json_text(json) + "\n");
  }
  // launch_start comes first.
  Status event(Json json) {
    if (!flags_.json) return {};
    json["time"] = unix_seconds();
    if (begun_) return write(json);
    held_.push_back(std::move(json));
    return {};
  }

  Console& console_;
  const LaunchFlags& flags_;
  const std::string job_;
  std::string store_;
  std::map<int, int> pids_;  // by rank
  bool begun_ = false;
  bool no_reader_ = false;
  bool line_open_ = false;    // of a rank
  bool line_broken_ = false;  // by an event, so that its own end is none any more
  std::vector<Json> held_;
  Json first_failure_ = nullptr;
  int restarts_ = 0;
};

}  // namespace

void add_launch_options(CLI::App& command, LaunchFlags& flags) {
  command.add_option("PROGRAM", flags.words, "the program and its arguments, behind --")
      ->required()
      ->expected(1, 1 << 20);
  command.add_option("-n,--ranks", flags.ranks, "how many processes")
      ->required()
      ->check(CLI::Range(1, launch::kMostRanks));
  const auto add_seconds = [&command](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->check(kSeconds);
  };
  add_seconds("--grace", flags.grace_seconds,
              "from SIGTERM to SIGKILL, for ranks of a job that ends; twice as long after a signal")
      ->capture_default_str();
  add_seconds("--silent-after", flags.silent_after_seconds,
              "kill a rank that has joined the job and then gives no sign of life; 0: never")
      ->capture_default_str();
  command
      .add_option("--store", flags.store,
                  "how the ranks reach the job's store: a Unix socket, or TCP on this host")
      ->check(CLI::IsMember({"unix", "tcp"}))
      ->capture_default_str();
  command
      .add_option(
          "--transport", flags.transport,
          "how the ranks reach each other: shared memory, Unix sockets, or TCP on this host "
          "(default: shm, with a store over TCP tcp)")
      ->check(kLinkKind);
  command
      .add_option("--restarts", flags.restarts,
                  "start ranks that fail anew, so often in all; 0: a failure ends the job")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  add_seconds("--restart-delay", flags.restart_delay_seconds, "before a rank is started anew")
      ->capture_default_str();
  command
      .add_option("--min", flags.least,
                  "go on while so many ranks are left; those of train train on as fewer, until a "
                  "rank that was started anew joins them (default: all)")
      ->check(CLI::Range(1, launch::kMostRanks));
  add_seconds("--deadline", flags.deadline_seconds,
              "end the job after so many seconds (exit code 124)");
  command
      .add_option("--log-dir", flags.log_folder,
                  "also write what each rank writes, unfolded, to DIR/RANK.stdout and "
                  "DIR/RANK.stderr")
      ->type_name("DIR");
  command.add_flag("--json", flags.json,
                   "one JSON object per line on stdout, between the lines of the ranks: each start "
                   "and end, the last one how the job ended");
  command.footer(
      "Each rank has RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MILLRACE_JOB and "
      "MILLRACE_STORE in its environment.\nWhat makes a runtime by them, as run and train do, "
      "joins the job. The ranks of train are one training, over the devices of all.");
}

Result<ExitCode> launch_command(const LaunchFlags& flags, Console& console) {
  const TimePoint begin = steady_clock().now();
  if (flags.least > flags.ranks) {
    return usage_error("--min " + std::to_string(flags.least) + " asks for more ranks than -n " +
                       std::to_string(flags.ranks) + " starts");
  }
  launch::LaunchOptions options{.rules = {.ranks = flags.ranks,
                                          .grace = to_duration(flags.grace_seconds),
                                          .restarts = flags.restarts,
                                          .restart_delay = to_duration(flags.restart_delay_seconds),
                                          .least = flags.least,
                                          .deadline = {}},
                                .words = flags.words,
                                .job = make_job_name(),
                                .tcp_store = flags.store == "tcp",
                                .transport = flags.transport,
                                .silent_after = to_duration(flags.silent_after_seconds),
                                .log_folder = flags.log_folder};
  if (flags.deadline_seconds) options.rules.deadline = to_duration(*flags.deadline_seconds);
  Reporter reporter(console, flags, options.job);
  const Result<int> launched = launch::run_launch(options, reporter);
  console.set_wait({});
  MILLRACE_TRY(const int exit, launched);
  if (reporter.no_reader()) return static_cast<ExitCode>(exit);
  if (!reporter.has_failed() && exit == static_cast<int>(ExitCode::kDeadline)) {
    console.error(
        Error(ErrorCode::kDeadlineExceeded, printed("--deadline %g came before all ranks had ended",
                                                    flags.deadline_seconds.value_or(0))));
  } else if (!reporter.has_failed() && exit != 0) {
    console.error(Error(ErrorCode::kCancelled,
                        "stopped on " + signal_text(exit - static_cast<int>(ExitCode::kSignal))));
  }
  const std::chrono::duration<double> seconds = steady_clock().now() - begin;
  MILLRACE_TRY_STATUS(reporter.done(exit, seconds.count()));
  return static_cast<ExitCode>(exit);
}

}  // namespace millrace::commands
