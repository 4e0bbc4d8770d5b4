#include "millrace/collectives/group_actor.h"

#include "millrace/actors/system.h"
#include "millrace/collectives/exchange.h"
#include "millrace/collectives/parcels.h"
#include "millrace/core/async/async_value.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/combinators.h"

namespace millrace::collectives {

using devices::Buffer;
using devices::Buffers;

namespace {

// On the mesh's thread, which others wait for, an answer wakes who blocks for it; all else that
// waits for it runs elsewhere.
class AnswerScope {
 public:
  explicit AnswerScope(Executor& elsewhere) {
    if (running_loop() != nullptr) scope_.emplace(elsewhere);
  }

 private:
  std::optional<ForeignThreadScope> scope_;
};

}  // namespace

GroupActor::GroupActor(std::string name, std::vector<devices::Device> devices, TraceRecorder* trace,
                       std::shared_ptr<const void> kept, Ref<GroupWire> wire)
    : kept_(std::move(kept)),
      wire_(std::move(wire)),
      first_(wire_ ? wire_->first_rank() : 0),
      size_(wire_ ? wire_->spread().ranks() : static_cast<int>(devices.size())),
      name_(std::move(name)),
      devices_(std::move(devices)),
      trace_(trace),
      matcher_(name_, static_cast<int>(devices_.size()), Rank{first_}) {}

std::string GroupActor::describe(std::uint64_t sequence, const CollectiveCall& call) const {
  std::string text = "collective " + std::to_string(sequence);
  text += " of group '" + name_ + "', " + call.to_string();
  return text;
}

void GroupActor::answer(Part& part, const Error& error) {
  const AnswerScope scope(*context().environment().compute);
  part.reply.set(std::unexpected(error));
  part.numbers_reply.set(std::unexpected(error));
}

void GroupActor::on(CollectiveRequest&& request, actors::Reply<Buffers> reply) {
  Part part;
  part.buffers = std::move(request.buffers);
  part.reply = std::move(reply);
  take(std::move(request.call), std::move(part));
}

void GroupActor::on(NumbersRequest&& request, actors::Reply<Numbers> reply) {
  Part part;
  part.numbers = std::move(request.numbers);
  part.numbers_reply = std::move(reply);
  take(std::move(request.call), std::move(part));
}

void GroupActor::take(RankCall&& request, Part&& part) {
  if (failed_) return answer(part, *failed_);  // GA-3
  const std::uint64_t sequence = request.sequence;
  const CollectiveCall& call = request.call;
  const bool has_arrays = call.is_about_numbers() || part.buffers.size() == call.shapes.size();
  Status valid = request.late ? Status(std::unexpected(*request.late))
                              : check_call(call, request.rank, has_arrays, size_);
  if (valid && call.algorithm) valid = check_algorithm(call);
  const Matcher::Answer matched = matcher_.call(request.rank, sequence, call, valid);
  if (matched.verdict == Matcher::Verdict::kLate) return answer(part, *matched.error);

  const auto [operation, fresh] = operations_.try_emplace(sequence);
  Operation& op = operation->second;
  if (fresh) {
    op.call = std::move(request.call);
    op.parts.resize(devices_.size());
  }
  part.called = true;
  part.flow = request.flow;
  part.written = part.buffers.empty() || !op.call.reads(request.rank);
  const bool awaits = !part.written;
  op.parts[place(request.rank)] = std::move(part);
  if (matched.verdict == Matcher::Verdict::kFailed)
    return fail_operation(operation, *matched.error);
  if (request.deadline != kNoDeadline) arm(sequence, request.rank, request.deadline);
  op.matched = matched.verdict == Matcher::Verdict::kMatched;
  if (awaits) await_inputs(sequence, request.rank);
  start_if_ready(operation);
}

void GroupActor::await_inputs(std::uint64_t sequence, Rank rank) {
  PooledVector<Future<void>> written;
  for (const Buffer& buffer : operations_.at(sequence).parts[place(rank)].buffers)
    written.push_back(buffer.ready());
  // The cell is their executor: what waits keeps it, however long the device takes.
  auto input_done = [this, home = Ref<actors::ActorCell>::share(&cell()), sequence,
                     rank](const Status& status) {
    const auto operation = operations_.find(sequence);
    if (operation == operations_.end()) return;
    if (!status) {
      const std::string what = describe(sequence, operation->second.call);
      const Error error =
          status.error().with_context(what + ": the input of " + to_string(rank) + " failed");
      return fail_operation(operation,
                            error.with_detail(Culprits{Culprits::Kind::kFailed, {rank}}));
    }
    operation->second.parts[place(rank)].written = true;
    start_if_ready(operation);
  };
  when_all(written).then(cell(), std::move(input_done)).ignore();
}

void GroupActor::arm(std::uint64_t sequence, Rank rank, TimePoint deadline) {
  const Duration allowed = deadline - context().environment().clock->now();
  operations_.at(sequence).parts[place(rank)].timer = context().environment().timers->schedule(
      deadline, [this, home = Ref<actors::ActorCell>::share(&cell()), sequence, allowed,
                 compute = context().environment().compute] {
        // Not on the timers' thread, which is not to run what waits for the call.
        post(*compute, [this, home, sequence, allowed] {
          post(*home, [this, sequence, allowed] { expire(sequence, allowed); });
        });
      });
}

GroupPlace GroupActor::held_up(const Operation& operation) const {
  GroupPlace place;
  for (std::size_t r = 0; r < operation.parts.size(); ++r) {
    const Part& part = operation.parts[r];
    if (!part.called) place.missing.push_back(rank_at(r));
    if (part.called && !part.written) place.unwritten.push_back(rank_at(r));
  }
  return place;
}

void GroupActor::expire(std::uint64_t sequence, Duration allowed) {
  const auto operation = operations_.find(sequence);
  if (operation == operations_.end()) return;
  const GroupPlace place = held_up(operation->second);
  std::string text = describe(sequence, operation->second.call) + " was not complete within ";
  text += std::to_string(std::chrono::duration<double>(allowed).count()) + " s: ";
  const bool called = place.missing.empty();
  if (!called) {
    text += to_string(place.missing) + " did not call it";
  } else if (!place.unwritten.empty()) {
    text += "the inputs of " + to_string(place.unwritten) + " are not written";
  } else if (wire_) {
    return wire_->expire(sequence, std::move(text));
  } else {
    text += "it is still being computed";
  }
  const auto& culprits = called ? place.unwritten : place.missing;
  fail_operation(operation, Error(ErrorCode::kDeadlineExceeded, std::move(text))
                                .with_detail(Culprits{Culprits::Kind::kMissing, culprits}));
}

void GroupActor::on(const CallEnded& ended) {
  const auto operation = operations_.find(ended.sequence);
  if (operation != operations_.end()) return fail_operation(operation, ended.error);
  matcher_.end_early(ended.sequence, ended.error);
}

void GroupActor::on(const CallAsked& asked) {
  const auto operation = operations_.find(asked.sequence);
  GroupPlace place;
  if (operation != operations_.end()) {
    place = held_up(operation->second);
  } else {
    for (std::size_t r = 0; r < devices_.size(); ++r) place.missing.push_back(rank_at(r));
  }
  wire_->answer(asked.sequence, asked.asker, place);
}

void GroupActor::start_if_ready(Operations::iterator operation) {
  Operation& op = operation->second;
  if (!op.matched) return;
  for (const Part& part : op.parts) {
    if (!part.written) return;  // GA-2
  }
  op.started = context().environment().clock->now();
  if (op.call.is_about_numbers()) return run_numbers(operation);
  PooledVector<Buffers> inputs;
  inputs.reserve(op.parts.size());
  for (Part& part : op.parts) inputs.push_back(std::move(part.buffers));
  const std::uint64_t sequence = operation->first;
  auto exchanged = by_devices_ ? by_devices_->run(op.call, std::move(inputs))
                               : run_exchange(context().environment(), op.call, devices_,
                                              std::move(inputs), {wire_, sequence});
  auto answer = [this, home = Ref<actors::ActorCell>::share(&cell()),
                 sequence](const Result<PooledVector<Buffers>>& results) {
    const auto set = [&](Part& part, std::size_t r) { part.reply.set((*results)[r]); };
    end_operation(sequence, results ? Status() : std::unexpected(results.error()), set);
  };
  exchanged.then(cell(), std::move(answer)).ignore();
}

void GroupActor::run_numbers(Operations::iterator operation) {
  Operation& op = operation->second;
  std::vector<devices::HostArray> inputs;
  for (const Part& part : op.parts) inputs.push_back(array_of(op.call, part.numbers));
  const std::uint64_t sequence = operation->first;
  auto answer = [this, home = Ref<actors::ActorCell>::share(&cell()),
                 sequence](const Result<Numbers>& numbers) {
    const auto set = [&](Part& part, std::size_t /*r*/) { part.numbers_reply.set(*numbers); };
    end_operation(sequence, numbers ? Status() : std::unexpected(numbers.error()), set);
  };
  run_exchange(op.call, inputs, {wire_, sequence}).then(cell(), std::move(answer)).ignore();
}

void GroupActor::end_operation(std::uint64_t sequence, const Status& status,
                               FunctionRef<void(Part&, std::size_t)> set) {
  const auto done = operations_.find(sequence);
  if (done == operations_.end()) return;
  if (!status) {
    const bool is_placed = status.error().message().starts_with("collective ");  // by the wire
    return fail_operation(
        done, is_placed ? status.error()
                        : status.error().with_context(describe(sequence, done->second.call)));
  }
  Operation finished = std::move(done->second);
  operations_.erase(done);
  cancel_timers(finished);
  trace(finished);
  const AnswerScope scope(*context().environment().compute);
  for (std::size_t r = 0; r < finished.parts.size(); ++r) set(finished.parts[r], r);
}

void GroupActor::fail_operation(Operations::iterator operation, const Error& error) {
  matcher_.end(operation->first, error);  // for the ranks that have not called yet
  if (wire_) wire_->end(operation->first, error);
  Operation failed = std::move(operation->second);
  operations_.erase(operation);
  cancel_timers(failed);
  for (Part& part : failed.parts) {
    if (part.called) answer(part, error);
  }
}

void GroupActor::trace(const Operation& operation) {
  if (trace_ == nullptr) return;
  std::optional<Track>& track = tracks_[static_cast<std::size_t>(operation.call.kind)];
  if (!track) {
    const std::string kind(to_string(operation.call.kind));
    track = Track{trace_->lane("group " + name_ + " " + kind), trace_->name(kind)};
  }
  // The batches of one step are neighbours: all of them meet here.
  const std::uint64_t first = operation.parts.front().flow;
  std::uint16_t flows = 1;
  while (first != 0 && flows < operation.parts.size() &&
         operation.parts[flows].flow == first + flows) {
    ++flows;
  }
  std::int64_t bytes = 0;
  for (const devices::Shape& shape : operation.call.shapes)
    bytes += static_cast<std::int64_t>(shape.size_bytes());
  trace_->record({.lane = track->lane,
                  .name = track->name,
                  .begin = operation.started,
                  .end = trace_->now(),
                  .flow = first,
                  .value = bytes,
                  .flows = flows});
}

void GroupActor::cancel_timers(Operation& operation) {
  for (Part& part : operation.parts) {
    if (part.timer) context().environment().timers->cancel(*part.timer);
  }
}

void GroupActor::on(const RankFailed& failure) {
  if (failed_) return;
  failed_ = failure.error
                .with_context("group '" + name_ + "': " + to_string(failure.rank) + " has failed")
                .with_detail(Culprits{Culprits::Kind::kFailed, {failure.rank}});
  if (wire_ && !failure.heard) wire_->fail_rank(failure.rank, failure.error);
  while (!operations_.empty()) fail_operation(operations_.begin(), *failed_);
}

Future<void> GroupActor::on_start() {
  if (!wire_) by_devices_ = DeviceCollectives::make(context().environment(), devices_);
  return {};
}

Future<void> GroupActor::on_stop(const actors::Exit& /*exit*/) {
  const Error closed(ErrorCode::kCancelled, "group '" + name_ + "' was closed");
  while (!operations_.empty()) fail_operation(operations_.begin(), closed);
  if (wire_) return wire_->close();
  return by_devices_ ? by_devices_->compiled() : Future<void>();
}

}  // namespace millrace::collectives
