#include "millrace/tools/train/attempt.h"

#include <algorithm>
#include <numeric>

#include "millrace/core/base/fault_point.h"
#include "millrace/core/net/peer_loss.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {
namespace {

// What the report says of loaders.
void add(const transfer::LoaderStats& one, transfer::LoaderStats& all) {
  for (std::size_t i = 0; i < all.stages.size(); ++i) all.stages[i].busy += one.stages[i].busy;
  all.peak_host_bytes = std::max(all.peak_host_bytes, one.peak_host_bytes);
  all.peak_device_bytes = std::max(all.peak_device_bytes, one.peak_device_bytes);
}

void add(const std::vector<Duration>& waits, std::vector<Duration>& all) {
  all.resize(waits.size());
  for (std::size_t d = 0; d < waits.size(); ++d) all[d] += waits[d];
}

}  // namespace

Task<void> Attempt::steps() {
  last_done_ = parts_.environment.clock->now();
  if (!run_.started) {
    run_.started = last_done_;
    run_.cpu_before = parts_.cpu_meter();
    for (const auto& device : parts_.devices) run_.devices_before.push_back(device.stats());
  }
  if (plan_->leaves_epoch()) MILLRACE_AWAIT_STATUS(report_epoch(plan_->start().epoch - 1));
  for (std::uint64_t step = plan_->start().step; step < plan_->last_step(); ++step) {
    if (in_flight_.size() >= static_cast<std::size_t>(std::max(options_.steps_in_flight, 1)))
      MILLRACE_AWAIT_STATUS(retire());
    if (spans() && checkpointer_ && checkpointer_->is_late(step))
      MILLRACE_AWAIT_STATUS(end_late_checkpoint());
    MILLRACE_CO_TRY_STATUS(fault_point("train.step"));
    start_step(step);
    MILLRACE_CO_TRY_STATUS(advance_checkpoint());
  }
  while (!in_flight_.empty()) {
    MILLRACE_AWAIT_STATUS(retire());
    MILLRACE_CO_TRY_STATUS(advance_checkpoint());
  }
  report_recovery();
}

// Reports one that is published, and remembers what is committed.
Status Attempt::note_checkpoint() {
  MILLRACE_TRY(const std::optional<CheckpointReport> published, checkpointer_->poll());
  if (checkpointer_->committed()) run_.committed = checkpointer_->committed();
  if (published && listener_ != nullptr) listener_->on_checkpoint(*published);
  if (checkpointer_->found_newcomers())
    return fail(ErrorCode::kAborted, "a rank joins the others: all begin again where they agree");
  return {};
}

// Lets a checkpoint begin whose steps have ended.
Status Attempt::advance_checkpoint() {
  if (!checkpointer_) return {};
  MILLRACE_TRY_STATUS(note_checkpoint());
  if (checkpointer_->waits_for(steps_done())) checkpointer_->begin(shares_);
  return {};
}

Task<void> Attempt::end_checkpoint() {
  if (!checkpointer_) co_return;
  static_cast<void>(co_await checkpointer_->finish());
  MILLRACE_CO_TRY_STATUS(advance_checkpoint());
}

// Ranks elsewhere take the same checkpoints, so none is put off: the one before ends first. No step
// is left in flight, since others may wait for its end.
Task<void> Attempt::end_late_checkpoint() {
  MILLRACE_CO_TRY_STATUS(advance_checkpoint());
  while (!in_flight_.empty()) {
    MILLRACE_AWAIT_STATUS(retire());
    MILLRACE_CO_TRY_STATUS(advance_checkpoint());
  }
  MILLRACE_AWAIT_STATUS(end_checkpoint());
}

// The end of the run is saved, too: while the evaluation reads the same arrays.
Task<void> Attempt::begin_last_checkpoint() {
  if (!checkpointer_) co_return;
  MILLRACE_AWAIT_STATUS(end_checkpoint());
  checkpointer_->take_last(steps_done(), replicas_);
  MILLRACE_CO_TRY_STATUS(advance_checkpoint());
}

