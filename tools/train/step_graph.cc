#include "millrace/tools/train/step_graph.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "millrace/core/base/philox.h"

namespace millrace::train {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::HostArray;
using transfer::DeviceBatch;

// Every node only sends messages, so it may run on the thread that completed its last input.
Executor& now = inline_executor();

// Everything that the nodes of one step share; lives as long as the graph.
struct Recorded {
  StepGraphOptions options;
  std::vector<Wire> grad_inputs;
  std::vector<Wire> update_inputs;
  std::optional<devices::Shape> random;  // of the program's random input
  std::size_t loss = 0;                  // positions in grad's outputs
  std::vector<std::size_t> state;
  std::vector<std::vector<std::size_t>> buckets;  // of gradients that are reduced together
  std::vector<std::pair<std::size_t, std::size_t>>
      grad_in_bucket;                   // gradient -> (bucket, position in it)
  std::vector<std::size_t> params_out;  // positions in update's outputs
  std::vector<std::size_t> momenta_out;
  std::vector<int> update_donates;  // positions in update's inputs

  const Device& device(std::size_t d) const { return options.ranks[d].device(); }
  // The rank of device d in the group.
  std::size_t rank(std::size_t d) const { return collectives::at(options.ranks[d].rank()); }
  std::size_t group_size() const { return static_cast<std::size_t>(options.ranks[0].size()); }
  bool spans() const { return group_size() > options.ranks.size(); }
};

Result<DeviceBatch> real_batch(Result<std::optional<DeviceBatch>> next) {
  if (!next) return std::unexpected(next.error());
  if (*next) return **std::move(next);
  return fail(ErrorCode::kOutOfRange, "the loader ended before the steps of the epoch were done");
}

// The nodes of device d.
using Shared = std::shared_ptr<const Recorded>;

auto next_batch(Shared recorded, std::size_t d) {
  return [recorded = std::move(recorded), d](const CallOptions& call, const StepTicket&) {
    return recorded->options.loader->next(static_cast<int>(d), call).then(now, real_batch);
  };
}

// The words that belong to (seed, rank, step), whatever runs when: no state, no order.
auto put_random(Shared recorded, std::size_t d) {
  return [recorded = std::move(recorded), d](const CallOptions& call,
                                             const StepTicket& ticket) -> Future<Buffer> {
    if (!recorded->random) return Future<Buffer>(Buffer());
    HostArray words = HostArray::make_unwritten(*recorded->random);
    RandomStream stream(recorded->options.seed, static_cast<std::uint32_t>(recorded->rank(d)),
                        ticket.step);
    stream.fill(words.mutable_bytes());
    return recorded->device(d).put({words.bytes().data(), words.shape(), {}, words.owner()},
                                   {.call = call});
  };
}

auto launch_grad(Shared recorded, std::size_t d) {
  return [recorded = std::move(recorded), d](const CallOptions& call, const Buffers& params,
                                             const Buffers& state, const DeviceBatch& batch,
                                             const Buffer& random, const StepTicket& ticket) {
    const PooledVector<Buffer> arguments =
        arguments_of(recorded->grad_inputs, params, state, batch, random);
    return recorded->device(d).execute(
        recorded->options.grad_program, std::span<const Buffer>(arguments),
        {.call = call, .flow = ticket.first_flow + recorded->rank(d)});
  };
}

// inputs: params, momenta, then the reduced buckets. The arguments of the update, in its order.
auto update_arguments(Shared recorded) {
  return [recorded = std::move(recorded)](const SlotValues<Buffers>& inputs) {
    PooledVector<Buffer> arguments;
    arguments.reserve(recorded->update_inputs.size());
    for (const Wire& wire : recorded->update_inputs) {
      if (wire.role == Role::kParam) {
        arguments.push_back(inputs[0][wire.index]);
      } else if (wire.role == Role::kMomentum) {
        arguments.push_back(inputs[1][wire.index]);
      } else {
        const auto [bucket, position] = recorded->grad_in_bucket[wire.index];
        arguments.push_back(inputs[2 + bucket][position]);
      }
    }
    return Buffers(arguments);
  };
}

auto launch_update(Shared recorded, std::size_t d) {
  return [recorded = std::move(recorded), d](const CallOptions& call, const Buffers& arguments,
                                             const StepTicket& ticket) {
    devices::ExecuteOptions options{.call = call, .flow = ticket.first_flow + recorded->rank(d)};
    if (ticket.keep_inputs) options.non_donatable = recorded->update_donates;
    return recorded->device(d).execute(recorded->options.update_program,
                                       std::span<const Buffer>(arguments), options);
  };
}

// Some of the outputs of a program; positions live as long as recorded.
auto select_from(Shared recorded, const std::vector<std::size_t>& positions) {
  return [recorded = std::move(recorded), &positions](const Buffers& all) {
    return select(all, positions);
  };
}

// The mean over the ranks of some of grad's outputs. The sequence number is the step's, not the
// moment's.
auto reduce_node(Shared recorded, std::size_t d, std::size_t number,
                 const std::vector<std::size_t>& positions) {
  return [recorded = std::move(recorded), d, number, &positions](
             const CallOptions& call, const StepTicket& ticket, const Buffers& grads) {
    return recorded->options.ranks[d].all_reduce(select(grads, positions),
                                                 collectives::ReduceOp::kMean,
                                                 {.call = call,
                                                  .sequence = ticket.first_collective + number,
                                                  .flow = ticket.first_flow + recorded->rank(d)});
  };
}

// The losses of all ranks as one array, on every rank.
auto gather_loss(Shared recorded, std::size_t d, std::size_t number) {
  return [recorded = std::move(recorded), d, number](
             const CallOptions& call, const StepTicket& ticket, const Buffers& outputs) {
    const std::size_t position[] = {recorded->loss};
    return recorded->options.ranks[d].all_gather(select(outputs, position),
                                                 {.call = call,
                                                  .sequence = ticket.first_collective + number,
                                                  .flow = ticket.first_flow + recorded->rank(d)});
  };
}

auto fetch_array(Shared recorded, std::size_t d, std::size_t position) {
  return
      [recorded = std::move(recorded), d, position](const CallOptions& call, const Buffers& all) {
        return recorded->device(d).fetch(all[position], call);
      };
}

// Cuts the gradients into buckets, last first, each closed as soon as it has its bytes.
void make_buckets(Recorded& recorded) {
  const std::vector<TensorSpec>& outputs = recorded.options.grad->outputs;
  const std::vector<std::size_t> grads = ProgramSpec::of_role(outputs, Role::kGrad);
  std::size_t limit = recorded.options.bucket_bytes;
  if (limit == 0) {
    for (const std::size_t position : grads) limit += outputs[position].shape.size_bytes();
    limit = std::clamp(limit / 4, std::size_t{16} << 10, std::size_t{25} << 20);
  }
  recorded.grad_in_bucket.resize(grads.size());
  std::size_t filled = limit;
  for (std::size_t i = grads.size(); i-- > 0;) {
    if (filled >= limit) {
      recorded.buckets.emplace_back();
      filled = 0;
    }
    recorded.grad_in_bucket[i] = {recorded.buckets.size() - 1, recorded.buckets.back().size()};
    recorded.buckets.back().push_back(grads[i]);
    filled += outputs[grads[i]].shape.size_bytes();
  }
}

Result<std::shared_ptr<Recorded>> record(StepGraphOptions options) {
  auto recorded = std::make_shared<Recorded>();
  recorded->options = std::move(options);
  const StepGraphOptions& o = recorded->options;
  MILLRACE_TRY(const ProgramSpec* update, o.model->program("update"));
  recorded->grad_inputs = wire_inputs(*o.grad);
  recorded->update_inputs = wire_inputs(*update);
  for (std::size_t i = 0; i < o.grad->inputs.size(); ++i) {
    const TensorSpec& input = o.grad->inputs[i];
    if (input.role == Role::kRandom) recorded->random = input.shape;
    if (input.donated) {
      return fail(ErrorCode::kUnimplemented, "program '" + o.grad->name + "' donates its input '" +
                                                 input.name + "', which the update needs after it");
    }
  }
  const auto loss = ProgramSpec::of_role(o.grad->outputs, Role::kLoss);
  if (loss.size() != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "program '" + o.grad->name + "' must have one output of role loss");
  }
  recorded->loss = loss[0];
  recorded->state = ProgramSpec::of_role(o.grad->outputs, Role::kState);
  make_buckets(*recorded);
  recorded->params_out = ProgramSpec::of_role(update->outputs, Role::kParam);
  recorded->momenta_out = ProgramSpec::of_role(update->outputs, Role::kMomentum);
  const std::span<const bool> donated = o.update_program.donated_inputs();
  for (std::size_t i = 0; i < donated.size(); ++i) {
    if (donated[i]) recorded->update_donates.push_back(static_cast<int>(i));
  }
  return recorded;
}

}  // namespace

