#include "millrace/devices/stablehlo/spread/groups.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/spread/mesh_groups.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;
using Listed = std::vector<std::vector<std::int64_t>>;

// A custom call has its attributes in a dictionary.
ir::Attribute attribute_of(const ir::Op& op, std::string_view name) {
  const auto* config = op.attr<ir::DictAttr>("backend_config");
  if (op.kind() != K::kCustomCall || config == nullptr) return op.attr(name);
  return ir::find(config->values, name);
}

std::int64_t channel_of(const ir::Op& op) {
  const ir::Attribute handle = attribute_of(op, "channel_handle");
  if (const auto* both = handle.as<ir::ChannelHandleAttr>()) return both->handle;
  const auto* id = attribute_of(op, "channel_id").as<ir::IntegerAttr>();
  return id == nullptr ? 0 : id->value;
}

int processes(Numbering numbering, const Places& places) {
  switch (numbering) {
    case Numbering::kPartitions:
      return places.partitions;
    case Numbering::kDevices:
      return places.replicas * places.partitions;
    default:
      return places.replicas;
  }
}

// Devices, for lists of processes in their numbering.
std::vector<std::vector<int>> devices_of(Numbering numbering, const Listed& listed,
                                         const Places& places) {
  std::vector<std::vector<int>> groups;
  const int partitions = places.partitions;
  for (const auto& list : listed) {
    const auto add = [&](auto device) {
      auto& group = groups.emplace_back();
      for (const std::int64_t process : list) group.push_back(device(static_cast<int>(process)));
    };
    switch (numbering) {
      case Numbering::kReplicas:
        for (int p = 0; p < partitions; ++p) add([&](int r) { return r * partitions + p; });
        break;
      case Numbering::kPartitions:
        for (int r = 0; r < places.replicas; ++r) add([&](int p) { return r * partitions + p; });
        break;
      case Numbering::kDevices:
        add([](int device) { return device; });
        break;
      case Numbering::kReplicasWhole: {
        auto& group = groups.emplace_back();
        for (int p = 0; p < partitions; ++p) {
          for (const std::int64_t r : list) group.push_back(static_cast<int>(r) * partitions + p);
        }
        break;
      }
    }
  }
  return groups;
}

// The clone of a device, -1 if it is no member.
std::vector<int> clones_by_device(const Places& places, const Members& members) {
  std::vector<int> clones(static_cast<std::size_t>(places.replicas * places.partitions), -1);
  for (const int m : members) clones[static_cast<std::size_t>(places.device(m))] = m;
  return clones;
}

Status check_listed(const ir::Op& op, const Listed& listed, int count, Numbering numbering,
                    bool covers) {
  std::vector<bool> seen(static_cast<std::size_t>(count));
  for (const auto& list : listed) {
    for (const std::int64_t process : list) {
      if (process < 0 || process >= count) {
        return ir::invalid(op, "replica_groups name process ", process, ", but there are ", count,
                           " ", to_string(numbering));
      }
      if (seen[static_cast<std::size_t>(process)])
        return ir::invalid(op, "replica_groups name process ", process, " twice");
      seen[static_cast<std::size_t>(process)] = true;
    }
  }
  const auto missing = std::ranges::find(seen, false);
  if (!covers || missing == seen.end()) return {};
  return ir::invalid(op, "replica_groups do not name process ", missing - seen.begin(), " of ",
                     count, " ", to_string(numbering), ", expected each in one group");
}

}  // namespace

std::string_view to_string(Numbering numbering) {
  switch (numbering) {
    case Numbering::kPartitions:
      return "partitions";
    case Numbering::kDevices:
      return "devices";
    default:
      return "replicas";
  }
}

Result<Numbering> numbering_of(const ir::Op& op) {
  const bool channel = channel_of(op) > 0;
  switch (op.kind()) {
    case K::kAllGather:
    case K::kAllReduce:
    case K::kReduceScatter:
      if (op.bool_or("use_global_device_ids", false)) {
        if (channel) return Numbering::kDevices;
        return ir::invalid(op, "use_global_device_ids needs a channel, and channel_handle is ",
                           channel_of(op));
      }
      return channel ? Numbering::kReplicasWhole : Numbering::kReplicas;
    case K::kCrossReplicaSum:
      return Numbering::kReplicas;
    default:
      return channel ? Numbering::kPartitions : Numbering::kReplicas;
  }
}

