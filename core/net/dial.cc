#include "millrace/core/net/dial.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/base/philox.h"

namespace millrace::net {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr Duration kLongestPause = std::chrono::seconds(1);

// Between half of it and all of it, so that ranks that were refused together do not come together.
Duration pause_before(int tries, std::uint32_t from, std::uint32_t to) {
  const Duration whole = std::min(kFirstPause * (1 << std::min(tries, 10)), kLongestPause);
  RandomStream random(from, to, static_cast<std::uint64_t>(tries));
  return whole / 2 + std::chrono::duration_cast<Duration>(whole / 2 * random.next_float());
}

}  // namespace

void Dial::move(State to) {
  const State from = state_;
  const bool edge = to == State::kDone     ? from != State::kDone
                    : to == State::kCalls  ? from == State::kLooks || from == State::kPauses
                    : to == State::kPauses ? from == State::kCalls
                    : to == State::kAsks   ? from == State::kCalls
                                           : false;
  MILLRACE_CHECK(edge, "a dial takes no such step");
  state_ = to;
}

CallOptions Dial::call_options() const {
  return {.stop = stop_.get_token(), .deadline = plan_.deadline};
}

void Dial::start(Linked linked, Ended ended) {
  linked_ = std::move(linked);
  ended_ = std::move(ended);
  plan_.store.get(record_key(plan_.mesh, plan_.hello.epoch, plan_.hello.to), call_options())
      .then(plan_.transport.home(),
            [self = self()](const Result<std::string>& found) { self->take_record(found); })
      .ignore();
}

void Dial::abandon() {
  if (state_ == State::kDone) return;
  stop_.request_stop();
  leave("the link is not wanted any more");
}

// With a goodbye: the other end may hold it for a link already, which is not lost.
void Dial::leave(std::string_view words) {
  left_ = true;
  if (connection_) connection_->close(words).ignore();
}

void Dial::take_record(const Result<std::string>& found) {
  if (!found)
    return done(DialEnd::Kind::kFailed,
                found.error().with_context("where it listens is not known"));
  Result<MeshRecord> record = read_record(*found, plan_.hello.to);
  if (!record) return done(DialEnd::Kind::kFailed, record.error());
  record_ = *std::move(record);
  if (record_->address.empty()) {
    return done(DialEnd::Kind::kEnded,
                Error(ErrorCode::kUnavailable, "it left the job before it had talked to any rank"));
  }
  if (plan_.deadline != kNoDeadline) {
    limit_ = plan_.transport.timers().schedule(
        plan_.deadline, [self = self()] { self->leave("no answer came before the deadline"); });
  }
  call();
}

void Dial::call() {
  move(State::kCalls);
  ++tries_;
  const TimePoint now = plan_.transport.timers().clock().now();
  const bool limited = plan_.deadline != kNoDeadline;
  enter(
      plan_.transport, record_->address,
      {.secret = plan_.secret,
       .job = plan_.hello.job,
       .self = {plan_.hello.from.rank, plan_.hello.incarnation},
       .member = plan_.member,
       .patience = limited ? std::max<Duration>(plan_.deadline - now, Duration(0))
                           : Duration(std::chrono::hours(24))},
      [self = self()](const Ref<Connection>& connection) { return self->come_in(connection); },
      call_options())
      .then(plan_.transport.home(),
            [self = self()](const Result<Ref<Connection>>& entered) {
              if (!entered) self->take_refused_entry(entered.error());
            })
      .ignore();
}

FrameSink Dial::come_in(const Ref<Connection>& connection) {
  connection_ = connection;
  connection->end()
      .then(plan_.transport.home(),
            [self = self()](const Result<ConnectionEnd>& end) { self->take_end(*end); })
      .ignore();
  if (left_ || stop_.stop_requested()) {
    connection->abandon("the link is not wanted any more");
  } else {
    connection->send(encode_hello(plan_.hello)).ignore();
  }
  return [self = self()](const Frame& frame) { return self->hear(frame); };
}

