#include "millrace/core/net/job_host.h"

#include <utility>

#include "millrace/core/async/combinators.h"

namespace millrace::net {
namespace {

// What the host sends ahead of a slow member: answers of the store, each up to a frame.
constexpr std::size_t kMostQueued = 4 * kMostStorePayload;

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
      table_(options_.ranks, options_.silent_after, transport.timers().clock().now()) {}

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
  if (!seat->joined) {
    const Status joined = join(seat, frame);
    if (joined) return {};
    // What is refused hears why, and then a goodbye.
    seat->refused = true;
    seat->connection->send(encode_refusal(joined.error())).ignore();
    seat->connection->close("refused").ignore();
    return {};
  }
  table_.heard(seat->joined->member.rank, transport_.timers().clock().now());
  if (frame.header.kind == FrameKind::kJobAlive) return {};
  return store_->take(seat->member, std::move(frame));
}

Status JobHost::join(Seats::iterator seat, const Frame& frame) {
  MILLRACE_TRY(JoinRequest request, decode_join(frame));
  MILLRACE_TRY_STATUS(check(*seat, request));
  MILLRACE_TRY_STATUS(table_.join(request, transport_.timers().clock().now()));
  transport_.timers().cancel(seat->patience);
  const Ref<Connection>& connection = seat->connection;
  connection->set_limits(kMostStorePayload, kMostQueued);
  const std::uint32_t rank = request.member.rank;
  seat->joined = std::move(request);
  seat->member = store_->admit(connection);
  connection->send(encode_welcome(table_.tick())).ignore();
  if (failure_) connection->send(*failure_).ignore();
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
}

void JobHost::ended(std::uint32_t rank) {
  table_.ended(rank);
  // Its children may still hold the connection.
  for (const Seat& seat : seats_) {
    if (seat.joined && seat.joined->member.rank == rank)
      seat.connection->abandon("its process has ended");
  }
}

void JobHost::take_end(Seats::iterator seat, const ConnectionEnd& end) {
  transport_.timers().cancel(seat->patience);
  const Scope::Hold hold = std::move(seat->hold);
  const std::optional<JoinRequest> joined = std::move(seat->joined);
  seats_.erase(seat);
  if (!joined) return;
  const bool goodbye = end.cause == EndCause::kClosedThere || end.cause == EndCause::kClosedHere;
  const std::uint32_t rank = joined->member.rank;
  if (!table_.left(rank, joined->incarnation, goodbye) || !hooks_.lost) return;
  hooks_.lost({.member = joined->member, .reason = FailureReason::kLost, .words = end.words});
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
  for (const std::uint32_t rank : found.silent) {
    if (hooks_.silent) hooks_.silent(table_.member(rank));
  }
  set_tick();
}

Future<void> JobHost::close() {
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
