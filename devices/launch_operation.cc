#include "millrace/devices/launch_operation.h"

#include <new>
#include <utility>

#include "millrace/core/base/mutex.h"
#include "millrace/devices/collective_backend.h"

namespace millrace::devices {
namespace {

// The stop sources of launches with a deadline: each is a block of the system's, so they are used
// again.
class StopSources {
 public:
  std::stop_source take() {
    MutexLock lock(mutex_);
    if (free_.empty()) return std::stop_source();
    std::stop_source source = std::move(free_.back());
    free_.pop_back();
    return source;
  }
  // Takes the source of a launch that is over. One that was stopped goes.
  void release(std::stop_source source) {
    if (!source.stop_possible() || source.stop_requested()) return;
    MutexLock lock(mutex_);
    free_.push_back(std::move(source));
  }

 private:
  Mutex mutex_;
  PooledVector<std::stop_source> free_ MILLRACE_GUARDED_BY(mutex_);  // as many as were out at once
};

// Never destroyed: launches of static lifetime may end after main.
StopSources& stop_sources() {
  static StopSources* const instance = new StopSources;
  return *instance;
}

}  // namespace

LaunchOperation::LaunchOperation(const Executable& executable, const ExecuteOptions& options,
                                 std::size_t devices, std::size_t arguments)
    : executable_(executable),
      own_stop_(options.call.deadline == kNoDeadline ? std::stop_source(std::nostopstate)
                                                     : stop_sources().take()),
      stop_token_(own_stop_.stop_possible() ? own_stop_.get_token()
                                            : std::stop_token(options.call.stop)),
      deadline_(options.call.deadline),
      non_donatable_(options.non_donatable),
      flow_(options.flow),
      awaited_(options.awaited),
      arguments_(arguments) {
  if (devices == 1) return;
  inputs_ = PooledArray<std::span<const Buffer>>(devices);
  ids_ = PooledArray<DeviceId>(devices);
  more_seats_ = PooledArray<Seat>(devices);
  results_ = PooledArray<LaunchResult>(devices);
}

void LaunchOperation::reserve() {
  reserved_ = executable_.body()->reserve_launch();
  if (reserved_ == nullptr) return;
  for (Seat& seat : seats()) seat.waits_for_processes = true;
  has_reserved_.store(true);
}

std::shared_ptr<ProcessLaunch> LaunchOperation::take_reserved() {
  return has_reserved_.exchange(false) ? std::move(reserved_) : nullptr;
}

void LaunchOperation::end_reserved() {
  const auto launch = take_reserved();
  if (launch == nullptr) return;
  launch->end(result_->complete() ? Status(std::unexpected(*result_->error()))
                                  : Status(millrace::fail(ErrorCode::kUnavailable,
                                                          describe() + " failed before it began")));
}

bool LaunchOperation::complete_with(const Error& error) {
  if (const auto launch = take_reserved()) launch->end(std::unexpected(error));
  return ResultOperation::complete_with(error);
}

Error LaunchOperation::refuse(const Executable& executable, Error error) {
  const auto launch = executable ? executable.body()->reserve_launch() : nullptr;
  if (launch != nullptr) launch->end(std::unexpected(error));
  return error;
}

LaunchOperation::~LaunchOperation() { stop_sources().release(std::move(own_stop_)); }

template <class A>
Future<Buffers> LaunchOperation::submit(DeviceBody& device, const Executable& executable,
                                        std::span<const A> arguments,
                                        const ExecuteOptions& options) {
  auto* operation = new LaunchOperation(executable, options, 1, arguments.size());
  operation->seat_at(operation->seat_, device);
  operation->reserve();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if constexpr (std::is_same_v<A, Buffer>) {
      operation->arguments_[i] = arguments[i];
    } else {
      operation->take_argument(arguments[i], operation->arguments_[i]);
    }
  }
  return operation->submitted(options.call);
}

template Future<Buffers> LaunchOperation::submit(DeviceBody&, const Executable&,
                                                 std::span<const Buffer>, const ExecuteOptions&);
