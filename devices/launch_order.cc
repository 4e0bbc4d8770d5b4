#include "millrace/devices/launch_order.h"

#include <string>

namespace millrace::devices {
namespace {

std::string name(const LaunchOrder& order) {
  return "the launch for group " + std::to_string(order.group) + ", epoch " +
         std::to_string(order.epoch);
}

}  // namespace

Status LaunchSequencer::submit(LaunchOrder& order, FunctionRef<void()> enter) {
  MutexLock lock(mutex_);
  Group& group = groups_[order.group];
  if (order.epoch < group.epoch) {
    return fail(
        ErrorCode::kFailedPrecondition,
        name(order) + " comes too late: the group is in epoch " + std::to_string(group.epoch));
  }
  const std::uint64_t due = order.epoch == group.epoch ? group.next : 0;
  if (order.sequence != LaunchOrder::kNext && order.sequence != due) {
    return fail(ErrorCode::kFailedPrecondition,
                name(order) + " has sequence " + std::to_string(order.sequence) + ", but " +
                    std::to_string(due) + " is due: submit the launches of a group in order");
  }
  order.sequence = due;
  group = {order.epoch, due + 1};
  enter();
  return {};
}

}  // namespace millrace::devices
