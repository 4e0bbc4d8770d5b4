// The end of an attempt: its model over the test data, on all ranks. Every item counts exactly
// once: the last batch is filled up with others, which the program does not count.
#include <deque>

#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/awaiting.h"
#include "millrace/tools/train/evaluation_share.h"

namespace millrace::train {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::HostArray;

// One device's share of the test data, and what runs it. program and loader are borrowed.
struct Share {
  devices::Device device;
  int index = 0;
  const ProgramSpec* program = nullptr;
  devices::Executable executable;
  Replica replica;
  const transfer::DeviceLoader* loader = nullptr;
  CallOptions call;
};

// A launched batch whose results are on their way to the host.
struct Pending {
  std::int64_t rows = 0;
  Future<HostArray> correct;
  Future<HostArray> loss_sum;
};

// A batch computes while the next one is launched.
Task<EvaluationShare> evaluate_share(Share s) {
  constexpr std::size_t kInFlight = 2;
  MILLRACE_AWAIT(const Buffers params, s.replica.params);
  MILLRACE_AWAIT(const Buffers state, s.replica.state);
  const std::vector<Wire> inputs = wire_inputs(*s.program);
  const auto fetch = [&s](const Buffers& outputs, Role role) {
    const auto position = ProgramSpec::of_role(s.program->outputs, role).at(0);
    Future<HostArray> fetched = s.device.fetch(outputs[position], s.call);
    fetched.ignore();  // given up without a look when another batch fails first
    return fetched;
  };
  EvaluationShare sums;
  std::deque<Pending> pending;
  for (bool ended = false; !ended || !pending.empty();) {
    if (!ended) {
      MILLRACE_AWAIT(const auto batch, s.loader->next(s.index, s.call));
      ended = !batch;
      if (batch) {
        const auto valid = static_cast<std::int32_t>(batch->valid);
        const devices::HostView view{.data = &valid,
                                     .shape = devices::Shape(devices::DType::kI32, {})};
        MILLRACE_AWAIT(const Buffer rows, s.device.put(view, {.call = s.call}));
        const auto arguments = arguments_of(inputs, params, state, *batch, rows);
        MILLRACE_AWAIT(const Buffers outputs,
                       s.device.execute(s.executable, arguments, {.call = s.call}));
        pending.push_back(
            {batch->valid, fetch(outputs, Role::kCorrect), fetch(outputs, Role::kLossSum)});
      }
    }
    if (pending.empty() || (!ended && pending.size() < kInFlight)) continue;
    const Pending oldest = std::move(pending.front());
    pending.pop_front();
    MILLRACE_AWAIT(const HostArray correct, oldest.correct);
    MILLRACE_AWAIT(const HostArray loss_sum, oldest.loss_sum);
    sums.items += static_cast<std::uint64_t>(oldest.rows);
    sums.correct += static_cast<std::uint64_t>(correct.as<std::int32_t>()[0]);
    sums.loss_sum += static_cast<double>(loss_sum.as<float>()[0]);
  }
  co_return sums;
}

}  // namespace

Task<void> Attempt::evaluate(TrainingReport* report) {
  transfer::LoaderOptions options;
  options.batch_size = *eval_->rows * static_cast<std::int64_t>(world());
  options.remainder = transfer::Remainder::kPad;
  options.shards = static_cast<int>(world());
  for (const collectives::ProcessGroup& rank : ranks_)
    options.shard_of_device.push_back(index(rank.rank()));
  MILLRACE_CO_TRY(const transfer::DeviceLoader loader,
                  transfer::DeviceLoader::create(parts_.environment, options_.test_data,
                                                 parts_.devices, options));
  std::vector<Future<EvaluationShare>> shares;
  for (std::size_t d = 0; d < parts_.devices.size(); ++d) {
    Share share{.device = parts_.devices[d],
                .index = static_cast<int>(d),
                .program = eval_,
                .executable = executable(eval_),
                .replica = replicas_[d],
                .loader = &loader,
                .call = call_};
    shares.push_back(spawn(*parts_.environment.compute, evaluate_share(std::move(share))));
  }
  Task<std::vector<EvaluationShare>> evaluating = all_of(std::move(shares));
  const Result<std::vector<EvaluationShare>> sums = co_await std::move(evaluating);
  const Status closed = co_await loader.close();
  MILLRACE_CO_TRY_STATUS(sums);
  MILLRACE_CO_TRY_STATUS(closed);
  const TimePoint limit = parts_.environment.clock->now() + kRendezvousLimit;
  MILLRACE_AWAIT(const EvaluationShare total, meet(ranks_, *sums, call_, limit));
  const auto items = static_cast<double>(total.items);
  report->test_items = total.items;
  report->test_accuracy = static_cast<double>(total.correct) / items;
  report->test_loss = total.loss_sum / items;
}

}  // namespace millrace::train