void Attempt::start_step(std::uint64_t step) {
  StepTicket ticket;
  ticket.step = step;
  ticket.first_flow = transfer::batch_flow(step, 0, world());
  for (const collectives::ProcessGroup& rank : ranks_)
    ticket.first_collective = rank.reserve(graph_->collectives_per_step());
  ticket.keep_inputs = checkpointer_ && checkpointer_->take_if_due(step, replicas_);
  in_flight_.push_back(graph_->start(ticket, replicas_, call_));
  const bool last_of_epoch = plan_->ends_epoch(step);
  for (std::size_t d = 0; d < replicas_.size(); ++d) {
    replicas_[d] = graph_->replica(*in_flight_.back(), d);
    // The loader gives the end of an epoch in its place in the order: take it.
    if (last_of_epoch) epoch_ends_.push_back(loader_->next(static_cast<int>(d), call_));
  }
}

// Adds the losses of a step that is done to the shares of the ranks; gives their mean over the
// rows.
Result<double> Attempt::read_losses(const GraphRun& step) {
  double loss = 0;
  std::int64_t rows = 0;
  const auto add = [&](std::size_t rank, float value, std::int64_t rank_rows) {
    const auto rank_loss = static_cast<double>(value);
    loss += rank_loss * static_cast<double>(rank_rows);
    rows += rank_rows;
    shares_[rank].epoch_share.add(rank_loss, rank_rows);
    shares_[rank].run_share.add(rank_loss, rank_rows);
  };
  if (graph_->gathers_losses()) {
    MILLRACE_TRY(const auto losses, graph_->gathered_losses(step).take());
    // Every batch is full: the loader drops what is left of an epoch.
    for (std::size_t r = 0; r < world(); ++r) add(r, losses.as<float>()[r], this->rows());
  } else {
    for (std::size_t d = 0; d < replicas_.size(); ++d) {
      MILLRACE_TRY(const auto device_loss, graph_->loss(step, d).take());
      MILLRACE_TRY(const std::int64_t device_rows, graph_->rows(step, d).take());
      add(d, device_loss.as<float>()[0], device_rows);
    }
  }
  return loss / static_cast<double>(rows);
}

// Waits for the oldest step, reads its losses off, and ends its epoch if it was the last one.
Task<void> Attempt::retire() {
  const Ref<GraphRun> step = in_flight_.front();
  MILLRACE_AWAIT_STATUS(step->done());  // what is in flight of it is left to close()
  in_flight_.pop_front();
  const std::uint64_t step_done = steps_done();
  const std::uint64_t epoch = plan_->epoch_of(step_done);
  MILLRACE_CO_TRY(const double loss, read_losses(*step));
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
  run_.rows.push_back(batch());
  report_recovery();
  report_step(loss, epoch);
  if (plan_->ends_epoch(step_done)) MILLRACE_AWAIT_STATUS(end_epoch(epoch));
}

void Attempt::report_recovery() {
  if (!recovery_) return;
  run_.interruption.reset();
  recovery_->time = parts_.environment.clock->now() - *interrupted_;
  run_.recoveries = recovery_->recoveries;
  if (listener_ != nullptr) listener_->on_recovery(*recovery_);
  recovery_.reset();
}

void Attempt::report_step(double loss, std::uint64_t epoch) {
  if (listener_ == nullptr) return;
  StepReport report;
  report.epoch = epoch;
  report.step = steps_done();
  report.steps = plan_->last_step();
  report.loss = loss;
  // Over the last steps only, so that it follows what happens now.
  const std::vector<Duration>& times = run_.step_times;
  const std::size_t recent = std::min<std::size_t>(times.size(), 50);
  const Duration time =
      std::accumulate(times.end() - static_cast<std::ptrdiff_t>(recent), times.end(), Duration());
  const double seconds = std::chrono::duration<double>(time).count();
  if (seconds > 0)
    report.images_per_second = static_cast<double>(recent) * static_cast<double>(batch()) / seconds;
  report.left = time / static_cast<std::int64_t>(recent) *
                static_cast<std::int64_t>(report.steps - report.step);
  listener_->on_step(report);
}

Task<void> Attempt::end_epoch(std::uint64_t epoch) {
  for (std::size_t d = 0; d < replicas_.size(); ++d) {
    MILLRACE_AWAIT(const auto end, epoch_ends_.at(d));
    MILLRACE_CHECK(!end, "the loader gives the end of an epoch where its plan has it");
  }
  epoch_ends_.erase(epoch_ends_.begin(),
                    epoch_ends_.begin() + static_cast<std::ptrdiff_t>(replicas_.size()));
  MILLRACE_AWAIT_STATUS(report_epoch(epoch));
}

