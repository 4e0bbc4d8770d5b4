// Everything of an attempt before its first step: model, checkpoints, loader, group, programs, the
// first arrays.
#include <span>

#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/first_arrays.h"
#include "millrace/tools/train/on_blocking.h"

namespace millrace::train {

using collectives::ProcessGroup;
using devices::Buffer;
using devices::Buffers;
using devices::Executable;
using transfer::DeviceLoader;

namespace {

Buffers select(const Buffers& all, const std::vector<std::size_t>& positions) {
  std::vector<Buffer> chosen;
  for (const std::size_t p : positions) chosen.push_back(all[p]);
  return Buffers(chosen);
}

}  // namespace

std::uint64_t Attempt::total_steps() const {
  const std::uint64_t all = options_.epochs * loader_->plan().steps_per_epoch();
  return options_.max_steps ? std::min(all, *options_.max_steps) : all;
}

Future<Executable> Attempt::compile(const ProgramSpec& spec) const {
  const auto known = run_.programs.find(spec.path);
  if (known != run_.programs.end()) return make_ready(known->second);
  devices::CompileOptions compile_options;
  compile_options.deterministic = deterministic();
  return on_blocking(parts_.environment,
                     [path = spec.path] { return devices::Program::from_file(path); })
      .then(*parts_.environment.compute,
            [compile = parts_.compile,
             compile_options](Result<devices::Program> program) -> Future<Executable> {
              if (!program) return Future<Executable>(program.error());
              return compile(*std::move(program), compile_options);
            });
}

void Attempt::keep_program(const ProgramSpec& spec, const Future<Executable>& program) {
  run_.programs.emplace(spec.path, *program.result());
}

Result<DeviceLoader> Attempt::make_loader() const {
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
Task<void> Attempt::prepare() {
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

void Attempt::tell_start(Duration compile_time) {
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
Task<void> Attempt::open_run(const ProgramSpec& init, const ProgramSpec& update) {
  RunIdentity identity;
  identity.model = model_->name();
  identity.items = options_.train_data->items();
  identity.batch_size = options_.batch_size;
  identity.devices = parts_.devices.size();
  identity.seed = options_.seed;
  identity.shuffle = options_.shuffle;
  identity.same_shard = options_.same_shard;
  identity.deterministic = deterministic();
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
void Attempt::go_on() {
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

void Attempt::make_checkpointer() {
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
Task<void> Attempt::initialise(const ProgramSpec& init, const Executable& program) {
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

}  // namespace millrace::train
