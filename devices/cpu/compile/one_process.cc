#include "millrace/devices/cpu/compile/lower_op.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace millrace::devices::cpu::compiler {
namespace {

// The attribute that lists processes; "" if op is no collective.
std::string_view processes_of(const ir::Op& op) {
  using enum ir::OpKind;
  constexpr ir::OpKind kGrouped[] = {kAllGather,           kAllReduce,        kAllToAll,
                                     kCollectiveBroadcast, kCollectiveReduce, kCrossReplicaSum,
                                     kReduceScatter};
  if (std::ranges::find(kGrouped, op.kind()) != std::end(kGrouped)) return "replica_groups";
  return op.kind() == kCollectivePermute ? "source_target_pairs" : "";
}

constexpr std::string_view kHelp =
    " on the CPU device a program runs as one process, on one device: compile it for one "
    "(mhlo.num_replicas = mhlo.num_partitions = 1), and reduce between the launches of several "
    "with collectives/";

// Groups may be the axes of a mesh, which stands there or elsewhere under a name; where it stands
// there, the largest of its axes. The module says how many processes there are in any case.
std::int64_t largest_axis(std::string_view text) {
  constexpr std::string_view kSize = "size = ";
  std::int64_t largest = 0;
  for (std::size_t at = text.find(kSize); at != text.npos; at = text.find(kSize, at + 1)) {
    std::int64_t size = 0;
    const char* const digits = text.data() + at + kSize.size();
    std::from_chars(digits, text.data() + text.size(), size);
    largest = std::max(largest, size);
  }
  return largest;
}

}  // namespace

Status check_one_process(const ir::Module& module) {
  for (const ir::NamedAttribute& a : module.attributes()) {
    const auto* count = a.value.as<ir::IntegerAttr>();
    if ((a.name != "mhlo.num_replicas" && a.name != "mhlo.num_partitions") || count == nullptr ||
        count->value <= 1) {
      continue;
    }
    return fail(
        ErrorCode::kUnimplemented,
        (module.name().empty() ? "the module" : "the module @" + std::string(module.name())) +
            " has " + std::string(a.name) + " = " + std::to_string(count->value) + ":" +
            std::string(kHelp));
  }
  return {};
}

Status check_one_process(const ir::Op& op) {
  const std::string_view name = processes_of(op);
  if (name.empty()) return {};
  const auto* mesh = op.attr<ir::OpaqueAttr>(name);
  if (const std::int64_t size = mesh != nullptr ? largest_axis(mesh->text) : 0; size > 1) {
    return fail(ErrorCode::kUnimplemented, op.where() + ": its " + std::string(name) +
                                               " are axes of a mesh of which one has " +
                                               std::to_string(size) +
                                               " processes:" + std::string(kHelp));
  }
  // -1 fills groups that are shorter than others.
  const auto listed = op.ints(name);
  if (!listed || std::ranges::all_of(*listed, [](std::int64_t p) { return p <= 0; })) return {};
  const std::int64_t other = *std::ranges::max_element(*listed);
  return fail(ErrorCode::kUnimplemented, op.where() + ": its " + std::string(name) +
                                             " name process " + std::to_string(other) + ":" +
                                             std::string(kHelp));
}

}  // namespace millrace::devices::cpu::compiler
