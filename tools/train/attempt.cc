#include "millrace/tools/train/attempt.h"

#include <numeric>

#include "millrace/core/fault_point.h"
#include "millrace/tools/train/evaluation.h"
#include "millrace/tools/train/meeting.h"

namespace millrace::train {

using collectives::ProcessGroup;
using devices::Buffer;
using devices::Buffers;

Task<void> Attempt::steps() {
  const std::uint64_t total = total_steps();
  const std::uint64_t steps_per_epoch = loader_->plan().steps_per_epoch();
  last_done_ = parts_.environment.clock->now();
  if (!run_.begin) {
    run_.begin.emplace(RunBegin{.started = last_done_, .cpu = parts_.cpu_meter(), .devices = {}});
    for (const auto& device : parts_.devices) run_.begin->devices.push_back(device.stats());
  }
  for (std::uint64_t step = first_step_; step < total; ++step) {
    if (flying_.size() >= static_cast<std::size_t>(std::max(options_.steps_in_flight, 1))) {
      if (Status status = co_await retire(); !status) co_await end_with(status.error());
    }
    if (Status status = fault_point("train.step"); !status) co_await end_with(status.error());
    start_step(step, steps_per_epoch);
    if (Status status = advance_checkpoint(); !status) co_await end_with(status.error());
  }
  while (!flying_.empty()) {
    if (Status status = co_await retire(); !status) co_await end_with(status.error());
    if (Status status = advance_checkpoint(); !status) co_await end_with(status.error());
  }
}

// Tells of one that is published, and remembers what is committed.
Status Attempt::hear_of_checkpoint() {
  MILLRACE_TRY(const std::optional<CheckpointReport> published, checkpointer_->poll());
  if (checkpointer_->committed()) run_.committed = checkpointer_->committed();
  if (published && listener_ != nullptr) listener_->on_checkpoint(*published);
  return {};
}

// Lets a checkpoint begin whose steps have ended.
Status Attempt::advance_checkpoint() {
  if (!checkpointer_) return {};
  MILLRACE_TRY_STATUS(hear_of_checkpoint());
  if (!checkpointer_->waits_for(steps_done())) return {};
  std::vector<RankState> ranks;
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    ranks.push_back({epoch_shares_[r], run_shares_[r]});
  }
  checkpointer_->begin(std::move(ranks));
  return {};
}

Task<void> Attempt::end_checkpoint() {
  if (!checkpointer_) co_return;
  static_cast<void>(co_await checkpointer_->finish());
  if (Status status = advance_checkpoint(); !status) co_await end_with(status.error());
}

// The end of the run is saved, too: while the evaluation reads the same arrays.
Task<void> Attempt::begin_last_checkpoint() {
  Task<void> ending = end_checkpoint();
  if (Status status = co_await std::move(ending); !status) co_await end_with(status.error());
  if (!checkpointer_) co_return;
  checkpointer_->take_last(steps_done(), replicas_);
  if (Status status = advance_checkpoint(); !status) co_await end_with(status.error());
}

void Attempt::start_step(std::uint64_t step, std::uint64_t steps_per_epoch) {
  StepTicket ticket;
  ticket.step = step;
  ticket.call = call_;
  ticket.first_flow = transfer::batch_flow(step, 0, parts_.devices.size());
  for (const ProcessGroup& rank : ranks_)
    ticket.first_collective = rank.reserve(graph_->collectives_per_step());
  Flying flying;
  ticket.keep_inputs = checkpointer_ && checkpointer_->take_if_due(step, replicas_);
  flying.run = graph_->start(ticket, replicas_);
  flying.epoch = step / steps_per_epoch;
  flying.last_of_epoch = (step + 1) % steps_per_epoch == 0;
  for (std::size_t d = 0; d < replicas_.size(); ++d) replicas_[d] = graph_->replica(*flying.run, d);
  if (flying.last_of_epoch) {
    // The loader tells the end of an epoch in its place in the order: take it.
    for (std::size_t d = 0; d < replicas_.size(); ++d) {
      epoch_ends_.push_back(loader_->next(static_cast<int>(d), call_));
    }
  }
  flying_.push_back(std::move(flying));
}

