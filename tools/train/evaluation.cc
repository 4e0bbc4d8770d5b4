#include "millrace/tools/train/evaluation.h"

#include <deque>

#include "millrace/tools/train/awaiting.h"
#include "millrace/tools/train/step_graph.h"
#include "millrace/transfer/device_loader.h"

namespace millrace::train {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::HostArray;

// A launched batch whose results are on their way to the host.
struct Pending {
  std::int64_t rows = 0;
  Future<HostArray> correct;
  Future<HostArray> loss_sum;
};

Task<Pending> launch(const Evaluation& e, std::size_t d, transfer::DeviceBatch batch) {
  const auto valid = static_cast<std::int32_t>(batch.valid);
  const devices::HostView rows{.data = &valid, .shape = devices::Shape(devices::DType::kI32, {})};
  MILLRACE_AWAIT(const Buffer rows_buffer, e.devices[d].put(rows, {.call = e.call}));
  const PooledVector<Buffer> arguments =
      arguments_of(wire_inputs(*e.program), e.params[d], e.state[d], batch, rows_buffer);
  MILLRACE_AWAIT(const Buffers outputs,
                 e.devices[d].execute(e.executable, arguments, {.call = e.call}));
  const auto output = [&](Role role) {
    return e.devices[d].fetch(outputs[ProgramSpec::of_role(e.program->outputs, role).at(0)],
                              e.call);
  };
  Pending pending{batch.valid, output(Role::kCorrect), output(Role::kLossSum)};
  pending.correct.ignore();  // given up without a look when another batch fails first
  pending.loss_sum.ignore();
  co_return Result<Pending>(std::move(pending));
}

// One device's share, with a batch computing while the next one is launched.
Task<EvaluationResult> evaluate_device(const Evaluation& e, std::size_t d,
                                       const transfer::DeviceLoader& loader) {
  constexpr std::size_t kInFlight = 2;
  EvaluationResult sums;
  std::deque<Pending> pending;
  for (bool ended = false; !ended || !pending.empty();) {
    if (!ended) {
      MILLRACE_AWAIT(auto batch, loader.next(static_cast<int>(d), e.call));
      ended = !batch;
      if (batch) {
        MILLRACE_AWAIT(Pending launched, launch(e, d, *std::move(batch)));
        pending.push_back(std::move(launched));
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

Task<EvaluationResult> evaluate(Evaluation evaluation) {
  transfer::LoaderOptions options;
  options.batch_size =
      *evaluation.program->rows * static_cast<std::int64_t>(evaluation.devices.size());
  options.remainder = transfer::Remainder::kPad;
  MILLRACE_CO_TRY(const transfer::DeviceLoader loader,
                  transfer::DeviceLoader::create(evaluation.environment, evaluation.data,
                                                 evaluation.devices, options));
  std::vector<Future<EvaluationResult>> shares;
  for (std::size_t d = 0; d < evaluation.devices.size(); ++d) {
    shares.push_back(
        spawn(*evaluation.environment.compute, evaluate_device(evaluation, d, loader)));
  }
  Task<std::vector<EvaluationResult>> evaluating = all_of(std::move(shares));
  const Result<std::vector<EvaluationResult>> sums = co_await std::move(evaluating);
  const Status closed = co_await loader.close();
  if (!sums) co_return sums.error();
  if (!closed) co_return closed.error();
  EvaluationResult total;
  for (const EvaluationResult& share : *sums) {
    total.items += share.items;
    total.correct += share.correct;
    total.loss_sum += share.loss_sum;
  }
  co_return total;
}

}  // namespace millrace::train
