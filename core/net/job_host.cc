#include "millrace/core/net/job_host.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/net/link_kind.h"
#include "millrace/core/net/mesh.h"
#include "millrace/core/net/mesh_record.h"
#include "millrace/core/net/world_frames.h"
#include "millrace/core/observe/log.h"

namespace millrace::net {
namespace {

// What the host sends ahead of a slow member: answers of the store, each up to a frame.
constexpr std::size_t kMostQueued = 4 * kMostStorePayload;
constexpr Duration kLongestHeartbeat = std::chrono::seconds(1);
constexpr std::chrono::seconds kLateAfter{10};

EntranceOptions entrance_options(const JobHostOptions& options) {
  // Until it has joined, a connection says one frame.
  return {.secret = options.secret,
          .job = options.job,
          .member = {.max_payload = kMostJoinPayload},
          .patience = options.patience};
}

}  // namespace

JobHost::JobHost(Transport& transport, JobHostOptions options, JobHooks hooks)
    : transport_(transport),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      store_(make_ref<StoreServer>(transport.home(), options_.store)),
      table_(options_.ranks, options_.silent_after, transport.timers().clock().now()),
      gone_(options_.ranks),
      ranks_(options_.ranks),
      begin_(transport.timers().clock().now()) {
  if (options_.least) worlds_.emplace(options_.ranks, *options_.least);
}

Result<Ref<JobHost>> JobHost::open(Transport& transport, std::string_view address,
                                   JobHostOptions options, JobHooks hooks) {
  auto made = Ref<JobHost>::adopt(new JobHost(transport, std::move(options), std::move(hooks)));
  // The entrance is closed before the host is gone, so it may point here.
  MILLRACE_TRY(made->entrance_,
               Entrance::open(transport, address, entrance_options(made->options_),
                              [host = made.get()](const Ref<Connection>& connection) {
                                return host->admit(connection);
                              }));
  made->set_tick();
  return made;
}

FrameSink JobHost::admit(const Ref<Connection>& connection) {
  const auto self = Ref<JobHost>::share(this);
  seats_.push_back({.connection = connection});
  const auto seat = std::prev(seats_.end());
  seat->hold = scope_.hold();
  if (!seat->hold) connection->abandon("the job is over");
  seat->patience = transport_.timers().schedule(
      transport_.timers().clock().now() + options_.patience,
      [connection] { connection->abandon("it has not joined in time"); });
  connection->end()
      .then(transport_.home(),
            [self, seat](const Result<ConnectionEnd>& end) { self->take_end(seat, *end); })
      .ignore();
  return [self, seat](Frame frame) { return self->take(seat, std::move(frame)); };
}

Future<void> JobHost::take(Seats::iterator seat, Frame frame) {
  if (seat->refused) return {};
  if (!seat->joined) return take_before_join(seat, frame);
  const std::uint32_t rank = seat->joined->member.rank;
  table_.heard(rank, transport_.timers().clock().now());
  if (frame.header.kind == FrameKind::kJobAlive) {
    MILLRACE_TRY_STATUS(take_alive(rank, frame));
    return {};
  }
  if (frame.header.kind == FrameKind::kJobWorldAsk) {
    MILLRACE_TRY_STATUS(ask_world(rank, frame));
    return {};
  }
  return store_->take(seat->member, std::move(frame));
}

Status JobHost::ask_world(std::uint32_t rank, const Frame& frame) {
  if (!worlds_ || !is_plain(frame, FrameKind::kJobWorldAsk))
    return millrace::fail(ErrorCode::kInvalidArgument, "a frame that this host does not take");
  worlds_->asked(rank);
  look_worlds();
  return {};
}

void JobHost::look_worlds() {
  if (!worlds_) return;
  if (const auto refusal = worlds_->take_refusal())
    send_all(refusal->ranks, encode_no_world(refusal->why));
  if (const auto world = worlds_->take_next())
    return send_all({world->ranks.begin(), world->ranks.end()}, encode(*world));
  if (worlds_->take_newcomer()) send_all(worlds_->awaited(), encode_plain(FrameKind::kJobWaits));
}

void JobHost::send_all(const std::set<std::uint32_t>& ranks, const Frame& frame) {
  for (const Seat& seat : seats_) {
    if (seat.joined && ranks.contains(seat.joined->member.rank))
      seat.connection->send(frame).ignore();
  }
}

void JobHost::report_lost(const JobFailure& failure) {
  const Frame frame = encode(failure, FrameKind::kJobLost);
  for (const Seat& seat : seats_) {
    if (seat.joined && seat.joined->member.rank != failure.member.rank)
      seat.connection->send(frame).ignore();
  }
}

void JobHost::lost(const JobFailure& failure) {
  report_lost(failure);
  if (worlds_) worlds_->lost(failure.member.rank);
  look_worlds();
}

void JobHost::over(const JobMember& member, bool well) {
  if (worlds_) worlds_->ended(member, well);
  look_worlds();
  if (!well) return;
  // Where it has not said by itself where it listens, others wait for that in the mesh that a
  // JobThread makes, in its first epoch.
  const MeshOptions mesh;
  store_->put(record_key(mesh.name, mesh.epoch, member.rank), encode_record({.who = member}));
}

Future<void> JobHost::take_before_join(Seats::iterator seat, const Frame& frame) {
  if (is_ask(frame)) {
    seat->refused = seat->looks_on = true;  // it says nothing more
    seat->connection->set_limits(kMostJoinPayload, kMostQueued);
    seat->connection->send(encode(status())).ignore();
    seat->connection->close("answered").ignore();
    return {};
  }
  const Status joined = join(seat, frame);
  if (joined) return {};
  // What is refused hears why, and then a goodbye.
  seat->refused = true;
  seat->connection->send(encode_refusal(joined.error())).ignore();
  seat->connection->close("refused").ignore();
  return {};
}

Status JobHost::take_alive(std::uint32_t rank, const Frame& frame) {
  MILLRACE_TRY(auto groups, decode_alive(frame));
  if (groups) ranks_[rank].groups = *std::move(groups);
  return {};
}

Status JobHost::join(Seats::iterator seat, const Frame& frame) {
  MILLRACE_TRY(JoinRequest request, decode_join(frame));
  MILLRACE_TRY_STATUS(check(*seat, request));
  if (options_.in_rank && request.member.rank < gone_.size() && gone_[request.member.rank]) {
    return millrace::fail(ErrorCode::kUnavailable,
                          to_string(request.member) + " has left this job before");
  }
  MILLRACE_TRY_STATUS(table_.join(request, transport_.timers().clock().now()));
  transport_.timers().cancel(seat->patience);
  const Ref<Connection>& connection = seat->connection;
  connection->set_limits(kMostStorePayload, kMostQueued);
  const std::uint32_t rank = request.member.rank;
  gone_[rank] = false;
  ranks_[rank] = {.phase = RankPhase::kJoined, .pid = request.member.pid};
  seat->joined = std::move(request);
  seat->member = store_->admit(connection);
  connection
      ->send(encode(Welcome{.heartbeat = heartbeat(),
                            .elastic = worlds_.has_value(),
                            .silent_after = options_.silent_after}))
      .ignore();
  if (failure_) connection->send(*failure_).ignore();
  if (!late_ && !scope_.closing()) {
    late_ = transport_.timers().schedule(
        transport_.timers().clock().now() + kLateAfter,
        [self = Ref<JobHost>::share(this)] { self->name_late_ranks(); });
  }
  if (hooks_.joined) hooks_.joined(rank);
  return {};
}

// What the handshake and the system know counts more than what is claimed.
Status JobHost::check(const Seat& seat, JoinRequest& request) const {
  const Peer& peer = seat.connection->peer();
  if (peer.pid && *peer.pid > 0) request.member.pid = *peer.pid;
  const auto& identity = seat.connection->identity();
  const bool is_other = identity && (identity->rank != request.member.rank ||
                                     identity->incarnation != request.incarnation);
  if (request.job == options_.job && !is_other) return {};
  return millrace::fail(
      ErrorCode::kInvalidArgument,
      "joining the job '" + options_.job + "' as " + to_string(request.member) +
          (is_other ? ": it came in as another rank"
                    : ": this process says that its job is '" + request.job + "'"));
}

void JobHost::fail(const JobFailure& failure) {
  if (failure_) return;
  failure_ = encode(failure);
  for (const Seat& seat : seats_) {
    if (seat.joined) seat.connection->send(*failure_).ignore();
  }
  look_drained();
}

void JobHost::started(std::uint32_t rank, std::int32_t pid) {
  if (table_.state(rank) == MemberState::kAbsent) ranks_[rank] = {.pid = pid};  // else it is in
}

// Those who look on want news, also where silence is allowed.
Duration JobHost::heartbeat() const {
  const Duration tick = table_.tick();
  return tick.count() == 0 ? kLongestHeartbeat : std::min(tick, kLongestHeartbeat);
}

JobStatus JobHost::status() const {
  JobStatus status{.job = options_.job,
                   .host_pid = options_.pid != 0 ? options_.pid : ::getpid(),
                   .age = transport_.timers().clock().now() - begin_,
                   .turned_away = counts().refused() + turned_away_,
                   .ranks = ranks_};
  for (std::uint32_t rank = 0; rank < status.ranks.size(); ++rank) {
    if (table_.state(rank) == MemberState::kSuspect) status.ranks[rank].phase = RankPhase::kSuspect;
  }
  return status;
}

void JobHost::ended(std::uint32_t rank) {
  ranks_[rank].phase = RankPhase::kEnded;
  table_.ended(rank);
  // Its children may still hold the connection.
  for (Seat& seat : seats_) {
    if (!seat.joined || seat.joined->member.rank != rank) continue;
    seat.refused = true;  // what it has still said counts no more
    seat.connection->abandon("its process has ended");
  }
  if (worlds_) worlds_->left(rank);
}

void JobHost::take_end(Seats::iterator seat, const ConnectionEnd& end) {
  transport_.timers().cancel(seat->patience);
  const Scope::Hold hold = std::move(seat->hold);
  const std::optional<JoinRequest> joined = std::move(seat->joined);
  turned_away_ += joined || seat->looks_on ? 0u : 1u;
  seats_.erase(seat);
  if (!joined) return;
  const bool goodbye = end.cause == EndCause::kClosedThere || end.cause == EndCause::kClosedHere;
  const std::uint32_t rank = joined->member.rank;
  gone_[rank] = goodbye && std::ranges::none_of(seats_, [rank](const Seat& other) {
                  return other.joined && other.joined->member.rank == rank;
                });
  if (gone_[rank] || !goodbye) ranks_[rank].phase = RankPhase::kEnded;
  look_drained();
  const bool lost = table_.left(rank, joined->incarnation, goodbye);
  // Its process may go on without the job.
  if (worlds_ && (gone_[rank] || lost)) {
    worlds_->left(rank);
    look_worlds();
  }
  if (!lost || !hooks_.lost) return;
  hooks_.lost({.member = joined->member, .reason = FailureReason::kLost, .words = end.words});
}

std::vector<std::uint32_t> JobHost::missing() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < gone_.size(); ++rank) {
    if (!gone_[rank]) ranks.push_back(rank);
  }
  return ranks;
}