Buffers select(const Buffers& all, std::span<const std::size_t> positions) {
  PooledVector<Buffer> chosen;
  chosen.reserve(positions.size());
  for (const std::size_t p : positions) chosen.push_back(all[p]);
  return Buffers(chosen);
}

std::vector<Wire> wire_inputs(const ProgramSpec& program) {
  std::map<Role, std::size_t> next;
  std::vector<Wire> wires;
  for (const TensorSpec& input : program.inputs) wires.push_back({input.role, next[input.role]++});
  return wires;
}

PooledVector<Buffer> arguments_of(std::span<const Wire> inputs, const Buffers& params,
                                  const Buffers& state, const DeviceBatch& batch,
                                  const Buffer& other) {
  PooledVector<Buffer> arguments;
  arguments.reserve(inputs.size());
  for (const Wire& wire : inputs) {
    switch (wire.role) {
      case Role::kParam:
        arguments.push_back(params[wire.index]);
        break;
      case Role::kState:
        arguments.push_back(state[wire.index]);
        break;
      case Role::kImages:
        arguments.push_back(batch.arrays[0]);
        break;
      case Role::kLabels:
        arguments.push_back(batch.arrays[1]);
        break;
      default:
        arguments.push_back(other);
        break;
    }
  }
  return arguments;
}

