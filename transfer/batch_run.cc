#include "millrace/transfer/batch_run.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/devices/device_body.h"

namespace millrace::transfer {

using devices::Argument;
using devices::Buffer;
using devices::Buffers;
using devices::Client;
using devices::HostArray;
using devices::HostView;
using devices::Shape;

namespace {

// Rows of an array, from first on: a view that keeps it.
HostArray slice(const HostArray& array, std::int64_t first, std::int64_t rows) {
  std::array<std::int64_t, devices::kMaxRank> dims{};
  std::ranges::copy(array.shape().dims(), dims.begin());
  const std::size_t row_bytes =
      dims[0] == 0 ? 0 : array.bytes().size() / static_cast<std::size_t>(dims[0]);
  dims[0] = rows;
  return HostArray(Shape(array.shape().dtype(), std::span(dims).first(array.shape().dims().size())),
                   array.bytes().subspan(static_cast<std::size_t>(first) * row_bytes,
                                         static_cast<std::size_t>(rows) * row_bytes),
                   array.owner());
}

// The rows of all requests for one input, in the device's put memory, which it then uses in place.
Result<Future<Buffer>> put_rows(const RunningBatch& running, const BatchTensor& input) {
  const BatchModel& model = running.model();
  const std::int64_t length = model.lengths()[running.batch.bucket];
  const Shape shape = batch_shape(input.row, running.batch.size, length);
  MILLRACE_TRY(Client::PutMemory memory, running.device.body()->put_memory(shape));
  PooledVector<RowBytes> rows;
  for (std::size_t i = 0; i < running.batch.places.size(); ++i) {
    const BatchRequest& request = running.request(i);
    const auto given = std::ranges::find(request.inputs, input.name, &RowInput::name);
    const HostView& view = given->view;
    rows.push_back({.bytes = {static_cast<const std::byte*>(view.data), view.shape.size_bytes()},
                    .rows = view.shape.dim(0),
                    .length = request.length});
  }
  assemble_rows(input.row, length, rows, memory.array.mutable_bytes());
  HostView view;
  view.data = memory.array.bytes().data();
  view.shape = shape;
  view.owner = memory.array.owner();
  return running.device.put(std::move(view));
}

Result<ListOf<Argument>> put_all(const RunningBatch& running, std::size_t count) {
  ListOf<Argument> arguments;
  arguments.resize(count);
  for (const BatchConstant& constant : running.model().constants(running.batch.device))
    arguments[constant.position] = constant.buffer;
  for (const BatchTensor& input : running.model().inputs()) {
    MILLRACE_TRY(arguments[input.position], put_rows(running, input));
  }
  return arguments;
}

// For those who asked, an error of the batch as a whole is not one of theirs.
Error batch_error(const Error& error, const std::string& model) {
  const std::string context = "running a batch of model '" + model + "'";
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kOutOfRange:
      return Error(ErrorCode::kInternal, context + ": " + error.message());
    default:
      return error.with_context(context);
  }
}

Task<PooledVector<HostArray>> outputs_of(Ref<RunningBatch> running) {
  const devices::Executable& program =
      running->model().program(running->batch.bucket, running->batch.size).executable;
  const Result<ListOf<Argument>> arguments = put_all(*running, program.input_shapes().size());
  if (!arguments) co_return arguments.error();
  const devices::ExecuteOptions awaited{.awaited = true};
  const Result<Buffers> outputs = co_await running->device.execute(program, *arguments, awaited);
  if (!outputs) co_return outputs.error();
  PooledVector<Future<HostArray>> fetches;
  for (const BatchTensor& output : running->model().outputs())
    fetches.push_back(running->device.fetch((*outputs)[output.position]));
  const Status fetched = co_await when_all(fetches);
  if (!fetched) co_return fetched.error();
  PooledVector<HostArray> arrays;
  for (const Future<HostArray>& fetch : fetches) arrays.push_back(*fetch.result());
  co_return arrays;
}

}  // namespace

RunningBatch::~RunningBatch() {
  for (std::size_t i = 0; i < batch.places.size(); ++i) request(i).end_closed();
}

bool is_gone(const devices::Device& device, const Error& error) {
  return error.detail<devices::DeviceFailure>() != nullptr ||
         (error.code() == ErrorCode::kUnavailable && !device.body()->is_open());
}

Task<void> run_batch(Ref<RunningBatch> running, const Clock& clock) {
  const Result<PooledVector<HostArray>> outputs = co_await outputs_of(running);
  if (!outputs && is_gone(running->device, outputs.error())) co_await end_with(outputs.error());
  const TimePoint now = clock.now();
  running->queue->count_batch_time(now - running->batch.begun);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < running->batch.places.size(); ++i) {
    BatchRequest& request = running->request(i);
    if (!outputs) {
      request.end(std::unexpected(batch_error(outputs.error(), running->queue->name)), now);
      continue;
    }
    RowOutputs rows;
    for (std::size_t o = 0; o < outputs->size(); ++o) {
      rows.push_back({.name = running->model().outputs()[o].name,
                      .array = slice((*outputs)[o], first, request.facts.rows)});
    }
    first += request.facts.rows;
    request.end(std::move(rows), now);
  }
}

}  // namespace millrace::transfer
