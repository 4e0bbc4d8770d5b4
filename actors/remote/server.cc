#include "millrace/actors/remote/server.h"

#include "millrace/actors/system.h"
#include "millrace/core/observe/log.h"

namespace millrace::actors {
namespace {

std::size_t size_of(const net::Frame& frame) { return net::kHeaderBytes + frame.payload.size(); }

}  // namespace

Result<std::pair<Ref<ActorCell>, const RemoteClass*>> find_served(const Server::Served& served,
                                                                  const std::string& name,
                                                                  const std::string& type) {
  MILLRACE_TRY(Ref<ActorCell> cell, served.system.find_cell(name));
  const RemoteClass* const found = served.classes.find(cell->type());
  const std::string is = "actor '" + name + "' is a " + readable_name(cell->type());
  if (found == nullptr) {
    return fail(ErrorCode::kNotFound,
                is + ", which other processes do not reach; serve<A>() would let them");
  }
  if (found->type != type) return fail(ErrorCode::kInvalidArgument, is + ", not a " + type);
  return std::pair(std::move(cell), found);
}

Error schema_error(const net::JobMember& asker, std::string_view theirs,
                   const MessageSchema* ours) {
  return Error(ErrorCode::kFailedPrecondition,
               "the lists of fields of " + std::string(name_in(theirs)) +
                   " differ: " + net::to_string(asker) + " has " + std::string(theirs) + ", here " +
                   (ours == nullptr ? "no such message is served" : "it is " + ours->text()) +
                   "; run the same program in all processes");
}

// An ask of that rank, from its arrival to its answer.
class Server::Ask final : public ServedCall, public Waiter, public Pooled {
 public:
  Ask(Ref<Server> server, std::uint64_t number, ActorId id, const RemoteMessage& message,
      Ref<AsyncValue> answer)
      : server_(std::move(server)),
        number_(number),
        id_(id),
        message_(message),
        answer_(std::move(answer)) {}

  // accepted: of its message, or empty.
  void watch(Ref<ActorCell> cell, const Future<void>& accepted) {
    {
      MutexLock lock(mutex_);
      cell_ = std::move(cell);
      if (!accepted.ready()) accepted_ = accepted.cell();
    }
    add_ref();
    answer_->add_waiter(this);
  }
  void on_complete(AsyncValue& answer) noexcept override {
    const auto self = Ref<Ask>::adopt(this);
    server_->answer(number_, message_.encode(answer), id_);
  }
  void cancel(const Error& why) override {
    message_.cancel(*answer_, why);
    Ref<ActorCell> cell;
    Ref<Cell<void>> accepted;
    {
      MutexLock lock(mutex_);
      cell = cell_;
      accepted = std::exchange(accepted_, nullptr);
    }
    // If the message waits for room still, it leaves the line.
    if (accepted && accepted->try_set({})) cell->withdraw();
  }

