// Everything of an attempt before its first step: model, group, checkpoints, loader, programs, the
// first arrays. What the ranks agree on among it: attempt_agree.cc.
#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {

using collectives::ProcessGroup;
using devices::Buffer;
using devices::Buffers;
using devices::Executable;
using transfer::DeviceLoader;

namespace {

// What init makes from the seed: its outputs.
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

Task<Buffers> committed_arrays(devices::Device device, std::shared_ptr<const Committed> committed,
                               CallOptions call) {
  const devices::PutOptions put{.call = call};
  std::vector<Future<Buffer>> puts;
  for (const devices::HostArray& array : committed->arrays)
    puts.push_back(device.put({array.bytes().data(), array.shape(), {}, array.owner()}, put));
  MILLRACE_AWAIT(const std::vector<Buffer> buffers, all_of(std::move(puts)));
  co_return Buffers(buffers);
}

}  // namespace

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

transfer::LoaderOptions Attempt::loading() const {
  transfer::LoaderOptions loading;
  loading.batch_size = batch();
  loading.remainder = transfer::Remainder::kDrop;
  loading.shuffle = options_.shuffle;
  loading.seed = options_.seed;
  loading.epochs = options_.epochs;
  loading.start_epoch = plan_->start().epoch;
  loading.start_item = plan_->start().item;
  loading.trace = parts_.trace;
  loading.flow_devices = world();
  loading.first_flow_device = collectives::at(ranks_.front().rank());
  loading.reads_in_flight = options_.reads_in_flight;
  loading.decodes_in_flight = options_.decodes_in_flight;
  // Each rank has a shard of its own: what the others train on is not even read.
  loading.shards = static_cast<int>(world());
  for (const ProcessGroup& rank : ranks_) loading.shard_of_device.push_back(index(rank.rank()));
  if (options_.same_shard) {
    loading.batch_size = rows();
    loading.shards = 1;
    loading.shard_of_device.assign(parts_.devices.size(), 0);
  }
  return loading;
}

Result<DeviceLoader> Attempt::make_loader() const {
  return DeviceLoader::create(parts_.environment, options_.train_data, parts_.devices, loading());
}

Task<void> Attempt::make_group() {
  if (parts_.world == nullptr) {
    MILLRACE_CO_TRY(ranks_,
                    ProcessGroup::create(*parts_.system, "train", parts_.devices, parts_.trace));
    run_.full = world();
  } else {
    MILLRACE_AWAIT(WorldGroup met,
                   with_options(parts_.world->meet(), call_, *parts_.environment.timers));
    ranks_ = std::move(met.ranks);
    run_.full = met.full;
    MILLRACE_CO_TRY_STATUS(check_progress(met.changed));
  }
  MILLRACE_CHECK(ranks_.size() == parts_.devices.size(), "each device is a rank");
  run_.spans = spans();
  shares_.resize(world());
}

// A group that fails again and again although no process ends would do so for ever.
Status Attempt::check_progress(bool changed) {
  constexpr int kMostFutile = 3;
  const std::uint64_t step = run_.committed ? run_.committed->manifest.step : 0;
  const bool is_futile = run_.interruption && !changed && step <= run_.futile_step;
  run_.futile = is_futile ? run_.futile + 1 : 0;
  run_.futile_step = step;
  if (run_.futile <= kMostFutile) return {};
  return std::unexpected(run_.interruption->error.value_or(Error(ErrorCode::kAborted, "no error"))
                             .with_context("the ranks have met " + std::to_string(run_.futile) +
                                           " times, and got no further"));
}

Status Attempt::check_batch() const {
  const auto ranks = static_cast<std::int64_t>(run_.full);
  if (options_.batch_size > 0 && options_.batch_size % ranks == 0) return {};
  return fail(ErrorCode::kInvalidArgument, "batch size " + std::to_string(options_.batch_size) +
                                               " does not divide evenly over " +
                                               std::to_string(ranks) + " devices");
}

// Everything before the first step: the loader reads ahead while the programs compile.
Task<void> Attempt::prepare() {
  MILLRACE_AWAIT(model_, on_blocking(parts_.environment,
                                     [folder = options_.model] { return Model::load(folder); }));
  MILLRACE_AWAIT_STATUS(make_group());
  if (spans()) MILLRACE_AWAIT_STATUS(agree_on_facts());
  MILLRACE_CO_TRY_STATUS(check_batch());
  MILLRACE_CO_TRY(const ProgramSpec* const init, model_->program("init"));
  MILLRACE_CO_TRY(grad_, model_->program("grad", rows()));
  MILLRACE_CO_TRY(update_, model_->program("update"));
  std::vector<const ProgramSpec*> specs = {init, grad_, update_};
  if (options_.test_data != nullptr) {
    const auto eval_rows = model_->rows_of("eval");
    MILLRACE_CO_TRY(
        eval_, model_->program("eval",
                               eval_rows.empty() ? std::nullopt : std::optional(eval_rows.back())));
    specs.push_back(eval_);
  }
  MILLRACE_AWAIT_STATUS(find_start());
  MILLRACE_CO_TRY_STATUS(resume_from_committed());
  MILLRACE_CO_TRY(loader_, make_loader());

  const TimePoint begin = parts_.environment.clock->now();
  std::vector<Future<Executable>> compiling;
  for (const ProgramSpec* spec : specs) compiling.push_back(compile(*spec));
  MILLRACE_AWAIT_STATUS(with_options(when_all(compiling), call_, *parts_.environment.timers));
  for (std::size_t i = 0; i < specs.size(); ++i)
    run_.programs.emplace(specs[i]->path, *compiling[i].result());
  MILLRACE_CO_TRY_STATUS(record_step());
  report_start(parts_.environment.clock->now() - begin);
  MILLRACE_AWAIT_STATUS(initialise(*init));
  if (options_.checkpoint || recovers()) make_checkpointer();
  if (!recovers()) run_.committed = nullptr;  // its arrays are on the devices
}

