#include "millrace/tools/conform/check.h"

#include <ranges>
#include <utility>

namespace millrace::conform {

std::string_view to_string(Outcome outcome) {
  constexpr std::string_view kNames[] = {"passed", "failed", "unsupported", "skipped"};
  return kNames[static_cast<std::size_t>(outcome)];
}

bool Family::add(Check check) {
  for (const auto name : after_ | std::views::split(' ')) {
    const std::string_view one(name);
    if (one != check.name) check.after.append(check.after.empty() ? "" : " ").append(one);
  }
  checks_.push_back(std::move(check));
  return true;
}

extern Family table_family, plugin_family, client_family, device_family, sizes_family, host_family,
    compile_family, execute_family, events_family, errors_family, buffer_family, transfer_family,
    deletion_family, donation_family, serialize_family, topology_family, layouts_family,
    interop_family, several_family, threads_family, leaks_family;

const std::vector<Check>& all_checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> list;
    for (const Family* family :
         {&table_family,    &plugin_family,   &client_family,   &device_family,   &sizes_family,
          &host_family,     &compile_family,  &execute_family,  &events_family,   &errors_family,
          &buffer_family,   &transfer_family, &deletion_family, &donation_family, &serialize_family,
          &topology_family, &layouts_family,  &interop_family,  &several_family,  &threads_family,
          &leaks_family}) {
      list.insert(list.end(), family->checks().begin(), family->checks().end());
    }
    return list;
  }();
  return all;
}

}  // namespace millrace::conform
