#include "millrace/collectives/group_actor.h"

#include "millrace/actors/system.h"
#include "millrace/collectives/exchange.h"
#include "millrace/core/async/combinators.h"

namespace millrace::collectives {

using devices::Buffer;
using devices::Buffers;

GroupActor::GroupActor(std::string name, std::vector<devices::Device> devices, TraceRecorder* trace,
                       std::shared_ptr<const void> kept)
    : kept_(std::move(kept)),
      name_(std::move(name)),
      devices_(std::move(devices)),
      trace_(trace),
      matcher_(name_, static_cast<int>(devices_.size())) {}

std::string GroupActor::describe(std::uint64_t sequence, const CollectiveCall& call) const {
  std::string text = "collective " + std::to_string(sequence);
  text += " of group '" + name_ + "', " + call.to_string();
  return text;
}

void GroupActor::on(CollectiveRequest&& request, actors::Reply<Buffers> reply) {
  if (failed_) return reply.set(std::unexpected(*failed_));  // GA-3
  const std::uint64_t sequence = request.sequence;
  const bool has_arrays = request.buffers.size() == request.call.shapes.size();
  const Status valid = request.late ? Status(std::unexpected(*request.late))
                                    : check_call(request.call, request.rank, has_arrays,
                                                 static_cast<int>(devices_.size()));
  const Matcher::Answer answer = matcher_.call(request.rank, sequence, request.call, valid);
  if (answer.verdict == Matcher::Verdict::kLate) return reply.set(std::unexpected(*answer.error));

  const auto [operation, fresh] = operations_.try_emplace(sequence);
  Operation& op = operation->second;
  if (fresh) {
    op.call = std::move(request.call);
    op.parts.resize(devices_.size());
  }
  Part& part = op.parts[at(request.rank)];
  part.called = true;
  part.buffers = std::move(request.buffers);
  part.flow = request.flow;
  part.reply = std::move(reply);
  if (answer.verdict == Matcher::Verdict::kFailed) return fail_operation(operation, *answer.error);
  if (request.deadline != kNoDeadline) arm(sequence, request.rank, request.deadline);
  op.matched = answer.verdict == Matcher::Verdict::kMatched;
  part.written = !op.call.reads(request.rank) || part.buffers.empty();
  if (!part.written) await_inputs(sequence, request.rank);
  start_if_ready(operation);
}

void GroupActor::await_inputs(std::uint64_t sequence, Rank rank) {
  PooledVector<Future<void>> written;
  for (const Buffer& buffer : operations_.at(sequence).parts[at(rank)].buffers)
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
    operation->second.parts[at(rank)].written = true;
    start_if_ready(operation);
  };
  when_all(written).then(cell(), std::move(input_done)).ignore();
}

void GroupActor::arm(std::uint64_t sequence, Rank rank, TimePoint deadline) {
  const Duration allowed = deadline - context().environment().clock->now();
  operations_.at(sequence).parts[at(rank)].timer =
      run_at(cell(), deadline, [this, sequence, allowed] { expire(sequence, allowed); });
}

void GroupActor::expire(std::uint64_t sequence, Duration allowed) {
  const auto operation = operations_.find(sequence);
  if (operation == operations_.end()) return;
  std::vector<Rank> missing;
  std::vector<Rank> unwritten;
  for (std::size_t r = 0; r < operation->second.parts.size(); ++r) {
    const Part& part = operation->second.parts[r];
    if (!part.called) missing.push_back(Rank{static_cast<int>(r)});
    if (part.called && !part.written) unwritten.push_back(Rank{static_cast<int>(r)});
  }
  const bool called = missing.empty();
  std::string text = describe(sequence, operation->second.call) + " was not complete within ";
  text += std::to_string(std::chrono::duration<double>(allowed).count()) + " s: ";
  if (!called) {
    text += to_string(missing) + " did not call it";
  } else if (!unwritten.empty()) {
    text += "the inputs of " + to_string(unwritten) + " are not written";
  } else {
    text += "it is still being computed";
  }
  const auto& culprits = called ? unwritten : missing;
  fail_operation(operation, Error(ErrorCode::kDeadlineExceeded, std::move(text))
                                .with_detail(Culprits{Culprits::Kind::kMissing, culprits}));
}

void GroupActor::start_if_ready(Operations::iterator operation) {
  Operation& op = operation->second;
  if (!op.matched) return;
  for (const Part& part : op.parts) {
    if (!part.written) return;  // GA-2
  }
  op.started = context().environment().clock->now();
  PooledVector<Buffers> inputs;
  inputs.reserve(op.parts.size());
  for (Part& part : op.parts) inputs.push_back(std::move(part.buffers));
  const std::uint64_t sequence = operation->first;
  auto exchanged = run_exchange(context().environment(), op.call, devices_, std::move(inputs));
  auto answer = [this, home = Ref<actors::ActorCell>::share(&cell()),
                 sequence](const Result<PooledVector<Buffers>>& results) {
    const auto done = operations_.find(sequence);
    if (done == operations_.end()) return;
    if (!results) {
      return fail_operation(done,
                            results.error().with_context(describe(sequence, done->second.call)));
    }
    Operation finished = std::move(done->second);
    operations_.erase(done);
    cancel_timers(finished);
    trace(finished);
    for (std::size_t r = 0; r < finished.parts.size(); ++r)
      finished.parts[r].reply.set((*results)[r]);
  };
  exchanged.then(cell(), std::move(answer)).ignore();
}

void GroupActor::fail_operation(Operations::iterator operation, const Error& error) {
  matcher_.end(operation->first, error);  // for the ranks that have not called yet
  Operation failed = std::move(operation->second);
  operations_.erase(operation);
  cancel_timers(failed);
  for (Part& part : failed.parts) {
    if (part.called) part.reply.set(std::unexpected(error));
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
  while (!operations_.empty()) fail_operation(operations_.begin(), *failed_);
}

Future<void> GroupActor::on_stop(const actors::Exit& /*exit*/) {
  const Error closed(ErrorCode::kCancelled, "group '" + name_ + "' was closed");
  while (!operations_.empty()) fail_operation(operations_.begin(), closed);
  return {};
}

}  // namespace millrace::collectives
