#include "millrace/devices/cpu/kernels/custom_call.h"

#include <cstring>
#include <map>
#include <utility>

#include "millrace/core/base/mutex.h"

namespace millrace::devices::cpu {
namespace {

// What partitioners put around values: on one device these are the values.
Status pass_on(const CustomCall& call) {
  if (call.operands.size() != 1 || call.results.size() != 1 ||
      !(call.operands[0].shape == call.results[0].shape)) {
    return fail(ErrorCode::kInvalidArgument, "one operand and a result of its shape were expected");
  }
  const std::size_t bytes = call.results[0].shape.size_bytes();
  if (bytes != 0) std::memcpy(call.results[0].data, call.operands[0].data, bytes);
  return {};
}

// What keeps a value that nothing reads: JAX's dce_sink.
Status keep(const CustomCall& /*call*/) { return {}; }

struct Registry {
  Registry() {
    handlers.emplace("dce_sink", std::make_shared<const CustomCallHandler>(keep));
    for (const char* name : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                             "annotate_device_placement", "LayoutConstraint"}) {
      handlers.emplace(name, std::make_shared<const CustomCallHandler>(pass_on));
    }
  }
  Mutex mutex;
  std::map<std::string, std::shared_ptr<const CustomCallHandler>, std::less<>> handlers
      MILLRACE_GUARDED_BY(mutex);
};

// Never destroyed: executions may still run while the process ends.
Registry& registry() {
  static auto* made = new Registry;
  return *made;
}

}  // namespace

Status register_custom_call(std::string target, CustomCallHandler handler) {
  Registry& r = registry();
  const MutexLock lock(r.mutex);
  const auto [it, inserted] = r.handlers.emplace(
      std::move(target), std::make_shared<const CustomCallHandler>(std::move(handler)));
  if (!inserted) {
    return fail(ErrorCode::kAlreadyExists,
                "the custom call " + it->first + " has a handler already");
  }
  return {};
}

std::shared_ptr<const CustomCallHandler> find_custom_call(std::string_view target) {
  Registry& r = registry();
  const MutexLock lock(r.mutex);
  const auto it = r.handlers.find(target);
  return it == r.handlers.end() ? nullptr : it->second;
}

}  // namespace millrace::devices::cpu