Future<void> JobHost::drained() {
  Future<void> done = draining_.emplace().future();
  look_drained();
  return done;
}

void JobHost::look_drained() {
  if (draining_ && (failure_ || missing().empty()))
    std::exchange(draining_, std::nullopt)->set_value();
}

void JobHost::set_tick() {
  if (table_.tick().count() == 0 || scope_.closing()) return;
  tick_ = transport_.timers().schedule(transport_.timers().clock().now() + table_.tick(),
                                       [self = Ref<JobHost>::share(this)] { self->look(); });
}

void JobHost::look() {
  const MemberTable::Found found = table_.look(transport_.timers().clock().now());
  for (const std::uint32_t rank : found.suspect) {
    if (hooks_.suspect) hooks_.suspect(table_.member(rank));
  }
  const bool is_heard = options_.in_rank || may_fall_silent(address());
  for (const Seat& seat : seats_) {
    if (is_heard && seat.joined) seat.connection->send(encode_alive({})).ignore();
  }
  for (const std::uint32_t rank : found.silent) {
    // Before it is killed, which the others see as no more than the end of its streams.
    report_lost({.member = table_.member(rank), .reason = FailureReason::kSilent});
    if (hooks_.silent) hooks_.silent(table_.member(rank));
  }
  set_tick();
}

// Others may wait for them, and say nothing while they do.
void JobHost::name_late_ranks() {
  std::vector<std::uint32_t> late;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].phase == RankPhase::kStarting) late.push_back(rank);
  }
  if (late.empty() || failure_) return;
  MILLRACE_LOG(kWarning, "core",
               to_string_of_ranks(late) + (late.size() == 1 ? " has" : " have") +
                   " not joined the job " + std::to_string(kLateAfter.count()) +
                   " s after the first; what needs " + (late.size() == 1 ? "it" : "them") +
                   " waits");
}

Future<void> JobHost::close() {
  if (late_) transport_.timers().cancel(*late_);
  if (tick_) transport_.timers().cancel(*std::exchange(tick_, std::nullopt));
  const Future<void> empty = scope_.close();
  const Future<void> shut = entrance_->close();
  for (const Seat& seat : seats_) seat.connection->close("the job is over").ignore();
  return when_all(empty, shut)
      .then(inline_executor(), [self = Ref<JobHost>::share(this)](Result<void> closed) {
        self->hooks_ = {};
        return closed;
      });
}

}  // namespace millrace::net
