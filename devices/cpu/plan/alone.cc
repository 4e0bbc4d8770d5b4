#include "millrace/devices/cpu/plan/alone.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace millrace::devices::cpu::plan {
namespace {

// The attribute that lists processes; "" if op is no collective.
std::string_view processes_of(const ir::Op& op) {
  using K = ir::OpKind;
  switch (op.kind()) {
    case K::kAllGather:
    case K::kAllReduce:
    case K::kAllToAll:
    case K::kCollectiveBroadcast:
    case K::kCrossReplicaSum:
    case K::kReduceScatter:
      return "replica_groups";
    case K::kCollectivePermute:
      return "source_target_pairs";
    default:
      return "";
  }
}

constexpr std::string_view kHelp =
    " on the CPU device a program runs as one process, on one device: compile it for one "
    "(mhlo.num_replicas = mhlo.num_partitions = 1), and reduce between the launches of several "
    "with collectives/";

}  // namespace

Status check_alone(const ir::Module& module) {
  for (const ir::NamedAttribute& a : module.attributes()) {
    const auto* count = a.value.as<ir::IntegerAttr>();
    if ((a.name != "mhlo.num_replicas" && a.name != "mhlo.num_partitions") || count == nullptr ||
        count->value <= 1) {
      continue;
    }
    return fail(ErrorCode::kUnimplemented,
                "the module @" + std::string(module.name()) + " has " + std::string(a.name) +
                    " = " + std::to_string(count->value) + ":" + std::string(kHelp));
  }
  return {};
}

Status check_alone(const ir::Op& op) {
  const std::string_view name = processes_of(op);
  if (name.empty()) return {};
  // -1 fills groups that are shorter than others.
  const auto listed = op.ints(name);
  if (!listed || std::ranges::all_of(*listed, [](std::int64_t p) { return p <= 0; })) return {};
  const std::int64_t other = *std::ranges::max_element(*listed);
  return fail(ErrorCode::kUnimplemented, op.where() + ": its " + std::string(name) +
                                             " name process " + std::to_string(other) + ":" +
                                             std::string(kHelp));
}

}  // namespace millrace::devices::cpu::plan
