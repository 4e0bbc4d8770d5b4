#include "millrace/tools/pjrt_plugin/compile_options.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "xla.pb.h"

namespace millrace::pjrt_plugin {
namespace {

constexpr int kMostReplicas = 1 << 20;

// Those of XLA's options that are flags: a text must be one of these.
constexpr std::array kFlags = {"xla_embed_ir_in_executable",  "xla_cpu_enable_fast_math",
                               "xla_cpu_enable_fast_min_max", "xla_dump_hlo_as_text",
                               "xla_dump_hlo_as_proto",       "xla_disable_all_hlo_passes"};

Status check_named_option(const std::string& name, const millrace::pjrt::OptionValue& value) {
  if (!name.starts_with("xla_")) {
    return fail(ErrorCode::kInvalidArgument,
                "No such compile option: '" + name +
                    "'. Those of XLA, which begin with xla_, are accepted and ignored");
  }
  const bool is_flag = std::ranges::find(kFlags, name) != kFlags.end();
  if (!is_flag || value.value_case() != millrace::pjrt::OptionValue::kStringField) return {};
  const std::string& text = value.string_field();
  if (text == "true" || text == "false" || text == "True" || text == "False") return {};
  return fail(ErrorCode::kInvalidArgument,
              "the compile option " + name + ": '" + text + "' is not a valid bool value.");
}

Status check_layouts(const millrace::pjrt::CompileOptions& message) {
  for (int i = 0; i < message.argument_layouts_size(); ++i) {
    const auto& order = message.argument_layouts(i).layout().minor_to_major();
    for (int d = 0; d < order.size(); ++d) {
      if (order[d] == order.size() - 1 - d) continue;
      return fail(ErrorCode::kUnimplemented, "the layout that is asked for argument " +
                                                 std::to_string(i) +
                                                 " is not row-major: this device has no other");
    }
  }
  return {};
}

Result<int> read_count(std::int64_t given, std::string_view what) {
  if (given == 0) return 1;  // left out
  if (given > 0 && given <= kMostReplicas) return static_cast<int>(given);
  return fail(ErrorCode::kInvalidArgument, "a program for " + std::to_string(given) + " " +
                                               std::string(what) + " is not possible");
}

// Device ids by replica, then partition.
Result<std::vector<std::int64_t>> read_assignment(const millrace::pjrt::DeviceAssignment& message,
                                                  int replicas, int partitions) {
  bool fits = message.replica_count() == replicas && message.computation_count() == partitions &&
              message.computation_devices_size() == partitions;
  for (const auto& computation : message.computation_devices())
    fits = fits && computation.replica_device_ids_size() == replicas;
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument,
                "the device assignment is not of " + std::to_string(replicas) + " replicas of " +
                    std::to_string(partitions) + " partitions, as the program is");
  }
  std::vector<std::int64_t> ids;
  for (int r = 0; r < replicas; ++r) {
    for (const auto& computation : message.computation_devices())
      ids.push_back(computation.replica_device_ids(r));
  }
  return ids;
}

Status check_devices(const std::vector<std::int64_t>& ids, std::size_t num_devices) {
  std::vector<std::int64_t> sorted = ids;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    return fail(ErrorCode::kInvalidArgument,
                "the device assignment names device " + std::to_string(*twice) + " twice");
  }
  for (const std::int64_t id : {sorted.front(), sorted.back()}) {
    if (id >= 0 && static_cast<std::size_t>(id) < num_devices) continue;
    return fail(ErrorCode::kInvalidArgument,
                "the device assignment names device " + std::to_string(id) + ", of " +
                    std::to_string(num_devices) + " that the client has");
  }
  return {};
}

}  // namespace

Result<devices::CompileOptions> read_compile_options(std::string_view bytes,
                                                     std::size_t num_devices) {
  millrace::pjrt::CompileOptions message;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::kInvalidArgument, "compile options of " + std::to_string(bytes.size()) +
                                                 " bytes are no CompileOptionsProto");
  }
  for (const auto& [name, value] : message.env_option_overrides())
    MILLRACE_TRY_STATUS(check_named_option(name, value));
  MILLRACE_TRY_STATUS(check_layouts(message));
  const millrace::pjrt::BuildOptions& build = message.executable_build_options();
  devices::CompileOptions options;
  MILLRACE_TRY(options.replicas, read_count(build.num_replicas(), "replicas"));
  MILLRACE_TRY(options.partitions, read_count(build.num_partitions(), "partitions"));
  options.portable = message.compile_portable_executable();
  const auto wanted =
      static_cast<std::int64_t>(options.replicas) * std::int64_t{options.partitions};
  if (wanted > static_cast<std::int64_t>(num_devices)) {
    return fail(ErrorCode::kInvalidArgument,
                "a program of " + std::to_string(options.replicas) + " replicas of " +
                    std::to_string(options.partitions) + " partitions takes " +
                    std::to_string(wanted) + " devices; the client has " +
                    std::to_string(num_devices));
  }
  std::vector<std::int64_t> ids;
  if (build.has_device_assignment()) {
    MILLRACE_TRY(ids,
                 read_assignment(build.device_assignment(), options.replicas, options.partitions));
  } else {
    const std::int64_t first = std::max<std::int64_t>(build.device_ordinal(), 0);
    for (std::int64_t i = 0; i < wanted; ++i) ids.push_back(wanted == 1 ? first : i);
  }
  MILLRACE_TRY_STATUS(check_devices(ids, num_devices));
  std::vector<devices::DeviceId> found;
  for (const std::int64_t id : ids) found.push_back(devices::DeviceId{static_cast<int>(id)});
  options.devices = ListOf<devices::DeviceId>(found);
  return options;
}

std::string write_device_assignment(const devices::CompileOptions& options) {
  if (options.on_any_one()) return {};
  millrace::pjrt::DeviceAssignment message;
  message.set_replica_count(options.replicas);
  message.set_computation_count(options.partitions);
  const auto partitions = static_cast<std::size_t>(options.partitions);
  for (std::size_t p = 0; p < partitions; ++p) {
    auto& computation = *message.add_computation_devices();
    for (std::size_t r = 0; r < static_cast<std::size_t>(options.replicas); ++r)
      computation.add_replica_device_ids(devices::index(options.devices[r * partitions + p]));
  }
  return message.SerializeAsString();
}

}  // namespace millrace::pjrt_plugin