template Future<Buffers> LaunchOperation::submit(DeviceBody&, const Executable&,
                                                 std::span<const Argument>, const ExecuteOptions&);

Future<Buffers> LaunchOperation::submit_spanning(
    std::span<DeviceBody* const> devices, const Executable& executable,
    std::span<const std::span<const Argument>> arguments, LaunchOrder order,
    const ExecuteOptions& options) {
  std::size_t total = 0;
  for (const auto& list : arguments) total += list.size();
  auto* operation = new LaunchOperation(executable, options, devices.size(), total);
  Future<Buffers> future(operation->result_);
  operation->seat_at(operation->more_seats_.span(), devices);
  std::size_t offset = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    operation->ids_[d] = devices[d]->id();
    operation->inputs_[d] = operation->arguments_.span().subspan(offset, arguments[d].size());
    for (const Argument& argument : arguments[d]) {
      operation->take_argument(argument, operation->arguments_[offset++]);
    }
  }
  operation->watch(options.call);
  const Status entered = devices[0]->sequencer().submit(order, [operation] {
    operation->reserve();
    if (operation->decided()) operation->end_reserved();  // it has failed before
    operation->enter();
  });
  if (!entered) {
    operation->fail(refuse(executable, entered.error()));
    operation->enter();  // the seats leave the way they always do
  }
  operation->release();
  return future;
}

bool LaunchOperation::call_client(Seat& seat) {
  if (spanning()) return call_client_spanning(seat);
  const DeviceId id = seat.device->id();
  const std::span<const Buffer> inputs = arguments_.span();
  LaunchResult result;
  const Status launched = launch({&id, 1}, {&inputs, 1}, {&result, 1});
  result_->try_set(launched ? Result<Buffers>(std::move(result.outputs))
                            : std::unexpected(launched.error()));
  return !launched || seat.wait_for(*result.done.cell());
}

bool LaunchOperation::call_client_spanning(Seat& seat) {
  const Status launched = launch(ids_.span(), inputs_.span(), results_.span());
  try {
    result_->try_set(launched ? Result<Buffers>(all_outputs()) : std::unexpected(launched.error()));
  } catch (const std::bad_alloc&) {  // the other seats leave all the same
    complete_with(no_memory());
  }
  const auto is_over = [&](Seat& each) {
    return !launched || each.wait_for(*results_[static_cast<std::size_t>(each.index)].done.cell());
  };
  for (Seat& other : seats()) {
    if (&other == &seat) continue;
    other.signal(Seat::kLaunched);
    if (is_over(other)) other.signal(Seat::kDone);
  }
  const bool over = is_over(seat);
  results_ = {};
  return over;
}

Buffers LaunchOperation::all_outputs() const {
  std::size_t total = 0;
  for (const LaunchResult& one : results_) total += one.outputs.size();
  PooledArray<Buffer> outputs(total);
  Buffer* next = outputs.begin();
  for (const LaunchResult& one : results_)
    next = std::copy(one.outputs.begin(), one.outputs.end(), next);
  return Buffers(std::span<const Buffer>(outputs.span()));
}

Status LaunchOperation::launch(std::span<const DeviceId> devices,
                               std::span<const std::span<const Buffer>> arguments,
                               std::span<LaunchResult> results) {
  Status launched;
  const std::shared_ptr<ProcessLaunch> with_others = take_reserved();
  try {
    launched = executable_.body()->launch({.devices = devices,
                                           .arguments = arguments,
                                           .non_donatable = non_donatable_.span(),
                                           .stop = stop_token_,
                                           .deadline = deadline_,
                                           .flow = flow_,
                                           .awaited = awaited_,
                                           .with_others = with_others},
                                          results);
  } catch (const std::bad_alloc&) {  // here, so that the other devices of the launch get the error
    launched = std::unexpected(no_memory());
  }
  if (!launched && with_others != nullptr) with_others->end(launched);
  arguments_ = {};  // the client keeps what it needs
  return launched;
}

}  // namespace millrace::devices