// Waits for the oldest step, reads its losses off, and ends its epoch if it was the last one.
Task<void> Attempt::retire() {
  const Flying flying = flying_.front();
  Status done = co_await flying.run->done();
  flying_.pop_front();
  if (!done) co_await end_with(done.error());
  double loss = 0;
  std::int64_t rows = 0;
  for (std::size_t d = 0; d < replicas_.size(); ++d) {
    const auto device_loss = graph_->loss(*flying.run, d).take();
    const auto device_rows = graph_->rows(*flying.run, d).take();
    if (!device_loss) co_await end_with(device_loss.error());
    if (!device_rows) co_await end_with(device_rows.error());
    const auto rank_loss = static_cast<double>(device_loss->as<float>()[0]);
    loss += rank_loss * static_cast<double>(*device_rows);
    rows += *device_rows;
    epoch_shares_[d].add(rank_loss, *device_rows);
    run_shares_[d].add(rank_loss, *device_rows);
  }
  loss /= static_cast<double>(rows);
  const TimePoint now = parts_.environment.clock->now();
  if (parts_.trace != nullptr) {
    parts_.trace->record({.lane = step_lane_,
                          .name = step_name_,
                          .begin = last_done_,
                          .end = now,
                          .value = static_cast<std::int64_t>(steps_done())});
  }
  run_.step_times.push_back(now - last_done_);
  last_done_ = now;
  run_.losses.push_back(loss);
  tell_step(loss, flying.epoch);
  if (flying.last_of_epoch) {
    if (Status status = co_await end_epoch(flying.epoch); !status)
      co_await end_with(status.error());
  }
}

void Attempt::tell_step(double loss, std::uint64_t epoch) {
  if (listener_ == nullptr) return;
  StepReport report;
  report.epoch = epoch;
  report.step = steps_done();
  report.steps = total_steps();
  report.loss = loss;
  // Over the last steps only, so that it follows what happens now.
  const std::vector<Duration>& times = run_.step_times;
  const std::size_t recent = std::min<std::size_t>(times.size(), 50);
  const Duration time =
      std::accumulate(times.end() - static_cast<std::ptrdiff_t>(recent), times.end(), Duration());
  const double seconds = std::chrono::duration<double>(time).count();
  if (seconds > 0)
    report.images_per_second =
        static_cast<double>(recent) * static_cast<double>(options_.batch_size) / seconds;
  report.left = time / static_cast<std::int64_t>(recent) *
                static_cast<std::int64_t>(report.steps - report.step);
  listener_->on_step(report);
}

Task<void> Attempt::end_epoch(std::uint64_t epoch) {
  for (std::size_t d = 0; d < replicas_.size(); ++d) {
    auto end = co_await epoch_ends_.at(d);
    if (!end) co_await end_with(end.error());
    MILLRACE_CHECK(!*end, "the loader gives the end of an epoch where its plan has it");
  }
  epoch_ends_.erase(epoch_ends_.begin(),
                    epoch_ends_.begin() + static_cast<std::ptrdiff_t>(replicas_.size()));
  Task<EpochShare> meeting = meet_all("epoch", epoch_shares_);
  Result<EpochShare> all = co_await std::move(meeting);
  if (!all) co_await end_with(all.error());
  for (EpochShare& share : epoch_shares_) share = EpochShare{.epoch = epoch + 1};
  for (EpochShare& share : run_shares_) share.epoch = epoch + 1;
  if (listener_ != nullptr) listener_->on_epoch(epoch, all->mean_loss());
}

Task<EpochShare> Attempt::meet_all(std::string tag, std::vector<EpochShare> shares) {
  CallOptions options = call_;
  options.deadline =
      std::min(options.deadline, parts_.environment.clock->now() + options_.rendezvous_limit);
  return meet(ranks_, std::move(tag), std::move(shares), options);
}

