// What a plugin says of itself before there is a client.
#include <set>

#include "millrace/devices/pjrt/plugin.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family plugin_family;

namespace {

Result<abi::PluginAttributesArgs> read_attributes(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.initialize());
  MILLRACE_TRY(const auto args, rig.ask<abi::PluginAttributesArgs>());
  return args;
}

Result<std::map<std::string, devices::Attribute>> attribute_map(Rig& rig) {
  MILLRACE_TRY(const abi::PluginAttributesArgs args, read_attributes(rig));
  return devices::pjrt::read_values(args.attributes, args.num_attributes);
}

MILLRACE_CONFORM(plugin, initialize, "the plugin can be initialized", .need = kMust) {
  return rig.initialize();
}

MILLRACE_CONFORM(plugin, attributes, "attributes have names, no two the same, and types that exist",
                 .after = "plugin.initialize") {
  MILLRACE_TRY(const abi::PluginAttributesArgs args, read_attributes(rig));
  std::set<std::string> names;
  std::string list;
  for (std::size_t i = 0; i < args.num_attributes; ++i) {
    const abi::NamedValue& v = args.attributes[i];
    if (v.name == nullptr || v.name_size == 0) return broken("an attribute has no name");
    const std::string name(v.name, v.name_size);
    if (!names.insert(name).second) return broken("there are two attributes ", name);
    if (v.type < abi::ValueType::kString || v.type > abi::ValueType::kBool) {
      return broken("attribute ", name, " is of type ", static_cast<int>(v.type),
                    ", which does not exist");
    }
    list += (list.empty() ? "" : ", ") + name;
  }
  return rig.note(list.empty() ? "none" : list);
}

MILLRACE_CONFORM(plugin, xla_version, "the attribute xla_version is a whole number",
                 .after = "plugin.initialize") {
  MILLRACE_TRY(const auto values, attribute_map(rig));
  const auto found = values.find("xla_version");
  if (found == values.end()) return lacks("there is no attribute xla_version");
  const auto* number = std::get_if<std::int64_t>(&found->second);
  if (number == nullptr) return broken("xla_version is no whole number");
  return rig.note(*number);
}

MILLRACE_CONFORM(plugin, stablehlo_versions,
                 "the oldest version of StableHLO is not newer than the current one",
                 .after = "plugin.initialize") {
  MILLRACE_TRY(const auto values, attribute_map(rig));
  std::vector<std::int64_t> versions[2];
  const char* const names[2] = {"stablehlo_minimum_version", "stablehlo_current_version"};
  for (int i = 0; i < 2; ++i) {
    const auto found = values.find(names[i]);
    if (found == values.end()) return lacks("there is no attribute ", names[i]);
    const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
    if (list == nullptr || list->size() != 3) {
      return broken(names[i], " is no list of three whole numbers");
    }
    versions[i] = *list;
  }
  const auto text = [](const std::vector<std::int64_t>& v) {
    return std::to_string(v[0]) + "." + std::to_string(v[1]) + "." + std::to_string(v[2]);
  };
  if (versions[0] > versions[1]) {
    return broken("the oldest, ", text(versions[0]), ", is newer than the current, ",
                  text(versions[1]));
  }
  return rig.note(text(versions[0]), " to ", text(versions[1]));
}

}  // namespace
}  // namespace millrace::conform