Result<Groups> groups_of(const ir::Op& op, const Places& places, const Members& members) {
  MILLRACE_TRY(const Numbering numbering, numbering_of(op));
  Listed listed;
  const ir::Attribute given = attribute_of(op, "replica_groups");
  if (const auto* dense = given.as<ir::DenseAttr>(); dense != nullptr && dense->type.rank() == 2) {
    const auto all = ir::to_ints(given);
    if (!all) return ir::unimplemented(op, "replica_groups list more processes than are read");
    const auto columns = static_cast<std::size_t>(dense->type.dim(1));
    for (std::size_t i = 0; i < all->size(); ++i) {
      if (i % columns == 0) listed.emplace_back();
      if ((*all)[i] != -1) listed.back().push_back((*all)[i]);
    }
  } else if (const auto* axes = given.as<ir::OpaqueAttr>()) {
    auto groups = groups_of_axes(axes->text, *places.meshes);
    if (!groups) {
      return fail(groups.error().code(),
                  ir::message(op.where(), ": replica_groups: ", groups.error().message()));
    }
    listed = *std::move(groups);
  } else if (given && given.as<ir::DenseAttr>() == nullptr) {
    return ir::unimplemented(op, "its replica_groups are no list of processes");
  }
  std::erase_if(listed, [](const auto& list) { return list.empty(); });
  const bool covers = op.kind() != K::kCollectiveBroadcast && op.kind() != K::kCollectiveReduce;
  return groups_of(op, numbering, std::move(listed), covers, places, members);
}

Result<Groups> groups_of(const ir::Op& op, Numbering numbering, Listed listed, bool covers,
                         const Places& places, const Members& members) {
  const int count = processes(numbering, places);
  if (listed.empty()) {
    listed.emplace_back(static_cast<std::size_t>(count));
    std::iota(listed[0].begin(), listed[0].end(), 0);
  }
  MILLRACE_TRY_STATUS(check_listed(op, listed, count, numbering, covers));
  const std::vector<int> clones = clones_by_device(places, members);
  Groups groups;
  for (std::vector<int>& devices : devices_of(numbering, listed, places)) {
    std::vector<int> group;
    int missing = -1;
    for (const int device : devices) {
      const int clone = clones[static_cast<std::size_t>(device)];
      if (clone < 0) {
        missing = device;
      } else {
        group.push_back(clone);
      }
    }
    if (group.empty()) continue;
    if (missing >= 0) {
      return ir::invalid(op, "device ", places.device(group.front()), " is in a group with device ",
                         missing, ", which does not come here");
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

Result<std::vector<std::pair<int, int>>> pairs_of(const ir::Op& op, const Places& places,
                                                  const Members& members) {
  MILLRACE_TRY(const Numbering numbering, numbering_of(op));
  const auto listed = op.ints("source_target_pairs");
  if (!listed) return ir::invalid(op, "source_target_pairs are missing");
  const int count = processes(numbering, places);
  const std::vector<int> clones = clones_by_device(places, members);
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t i = 0; i + 1 < listed->size(); i += 2) {
    const std::int64_t pair[] = {(*listed)[i], (*listed)[i + 1]};
    for (const std::int64_t process : pair) {
      if (process >= 0 && process < count) continue;
      return ir::invalid(op, "source_target_pairs name process ", process, ", but there are ",
                         count, " ", to_string(numbering));
    }
    for (const auto& devices : devices_of(numbering, {{pair[0], pair[1]}}, places)) {
      const int from = clones[static_cast<std::size_t>(devices[0])];
      const int to = clones[static_cast<std::size_t>(devices[1])];
      if (to < 0) continue;
      if (from < 0) {
        return ir::invalid(op, "device ", devices[1], " gets from device ", devices[0],
                           ", which does not come here");
      }
      pairs.emplace_back(from, to);
    }
  }
  return pairs;
}

}  // namespace millrace::devices::stablehlo::spread