Status Attempt::record_step() {
  StepGraphOptions step;
  step.model = &*model_;
  step.grad = grad_;
  step.grad_program = executable(grad_);
  step.update_program = executable(update_);
  step.ranks = ranks_;
  step.loader = &*loader_;
  step.seed = options_.seed;
  step.bucket_bytes = options_.bucket_bytes;
  step.timers = parts_.environment.timers;
  step.observer = &watch_;
  MILLRACE_TRY(graph_, StepGraph::create(std::move(step)));
  return {};
}

void Attempt::report_start(Duration compile_time) {
  if (listener_ == nullptr || std::exchange(run_.reported, true)) return;
  TrainingStart start;
  start.model = model_->name();
  start.devices = world();
  start.batch_size = batch();
  start.joins = goes_on_;
  start.steps = plan_->last_step();
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

void Attempt::make_checkpointer() {
  CheckpointParts parts;
  parts.environment = parts_.environment;
  parts.folder = run_.folder;
  parts.keep_committed = recovers();
  parts.ranks = ranks_;
  for (const TensorSpec& array : model_->carried())
    parts.names.push_back(checkpoint_array_name(array));
  parts.run = run_.identity;
  parts.plan = *plan_;
  if (elastic()) parts.commit_every = options_.commit_every;
  if (elastic()) parts.has_newcomers = [world = parts_.world] { return world->has_newcomers(); };
  parts.call = call_;
  // The others wait for as long as the files take.
  if (spans()) parts.rendezvous_limit = kNoRendezvousLimit;
  const CheckpointOptions to_memory{.folder = {}, .every = options_.commit_every};
  const std::uint64_t step = plan_->start().step;
  checkpointer_.emplace(std::move(parts), options_.checkpoint.value_or(to_memory), step,
                        file_step_.value_or(step));
}

// The root has the arrays that the attempt begins with and broadcasts them.
Task<void> Attempt::initialise(const ProgramSpec& init) {
  const devices::Device& first = parts_.devices[0];
  const std::vector<TensorSpec>& carried = model_->carried();
  Buffers made;
  if (is_here(root_)) {
    MILLRACE_AWAIT(made, begin_ ? committed_arrays(first, run_.committed, call_)
                                : new_arrays(first, executable(&init), options_.seed, call_));
    if (!begin_) made = select(made, model_->carried_by_init());
  }
  std::vector<devices::Shape> shapes;
  for (const TensorSpec& array : carried) shapes.push_back(array.shape);
  collectives::CollectiveOptions collective;
  collective.call = call_;
  std::vector<Future<Buffers>> receiving;
  for (const ProcessGroup& rank : ranks_) {
    receiving.push_back(rank.rank() == root_ ? rank.broadcast(made, root_, collective)
                                             : rank.broadcast(shapes, root_, collective));
  }
  const bool keeps = begin_ && run_.committed && run_.committed->manifest.step == begin_->step;
  if (elastic() && begin_ && !keeps) MILLRACE_AWAIT_STATUS(keep_received(receiving.front()));
  for (const Future<Buffers>& one : receiving) {
    MILLRACE_AWAIT(const Buffers all, one);
    const auto part = [&](Role role) {
      return make_ready(select(all, ProgramSpec::of_role(carried, role)));
    };
    replicas_.push_back({part(Role::kParam), part(Role::kMomentum), part(Role::kState)});
  }
}

// What is committed is there as long as any process of the group is.
Task<void> Attempt::keep_received(Future<Buffers> received) {
  MILLRACE_AWAIT(const Buffers all, received);
  std::vector<Future<devices::HostArray>> fetches;
  for (const Buffer& buffer : all) fetches.push_back(parts_.devices[0].fetch(buffer, call_));
  auto kept = std::make_shared<Committed>();
  MILLRACE_AWAIT(kept->arrays, all_of(std::move(fetches)));
  kept->manifest = *begin_;
  run_.committed = std::move(kept);
}

}  // namespace millrace::train
