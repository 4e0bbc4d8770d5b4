#include "millrace/transfer/loader.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "millrace/core/async/combinators.h"

namespace millrace::transfer {

using devices::PutResult;

std::string to_string(const StageInFlight& stage) {
  return std::string(to_string(stage.stage)) + " of epoch " + std::to_string(stage.epoch) +
         ", step " + std::to_string(stage.step) + ", device " + std::to_string(stage.device) +
         " (from item " + std::to_string(stage.first_item) + ")";
}

Loader::Loader(const Environment& environment, BatchWork::Parts parts,
               const LoaderSchedule::Options& schedule)
    : environment_(environment),
      work_(std::move(parts)),
      schedule_(schedule),
      consumers_(static_cast<std::size_t>(schedule.devices)) {
  TraceRecorder* const trace = work_.options().trace;
  if (trace == nullptr) return;
  trace_name_ = trace->name("batch");
  for (int i = 0; i < kLoadStages; ++i) {
    const char* stage = to_string(static_cast<LoadStage>(i));
    trace_lanes_[static_cast<std::size_t>(i)] = trace->lane(std::string("loader ") + stage);
  }
}

// The way of a batch.

void Loader::pump() {
  for (bool mine = false;;) {
    BatchRef batch;
    std::optional<Promise<void>> turn;
    Scope::Hold hold;
    {
      MutexLock lock(mutex_);
      // One thread at a time, so that the requests for blocks keep the order of the batches (LS-4).
      if (pumping_ && !mine) return;
      const LoaderSchedule::Place place = schedule_.start([this](const BatchId& id) {
        return make_ref<Batch>(id, work_.planned(id), environment_.clock->now());
      });
      pumping_ = mine = static_cast<bool>(place);
      if (!place) return;
      batch = BatchRef::share(&batch_of(*place));
      batch->begun = environment_.clock->now();
      turn = std::exchange(batch->turn, std::nullopt);
      if (!turn) hold = scope_.hold();
      StageStats& stats = stages_[static_cast<std::size_t>(batch->stage())];
      stats.peak_running = std::max(stats.peak_running, ++stats.running);
    }
    if (turn) {
      turn->set_value();
    } else {
      launch(std::move(batch), std::move(hold));
    }
  }
}

void Loader::launch(BatchRef batch, Scope::Hold hold) {
  spawn(*environment_.compute, load(batch, reserve(batch)))
      .then(inline_executor(),
            [self = Ref<Loader>::share(this), batch,
             hold = std::move(hold)](const Status& loaded) mutable {
              // An executor has closed, and dropped the rest of the way.
              if (!loaded) self->abandon(*batch, loaded.error());
              hold.reset();  // before self, which it points into
            })
      .ignore();
}

// The block is asked for, and taken where it is there, by the thread that pumps: so the requests,
// and the reads, keep the order of the batches (LS-4).
Future<void> Loader::reserve(const BatchRef& batch) {
  return work_.reserve().then(
      inline_executor(), [self = Ref<Loader>::share(this), batch](Result<StagingBlock> block) {
        if (block) batch->source = self->work_.place(batch->result, *block);
        return self->turn(*batch, block ? Status() : std::unexpected(block.error()));
      });
}

// A continuation, because that turns an exception of the source into an error.
auto Loader::ask(const BatchRef& batch,
                 Future<void> (BatchWork::*work)(const Ref<SourceBatch>&) const) {
  return [self = Ref<Loader>::share(this), batch, work](const Status& mine) -> Future<void> {
    if (!mine) return mine.error();
    {
      MutexLock lock(self->mutex_);
      batch->begun = self->environment_.clock->now();
    }
    return (self->work_.*work)(batch->source);
  };
}

Task<void> Loader::load(BatchRef batch, Future<void> reserved) {
  const Status was_read =
      co_await std::move(reserved).then(*environment_.blocking, ask(batch, &BatchWork::read));

  if (!co_await turn(*batch, was_read)) co_return;
  const Status decoded =
      co_await make_ready().then(inline_executor(), ask(batch, &BatchWork::decode));
  batch->source->raw.reset();

  if (!co_await turn(*batch, decoded)) co_return;
  const Status transferred = co_await transfer(batch);

  deliver(*batch, transferred);
}

Task<void> Loader::transfer(BatchRef batch) {
  const BatchWork::Puts puts = work_.put(*batch->source, batch->result);
  const Status handles = co_await when_all(puts);
  PooledVector<devices::Buffer> arrays;
  PooledVector<Future<void>> ready;
  PooledVector<Future<void>> released;
  for (const Future<PutResult>& future : puts) {
    const Result<PutResult>& result = future.result();
    if (!result) continue;
    arrays.push_back(result->buffer);
    ready.push_back(result->buffer.ready());
    released.push_back(result->source_released);
  }
  batch->result.arrays = devices::Buffers::of_moved(arrays);
  auto free = [self = Ref<Loader>::share(this), batch](const Status&) {
    {
      MutexLock lock(self->mutex_);
      self->schedule_.release_staging(*batch);
    }
    self->pump();
  };
  static_cast<void>(when_all(released).then(*environment_.compute, std::move(free)));
  if (!handles) co_await end_with(handles.error());
  const Status arrived = co_await when_all(ready);
  if (!arrived) co_await end_with(arrived.error());
}

Future<void> Loader::turn(Batch& batch, const Status& ended) {
  Future<void> turn;
  Effects effects;
  {
    MutexLock lock(mutex_);
    if (end_stage(batch, ended, effects)) turn = batch.turn.emplace().future();
  }
  settle(std::move(effects));
  return turn.valid() ? turn : dropped_error();
}

void Loader::deliver(Batch& batch, const Status& ended) {
  Effects effects;
  {
    MutexLock lock(mutex_);
    if (end_stage(batch, ended, effects)) serve(batch.id.device, effects);
  }
  settle(std::move(effects));
}

void Loader::abandon(Batch& batch, const Error& why) {
  Effects effects;
  {
    MutexLock lock(mutex_);
    if (batch.state >= LoadPlace::State::kReady) return;
    if (batch.running()) account(batch);
    fail_batch(batch, why, effects);
  }
  settle(std::move(effects));
}

void Loader::fail_batch(Batch& batch, const Error& why, Effects& effects) {
  if (schedule_.wanted(batch.id)) set_failure(batch, why);
  effects.dropped = schedule_.fail(batch);
  serve_all(effects);
}

// False: the batch is dropped. Nothing for a batch of which no stage runs.
bool Loader::end_stage(Batch& batch, const Status& ended, Effects& effects) {
  if (!batch.running()) return false;
  account(batch);
  if (!ended) {
    fail_batch(batch, ended.error(), effects);
    return false;
  }
  const bool wanted = schedule_.finish(batch);
  if (!wanted) effects.dropped.push_back(LoaderSchedule::Place::share(&batch));
  return wanted;
}

void Loader::account(Batch& batch) {
  const auto stage = static_cast<std::size_t>(batch.stage());
  StageStats& stats = stages_[stage];
  const TimePoint now = environment_.clock->now();
  stats.busy += now - batch.begun;
  stats.waited += batch.begun - batch.ended;
  batch.ended = now;
  --stats.running;
  ++stats.batches;
  const std::size_t bytes = work_.bytes(batch.result.rows);
  stats.bytes += bytes;
  TraceRecorder* const trace = work_.options().trace;
  if (trace == nullptr) return;
  // Waiting for memory is not yet a part of the batch's way.
  const std::uint64_t flow = batch.stage() == LoadStage::kStaging
                                 ? 0
                                 : batch_flow(batch.id.sequence,
                                              work_.options().first_flow_device +
                                                  static_cast<std::size_t>(batch.id.device),
                                              work_.options().flow_devices);
  trace->record({.lane = trace_lanes_[stage],
                 .name = trace_name_,
                 .begin = batch.begun,
                 .end = now,
                 .flow = flow,
                 .value = static_cast<std::int64_t>(bytes)});
}

void Loader::set_failure(const Batch& batch, const Error& error) {
  std::optional<std::uint64_t> item;
  if (batch.source) item = batch.source->working_on;
  if (const FailedItem* named = error.detail<FailedItem>()) item = named->item;
  const LoadFailure failure{describe(batch), item};
  std::string context = "loading, " + to_string(failure);
  if (item) context += ", item " + std::to_string(*item);
  failure_ = error.with_context(context).with_detail(failure);
}

// The consumers' side.

Future<Loader::Next> Loader::next(int device, const CallOptions& options) {
  if (device < 0 || device >= work_.devices()) {
    return fail(ErrorCode::kInvalidArgument,
                "next(" + std::to_string(device) + ") was asked of a loader for " +
                    std::to_string(work_.devices()) + " devices (counted from 0)");
  }
  if (Status ok = check_in_time(options, *environment_.clock, "next()"); !ok) return ok.error();
  std::optional<Result<Next>> now;
  Ref<Call> call;
  Future<Next> turn;
  {
    MutexLock lock(mutex_);
    Consumer& consumer = consumers_[static_cast<std::size_t>(device)];
    ++consumer.stats.asked;
    consumer.ready_when_asked += schedule_.use(device).ready;
    if (consumer.line.empty() && schedule_.peek(device) != LoaderSchedule::Next::kPending) {
      ++consumer.stats.found_ready;
      now.emplace(take(device));
    } else {
      call = make_ref<Call>(Ref<Loader>::share(this), device, environment_.clock->now());
      turn = call->promise.future();
      consumer.line.push_back(call);
    }
  }
  if (now) {
    pump();
    return std::move(*now);
  }
  millrace::detail::limit_wait(options, environment_.timers, Ref<AsyncValue>(turn.cell()),
                               Ref<RefCounted>(call),
                               [](RefCounted& target, millrace::detail::WaitEnd end) {
                                 static_cast<Call&>(target).leave_line(end);
                               });
  return turn;
}

void Loader::Call::leave_line(millrace::detail::WaitEnd end) {
  {
    MutexLock lock(loader->mutex_);
    auto& line = loader->consumers_[static_cast<std::size_t>(device)].line;
    const auto place = std::ranges::find(line, this, &Ref<Call>::get);
    if (place == line.end()) return;
    line.erase(place);
  }
  promise.set_error(
      millrace::detail::wait_error(end, "while waiting for the next batch of a loader"));
}

void Loader::serve(int device, Effects& effects) {
  Consumer& consumer = consumers_[static_cast<std::size_t>(device)];
  while (!consumer.line.empty()) {
    const LoaderSchedule::Next next = schedule_.peek(device);
    if (next == LoaderSchedule::Next::kPending) return;
    Ref<Call> call = std::move(consumer.line.front());
    consumer.line.pop_front();
    consumer.stats.consumer_waited += environment_.clock->now() - call->since;
    Result<Next> result = next == LoaderSchedule::Next::kStopped
                              ? fail(ErrorCode::kCancelled,
                                     "the loader was closed while a call waited for its next batch")
                              : take(device);
    effects.served.emplace_back(std::move(call), std::move(result));
  }
}

void Loader::serve_all(Effects& effects) {
  for (int device = 0; device < work_.devices(); ++device) serve(device, effects);
}

// For a device whose next is not pending.
Result<Loader::Next> Loader::take(int device) {
  LoaderSchedule::Place place;
  switch (schedule_.take(device, &place)) {
    case LoaderSchedule::Next::kEndOfEpoch:
      return Next();
    case LoaderSchedule::Next::kFailed:
      return std::unexpected(*failure_);
    case LoaderSchedule::Next::kStopped:
      return fail(ErrorCode::kUnavailable, "the loader is closed and gives no more batches");
    case LoaderSchedule::Next::kPending:
      break;
    case LoaderSchedule::Next::kBatch: {
      ++consumers_[static_cast<std::size_t>(device)].stats.delivered;
      // A block that the device uses in place is the consumer's memory from now on.
      if (work_.options().zero_copy) schedule_.release_staging(*place);
      Batch& batch = batch_of(*place);
      batch.source = {};
      return Next(std::move(batch.result));
    }
  }
  MILLRACE_CHECK(false, "take() of a device whose next batch is pending");
  return Next();
}

void Loader::settle(Effects effects) {
  for (const LoaderSchedule::Place& place : effects.dropped) {
    Batch& batch = batch_of(*place);
    batch.source = {};  // blocks go back to the pool first
    batch.result.arrays = {};
    if (batch.turn) batch.turn->set_error(dropped_error());
  }
  for (auto& [call, result] : effects.served) call->promise.set(std::move(result));
  pump();
}

// The end, and what can be seen.

Future<void> Loader::close() {
  Effects effects;
  {
    MutexLock lock(mutex_);
    if (schedule_.stopped()) return closed_;
    effects.dropped = schedule_.stop();
    serve_all(effects);
  }
  work_.stop();
  settle(std::move(effects));
  const TimePoint last = environment_.clock->now() + work_.options().close_grace;
  // A runtime that closes drops what waits, while its actors close their loaders.
  with_deadline(scope_.close(), last, *environment_.timers, TimerQueue::Kind::kWork)
      .then(inline_executor(),
            [self = Ref<Loader>::share(this)](const Status& in_time) {
              self->closing_.set(in_time ? Status() : self->give_up());
            })
      .ignore();
  return closed_;
}

// Coroutines are left.
Status Loader::give_up() const {
  StagesGivenUp given_up{in_flight()};
  if (given_up.stages.empty()) return {};
  std::string names;
  for (const StageInFlight& stage : given_up.stages)
    names += (names.empty() ? "" : "; ") + to_string(stage);
  return std::unexpected(
      Error(ErrorCode::kDeadlineExceeded,
            "closing a loader: these stages have not ended and were given up: " + names)
          .with_detail(std::move(given_up)));
}

StageInFlight Loader::describe(const Batch& batch) {
  return {.stage = batch.stage(),
          .epoch = batch.result.epoch,
          .step = batch.result.step,
          .device = batch.result.device,
          .first_item = batch.result.first_item,
          .since = batch.begun};
}

std::vector<StageInFlight> Loader::in_flight() const {
  std::vector<StageInFlight> stages;
  {
    MutexLock lock(mutex_);
    schedule_.for_each_running(
        [&](LoadPlace& place) { stages.push_back(describe(batch_of(place))); });
  }
  std::ranges::sort(stages, {}, [](const StageInFlight& stage) {
    return std::tuple(stage.since, stage.epoch, stage.step, stage.device);
  });
  return stages;
}

LoaderStats Loader::stats() const {
  MutexLock lock(mutex_);
  LoaderStats stats;
  stats.stages = stages_;
  stats.peak_host_bytes = schedule_.peak_host_bytes();
  stats.peak_device_bytes = schedule_.peak_device_bytes();
  for (int device = 0; device < work_.devices(); ++device) {
    const Consumer& consumer = consumers_[static_cast<std::size_t>(device)];
    DeviceQueueStats& shown = stats.devices.emplace_back(consumer.stats);
    shown.use = schedule_.use(device);
    if (shown.asked > 0) {
      shown.mean_ready =
          static_cast<double>(consumer.ready_when_asked) / static_cast<double>(shown.asked);
    }
  }
  return stats;
}

}  // namespace millrace::transfer