Task<void> Attempt::report_epoch(std::uint64_t epoch) {
  MILLRACE_AWAIT(const EpochShare all, meet_all("epoch", &RankState::epoch_share));
  for (RankState& share : shares_) {
    share.epoch_share = EpochShare{.epoch = epoch + 1};
    share.run_share.epoch = epoch + 1;
  }
  if (listener_ != nullptr) listener_->on_epoch(epoch, all.mean_loss());
}

Task<EpochShare> Attempt::meet_all(std::string tag, EpochShare RankState::* share) {
  return meet(ranks_, std::move(tag), shares_, share, call_,
              parts_.environment.clock->now() + kRendezvousLimit);
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
    const TimePoint since = std::max(*run_.started, parts_.trace->complete_since());
    for (const TraceEvent& event : parts_.trace->events()) {
      if (event.begin >= since && event.begin < last_done_) inputs.events.push_back(event);
    }
    inputs.events_time = last_done_ - std::min(since, last_done_);
  }
  inputs.grad_program = executable(grad_).name();
  inputs.update_program = executable(update_).name();
  inputs.loader = run_.loaded;
  add(loader_->stats(), inputs.loader);
  inputs.before = run_.devices_before;
  for (const auto& device : parts_.devices) inputs.after.push_back(device.stats());
  inputs.data_waits = run_.data_waits;
  add(watch_.data_waits(), inputs.data_waits);
  inputs.cpu = used_between(run_.cpu_before, parts_.cpu_meter());
  inputs.time = last_done_ - *run_.started;
  inputs.steps = run_.losses.size();
  inputs.steps_before = run_.first_step - std::min(run_.first_step, run_.begin_step);
  inputs.items = static_cast<std::uint64_t>(
      std::accumulate(run_.rows.begin(), run_.rows.end(), std::int64_t{0}));
  fill_figures(inputs, report);
  return report;
}

Task<TrainingReport> Attempt::run() {
  MILLRACE_AWAIT_STATUS(prepare());
  MILLRACE_AWAIT_STATUS(steps());
  TrainingReport report = figures();
  // A step is done when its handles exist; the run is, when the bytes of its last replicas do.
  MILLRACE_AWAIT_STATUS(written_arrays(replicas_, call_, parts_.environment.timers));
  MILLRACE_AWAIT_STATUS(begin_last_checkpoint());
  if (eval_ != nullptr) MILLRACE_AWAIT_STATUS(evaluate(&report));
  MILLRACE_AWAIT_STATUS(end_checkpoint());
  MILLRACE_AWAIT_STATUS(meet_all("end", &RankState::run_share));
  co_return report;
}

Error Attempt::root_cause(const Error& error) const {
  if (options_.call.stop.stop_requested()) return error;
  return watch_.first_error().value_or(error);
}

bool Attempt::is_here(collectives::Rank rank) const {
  return std::ranges::any_of(ranks_, [rank](const auto& one) { return one.rank() == rank; });
}

// Ranks elsewhere would wait for this process's part. Where one of them has failed, they know.
void Attempt::fail_ranks(const Error& error) const {
  const auto* const culprits = error.detail<collectives::Culprits>();
  if (culprits != nullptr && culprits->kind == collectives::Culprits::Kind::kFailed &&
      collectives::failed_elsewhere(error, ranks_))
    return;
  for (const collectives::ProcessGroup& rank : ranks_) rank.fail_rank(rank.rank(), error);
}

// Every step in flight ends, then what they used closes.
Task<void> Attempt::close(std::optional<Error> failure) {
  if (failure && run_.spans && !found_newcomers()) fail_ranks(*failure);
  watch_.stop();
  for (const Ref<GraphRun>& step : in_flight_) static_cast<void>(co_await step->settled());
  for (const auto& end : epoch_ends_) static_cast<void>(co_await end);
  if (checkpointer_) {
    static_cast<void>(co_await checkpointer_->finish());
    static_cast<void>(note_checkpoint());  // an error comes after the one that ended the run
  }
  Status closed;
  if (loader_) {
    closed = co_await loader_->close();
    add(loader_->stats(), run_.loaded);
    add(watch_.data_waits(), run_.data_waits);
  }
  if (parts_.world != nullptr) {
    static_cast<void>(co_await parts_.world->leave());
    run_.folder.reset();  // the first rank of the next group opens it
  } else if (!ranks_.empty()) {
    static_cast<void>(co_await ranks_[0].close());
  }
  if (!closed) co_await end_with(closed.error());
}

}  // namespace millrace::train