 private:
  const Ref<Server> server_;
  const std::uint64_t number_;
  const ActorId id_;
  const RemoteMessage& message_;
  const Ref<AsyncValue> answer_;
  Mutex mutex_;
  Ref<ActorCell> cell_ MILLRACE_GUARDED_BY(mutex_);
  Ref<Cell<void>> accepted_ MILLRACE_GUARDED_BY(mutex_);
};

void Server::take_find(const net::Frame& frame, const Served& served) {
  const std::uint64_t number = frame.header.sequence;
  net::Later later;
  const auto answer_find = [&]() -> Status {
    MILLRACE_TRY(const FindRequest request, read_find(frame.payload));
    MILLRACE_TRY(const auto actor, find_served(served, request.name, request.type));
    FindAnswer answer{actor.first->id()};
    for (std::size_t place = 0; place < request.schemas.size(); ++place) {
      const std::string& theirs = request.schemas[place];
      const RemoteMessage* const ours = actor.second->find_name(name_in(theirs));
      if (ours != nullptr && ours->schema.text() == theirs) continue;
      const MessageSchema* const schema = ours == nullptr ? nullptr : &ours->schema;
      answer.other.emplace_back(place, schema == nullptr ? "" : schema->text());
      MILLRACE_LOG(kWarning, "actors", schema_error(asker(), theirs, schema).message());
    }
    MutexLock lock(mutex_);
    if (end_) return std::unexpected(*end_);
    if (exports_.try_emplace(answer.id, Export{actor.first, actor.second}).second)
      later.add([self = Ref<Server>::share(this), cell = actor.first] { self->watch(cell); });
    // With the lock: the actor's end is said after this.
    outlet_->send(
        {{.kind = kActorAnswer, .sequence = number, .words = {kAnswerIsValue}}, encode(answer)},
        later);
    return {};
  };
  if (const Status answered = answer_find(); !answered) refuse(number, answered.error());
}

void Server::watch(const Ref<ActorCell>& cell) {
  cell->down()
      .then(inline_executor(),
            [self = Ref<Server>::share(this)](const Result<Down>& down) {
              self->take_down(down->id, down->exit);
            })
      .ignore();
}

void Server::take_down(ActorId id, const Exit& exit) {
  net::Later later;
  MutexLock lock(mutex_);
  auto found = exports_.extract(id);
  if (found.empty()) return;
  later.add([kept = std::move(found.mapped())] {});
  outlet_->send({{.kind = kActorDown, .channel = id}, encode(exit)}, later);
}

Future<void> Server::take_message(const net::Frame& frame) {
  const net::FrameHeader& header = frame.header;
  const std::size_t bytes = size_of(frame);
  Ref<ActorCell> cell;
  const RemoteMessage* message = nullptr;
  bool withdrawn = false;
  {
    MutexLock lock(mutex_);
    const auto found = exports_.find(header.channel);
    if (found != exports_.end()) {
      cell = found->second.cell;
      message = found->second.served->find(header.words[0]);
      withdrawn = header.sequence != 0 && is_withdrawn(found->second, header.sequence);
    }
  }
  if (withdrawn) {
    take_admitted(header.channel, bytes, {});
    return {};
  }
  if (!cell) {  // its end was said before
    net::Later later;
    if (header.sequence != 0)
      outlet_->send(
          {{.kind = kActorAnswer, .sequence = header.sequence, .words = {kAnswerIsGone}}, {}},
          later);
    return {};
  }
  if (message == nullptr) {
    drop_message(
        header, bytes,
        Error(ErrorCode::kFailedPrecondition,
              "actor '" + cell->name() + "' is served no message of such lists of fields"));
    return {};
  }
  auto opened = message->open(frame.payload, header.sequence != 0);
  if (!opened) {
    drop_message(header, bytes, opened.error());
    return {};
  }
  Ref<Ask> ask;
  if (opened->answer) {
    ask = make_ref<Ask>(Ref<Server>::share(this), header.sequence, header.channel, *message,
                        std::move(opened->answer));
    if (const Status added = add_call(header.sequence, ask); !added) {
      refuse(header.sequence, added.error());
      return {};
    }
  }
  const Future<void> accepted = cell->send(opened->envelope.release(), {});
  if (accepted.ready()) {
    take_admitted(header.channel, bytes, accepted.result());
    if (ask) ask->watch(std::move(cell), accepted);
    return {};
  }
  if (ask) ask->watch(std::move(cell), accepted);
  return hold_lane(accepted.then(inline_executor(),
                                 [self = Ref<Server>::share(this), id = header.channel,
                                  bytes](const Result<void>& admitted) -> Result<void> {
                                   self->take_admitted(id, bytes, admitted);
                                   return {};
                                 }));
}

Future<void> Server::hold_lane(const Future<void>& accepted) {
  const auto lane = make_ref<Cell<void>>();
  {
    MutexLock lock(mutex_);
    if (end_) return {};
    held_lanes_.emplace(lane.get(), lane);
  }
  accepted
      .then(inline_executor(),
            [self = Ref<Server>::share(this), lane](const Result<void>& /*admitted*/) {
              {
                MutexLock lock(self->mutex_);
                self->held_lanes_.erase(lane.get());
              }
              lane->try_set({});
            })
      .ignore();
  return Future<void>(lane);
}

// The asks among them get the same error.
void Server::drop_message(const net::FrameHeader& header, std::size_t bytes, const Error& why) {
  if (header.sequence == 0) {
    MILLRACE_LOG(kWarning, "actors",
                 "a message of " + net::to_string(asker()) + " was dropped: " + why.message());
    return take_admitted(header.channel, bytes, {});
  }
  take_admitted(header.channel, bytes, {});
  refuse(header.sequence, why);
}

void Server::refuse(std::uint64_t number, const Error& why, ActorId channel, std::size_t credit) {
  net::Later later;
  outlet_->send({{.kind = kActorAnswer,
                  .channel = channel,
                  .sequence = number,
                  .words = {kAnswerIsError, credit}},
                 encode(why)},
                later);
}

template <class F>
std::size_t Server::credit_of(ActorId channel, F step, std::size_t if_too_many) {
  if ((channel & kOfCast) == 0) {
    const auto found = exports_.find(channel);
    return found == exports_.end() ? 0 : step(found->second.credit);
  }
  if (end_) return 0;
  const auto found = cast_credits_.find(channel);
  if (found == cast_credits_.end() && cast_credits_.size() >= kMostCastNames) return if_too_many;
  const auto of_name =
      found == cast_credits_.end() ? cast_credits_.try_emplace(channel).first : found;
  const std::size_t credit = step(of_name->second);
  if (of_name->second.empty()) cast_credits_.erase(of_name);
  return credit;
}

void Server::take_admitted(ActorId channel, std::size_t bytes, const Result<void>& admitted,
                           std::uint64_t call) {
  if (!admitted && admitted.error().code() == ErrorCode::kResourceExhausted) {
    MILLRACE_LOG(
        kWarning, "actors",
        "a message of " + net::to_string(asker()) + " was dropped: " + admitted.error().message());
  }
  net::Later later;
  MutexLock lock(mutex_);
  const bool answered = (channel & kOfCast) != 0 && !calls_.contains(call);
  const auto admit = [&](CreditReturn& credit) {
    const std::size_t now = credit.admitted(bytes);
    return answered ? now + credit.take() : now;
  };
  send_credit(channel, credit_of(channel, admit, bytes), later);
}

void Server::send_credit(ActorId id, std::size_t bytes, net::Later& later) {
  if (bytes == 0) return;
  outlet_->send({{.kind = kActorCredit, .channel = id, .words = {bytes}}, {}}, later);
}

void Server::take_credit_wanted(const net::Frame& frame) {
  net::Later later;
  MutexLock lock(mutex_);
  const ActorId channel = frame.header.channel;
  send_credit(channel, credit_of(channel, [](CreditReturn& credit) { return credit.want(); }),
              later);
}

Status Server::add_call(std::uint64_t number, const Ref<ServedCall>& call) {
  MutexLock lock(mutex_);
  if (end_) return std::unexpected(*end_);
  if (calls_.try_emplace(number, call).second) return {};
  return fail(ErrorCode::kAlreadyExists, "a call of that number is under way");
}

bool Server::answer(std::uint64_t number, const Result<net::Bytes>& answer, ActorId channel) {
  net::Frame frame{{.kind = kActorAnswer, .channel = channel, .sequence = number}, {}};
  if (answer && answer->size() <= mesh_->max_payload()) {
    frame.payload = *answer;
  } else {
    frame.header.words[0] = kAnswerIsError;
    frame.payload = encode(
        answer ? Error(ErrorCode::kResourceExhausted,
                       "the answer has " + std::to_string(answer->size()) + " bytes, where " +
                           std::to_string(mesh_->max_payload()) + " is the limit of a frame")
               : answer.error());
  }
  net::Later later;
  MutexLock lock(mutex_);
  auto call = calls_.extract(number);
  if (call.empty()) return false;
  later.add([kept = std::move(call.mapped())] {});
  frame.header.words[1] = credit_of(channel, [](CreditReturn& credit) { return credit.take(); });
  outlet_->send(std::move(frame), later);
  return true;
}

// An ask has come: whether it was withdrawn before.
bool Server::is_withdrawn(Export& to, std::uint64_t number) {
  to.last_call = number;
  if (to.withdrawn.empty()) return false;
  const bool withdrawn = to.withdrawn.contains(number);
  to.withdrawn.erase(to.withdrawn.begin(), to.withdrawn.upper_bound(number));
  return withdrawn;
}

Status Server::take_withdraw(const net::Frame& frame) {
  Ref<ServedCall> call;
  {
    MutexLock lock(mutex_);
    auto found = calls_.extract(frame.header.sequence);
    if (!found.empty()) {
      call = std::move(found.mapped());
    } else if (const auto to = exports_.find(frame.header.channel); to != exports_.end()) {
      if (frame.header.sequence > to->second.last_call)
        to->second.withdrawn.insert(frame.header.sequence);
      if (to->second.withdrawn.size() > kMostWithdrawn)
        return fail(ErrorCode::kInvalidArgument, "calls were withdrawn that did not come");
    }
  }
  if (call) call->cancel(Error(ErrorCode::kCancelled, "its asker has withdrawn the call"));
  return {};
}

Status Server::take_link(const net::Frame& frame) {
  std::string name = net::text_of(frame.payload);
  if (name.size() > kMostNameBytes)
    return fail(ErrorCode::kInvalidArgument, "a link came of an actor with too long a name");
  MutexLock lock(mutex_);
  const auto found = exports_.find(frame.header.channel);
  if (found != exports_.end()) found->second.links[frame.header.sequence] = std::move(name);
  return {};
}

Status Server::take_link_end(const net::Frame& frame) {
  MILLRACE_TRY(const Exit exit, read_exit(frame.payload));
  Ref<ActorCell> cell;
  std::string linker;
  {
    MutexLock lock(mutex_);
    const auto found = exports_.find(frame.header.channel);
    if (found == exports_.end()) return {};
    auto link = found->second.links.extract(frame.header.sequence);
    if (link.empty()) return {};
    cell = found->second.cell;
    linker = std::move(link.mapped());
  }
  if (exit.failure()) kill_linked(*cell, linker, *exit.error);
  return {};
}

void Server::kill_linked(ActorCell& cell, const std::string& linker, const Error& why) const {
  const Error error = why.with_context("it was linked to actor '" + linker + "' of " +
                                       net::to_string(asker()) + ", which failed");
  cell.stop(Exit{ExitReason::kKilled, error}, StopMode::kNow);
}

void Server::end(const Error& why, bool failure) {
  decltype(exports_) exports;
  decltype(calls_) calls;
  decltype(held_lanes_) lanes;
  {
    net::Later later;
    MutexLock lock(mutex_);
    if (end_) return;
    end_ = why;
    exports.swap(exports_);
    calls.swap(calls_);
    lanes.swap(held_lanes_);
    if (!failure) {
      for (const auto& [number, call] : calls)
        outlet_->send(
            {{.kind = kActorAnswer, .sequence = number, .words = {kAnswerIsError}}, encode(why)},
            later);
      const Exit exit{ExitReason::kClosed, {}};
      for (const auto& [id, one] : exports)
        outlet_->send({{.kind = kActorDown, .channel = id}, encode(exit)}, later);
    }
  }
  for (const auto& [number, call] : calls) call->cancel(why);
  for (const auto& [value, lane] : lanes) lane->try_set({});
  if (!failure) return;
  for (const auto& [id, one] : exports) {
    for (const auto& [linker, name] : one.links) kill_linked(*one.cell, name, why);
  }
}

}  // namespace millrace::actors
