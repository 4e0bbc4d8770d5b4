// The table of functions, before any of them is called.
#include <algorithm>
#include <set>

#include "millrace/devices/pjrt/table_size.h"
#include "millrace/tools/conform/extensions.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

std::string version_text(const abi::Api& api) {
  return std::to_string(api.version.major_version) + "." +
         std::to_string(api.version.minor_version);
}

Status exported(Rig& rig) {
  const abi::Api* api = rig.table().api();
  if (api == nullptr) return broken("GetPjrtApi gives no table");
  if (api->struct_size <= offsetof(abi::Api, functions)) {
    return broken("the table has " + std::to_string(api->struct_size) +
                  " bytes, which is no function at all");
  }
  rig.note("PJRT API " + version_text(*api) + ", " + std::to_string(rig.table().slots()) +
           " functions");
  return {};
}

Status version(Rig& rig) {
  const abi::Api& api = *rig.table().api();
  if (api.version.major_version != abi::kMajor || api.version.minor_version < abi::kOldestMinor) {
    return broken("the version is " + version_text(api) + "; clients of today speak 0." +
                  std::to_string(abi::kOldestMinor) + " and newer");
  }
  rig.note(version_text(api));
  return {};
}

Status version_size(Rig& rig) {
  const std::size_t size = rig.table().api()->version.struct_size;
  if (size == sizeof(abi::Version)) return {};
  return broken("pjrt_api_version.struct_size is " + std::to_string(size) + ", not " +
                std::to_string(sizeof(abi::Version)));
}

Status size(Rig& rig) {
  const abi::Api& api = *rig.table().api();
  const std::size_t bytes = api.struct_size - offsetof(abi::Api, functions);
  if (bytes % sizeof(void*) != 0) {
    return broken("struct_size is " + std::to_string(api.struct_size) +
                  ", which ends inside a function");
  }
  const std::size_t wanted = devices::pjrt::abi::least_functions(api.version.minor_version);
  if (rig.table().slots() < wanted) {
    return broken("the table has " + std::to_string(rig.table().slots()) + " functions, version " +
                  version_text(api) + " has at least " + std::to_string(wanted));
  }
  rig.note(std::to_string(rig.table().slots()) + " functions, " + std::to_string(api.struct_size) +
           " bytes");
  return {};
}

Status functions(Rig& rig) {
  std::string missing;
  const std::size_t known = std::min(rig.table().slots(), std::size(rig.table().api()->functions));
  for (std::size_t i = 0; i < known; ++i) {
    if (rig.table().api()->functions[i] != nullptr) continue;
    missing +=
        (missing.empty() ? "" : ", ") + std::string(abi::to_string(static_cast<abi::Slot>(i)));
  }
  if (missing.empty()) return {};
  return broken("clients that call these crash: " + missing);
}

Status constant(Rig& rig) {
  return on_threads(kThreads, [&](int /*thread*/) -> Status {
    for (int i = 0; i < 10; ++i) {
      if (rig.table().get_api()() != rig.table().api()) {
        return broken("GetPjrtApi gives another table at another call");
      }
    }
    return {};
  });
}

Status extensions(Rig& rig) {
  std::set<int> types;
  std::string list;
  std::size_t length = 0;
  for (const abi::Extension* e = first_extension(rig.table()); e != nullptr; e = e->next) {
    if (++length > kMostExtensions) return broken("the chain of extensions does not end");
    if (e->struct_size < sizeof(abi::Extension)) {
      return broken("extension " + extension_name(e->type) + " has " +
                    std::to_string(e->struct_size) + " bytes, less than its own head");
    }
    if (!types.insert(e->type).second) {
      return broken("extension " + extension_name(e->type) + " is there twice");
    }
    list += (list.empty() ? "" : ", ") + extension_name(e->type);
  }
  rig.note(list.empty() ? "none" : list);
  return {};
}

}  // namespace

std::vector<Check> table_checks() {
  return {
      {.name = "table.exported",
       .wants = "the library exports GetPjrtApi, which gives a table",
       .run = &exported,
       .need = Need::kMust},
      {.name = "table.version",
       .wants = "the version is one that clients speak: 0.68 or newer",
       .run = &version},
      {.name = "table.version_size",
       .wants = "the version's structure states its size",
       .run = &version_size},
      {.name = "table.size",
       .wants = "the table is whole: it has every function of its version",
       .run = &size},
      {.name = "table.functions",
       .wants = "no function is null: what is lacking says UNIMPLEMENTED",
       .run = &functions},
      {.name = "table.constant",
       .wants = "GetPjrtApi gives one table, on every thread",
       .run = &constant},
      {.name = "table.extensions",
       .wants = "the chain of extensions ends, names none twice, and each states its size",
       .run = &extensions},
  };
}

}  // namespace millrace::conform
