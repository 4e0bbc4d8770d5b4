// Everything of an attempt before its first step: model, checkpoints, loader, group, programs, the
// first arrays.
#include <algorithm>

#include "millrace/core/base/check.h"
#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/awaiting.h"

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

// What a run begins with: parameters, momenta and state, as init makes them from the seed, in the
// order of its outputs.
Task<Buffers> new_arrays(devices::Device device, Executable init, std::uint64_t seed,
                         CallOptions call) {
  // The program takes 32 bits; a seed beyond them counts with all of its own.
  constexpr std::uint32_t kOdd = 0x9E3779B9;
  const auto word =
      static_cast<std::uint32_t>(seed) ^ static_cast<std::uint32_t>(seed >> 32) * kOdd;
  const devices::HostView view{.data = &word, .shape = devices::Shape(devices::DType::kU32, {})};
  MILLRACE_AWAIT(const Buffer seed_there, device.put(view, {.call = call}));
  co_return co_await device.execute(init, {seed_there}, {.call = call});
}

// The same as they were committed, which has all of them.
Task<Buffers> committed_arrays(devices::Device device, std::vector<TensorSpec> arrays,
                               std::shared_ptr<const Committed> committed, CallOptions call) {
  const devices::PutOptions put{.call = call};
  std::vector<Future<Buffer>> puts;
  for (const TensorSpec& wanted : arrays) {
    const std::string name = checkpoint_array_name(wanted).value_or(wanted.name);
    const auto found = std::ranges::find(committed->names, name);
    MILLRACE_CHECK(found != committed->names.end(), "what was committed has every array");
    const auto& array =
        committed->arrays[static_cast<std::size_t>(found - committed->names.begin())];
    puts.push_back(device.put({array.bytes().data(), array.shape(), {}, array.owner()}, put));
  }
  MILLRACE_AWAIT(const std::vector<Buffer> buffers, all_of(std::move(puts)));
  co_return Buffers(buffers);
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
  MILLRACE_AWAIT(model_, on_blocking(parts_.environment,
                                     [folder = options_.model] { return Model::load(folder); }));
  MILLRACE_CO_TRY(const ProgramSpec* const init, model_->program("init"));
  MILLRACE_CO_TRY(grad_, model_->program("grad", rows()));
  MILLRACE_CO_TRY(const ProgramSpec* const update, model_->program("update"));
  if (options_.checkpoint && run_.folder == nullptr)
    MILLRACE_AWAIT_STATUS(open_run(*init, *update));
  go_on();
  MILLRACE_CO_TRY(loader_, make_loader());
  if (first_step_ > total_steps()) {
    Error error(ErrorCode::kInvalidArgument,
                run_.resumed_from + " is after step " + std::to_string(first_step_) +
                    ", but this run ends at step " + std::to_string(total_steps()) +
                    ": let it have more epochs or steps");
    co_await end_with(std::move(error));
  }
  MILLRACE_CO_TRY(ranks_,
                  ProcessGroup::create(*parts_.system, "train", parts_.devices, parts_.trace));

  const TimePoint begin = parts_.environment.clock->now();
  std::vector<const ProgramSpec*> specs = {init, grad_, update};
  if (options_.test_data != nullptr) {
    const auto eval_rows = model_->rows_of("eval");
    MILLRACE_CO_TRY(
        eval_, model_->program("eval",
                               eval_rows.empty() ? std::nullopt : std::optional(eval_rows.back())));
    specs.push_back(eval_);
  }
  std::vector<Future<Executable>> compiling;
  for (const ProgramSpec* spec : specs) compiling.push_back(compile(*spec));
  MILLRACE_AWAIT_STATUS(with_options(when_all(compiling), call_, *parts_.environment.timers));
  std::vector<Executable> programs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    programs.push_back(*compiling[i].result());
    run_.programs.emplace(specs[i]->path, programs[i]);
  }
  if (eval_ != nullptr) eval_program_ = programs[3];
  grad_name_ = programs[1].name();
  update_name_ = programs[2].name();

  StepGraphOptions step;
  step.model = &*model_;
  step.grad = grad_;
  step.grad_program = programs[1];
  step.update_program = programs[2];
  step.ranks = ranks_;
  step.loader = &*loader_;
  step.seed = options_.seed;
  step.bucket_bytes = options_.bucket_bytes;
  step.timers = parts_.environment.timers;
  step.observer = &watch_;
  MILLRACE_CO_TRY(graph_, StepGraph::create(std::move(step)));
  report_start(parts_.environment.clock->now() - begin);
  MILLRACE_AWAIT_STATUS(initialise(*init, programs[0]));
  if (options_.checkpoint || recovers()) make_checkpointer();
  if (!recovers()) run_.committed = nullptr;  // its arrays are on the devices
}

void Attempt::report_start(Duration compile_time) {
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
  MILLRACE_AWAIT(identity.data, on_blocking(parts_.environment, [data = options_.train_data] {
                   return data->fingerprint();
                 }));
  MILLRACE_AWAIT(identity.programs, on_blocking(parts_.environment, [grad = *grad_, update] {
                   return step_program_facts(grad, update);
                 }));
  run_.identity = identity;
  MILLRACE_AWAIT(OpenedCheckpoints opened,
                 on_blocking(parts_.environment, [options = *options_.checkpoint, run = identity,
                                                  arrays = init.outputs] {
                   return open_checkpoints(options, run, arrays);
                 }));
  run_.folder = std::move(opened.folder);
  if (!opened.newest) co_return;
  run_.committed = std::move(opened.newest);
  run_.resumed_from = opened.path;
  run_.first_step = run_.committed->manifest.step;
}

// This attempt begins after what is committed.
void Attempt::go_on() {
  first_step_ = run_.first_step;
  if (run_.committed) {
    const CheckpointManifest& manifest = run_.committed->manifest;
    first_step_ = manifest.step;
    shares_ = manifest.ranks;
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
  const devices::Device& first = parts_.devices[0];
  MILLRACE_AWAIT(const Buffers made,
                 run_.committed ? committed_arrays(first, init.outputs, run_.committed, call_)
                                : new_arrays(first, program, options_.seed, call_));
  std::vector<devices::Shape> shapes;
  for (const TensorSpec& output : init.outputs) shapes.push_back(output.shape);
  collectives::CollectiveOptions collective;
  collective.call = call_;
  std::vector<Future<Buffers>> receiving;
  for (const ProcessGroup& rank : ranks_) {
    receiving.push_back(rank.rank() == collectives::Rank{0}
                            ? rank.broadcast(made, collectives::Rank{0}, collective)
                            : rank.broadcast(shapes, collectives::Rank{0}, collective));
  }
  for (const Future<Buffers>& one : receiving) {
    MILLRACE_AWAIT(const Buffers all, one);
    const auto part = [&](Role role) {
      return make_ready(select(all, ProgramSpec::of_role(init.outputs, role)));
    };
    replicas_.push_back({part(Role::kParam), part(Role::kMomentum), part(Role::kState)});
  }
}

}  // namespace millrace::train