Result<StepGraph> StepGraph::create(StepGraphOptions options) {
  const std::size_t device_count = options.ranks.size();
  GraphOptions graph_options;
  graph_options.timers = options.timers;
  graph_options.observer = options.observer;
  MILLRACE_TRY(const Shared recorded, record(std::move(options)));

  GraphBuilder b;
  const auto ticket = b.input<StepTicket>("ticket");
  std::vector<DeviceSlots> slots(device_count);
  std::optional<Slot<HostArray>> gathered_losses;
  const std::size_t reductions = recorded->buckets.size() + (recorded->state.empty() ? 0 : 1);
  for (std::size_t d = 0; d < device_count; ++d) {
    DeviceSlots& s = slots[d];
    const std::string at = " " + std::to_string(d);
    s.params_in = b.input<Buffers>("params" + at);
    s.momenta_in = b.input<Buffers>("momenta" + at);
    s.state_in = b.input<Buffers>("state" + at);
    const auto batch = b.node("batch" + at, now, next_batch(recorded, d), ticket);
    s.rows =
        b.node("rows" + at, now, [](const DeviceBatch& loaded) { return loaded.valid; }, batch);
    const auto random = b.node("random" + at, now, put_random(recorded, d), ticket);
    const auto grads = b.node("grad" + at, now, launch_grad(recorded, d), s.params_in, s.state_in,
                              batch, random, ticket);
    if (recorded->spans()) {
      const auto gathered =
          b.node("all_gather loss" + at, now, gather_loss(recorded, d, reductions), ticket, grads);
      if (d == 0) gathered_losses = b.node("losses", now, fetch_array(recorded, d, 0), gathered);
    } else {
      s.loss = b.node("loss" + at, now, fetch_array(recorded, d, recorded->loss), grads);
    }

    std::vector<Slot<Buffers>> update_inputs = {s.params_in, s.momenta_in};
    for (std::size_t i = 0; i < recorded->buckets.size(); ++i) {
      const std::string name = "all_reduce " + std::to_string(i) + at;
      update_inputs.push_back(
          b.node(name, now, reduce_node(recorded, d, i, recorded->buckets[i]), ticket, grads));
    }
    s.state_out = recorded->state.empty()
                      ? s.state_in
                      : b.node("all_reduce state" + at, now,
                               reduce_node(recorded, d, recorded->buckets.size(), recorded->state),
                               ticket, grads);
    const auto arguments = b.node_list<Buffers>("update arguments" + at, now,
                                                update_arguments(recorded), update_inputs);
    const auto updated = b.node("update" + at, now, launch_update(recorded, d), arguments, ticket);
    s.params_out =
        b.node("params out" + at, now, select_from(recorded, recorded->params_out), updated);
    s.momenta_out =
        b.node("momenta out" + at, now, select_from(recorded, recorded->momenta_out), updated);
    b.output(s.params_out);
    b.output(s.momenta_out);
    b.output(s.state_out);
    if (s.loss) b.output(*s.loss);
    b.output(s.rows);
  }
  if (gathered_losses) b.output(*gathered_losses);
  MILLRACE_TRY(Graph graph, b.build(graph_options));
  return StepGraph(std::move(graph), std::move(slots), gathered_losses,
                   reductions + (recorded->spans() ? 1 : 0));
}

Ref<GraphRun> StepGraph::start(const StepTicket& ticket, std::span<const Replica> replicas,
                               const CallOptions& call) const {
  PooledVector<GraphInput> inputs;
  inputs.reserve(1 + 3 * replicas.size());
  inputs.emplace_back(make_ready(StepTicket(ticket)));
  for (const Replica& replica : replicas) {
    inputs.emplace_back(replica.params);
    inputs.emplace_back(replica.momenta);
    inputs.emplace_back(replica.state);
  }
  return graph_.start(inputs, call);
}

namespace {

// An output whose error done() gives as well, so that it needs no report.
template <class T>
Future<T> output(const GraphRun& run, const Slot<T>& slot) {
  Future<T> future = run.output(slot);
  future.ignore();
  return future;
}

}  // namespace

Replica StepGraph::replica(const GraphRun& run, std::size_t device) const {
  const DeviceSlots& s = devices_[device];
  return {output(run, s.params_out), output(run, s.momenta_out), output(run, s.state_out)};
}

Future<HostArray> StepGraph::loss(const GraphRun& run, std::size_t device) const {
  return output(run, *devices_[device].loss);
}

Future<HostArray> StepGraph::gathered_losses(const GraphRun& run) const {
  return output(run, *gathered_losses_);
}

Future<std::int64_t> StepGraph::rows(const GraphRun& run, std::size_t device) const {
  return output(run, devices_[device].rows);
}

}  // namespace millrace::train
