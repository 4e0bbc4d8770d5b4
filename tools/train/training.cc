#include "millrace/tools/train/training.h"

#include <deque>
#include <numeric>
#include <span>

#include "millrace/collectives/process_group.h"
#include "millrace/core/fault_point.h"
#include "millrace/core/log.h"
#include "millrace/tools/train/checkpoint.h"
#include "millrace/tools/train/epoch_share.h"
#include "millrace/tools/train/evaluation.h"
#include "millrace/tools/train/first_arrays.h"
#include "millrace/tools/train/meeting.h"
#include "millrace/tools/train/model.h"
#include "millrace/tools/train/on_blocking.h"
#include "millrace/tools/train/step_graph.h"
#include "millrace/tools/train/step_watch.h"

namespace millrace::train {
namespace {

using collectives::ProcessGroup;
using devices::Buffer;
using devices::Buffers;
using devices::Executable;
using transfer::DeviceBatch;
using transfer::DeviceLoader;

Buffers select(const Buffers& all, const std::vector<std::size_t>& positions) {
  std::vector<Buffer> chosen;
  for (const std::size_t p : positions) chosen.push_back(all[p]);
  return Buffers(chosen);
}

// One attempt of a run; lives in the frame of attempt().
class Training {
 public:
  Training(TrainingParts parts, TrainingOptions options, TrainingListener* listener, RunState& run)
      : parts_(std::move(parts)),
        options_(std::move(options)),
        listener_(listener),
        run_(run),
        watch_(*parts_.environment.clock, *parts_.environment.compute, parts_.devices.size()),
        link_(options_.call.stop, Forward{&watch_}),
        epoch_shares_(parts_.devices.size()),
        run_shares_(parts_.devices.size()) {
    call_.stop = watch_.token();
    call_.deadline = options_.call.deadline;
    if (parts_.trace == nullptr) return;
    step_lane_ = parts_.trace->lane("steps");
    step_name_ = parts_.trace->name("step");
  }

  Task<TrainingReport> run();
  Task<void> close();
  // What to tell the caller when run() ended with error: the first failure is the cause of the
  // others.
  Error root_cause(const Error& error) const;

 private:
  struct Forward {
    StepWatch* watch;
    void operator()() const { watch->stop(); }
  };
  struct Flying {
    Ref<GraphRun> run;
    std::uint64_t epoch = 0;
    bool last_of_epoch = false;
  };

  std::int64_t rows() const {
    return options_.batch_size / static_cast<std::int64_t>(parts_.devices.size());
  }
  std::uint64_t total_steps() const;
  Future<Executable> compile(const ProgramSpec& spec) const;
  void keep_program(const ProgramSpec& spec, const Future<Executable>& program);
  Result<DeviceLoader> make_loader() const;
  Task<void> prepare();
  Task<void> open_run(const ProgramSpec& init, const ProgramSpec& update);
  void go_on();
  Task<void> initialise(const ProgramSpec& init, const Executable& program);
  void make_checkpointer();
  Task<void> steps();
  void start_step(std::uint64_t step, std::uint64_t steps_per_epoch);
  Task<void> retire();
  Task<void> end_epoch(std::uint64_t epoch);
  Task<EpochShare> meet_all(std::string tag, std::vector<EpochShare> shares);
  Status hear_of_checkpoint();
  Status advance_checkpoint();
  Task<void> begin_last_checkpoint();
  Task<void> end_checkpoint();
  void tell_start(Duration compile_time);
  void tell_step(double loss, std::uint64_t epoch);
  std::uint64_t steps_done() const { return run_.first_step + run_.losses.size(); }
  bool recovers() const { return options_.device_restarts.restarts > 0; }
  Task<void> await_replicas();
  TrainingReport figures() const;

  const TrainingParts parts_;
  const TrainingOptions options_;
  TrainingListener* const listener_;
  RunState& run_;
  StepWatch watch_;
  std::stop_callback<Forward> link_;
  CallOptions call_;
  TraceLane step_lane_{};
  TraceName step_name_{};

