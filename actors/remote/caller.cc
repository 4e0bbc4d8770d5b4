#include "millrace/actors/remote/caller.h"

#include <algorithm>

#include "millrace/actors/call_limits.h"

namespace millrace::actors {
namespace {

using millrace::detail::WaitEnd;

std::size_t size_of(const net::Frame& frame) { return net::kHeaderBytes + frame.payload.size(); }

}  // namespace

RemoteTarget::RemoteTarget(Ref<Caller> caller, net::JobMember where, ActorId id, std::string name,
                           std::vector<std::pair<std::size_t, std::string>> other)
    : caller_(std::move(caller)),
      where_(std::move(where)),
      id_(id),
      name_(std::move(name)),
      other_(std::move(other)) {}

std::string RemoteTarget::to_string() const {
  return "actor '" + name_ + "' of " + net::to_string(where_);
}

Status RemoteTarget::check_schema(std::size_t place, const MessageSchema& schema) const {
  const auto found =
      std::ranges::find_if(other_, [&](const auto& one) { return one.first == place; });
  if (found == other_.end()) [[likely]]
    return {};
  const std::string there = found->second.empty() ? "no such message is served" : found->second;
  return fail(ErrorCode::kFailedPrecondition,
              schema.name + " to " + to_string() + ": its lists of fields differ: here " +
                  schema.text() + ", there " + there + "; run the same program in all processes");
}

Error RemoteTarget::gone(const Exit& exit) const {
  std::string text = to_string() + " is gone (" + std::string(actors::to_string(exit.reason)) + ")";
  const ActorGone detail{id_, name_, exit.reason};
  if (!exit.error) return Error(ErrorCode::kUnavailable, std::move(text)).with_detail(detail);
  const Error& why = *exit.error;
  if (why.code() == ErrorCode::kUnavailable) return why.with_context(text).with_detail(detail);
  return Error(ErrorCode::kUnavailable, text + ": " + why.message()).with_detail(detail);
}

Result<Caller::Seat*> Caller::seat_for(const RemoteTarget& target, std::size_t bytes) {
  const auto seat = seats_.find(target.id());
  if (seat == seats_.end()) return std::unexpected(target.gone(*target.exit_));
  MILLRACE_TRY_STATUS(check_size(target, bytes));
  return &seat->second;
}

Result<Caller::Seat*> Caller::cast_seat(const std::string& name, const net::JobMember& there,
                                        std::size_t bytes) {
  if (end_) return std::unexpected(*end_);
  const ActorId channel = cast_channel(name);
  if (const auto seat = seats_.find(channel); seat != seats_.end()) {
    MILLRACE_TRY_STATUS(check_size(*seat->second.target, bytes));
    return &seat->second;
  }
  auto target = make_ref<RemoteTarget>(Ref<Caller>::share(this), there, channel, name,
                                       std::vector<std::pair<std::size_t, std::string>>());
  MILLRACE_TRY_STATUS(check_size(*target, bytes));
  return &seats_.try_emplace(channel, Seat{std::move(target)}).first->second;
}

Status Caller::check_size(const RemoteTarget& target, std::size_t bytes) const {
  const std::size_t most = mesh_->max_payload() + net::kHeaderBytes;
  if (bytes <= most) return {};
  return fail(ErrorCode::kInvalidArgument, "a message of " + std::to_string(bytes) + " bytes to " +
                                               target.to_string() + ", where " +
                                               std::to_string(most) + " is the limit of a frame");
}

void Caller::send(Seat& seat, Waiting& waiting, net::Later& later) {
  seat.window.sent(size_of(waiting.frame), budget_);
  if (waiting.deadline != kNoDeadline) {
    // An eighth earlier there than here (CS-2).
    const Duration left = waiting.deadline - environment_.clock->now();
    waiting.frame.header.words[1] =
        static_cast<std::uint64_t>(std::max<Duration::rep>(1, left.count() - left.count() / 8));
  }
  outlet_->send(std::move(waiting.frame), later);
}

bool Caller::goes_now(Seat& seat, Waiting& waiting, net::Later& later) {
  if (!seat.line.empty() || !seat.window.may_send(size_of(waiting.frame), budget_)) return false;
  send(seat, waiting, later);
  return true;
}

void Caller::wait(Seat& seat, Waiting waiting, net::Later& later) {
  seat.line_bytes += size_of(waiting.frame);
  seat.line.push_back(std::move(waiting));
  pump(seat, later);  // asks for credit
}

// Sends what has room; asks for credit if something has none.
void Caller::pump(Seat& seat, net::Later& later) {
  while (!seat.line.empty()) {
    Waiting& first = seat.line.front();
    const std::size_t bytes = size_of(first.frame);
    const bool withdrawn = first.withdrawn();
    if (!withdrawn && !seat.window.may_send(bytes, budget_)) break;
    if (!withdrawn) {
      if (first.call) calls_.at(first.frame.header.sequence).sent = true;
      send(seat, first, later);
      if (first.accepted)
        later.add([accepted = std::move(first.accepted)] { accepted->try_set({}); });
    }
    seat.line_bytes -= bytes;
    seat.line.pop_front();
  }
  if (seat.line.empty() || std::exchange(seat.credit_wanted, true)) return;
  outlet_->send({{.kind = kActorCreditWanted, .channel = seat.target->id()}, {}}, later);
}

void Caller::sweep(Seat& seat) {
  std::erase_if(seat.line, [&](const Waiting& waiting) {
    if (!waiting.withdrawn()) return false;
    seat.line_bytes -= size_of(waiting.frame);
    return true;
  });
  seat.withdrawn = 0;
}

// As AD-4: each that waits is looked at a few times, not at every call.
void Caller::withdraw_waiting(ActorId target) {
  const auto found = seats_.find(target);
  if (found == seats_.end()) return;
  Seat& seat = found->second;
  if (++seat.withdrawn * 2 >= seat.line.size()) sweep(seat);
}

void Caller::withdraw_tell(ActorId target) {
  MutexLock lock(mutex_);
  withdraw_waiting(target);
}

Error Caller::limit_error(const std::string& what, WaitEnd end) const {
  if (end == WaitEnd::kDue) {
    return Error(ErrorCode::kDeadlineExceeded,
                 what + " of " + net::to_string(member()) + ": the deadline came first");
  }
  if (end == WaitEnd::kClosed)
    return millrace::detail::wait_error(end, "before the answer was there");
  return Error(ErrorCode::kCancelled, what + " was stopped on request");
}

Future<void> Caller::tell(const RemoteTarget& target, net::Frame frame, const MessageType& type,
                          const CallOptions& options) {
  MILLRACE_TRY_STATUS(check_in_time(options, *environment_.clock, type.name));
  const std::size_t bytes = size_of(frame);
  Ref<Cell<void>> accepted;
  {
    net::Later later;
    MutexLock lock(mutex_);
    MILLRACE_TRY(Seat* const seat, seat_for(target, bytes));
    Waiting waiting{std::move(frame)};
    if (goes_now(*seat, waiting, later)) return detail::accepted_now();
    if (seat->line_bytes + bytes > kMostWaiting) sweep(*seat);
    if (!seat->line.empty() && seat->line_bytes + bytes > kMostWaiting) {
      return fail(ErrorCode::kResourceExhausted,
                  std::string(type.name) + " to " + target.to_string() + ": " +
                      std::to_string(seat->line_bytes) +
                      " bytes wait already for room there; await the future of tell");
    }
    accepted = waiting.accepted = make_ref<Cell<void>>();
    wait(*seat, std::move(waiting), later);
  }
  struct TellLimit final : RefCounted, Pooled {
    Ref<Cell<void>> accepted;
    Ref<Caller> caller;
    ActorId target = 0;
    std::string what = {};
  };
  if (options.stop.stop_possible() || options.deadline != kNoDeadline) {
    auto limit = make_ref<TellLimit>();
    limit->accepted = accepted;
    limit->caller = Ref<Caller>::share(this);
    limit->target = target.id();
    limit->what = std::string(type.name) + " to actor '" + target.name() + "'";
    millrace::detail::limit_wait(options, environment_.timers, Ref<AsyncValue>(accepted),
                                 Ref<RefCounted>(std::move(limit)),
                                 [](RefCounted& ended, WaitEnd end) {
                                   auto& self = static_cast<TellLimit&>(ended);
                                   const Error error = self.caller->limit_error(self.what, end);
                                   if (self.accepted->try_set(std::unexpected(error)))
                                     self.caller->withdraw_tell(self.target);
                                 });
  }
  return Future<void>(std::move(accepted));
}

Result<std::uint64_t> Caller::ask_at(Seat& seat, Waiting asked, net::Later& later) {
  const std::uint64_t number = asked.frame.header.sequence = ++last_number_;
  Call& kept = calls_[number] = {asked.call, seat.target};
  if (goes_now(seat, asked, later)) return number;
  kept.sent = false;
  const std::size_t bytes = size_of(asked.frame);
  if (seat.line_bytes + bytes > kMostWaiting) sweep(seat);
  if (!seat.line.empty() && seat.line_bytes + bytes > kMostWaiting) {
    calls_.erase(number);
    return fail(ErrorCode::kResourceExhausted,
                asked.call->what() + ": " + std::to_string(seat.line_bytes) +
                    " bytes wait already for room there; await earlier answers");
  }
  wait(seat, std::move(asked), later);
  return number;
}

std::uint64_t Caller::ask(const RemoteTarget& target, net::Frame frame,
                          const Ref<PendingCall>& call, const Ref<AsyncValue>& answer,
                          const CallOptions& options) {
  const auto enter = [&]() -> Result<std::uint64_t> {
    net::Later later;
    MutexLock lock(mutex_);
    MILLRACE_TRY(Seat* const seat, seat_for(target, size_of(frame)));
    return ask_at(*seat, {.frame = std::move(frame), .call = call}, later);
  };
  const Result<std::uint64_t> number = enter();
  if (!number) {
    call->take(std::unexpected(number.error()));
    return 0;
  }
  limit(*number, call, answer, options);
  return *number;
}

std::uint64_t Caller::cast(const std::string& name, net::Frame frame, const Ref<PendingCall>& call,
                           TimePoint deadline) {
  const net::JobMember there = member();
  const auto enter = [&]() -> Result<std::uint64_t> {
    net::Later later;
    MutexLock lock(mutex_);
    MILLRACE_TRY(Seat* const seat, cast_seat(name, there, size_of(frame)));
    frame.header.channel = seat->target->id();
    return ask_at(*seat, {.frame = std::move(frame), .call = call, .deadline = deadline}, later);
  };
  const Result<std::uint64_t> number = enter();
  if (number) return *number;
  call->take(std::unexpected(number.error()));
  return 0;
}

std::uint64_t Caller::call(net::Frame frame, const Ref<PendingCall>& call) {
  std::optional<Error> refused;
  std::uint64_t number = 0;
  {
    net::Later later;
    MutexLock lock(mutex_);
    if (end_) {
      refused = end_;
    } else if (frame.payload.size() > mesh_->max_payload()) {
      refused = Error(ErrorCode::kInvalidArgument, call->what() + ": it is longer than a frame");
    } else if (outlet_->kept_bytes() > kMostWaiting) {
      refused = Error(ErrorCode::kResourceExhausted,
                      call->what() + ": too much waits already to go to rank " +
                          std::to_string(rank()) + "; await earlier answers");
    } else {
      frame.header.sequence = number = ++last_number_;
      calls_[number] = {call};
      outlet_->send(std::move(frame), later);
    }
  }
  if (refused) call->take(std::unexpected(*std::move(refused)));
  return number;
}

void Caller::limit(std::uint64_t number, const Ref<PendingCall>& call,
                   const Ref<AsyncValue>& answer, const CallOptions& options) {
  if (!options.stop.stop_possible() && options.deadline == kNoDeadline) return;
  struct Limit final : RefCounted, Pooled {
    Ref<PendingCall> call;
    Ref<Caller> caller;
    std::uint64_t number = 0;
  };
  auto limit = make_ref<Limit>();
  limit->call = call;
  limit->caller = Ref<Caller>::share(this);
  limit->number = number;
  millrace::detail::limit_wait(
      options, environment_.timers, answer, Ref<RefCounted>(std::move(limit)),
      [](RefCounted& ended, WaitEnd end) {
        auto& self = static_cast<Limit&>(ended);
        self.call->take(std::unexpected(self.caller->limit_error(self.call->what(), end)));
        self.caller->withdraw(self.number);
      });
}

void Caller::withdraw(std::uint64_t number) {
  net::Later later;
  MutexLock lock(mutex_);
  auto found = calls_.extract(number);
  if (found.empty()) return;
  Call& call = found.mapped();
  later.add([kept = call.call, target = call.target] {});  // their ends may be the asker's
  const ActorId target = call.target ? call.target->id() : 0;
  if (!call.sent) return withdraw_waiting(target);
  outlet_->send({{.kind = kActorWithdraw, .channel = target, .sequence = number}, {}}, later);
}

void Caller::notify(const RemoteTarget& target, net::Frame frame) {
  net::Later later;
  MutexLock lock(mutex_);
  if (seats_.contains(target.id())) outlet_->send(std::move(frame), later);
}

Ref<RemoteTarget> Caller::adopt(FindAnswer answer, const std::string& name) {
  auto target = make_ref<RemoteTarget>(Ref<Caller>::share(this), member(), answer.id, name,
                                       std::move(answer.other));
  net::Later later;
  MutexLock lock(mutex_);
  if (end_) {
    end_seat(Seat{target}, exit_, later);
    return target;
  }
  return seats_.try_emplace(answer.id, Seat{std::move(target)}).first->second.target;
}

Status Caller::add_credit(ActorId target, std::uint64_t bytes, net::Later& later) {
  const auto found = seats_.find(target);
  if (found == seats_.end()) return {};  // it was down before
  if (!found->second.window.returned(bytes, budget_)) {
    return fail(ErrorCode::kInvalidArgument,
                "a credit of " + std::to_string(bytes) + " bytes, which are not under way");
  }
  Seat& seat = found->second;
  seat.credit_wanted = false;
  pump(seat, later);
  if ((target & kOfCast) != 0 && seat.line.empty() && seat.window.under_way() == 0) {
    later.add([kept = std::move(seat.target)] {});
    seats_.erase(found);
  }
  return {};
}

Status Caller::take_answer(const net::Frame& frame) {
  const net::FrameHeader& header = frame.header;
  Result<net::Bytes> answer = frame.payload;
  if (header.words[0] == kAnswerIsError) {
    auto error = read_error(frame.payload);
    if (!error) return fail(ErrorCode::kInvalidArgument, "an answer came that is no error");
    if (error->detail<net::JobMember>() == nullptr)
      error = error->with_context(net::to_string(member())).with_detail(member());
    answer = std::unexpected(*std::move(error));
  }
  Ref<PendingCall> call;
  Status taken;
  {
    net::Later later;
    MutexLock lock(mutex_);
    const auto found = calls_.find(header.sequence);
    if (found != calls_.end()) {
      if (!found->second.sent) return fail(ErrorCode::kInvalidArgument, "an answer came too early");
      call = std::move(found->second.call);
      if (header.words[0] == kAnswerIsGone) answer = std::unexpected(gone_error(found->second));
      later.add([target = std::move(found->second.target)] {});
      calls_.erase(found);
    }
    if (header.words[1] != 0) taken = add_credit(header.channel, header.words[1], later);
  }
  if (call) call->take(answer);
  return taken;
}

// The Down came before.
Error Caller::gone_error(const Call& call) const {
  if (call.target && call.target->exit_) return call.target->gone(*call.target->exit_);
  return Error(ErrorCode::kUnavailable, "the actor is gone");
}

Status Caller::take_credit(const net::Frame& frame) {
  net::Later later;
  MutexLock lock(mutex_);
  return add_credit(frame.header.channel, frame.header.words[0], later);
}

Status Caller::take_down(const net::Frame& frame) {
  MILLRACE_TRY(const Exit exit, read_exit(frame.payload));
  net::Later later;
  MutexLock lock(mutex_);
  auto found = seats_.extract(frame.header.channel);
  if (!found.empty()) end_seat(std::move(found.mapped()), exit, later);
  return {};
}

// The actor's asks that are under way are answered one by one.
void Caller::end_seat(Seat seat, const Exit& exit, net::Later& later) {
  seat.target->exit_ = exit;
  seat.window.end(budget_);
  std::vector<Ref<PendingCall>> calls;
  for (const Waiting& waiting : seat.line) {
    if (!waiting.call) continue;
    calls_.erase(waiting.frame.header.sequence);
    calls.push_back(waiting.call);
  }
  later.add([seat = std::move(seat), exit, calls = std::move(calls)] {
    const RemoteTarget& target = *seat.target;
    target.down_->set(Down{target.id(), target.name(), exit});
    const Error gone = target.gone(exit);
    for (const Waiting& waiting : seat.line)
      if (waiting.accepted) waiting.accepted->try_set(std::unexpected(gone));
    for (const Ref<PendingCall>& call : calls) call->take(std::unexpected(gone));
  });
}

void Caller::end(const Error& why, bool failure) {
  net::Later later;
  MutexLock lock(mutex_);
  if (end_) return;
  end_ = why;
  if (failure) {
    exit_ = {ExitReason::kUnreachable, why};
  } else {
    exit_ = {ExitReason::kClosed, {}};
  }
  Seats seats;
  seats.swap(seats_);
  for (auto& [id, seat] : seats) end_seat(std::move(seat), exit_, later);
  std::vector<Ref<PendingCall>> calls;
  for (auto& [number, call] : calls_) calls.push_back(std::move(call.call));
  calls_.clear();
  later.add([calls = std::move(calls), why] {
    for (const Ref<PendingCall>& call : calls)
      call->take(std::unexpected(why.with_context(call->what())));
  });
}

std::size_t Caller::waiting_bytes() const {
  MutexLock lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [id, seat] : seats_) bytes += seat.line_bytes;
  return bytes;
}

std::size_t Caller::under_way_bytes() const {
  MutexLock lock(mutex_);
  return budget_.used;
}

}  // namespace millrace::actors
