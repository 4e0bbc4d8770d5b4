#include "millrace/tools/train/evaluation.h"

#include <cstring>
#include <deque>

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
  HostArray rows = HostArray::make(devices::Shape(devices::DType::kI32, {}));
  const auto valid = static_cast<std::int32_t>(batch.valid);
  std::memcpy(rows.mutable_bytes().data(), &valid, sizeof(valid));
  devices::PutOptions put;
  put.call = e.call;
  const Future<Buffer> rows_put =
      e.devices[d].put({rows.bytes().data(), rows.shape(), {}, rows.owner()}, put);
  Result<Buffer> rows_buffer = co_await rows_put;
  if (!rows_buffer) co_return rows_buffer.error();
  const PooledVector<Buffer> arguments =
      arguments_of(wire_inputs(*e.program), e.params[d], e.state[d], batch, *rows_buffer);
  devices::ExecuteOptions execute;
  execute.call = e.call;
  const Future<Buffers> executing =
      e.devices[d].execute(e.executable, std::span<const Buffer>(arguments), execute);
  Result<Buffers> outputs = co_await executing;
  if (!outputs) co_return outputs.error();
  const auto output = [&](Role role) {
    return e.devices[d].fetch((*outputs)[ProgramSpec::of_role(e.program->outputs, role).at(0)],
                              e.call);
  };
  Pending pending{batch.valid, output(Role::kCorrect), output(Role::kLossSum)};
  pending.correct.ignore();  // given up without a look when another batch fails first
  pending.loss_sum.ignore();
  co_return Result<Pending>(std::move(pending));
}

Task<void> add(Pending pending, EvaluationResult& sums) {
  Result<HostArray> correct = co_await pending.correct;
  Result<HostArray> loss_sum = co_await pending.loss_sum;
  if (!correct) co_await end_with(correct.error());
  if (!loss_sum) co_await end_with(loss_sum.error());
  sums.items += static_cast<std::uint64_t>(pending.rows);
  sums.correct += static_cast<std::uint64_t>(correct->as<std::int32_t>()[0]);
  sums.loss_sum += static_cast<double>(loss_sum->as<float>()[0]);
}

// One device's share, with a batch computing while the next one is launched.
Task<EvaluationResult> evaluate_device(const Evaluation& e, std::size_t d,
                                       const transfer::DeviceLoader& loader) {
  constexpr std::size_t kInFlight = 2;
  EvaluationResult sums;
  std::deque<Pending> pending;
  for (;;) {
    auto batch = co_await loader.next(static_cast<int>(d), e.call);
    if (!batch) co_return batch.error();
    if (!*batch) break;
    Task<Pending> launching = launch(e, d, **std::move(batch));
    Result<Pending> launched = co_await std::move(launching);
    if (!launched) co_return launched.error();
    pending.push_back(*std::move(launched));
    if (pending.size() < kInFlight) continue;
    Pending oldest = std::move(pending.front());
    pending.pop_front();
    Task<void> adding = add(std::move(oldest), sums);
    if (Status added = co_await std::move(adding); !added) co_return added.error();
  }
  for (Pending& one : pending) {
    Task<void> adding = add(std::move(one), sums);
    if (Status added = co_await std::move(adding); !added) co_return added.error();
  }
  co_return sums;
}

}  // namespace

Task<EvaluationResult> evaluate(Evaluation evaluation) {
  transfer::LoaderOptions options;
  options.batch_size =
      *evaluation.program->rows * static_cast<std::int64_t>(evaluation.devices.size());
  options.remainder = transfer::Remainder::kPad;
  auto loader = transfer::DeviceLoader::create(evaluation.environment, evaluation.data,
                                               evaluation.devices, options);
  if (!loader) co_return loader.error();
  std::vector<Future<EvaluationResult>> shares;
  for (std::size_t d = 0; d < evaluation.devices.size(); ++d) {
    shares.push_back(
        spawn(*evaluation.environment.compute, evaluate_device(evaluation, d, *loader)));
  }
  EvaluationResult total;
  std::optional<Error> error;
  for (const Future<EvaluationResult>& share : shares) {
    Result<EvaluationResult> sums = co_await share;
    if (!sums) {
      if (!error) error = sums.error();
      continue;
    }
    total.items += sums->items;
    total.correct += sums->correct;
    total.loss_sum += sums->loss_sum;
  }
  const Status closed = co_await loader->close();
  if (error) co_return *error;
  if (!closed) co_return closed.error();
  co_return total;
}

}  // namespace millrace::train