void Dial::take_refused_entry(const Error& error) {
  const bool begun = error.detail<EndCause>() != nullptr;
  switch (error.code()) {
    case ErrorCode::kUnavailable:  // its stream was cut, or nothing listens
      return begun ? pause(error) : ask_for_end(error);
    case ErrorCode::kResourceExhausted:  // of this process's descriptors
      return pause(error);
    default:
      return done(DialEnd::Kind::kFailed, error);
  }
}

Future<void> Dial::hear(const Frame& frame) {
  if (!connection_ || answer_ || failure_ || left_) return {};  // its end is under way
  Result<LinkAnswer> answer = read_answer(frame);
  const Identity there{plan_.hello.to, record_->incarnation};
  if (answer && answer->verdict == LinkVerdict::kAccept && answer->from != there)
    answer = fail(ErrorCode::kInvalidArgument, "another process welcomes it than the store names");
  if (!answer) {
    failure_ = answer.error();
    connection_->abandon(answer.error().message(), EndCause::kProtocolError);
    return {};
  }
  if (answer->verdict != LinkVerdict::kAccept) {
    answer_ = *answer;
    connection_->abandon(to_string(answer->verdict));
    return {};
  }
  const Ref<Connection> connection = std::exchange(connection_, {});
  const Linked linked = std::exchange(linked_, {});
  finish();
  connection->set_sink(linked(connection, *record_));
  return {};
}

void Dial::take_end(const ConnectionEnd& end) {
  const Ref<Connection> connection = std::exchange(connection_, {});
  if (!connection || state_ != State::kCalls) return;  // it is a link
  const auto answer = std::exchange(answer_, std::nullopt);
  if (failure_) return done(DialEnd::Kind::kFailed, *failure_);
  if (!answer) return pause(end.error(connection->peer()));
  const Error why(ErrorCode::kUnavailable, std::string(to_string(answer->verdict)));
  switch (answer->verdict) {
    case LinkVerdict::kTie:
    case LinkVerdict::kLinked:
      return pause(why);
    case LinkVerdict::kStale:
    case LinkVerdict::kClosing:
      return done(DialEnd::Kind::kEnded, why);
    case LinkVerdict::kGone:
      return done(DialEnd::Kind::kHeldLost, why);
    default:
      return done(DialEnd::Kind::kFailed, Error(ErrorCode::kFailedPrecondition, why.message()));
  }
}

void Dial::pause(Error why) {
  if (stop_.stop_requested()) return done(DialEnd::Kind::kAbandoned, std::move(why));
  move(State::kPauses);
  TimerQueue& timers = plan_.transport.timers();
  const TimePoint next =
      timers.clock().now() + pause_before(tries_ - 1, plan_.hello.from.rank, plan_.hello.to);
  sleep_until(std::min(next, plan_.deadline), timers, stop_.get_token())
      .then(plan_.transport.home(),
            [self = self(), why = std::move(why),
             last = next >= plan_.deadline](const Result<void>& slept) {
              if (!slept) return self->done(DialEnd::Kind::kAbandoned, slept.error());
              if (!last) return self->call();
              self->done(DialEnd::Kind::kFailed,
                         Error(ErrorCode::kDeadlineExceeded,
                               "there was no link in time; at last: " + why.message()));
            })
      .ignore();
}

void Dial::ask_for_end(Error why) {
  if (stop_.stop_requested()) return done(DialEnd::Kind::kAbandoned, std::move(why));
  move(State::kAsks);
  with_options(plan_.store.try_get(ended_key(plan_.mesh, record_->incarnation)), call_options(),
               plan_.transport.timers())
      .then(plan_.transport.home(),
            [self = self(), why = std::move(why)](const Result<std::string>& found) {
              self->done(found ? DialEnd::Kind::kEnded : DialEnd::Kind::kLost, why);
            })
      .ignore();
}

void Dial::done(DialEnd::Kind kind, Error error) {
  const Ended ended = std::exchange(ended_, {});
  finish();
  if (stop_.stop_requested()) kind = DialEnd::Kind::kAbandoned;
  ended({kind, std::move(error), record_});
}

void Dial::finish() {
  move(State::kDone);
  if (limit_) plan_.transport.timers().cancel(*limit_);
  linked_ = nullptr;
  ended_ = nullptr;
}

}  // namespace millrace::net
