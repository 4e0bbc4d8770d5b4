#include "millrace/core/net/job.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/net/job_status.h"
#include "millrace/core/net/link_kind.h"
#include "millrace/core/net/quorum_lost.h"
#include "millrace/core/net/store_frames.h"
#include "millrace/core/net/world_frames.h"

namespace millrace::net {
namespace {

// A rank that is cut off says so before the host holds it for failed, and ends it: after this share
// of the time until then.
constexpr double kUntilCutOff = 0.9;

JobOptions with_process(JobOptions options) {
  if (options.host.empty()) options.host = host_name();
  if (options.pid == 0) options.pid = ::getpid();
  return options;
}

}  // namespace

Job::Job(Transport& transport, JobOptions options)
    : transport_(transport), options_(with_process(std::move(options))) {
  failed_.ignore();
}

Future<Ref<Job>> Job::join(Transport& transport, JobOptions options, CallOptions call) {
  const Clock& clock = transport.timers().clock();
  MILLRACE_TRY_STATUS(check_in_time(call, clock, "joining the job"));
  call.deadline = std::min(call.deadline, clock.now() + options.patience);
  return Ref<Job>::adopt(new Job(transport, std::move(options)))->start(call);
}

void Job::move(State to) {
  MILLRACE_CHECK(to > state_, "a job goes from joining to in to ended");
  state_ = to;
}

Future<Ref<Job>> Job::start(CallOptions call) {
  const auto self = Ref<Job>::share(this);
  Future<Ref<Job>> joined = joining_->future();
  detail::limit_wait(
      call, &transport_.timers(), Ref<AsyncValue>(joined.cell()), self,
      [](RefCounted& target, detail::WaitEnd end) { static_cast<Job&>(target).give_up(end); });
  EnterOptions entering{.secret = options_.secret,
                        .job = options_.job,
                        .self = {.rank = options_.rank, .incarnation = own_incarnation()},
                        .member = {.max_payload = kMostStorePayload}};
  enter(
      transport_, options_.address, std::move(entering),
      [self](const Ref<Connection>& connection) { return self->admit(connection); }, call)
      .then(transport_.home(),
            [self](const Result<Ref<Connection>>& entered) {
              if (!entered) self->complete_join(std::unexpected(entered.error()));
            })
      .ignore();
  return joined;
}

FrameSink Job::admit(const Ref<Connection>& connection) {
  const auto self = Ref<Job>::share(this);
  connection_ = connection;
  store_.emplace(connection, transport_.timers());
  if (!joining_) connection->abandon("given up");
  connection->end()
      .then(transport_.home(), [self](const Result<ConnectionEnd>& end) { self->take_end(*end); })
      .ignore();
  connection
      ->send(encode(JoinRequest{.member = member(),
                                .incarnation = own_incarnation(),
                                .ranks = options_.ranks,
                                .job = options_.job}))
      .ignore();
  return [self](Frame frame) { return self->take(std::move(frame)); };
}

Future<void> Job::take(Frame frame) {
  const Status taken = take_frame(std::move(frame));
  if (!taken) return taken.error();
  return {};
}

Status Job::take_frame(Frame&& frame) {
  host_heard_ = transport_.timers().clock().now();
  if (is_store_answer(frame.header.kind)) return store_->take(std::move(frame));
  if (frame.header.kind == FrameKind::kJobFailure) {
    MILLRACE_TRY(const JobFailure failure, decode_failure(frame));
    fail(to_error(failure));
    return {};
  }
  if (state_ == State::kIn) return take_news(frame);
  if (state_ != State::kJoining)
    return millrace::fail(ErrorCode::kInvalidArgument, "a frame that a member does not take");
  if (frame.header.kind == FrameKind::kJobRefusal) {
    MILLRACE_TRY(const Error refusal, decode_refusal(frame));
    complete_join(std::unexpected(refusal));
    return {};
  }
  MILLRACE_TRY(welcome_, decode_welcome(frame));
  elastic_ = welcome_.elastic;
  move(State::kIn);
  beaten_ = host_heard_;
  beat();
  complete_join(Ref<Job>::share(this));
  return {};
}

Status Job::take_news(const Frame& frame) {
  switch (frame.header.kind) {
    case FrameKind::kJobAlive:
      if (hears_host()) return {};
      break;
    case FrameKind::kJobLost: {
      MILLRACE_TRY(const JobFailure failure, decode_failure(frame));
      if (lost_) lost_(failure);
      return {};
    }
    case FrameKind::kJobWorld: {
      MILLRACE_TRY(World world, decode_world(frame, options_.ranks));
      if (!asking_ || !std::ranges::binary_search(world.ranks, options_.rank)) break;
      newcomers_ = false;
      std::exchange(asking_, std::nullopt)->set(std::move(world));
      return {};
    }
    case FrameKind::kJobNoWorld: {
      MILLRACE_TRY(const Error why, decode_no_world(frame));
      if (!asking_) break;
      std::exchange(asking_, std::nullopt)->set_error(why);
      return {};
    }
    case FrameKind::kJobWaits:
      if (!is_plain(frame, FrameKind::kJobWaits)) break;
      newcomers_ = true;
      return {};
    default:
      break;
  }
  return millrace::fail(ErrorCode::kInvalidArgument, "a frame that a member does not take");
}

Future<World> Job::next_world() {
  return make_ready().then(transport_.home(), [self = Ref<Job>::share(this)](Result<void>) {
    return self->ask_world();
  });
}

Future<World> Job::ask_world() {
  if (asking_) return millrace::fail(ErrorCode::kFailedPrecondition, "a world is awaited already");
  if (failed_.ready() && !failed_.result()) return failed_.result().error();
  if (state_ != State::kIn) return millrace::fail(ErrorCode::kUnavailable, "the job was left");
  if (!elastic_) {
    if (std::exchange(asked_, true)) {
      return millrace::fail(ErrorCode::kFailedPrecondition,
                            "the job ends with its first failure; it goes on where `millrace "
                            "launch` has --restarts or --min");
    }
    World all;
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) all.ranks.push_back(rank);
    return make_ready(std::move(all));
  }
  Future<World> next = asking_.emplace().future();
  connection_->send(encode_plain(FrameKind::kJobWorldAsk)).ignore();
  return next;
}

