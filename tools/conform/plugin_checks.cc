// What a plugin says of itself before there is a client.
#include <set>

#include "millrace/devices/pjrt/plugin.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

Result<abi::PluginAttributesArgs> read_attributes(Rig& rig) {
  MILLRACE_TRY_STATUS(rig.initialize());
  abi::PluginAttributesArgs args;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return args;
}

Result<std::map<std::string, devices::Attribute>> attribute_map(Rig& rig) {
  MILLRACE_TRY(const abi::PluginAttributesArgs args, read_attributes(rig));
  return devices::pjrt::read_values(args.attributes, args.num_attributes);
}

Status initialize(Rig& rig) { return rig.initialize(); }

Status attributes(Rig& rig) {
  MILLRACE_TRY(const abi::PluginAttributesArgs args, read_attributes(rig));
  std::set<std::string> names;
  std::string list;
  for (std::size_t i = 0; i < args.num_attributes; ++i) {
    const abi::NamedValue& v = args.attributes[i];
    if (v.name == nullptr || v.name_size == 0) return broken("an attribute has no name");
    const std::string name(v.name, v.name_size);
    if (!names.insert(name).second) return broken("there are two attributes " + name);
    if (v.type < abi::ValueType::kString || v.type > abi::ValueType::kBool) {
      return broken("attribute " + name + " is of type " +
                    std::to_string(static_cast<int>(v.type)) + ", which does not exist");
    }
    list += (list.empty() ? "" : ", ") + name;
  }
  rig.note(list.empty() ? "none" : list);
  return {};
}

Status xla_version(Rig& rig) {
  MILLRACE_TRY(const auto values, attribute_map(rig));
  const auto found = values.find("xla_version");
  if (found == values.end()) return lacks("there is no attribute xla_version");
  const auto* number = std::get_if<std::int64_t>(&found->second);
  if (number == nullptr) return broken("xla_version is no whole number");
  rig.note(std::to_string(*number));
  return {};
}

Status stablehlo_versions(Rig& rig) {
  MILLRACE_TRY(const auto values, attribute_map(rig));
  std::vector<std::int64_t> versions[2];
  const char* const names[2] = {"stablehlo_minimum_version", "stablehlo_current_version"};
  for (int i = 0; i < 2; ++i) {
    const auto found = values.find(names[i]);
    if (found == values.end()) return lacks(std::string("there is no attribute ") + names[i]);
    const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
    if (list == nullptr || list->size() != 3) {
      return broken(std::string(names[i]) + " is no list of three whole numbers");
    }
    versions[i] = *list;
  }
  const auto text = [](const std::vector<std::int64_t>& v) {
    return std::to_string(v[0]) + "." + std::to_string(v[1]) + "." + std::to_string(v[2]);
  };
  if (versions[0] > versions[1]) {
    return broken("the oldest, " + text(versions[0]) + ", is newer than the current, " +
                  text(versions[1]));
  }
  rig.note(text(versions[0]) + " to " + text(versions[1]));
  return {};
}

}  // namespace

std::vector<Check> plugin_checks() {
  return {
      {.name = "plugin.initialize",
       .wants = "the plugin can be initialized",
       .run = &initialize,
       .need = Need::kMust},
      {.name = "plugin.attributes",
       .wants = "attributes have names, no two the same, and types that exist",
       .run = &attributes,
       .after = {"plugin.initialize"}},
      {.name = "plugin.xla_version",
       .wants = "the attribute xla_version is a whole number",
       .run = &xla_version,
       .after = {"plugin.initialize"}},
      {.name = "plugin.stablehlo_versions",
       .wants = "the oldest version of StableHLO is not newer than the current one",
       .run = &stablehlo_versions,
       .after = {"plugin.initialize"}},
  };
}

}  // namespace millrace::conform