// A step is done when its handles exist; the run is, when the bytes of its last replicas do.
Task<void> Attempt::await_replicas() {
  for (const Replica& replica : replicas_) {
    const Future<Buffers> families[] = {replica.params, replica.momenta, replica.state};
    for (const Future<Buffers>& family : families) {
      Result<Buffers> buffers = co_await family;
      if (!buffers) co_await end_with(buffers.error());
      for (const Buffer& buffer : *buffers) {
        const Future<void> ready = with_options(buffer.ready(), call_, *parts_.environment.timers);
        if (Status written = co_await ready; !written) co_await end_with(written.error());
      }
    }
  }
}

TrainingReport Attempt::figures() const {
  TrainingReport report;
  report.losses = run_.losses;
  report.recoveries = run_.recoveries;
  ReportInputs inputs;
  inputs.step_times = run_.step_times;
  inputs.trace = parts_.trace;
  if (parts_.trace != nullptr) {
    // The rings of a long run have lost its beginning, each its own: what is left of all counts.
    const TimePoint since = std::max(run_.begin->started, parts_.trace->complete_since());
    for (const TraceEvent& event : parts_.trace->events()) {
      if (event.begin >= since && event.begin < last_done_) inputs.events.push_back(event);
    }
    inputs.events_time = last_done_ - std::min(since, last_done_);
  }
  inputs.grad_program = grad_name_;
  inputs.update_program = update_name_;
  inputs.loader = loader_->stats();
  inputs.before = run_.begin->devices;
  for (const auto& device : parts_.devices) inputs.after.push_back(device.stats());
  inputs.data_waits = watch_.data_waits();
  inputs.cpu = used_between(run_.begin->cpu, parts_.cpu_meter());
  inputs.time = last_done_ - run_.begin->started;
  inputs.steps = run_.losses.size();
  inputs.batch_size = options_.batch_size;
  fill_figures(inputs, report);
  return report;
}

Task<TrainingReport> Attempt::run() {
  if (Status status = co_await prepare(); !status) co_return status.error();
  if (Status status = co_await steps(); !status) co_return status.error();
  TrainingReport report = figures();
  Task<void> writing = await_replicas();
  if (Status written = co_await std::move(writing); !written) co_return written.error();
  Task<void> saving = begin_last_checkpoint();
  if (Status begun = co_await std::move(saving); !begun) co_return begun.error();
  if (eval_ != nullptr) {
    std::vector<Buffers> params;
    std::vector<Buffers> state;
    for (const Replica& replica : replicas_) {
      auto p = co_await replica.params;
      auto s = co_await replica.state;
      if (!p) co_return p.error();
      if (!s) co_return s.error();
      params.push_back(*std::move(p));
      state.push_back(*std::move(s));
    }
    Evaluation evaluation{
        parts_.environment, parts_.devices,   eval_, eval_program_, options_.test_data,
        std::move(params),  std::move(state), call_};
    Task<EvaluationResult> evaluating = evaluate(std::move(evaluation));
    Result<EvaluationResult> result = co_await std::move(evaluating);
    if (!result) co_return result.error();
    report.test_items = result->items;
    report.test_accuracy =
        static_cast<double>(result->correct) / static_cast<double>(result->items);
    report.test_loss = result->loss_sum / static_cast<double>(result->items);
  }
  Task<void> ending = end_checkpoint();
  if (Status ended = co_await std::move(ending); !ended) co_return ended.error();
  Task<EpochShare> meeting = meet_all("end", run_shares_);
  Result<EpochShare> all = co_await std::move(meeting);
  if (!all) co_return all.error();
  co_return report;
}

Error Attempt::root_cause(const Error& error) const {
  if (options_.call.stop.stop_requested()) return error;
  return watch_.first_error().value_or(error);
}

// Every step in flight ends, then what they used closes.
Task<void> Attempt::close() {
  watch_.stop();
  for (const Flying& flying : flying_) static_cast<void>(co_await flying.run->done());
  for (const auto& end : epoch_ends_) static_cast<void>(co_await end);
  if (checkpointer_) {
    static_cast<void>(co_await checkpointer_->finish());
    static_cast<void>(hear_of_checkpoint());  // an error comes after the one that ended the run
  }
  Status closed;
  if (loader_) closed = co_await loader_->close();
  if (!ranks_.empty()) static_cast<void>(co_await ranks_[0].close());
  if (!closed) co_await end_with(closed.error());
}

}  // namespace millrace::train
