// StepGraph: one data-parallel training step, recorded once as a core/async/graph and replayed
// every step. Per device:
//
//   batch (loader) -> grad -> all_reduce of each bucket -> update -> next step's params, momenta
//                         \-> all_reduce of the state -> next step's state
//                         \-> loss to the host
//
// Where ranks of the group are elsewhere, the losses of all are gathered before they go to the
// host. Nothing in it waits on the host. The buckets hold the gradients in reverse order, as
// backpropagation writes them, so that the first all-reduce runs while the rest of the grad program
// does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/call_options.h"
#include "millrace/core/async/graph.h"
#include "millrace/devices/device.h"
#include "millrace/tools/train/model.h"
#include "millrace/transfer/device_loader.h"

namespace millrace::train {

// Where a program's input comes from: the index-th array of a role's family.
struct Wire {
  Role role{};
  std::size_t index = 0;
};
std::vector<Wire> wire_inputs(const ProgramSpec& program);
// The arguments of a program that sees a batch, in the order of its inputs. other: what is neither
// a parameter, nor state, nor of the batch: random words, or the number of rows that count.
PooledVector<devices::Buffer> arguments_of(std::span<const Wire> inputs,
                                           const devices::Buffers& params,
                                           const devices::Buffers& state,
                                           const transfer::DeviceBatch& batch,
                                           const devices::Buffer& other);

// The arrays of the listed positions.
devices::Buffers select(const devices::Buffers& all, std::span<const std::size_t> positions);

// What one device carries from step to step.
struct Replica {
  Future<devices::Buffers> params;
  Future<devices::Buffers> momenta;
  Future<devices::Buffers> state;
};

// What the recorded step gets for this replay.
struct StepTicket {
  std::uint64_t step = 0;              // counts through the whole run
  std::uint64_t first_collective = 0;  // of the sequence numbers that the step reserves
  std::uint64_t first_flow = 0;        // in traces: of the first device's batch, the others follow
  // The update leaves its inputs as they are and writes its outputs to memory of their own:
  // a checkpoint still reads the replicas that this step starts from.
  bool keep_inputs = false;
};

struct StepGraphOptions {
  const Model* model = nullptr;
  const ProgramSpec* grad = nullptr;
  devices::Executable grad_program;
  devices::Executable update_program;
  // One per device, in order; the others of the group run the same graph elsewhere.
  std::vector<collectives::ProcessGroup> ranks;
  const transfer::DeviceLoader* loader = nullptr;
  std::uint64_t seed = 0;        // for programs that take random words
  std::size_t bucket_bytes = 0;  // of gradients; 0: a quarter of all, from 16 KiB to 25 MiB
  TimerQueue* timers = nullptr;
  GraphObserver* observer = nullptr;
};

// Owned by the trainer; what the options point to outlives it. Thread-safety: immutable.
class StepGraph {
 public:
  static Result<StepGraph> create(StepGraphOptions options);

  // One replay, from the replicas of all devices; the outputs below are of this run. call is that
  // of the run and of everything that it asks of others.
  Ref<GraphRun> start(const StepTicket& ticket, std::span<const Replica> replicas,
                      const CallOptions& call) const;
  Replica replica(const GraphRun& run, std::size_t device) const;
  // Where all ranks of the group are here.
  Future<devices::HostArray> loss(const GraphRun& run, std::size_t device) const;
  // Those of all ranks, in their order, where some are elsewhere.
  bool gathers_losses() const { return gathered_losses_.has_value(); }
  Future<devices::HostArray> gathered_losses(const GraphRun& run) const;
  // The valid rows of the device's batch.
  Future<std::int64_t> rows(const GraphRun& run, std::size_t device) const;

  // Collectives of each rank in one step.
  std::uint64_t collectives_per_step() const { return collectives_; }

 private:
  struct DeviceSlots {
    Slot<devices::Buffers> params_in, momenta_in, state_in;
    Slot<devices::Buffers> params_out, momenta_out, state_out;
    std::optional<Slot<devices::HostArray>> loss;
    Slot<std::int64_t> rows;
  };
  StepGraph(Graph graph, std::vector<DeviceSlots> devices,
            std::optional<Slot<devices::HostArray>> gathered_losses, std::uint64_t collectives)
      : graph_(std::move(graph)),
        devices_(std::move(devices)),
        gathered_losses_(gathered_losses),
        collectives_(collectives) {}

  Graph graph_;
  std::vector<DeviceSlots> devices_;
  std::optional<Slot<devices::HostArray>> gathered_losses_;
  std::uint64_t collectives_;
};

}  // namespace millrace::train