  std::optional<Model> model_;
  std::optional<DeviceLoader> loader_;
  std::vector<ProcessGroup> ranks_;
  std::optional<StepGraph> graph_;
  Executable eval_program_;
  const ProgramSpec* grad_ = nullptr;
  const ProgramSpec* eval_ = nullptr;
  std::string grad_name_;
  std::string update_name_;

  std::uint64_t first_step_ = 0;  // of this attempt
  std::optional<Checkpointer> checkpointer_;

  std::vector<Replica> replicas_;
  std::deque<Flying> flying_;
  std::vector<Future<std::optional<DeviceBatch>>> epoch_ends_;
  TimePoint last_done_{};
  std::vector<EpochShare> epoch_shares_;  // by rank, of the epoch that is being retired
  std::vector<EpochShare> run_shares_;    // by rank
};

std::uint64_t Training::total_steps() const {
  const std::uint64_t all = options_.epochs * loader_->plan().steps_per_epoch();
  return options_.max_steps ? std::min(all, *options_.max_steps) : all;
}

Future<Executable> Training::compile(const ProgramSpec& spec) const {
  const auto known = run_.programs.find(spec.path);
  if (known != run_.programs.end()) return make_ready(known->second);
  devices::CompileOptions compile_options;
  compile_options.deterministic = options_.deterministic;
  return on_blocking(parts_.environment,
                     [path = spec.path] { return devices::Program::from_file(path); })
      .then(*parts_.environment.compute,
            [compile = parts_.compile,
             compile_options](Result<devices::Program> program) -> Future<Executable> {
              if (!program) return Future<Executable>(program.error());
              return compile(*std::move(program), compile_options);
            });
}

void Training::keep_program(const ProgramSpec& spec, const Future<Executable>& program) {
  run_.programs.emplace(spec.path, *program.result());
}

Result<DeviceLoader> Training::make_loader() const {
  transfer::LoaderOptions loading;
  loading.batch_size = options_.batch_size;
  loading.remainder = transfer::Remainder::kDrop;
  loading.shuffle = options_.shuffle;
  loading.seed = options_.seed;
  loading.epochs = options_.epochs;
  if (run_.committed) {
    loading.start_epoch = run_.committed->manifest.epoch;
    loading.start_step = run_.committed->manifest.epoch_step;
  }
  loading.trace = parts_.trace;
  loading.reads_in_flight = options_.reads_in_flight;
  loading.decodes_in_flight = options_.decodes_in_flight;
  loading.host_bytes_per_device = options_.loader_host_bytes;
  loading.device_bytes_per_device = options_.loader_device_bytes;
  if (options_.same_shard) {
    loading.batch_size = rows();
    loading.shards = 1;
    loading.shard_of_device.assign(parts_.devices.size(), 0);
  }
  return DeviceLoader::create(parts_.environment, options_.train_data, parts_.devices, loading);
}

// Everything before the first step: the loader reads ahead while the programs compile.
Task<void> Training::prepare() {
  const auto device_count = static_cast<std::int64_t>(parts_.devices.size());
  if (options_.batch_size <= 0 || options_.batch_size % device_count != 0) {
    Error error(ErrorCode::kInvalidArgument, "batch size " + std::to_string(options_.batch_size) +
                                                 " does not divide evenly over " +
                                                 std::to_string(device_count) + " devices");
    co_await end_with(std::move(error));
  }
  // Futures are made first and awaited then: g++ 12 destroys lambdas and aggregates that are
  // temporaries of a co_await expression twice.
  const auto loading =
      on_blocking(parts_.environment, [folder = options_.model] { return Model::load(folder); });
  auto model = co_await loading;
  if (!model) co_await end_with(model.error());
  model_ = *std::move(model);
  auto init = model_->program("init");
  auto grad = model_->program("grad", rows());
  auto update = model_->program("update");
  for (const auto* program : {&init, &grad, &update}) {
    if (!*program) co_await end_with(program->error());
  }
  grad_ = *grad;
  if (options_.checkpoint && run_.folder == nullptr) {
    Task<void> opening = open_run(**init, **update);
    if (Status status = co_await std::move(opening); !status) co_await end_with(status.error());
  }
  go_on();
  auto loader = make_loader();
  if (!loader) co_await end_with(loader.error());
  loader_ = *std::move(loader);
  if (first_step_ > total_steps()) {
    Error error(ErrorCode::kInvalidArgument,
                run_.resumed_from + " is after step " + std::to_string(first_step_) +
                    ", but this run ends at step " + std::to_string(total_steps()) +
                    ": let it have more epochs or steps");
    co_await end_with(std::move(error));
  }
  auto ranks = ProcessGroup::create(*parts_.system, "train", parts_.devices, parts_.trace);
  if (!ranks) co_await end_with(ranks.error());
  ranks_ = *std::move(ranks);

  const TimePoint begin = parts_.environment.clock->now();
  const Future<Executable> init_program = compile(**init);
  const Future<Executable> grad_program = compile(*grad_);
  const Future<Executable> update_program = compile(**update);
  Future<Executable> eval_program;
  if (options_.test_data != nullptr) {
    const auto eval_rows = model_->rows_of("eval");
    auto eval =
        model_->program("eval", eval_rows.empty() ? std::nullopt : std::optional(eval_rows.back()));
    if (!eval) co_await end_with(eval.error());
    eval_ = *eval;
    eval_program = compile(*eval_);
  }
  std::vector<Ref<AsyncValue>> programs = {init_program.cell(), grad_program.cell(),
                                           update_program.cell()};
  if (eval_program.valid()) programs.emplace_back(eval_program.cell());
  const Future<void> all_compiled =
      with_options(when_all(programs), call_, *parts_.environment.timers);
  if (Status compiled = co_await all_compiled; !compiled) co_await end_with(compiled.error());
  keep_program(**init, init_program);
  keep_program(*grad_, grad_program);
  keep_program(**update, update_program);
  if (eval_program.valid()) {
    eval_program_ = *eval_program.result();
    keep_program(*eval_, eval_program);
  }
  grad_name_ = grad_program.result()->name();
  update_name_ = update_program.result()->name();

  StepGraphOptions step;
  step.model = &*model_;
  step.grad = grad_;
  step.grad_program = *grad_program.result();
  step.update_program = *update_program.result();
  step.ranks = ranks_;
  step.loader = &*loader_;
  step.seed = options_.seed;
  step.bucket_bytes = options_.bucket_bytes;
  step.timers = parts_.environment.timers;
  step.observer = &watch_;
  auto graph = StepGraph::create(std::move(step));
  if (!graph) co_await end_with(graph.error());
  graph_ = *std::move(graph);
  tell_start(parts_.environment.clock->now() - begin);
  Task<void> initialising = initialise(**init, *init_program.result());
  if (Status status = co_await std::move(initialising); !status) co_await end_with(status.error());
  if (options_.checkpoint || recovers()) make_checkpointer();
  if (!recovers()) run_.committed = nullptr;  // its arrays are on the devices
}

void Training::tell_start(Duration compile_time) {
  if (listener_ == nullptr || std::exchange(run_.told, true)) return;
  TrainingStart start;
  start.model = model_->name();
  start.devices = parts_.devices.size();
  start.batch_size = options_.batch_size;
  start.steps = total_steps();
  start.items = options_.train_data->items();
  start.compile_time = compile_time;
  if (options_.checkpoint) {
    start.checkpoints = options_.checkpoint->folder;
    start.resume = options_.checkpoint->resume;
  }
  start.resumed_from = run_.resumed_from;
  start.first_step = run_.first_step;
  listener_->on_start(start);
}

// The folder of the checkpoints, and what this run goes on from.
Task<void> Training::open_run(const ProgramSpec& init, const ProgramSpec& update) {
  RunIdentity identity;
  identity.model = model_->name();
  identity.items = options_.train_data->items();
  identity.batch_size = options_.batch_size;
  identity.devices = parts_.devices.size();
  identity.seed = options_.seed;
  identity.shuffle = options_.shuffle;
  identity.same_shard = options_.same_shard;
  identity.deterministic = options_.deterministic;
  const auto looking =
      on_blocking(parts_.environment, [data = options_.train_data] { return data->fingerprint(); });
  auto data = co_await looking;
  if (!data) co_await end_with(data.error());
  identity.data = *std::move(data);
  const auto reading = on_blocking(
      parts_.environment, [grad = *grad_, update] { return step_program_facts(grad, update); });
  auto programs = co_await reading;
  if (!programs) co_await end_with(programs.error());
  identity.programs = *std::move(programs);
  run_.identity = identity;
  const auto opening = on_blocking(
      parts_.environment,
      [options = *options_.checkpoint, run = identity] { return open_checkpoints(options, run); });
  auto opened = co_await opening;
  if (!opened) co_await end_with(opened.error());
  run_.folder = std::move(opened->folder);
  if (!opened->newest) co_return;
  auto committed = committed_by(*opened->newest, init.outputs);
  if (!committed) co_await end_with(committed.error());
  run_.committed = *std::move(committed);
  run_.resumed_from = opened->newest->path;
  run_.first_step = run_.committed->manifest.step;
}

// This attempt begins after what is committed.
void Training::go_on() {
  first_step_ = run_.first_step;
  if (run_.committed) {
    const CheckpointManifest& manifest = run_.committed->manifest;
    first_step_ = manifest.step;
    for (std::size_t r = 0; r < parts_.devices.size(); ++r) {
      epoch_shares_[r] = manifest.ranks[r].epoch_share;
      run_shares_[r] = manifest.ranks[r].run_share;
    }
  }
  run_.losses.resize(first_step_ - run_.first_step);
}

void Training::make_checkpointer() {
  CheckpointParts parts;
  parts.environment = parts_.environment;
  parts.folder = run_.folder;
  parts.keep_committed = recovers();
  parts.ranks = ranks_;
  for (const auto* family : {&model_->params(), &model_->momenta(), &model_->state()}) {
    for (const TensorSpec& array : *family) parts.names.push_back(*checkpoint_array_name(array));
  }
  parts.run = run_.identity;
  parts.steps_per_epoch = loader_->plan().steps_per_epoch();
  parts.call = call_;
  parts.rendezvous_limit = options_.rendezvous_limit;
  const CheckpointOptions to_memory{.folder = {}, .every = options_.commit_every};
  checkpointer_.emplace(std::move(parts), options_.checkpoint.value_or(to_memory), first_step_);
}

// Rank 0 has the arrays that the run begins with and broadcasts them.
Task<void> Training::initialise(const ProgramSpec& init, const Executable& program) {
  Task<Buffers> making =
      run_.committed ? committed_arrays(parts_.devices[0], init.outputs, run_.committed, call_)
                     : new_arrays(parts_.devices[0], program, options_.seed, call_);
  Result<Buffers> made = co_await std::move(making);
  if (!made) co_await end_with(made.error());

  std::vector<devices::Shape> shapes;
  for (const TensorSpec& output : init.outputs) shapes.push_back(output.shape);
  collectives::CollectiveOptions collective;
  collective.call = call_;
  std::vector<Future<Buffers>> received;
  for (const ProcessGroup& rank : ranks_) {
    received.push_back(rank.rank() == collectives::Rank{0}
                           ? rank.broadcast(*made, collectives::Rank{0}, collective)
                           : rank.broadcast(shapes, collectives::Rank{0}, collective));
  }
  for (const Future<Buffers>& one : received) {
    Result<Buffers> all = co_await one;
    if (!all) co_await end_with(all.error());
    const auto part = [&](Role role) {
      return make_ready(select(*all, ProgramSpec::of_role(init.outputs, role)));
    };
    replicas_.push_back({part(Role::kParam), part(Role::kMomentum), part(Role::kState)});
  }
}

Task<void> Training::steps() {
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
Status Training::hear_of_checkpoint() {
  MILLRACE_TRY(const std::optional<CheckpointReport> published, checkpointer_->poll());
  if (checkpointer_->committed()) run_.committed = checkpointer_->committed();
  if (published && listener_ != nullptr) listener_->on_checkpoint(*published);
  return {};
}

// Lets a checkpoint begin whose steps have ended.
Status Training::advance_checkpoint() {
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

Task<void> Training::end_checkpoint() {
  if (!checkpointer_) co_return;
  static_cast<void>(co_await checkpointer_->finish());
  if (Status status = advance_checkpoint(); !status) co_await end_with(status.error());
}

// The end of the run is saved, too: while the evaluation reads the same arrays.
Task<void> Training::begin_last_checkpoint() {
  Task<void> ending = end_checkpoint();
  if (Status status = co_await std::move(ending); !status) co_await end_with(status.error());
  if (!checkpointer_) co_return;
  checkpointer_->take_last(steps_done(), replicas_);
  if (Status status = advance_checkpoint(); !status) co_await end_with(status.error());
}

void Training::start_step(std::uint64_t step, std::uint64_t steps_per_epoch) {
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
Task<void> Training::retire() {
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

void Training::tell_step(double loss, std::uint64_t epoch) {
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

Task<void> Training::end_epoch(std::uint64_t epoch) {
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

Task<EpochShare> Training::meet_all(std::string tag, std::vector<EpochShare> shares) {
  CallOptions options = call_;
  options.deadline =
      std::min(options.deadline, parts_.environment.clock->now() + options_.rendezvous_limit);
  return meet(ranks_, std::move(tag), std::move(shares), options);
}

// A step is done when its handles exist; the run is, when the bytes of its last replicas do.
Task<void> Training::await_replicas() {
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

TrainingReport Training::figures() const {
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

Task<TrainingReport> Training::run() {
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

Error Training::root_cause(const Error& error) const {
  if (options_.call.stop.stop_requested()) return error;
  return watch_.first_error().value_or(error);
}

// Every step in flight ends, then what they used closes.
Task<void> Training::close() {
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

Task<TrainingReport> attempt(TrainingParts parts, TrainingOptions options,
                             TrainingListener* listener, RunState* run) {
  Training training(std::move(parts), std::move(options), listener, *run);
  Result<TrainingReport> report = co_await training.run();
  const Status closed = co_await training.close();
  if (!report) co_return training.root_cause(report.error());
  if (!closed) co_return closed.error();
  co_return report;
}

void tell_recovery(std::vector<devices::DeviceId> devices, const Error& error, RunState& run,
                   TrainingListener* listener) {
  ++run.recoveries;
  const std::uint64_t ended = run.first_step + run.losses.size();
  const std::uint64_t step = run.committed ? run.committed->manifest.step : run.first_step;
  if (listener == nullptr) {  // nobody else tells
    MILLRACE_LOG(kWarning, "train",
                 "going on after step " + std::to_string(step) + " of " + std::to_string(ended) +
                     " that had ended, with restarted devices: " + error.message());
    return;
  }
  listener->on_recovery({.devices = std::move(devices),
                         .error = error,
                         .step = step,
                         .steps_lost = ended - step,
                         .recoveries = run.recoveries});
}

}  // namespace

Task<TrainingReport> train(TrainingParts parts, TrainingOptions options,
                           TrainingListener* listener) {
  RunState run;
  actors::RestartBudget budget(options.device_restarts);
  for (;;) {
    Task<TrainingReport> attempting = attempt(parts, options, listener, &run);
    Result<TrainingReport> report = co_await std::move(attempting);
    if (report || options.device_restarts.restarts <= 0) co_return report;
    const Error error = report.error();
    if (options.call.stop.stop_requested() ||
        parts.environment.clock->now() >= options.call.deadline) {
      co_return error;
    }
    Task<std::vector<devices::DeviceId>> restarting =
        restart_failed(parts.devices, parts.environment, &budget, options.call);
    Result<std::vector<devices::DeviceId>> restarted = co_await std::move(restarting);
    if (!restarted && options.call.stop.stop_requested()) co_return restarted.error();
    if (!restarted) co_return error.with_context(restarted.error().message());
    if (restarted->empty()) co_return error;
    tell_recovery(*std::move(restarted), error, run, listener);
  }
}

}  // namespace millrace::train
