#include "millrace/core/net/rank_host.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/net/job_observer.h"
#include "millrace/core/observe/log.h"

namespace millrace::net {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

constexpr Duration kFirstPause = 5ms, kLongestPause = 200ms;
constexpr Duration kWordsAfter = 5s;
constexpr Duration kLastWait = 300ms;
constexpr Duration kSilentAfter = 10s;

// One call of join_hosted(). Confined to home; kept by what it waits for.
class HostedJoin final : public RefCounted {
 public:
  HostedJoin(Transport& transport, JobOptions options, std::unique_ptr<RankHost>& host,
             CallOptions call)
      : transport_(transport), options_(std::move(options)), host_(host), call_(std::move(call)) {
    const TimePoint now = transport_.timers().clock().now();
    call_.deadline = std::min(call_.deadline, now + options_.patience);
    words_at_ = now + kWordsAfter;
  }
  Future<Ref<Job>> attempt() {
    if (options_.rank == 0 && !host_) {
      MILLRACE_TRY(host_, RankHost::open(transport_, options_));
    }
    return Job::join(transport_, options_, call_)
        .then(transport_.home(),
              [self = self()](Result<Ref<Job>> joined) { return self->take(std::move(joined)); });
  }

 private:
  Ref<HostedJoin> self() { return Ref<HostedJoin>::share(this); }
  Future<Ref<Job>> take(Result<Ref<Job>> joined) {
    if (joined) {
      kill_silent_host(**joined);
      return joined;
    }
    const ErrorCode code = joined.error().code();
    if (code == ErrorCode::kDeadlineExceeded) return late(joined.error());
    if (code != ErrorCode::kUnavailable) return joined;
    const TimePoint now = transport_.timers().clock().now();
    if (now >= words_at_) {
      words_at_ = kNoDeadline;
      MILLRACE_LOG(kWarning, "core",
                   what() + " waits for rank 0, which hosts it: " + joined.error().message());
    }
    pause_ = std::min(pause_ * 2, kLongestPause);
    return sleep_until(std::min(now + pause_, call_.deadline), transport_.timers(), call_.stop)
        .then(transport_.home(),
              [self = self(), why = joined.error()](const Result<void>& slept) -> Future<Ref<Job>> {
                if (!slept) return slept.error();
                if (self->transport_.timers().clock().now() >= self->call_.deadline)
                  return self->late(why);
                return self->attempt();
              });
  }
  // So that it cannot come back. Its connection is there, so its number is still its own.
  void kill_silent_host(const Job& job) {
    job.failure()
        .then(transport_.home(),
              [](const Result<void>& failed) {
                const auto* const failure = failed ? nullptr : failed.error().detail<JobFailure>();
                if (failure != nullptr && failure->reason == FailureReason::kSilent &&
                    failure->member.rank == 0 && failure->member.pid > 1)
                  ::kill(failure->member.pid, SIGKILL);
              })
        .ignore();
  }
  std::string what() const {
    return "rank " + std::to_string(options_.rank) + " of the job '" + options_.job + "'";
  }
  Error late(const Error& why) const {
    return Error(ErrorCode::kDeadlineExceeded, what() +
                                                   " could not join it in time: rank 0, whose "
                                                   "process hosts it, has not come; at last: " +
                                                   why.message());
  }

  Transport& transport_;
  const JobOptions options_;
  std::unique_ptr<RankHost>& host_;
  CallOptions call_;
  TimePoint words_at_;
  Duration pause_ = kFirstPause;
};

}  // namespace

RankHost::RankHost(Transport& transport, ClaimedFolder folder)
    : transport_(transport), folder_(std::move(folder)) {}

Result<std::unique_ptr<RankHost>> RankHost::open(Transport& transport, const JobOptions& options) {
  ClaimedFolder::remove_stale_ones(options.folder.substr(0, options.folder.rfind('/')));
  MILLRACE_TRY(std::optional<ClaimedFolder> folder, ClaimedFolder::claim(options.folder));
  if (!folder) return nullptr;
  MILLRACE_TRY_STATUS(write_pointer(options.folder, options.job, options.address));
  std::unique_ptr<RankHost> made(new RankHost(transport, *std::move(folder)));
  MILLRACE_TRY(made->host_, JobHost::open(transport, options.address,
                                          {.job = options.job,
                                           .ranks = options.ranks,
                                           .secret = options.secret,
                                           .silent_after = kSilentAfter,
                                           .in_rank = true},
                                          made->hooks()));
  return made;
}

JobHooks RankHost::hooks() {
  JobHooks hooks;
  hooks.suspect = [](const JobMember& member) {
    MILLRACE_LOG(kWarning, "core", to_string(member) + " gives no sign of life");
  };
  hooks.silent = [this](const JobMember& member) {
    if (std::ranges::find(lost_, member.rank) != lost_.end()) return;
    host_->fail({.member = member, .reason = FailureReason::kSilent});
    // So that it cannot come back. Its connection is there, so its number is still its own.
    if (member.pid > 1) ::kill(member.pid, SIGKILL);
  };
  hooks.lost = [this](const JobFailure& failure) {
    lost_.push_back(failure.member.rank);
    host_->fail(failure);
  };
  return hooks;
}

Future<void> RankHost::end(Duration patience, const CallOptions& call) {
  TimerQueue& timers = transport_.timers();
  const TimePoint now = timers.clock().now();
  const Future<void> drained = host_->drained();
  const TimerQueue::Id words = timers.schedule(now + kWordsAfter, [host = host_] {
    MILLRACE_LOG(
        kWarning, "core",
        "rank 0, which hosts the job, waits for the end of " + to_string_of_ranks(host->missing()));
  });
  return with_options(drained,
                      {.stop = call.stop, .deadline = std::min(call.deadline, now + patience)},
                      timers)
      .then(transport_.home(),
            [drained, &timers, last = std::min(patience, kLastWait)](const Result<void>&) {
              return with_deadline(drained, timers.clock().now() + last, timers);
            })
      .then(transport_.home(),
            [this, words](const Result<void>&) {
              transport_.timers().cancel(words);
              return host_->close();
            })
      .then(transport_.home(), [this](Result<void> closed) {
        host_ = {};
        folder_.reset();
        return closed;
      });
}

Future<Ref<Job>> join_hosted(Transport& transport, const JobOptions& options,
                             std::unique_ptr<RankHost>& host, CallOptions call) {
  return make_ref<HostedJoin>(transport, options, host, std::move(call))->attempt();
}

}  // namespace millrace::net