void Job::give_up(detail::WaitEnd end) {
  post(transport_.home(), [self = Ref<Job>::share(this), end] {
    if (self->state_ != State::kJoining) return;
    self->complete_join(std::unexpected(detail::wait_error(
        end, "before the host of the job at " + self->options_.address + " had answered")));
    if (self->connection_) self->connection_->abandon("given up");
  });
}

void Job::complete_join(Result<Ref<Job>> result) {
  if (!joining_) return;
  std::exchange(joining_, std::nullopt)->set(std::move(result));
}

void Job::fail(const Error& error) {
  store_->end(error);
  if (failing_) std::exchange(failing_, std::nullopt)->set_error(error);
  if (asking_) std::exchange(asking_, std::nullopt)->set_error(error);
}

void Job::take_end(const ConnectionEnd& end) {
  move(State::kEnded);
  if (beat_timer_) transport_.timers().cancel(*std::exchange(beat_timer_, std::nullopt));
  const Error error = end.error(connection_->peer()).with_context("the host of the job");
  const bool goodbye = end.cause == EndCause::kClosedHere || end.cause == EndCause::kClosedThere;
  store_->end(error);
  complete_join(std::unexpected(error));
  lost_ = {};
  if (goodbye && asking_) std::exchange(asking_, std::nullopt)->set_error(error);
  if (!goodbye && options_.hosted)
    return fail(to_error(failed_host(FailureReason::kLost, end.words)));
  if (!goodbye) return fail(error);
  if (failing_) std::exchange(failing_, std::nullopt)->set_value();
}

// The process of rank 0, which is the host.
JobFailure Job::failed_host(FailureReason reason, const std::string& words) const {
  return {.member = {.rank = 0,
                     .host = options_.host,
                     .pid = static_cast<std::int32_t>(connection_->peer().pid.value_or(0))},
          .reason = reason,
          .words = words};
}

// A host by TCP, too, gives signs of life.
bool Job::hears_host() const { return options_.hosted || may_fall_silent(options_.address); }

// A process that was held up itself has heard nothing meanwhile.
void Job::look_at_host() {
  const TimePoint now = transport_.timers().clock().now();
  const Duration late = now - std::exchange(beaten_, now) - welcome_.heartbeat;
  if (late > welcome_.heartbeat) host_heard_ += late;
  const Duration silent = now - host_heard_;
  if (!hears_host() || welcome_.silent_after.count() == 0) return;
  if (options_.hosted) {
    if (silent >= welcome_.silent_after) fail(to_error(failed_host(FailureReason::kSilent, "")));
  } else if (silent >= std::chrono::duration_cast<Duration>(kUntilCutOff * welcome_.silent_after)) {
    fail(QuorumLost{member(), silent}.error());
  }
}

void Job::beat() {
  if (welcome_.heartbeat.count() == 0) return;
  look_at_host();
  beat_timer_ = transport_.timers().schedule(
      transport_.timers().clock().now() + welcome_.heartbeat, [self = Ref<Job>::share(this)] {
        std::optional<std::vector<GroupCount>> news = self->groups_.counts();
        if (*news == self->reported_) {
          news.reset();
        } else {
          self->reported_ = *news;
        }
        self->connection_->send(encode_alive(news)).ignore();
        self->beat();
      });
}

}  // namespace millrace::net
