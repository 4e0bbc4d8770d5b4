// Check: one thing that a PJRT plugin must do, and what came out when it was tried. Checks are
// listed by family, one file each; runner.h runs them in processes of their own. Read next: rig.h,
// with which checks are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/tools/conform/abi.h"

namespace millrace::conform {

class Rig;

enum class Outcome {
  kPassed,
  kFailed,
  kUnsupported,  // the plugin says, or shows, that it has not got what is checked
  kSkipped,      // it could not be tried: another check failed first, or there are too few devices
};
std::string_view to_string(Outcome outcome);

struct Verdict {
  std::string name;
  Outcome outcome = Outcome::kFailed;
  std::string detail;  // of a failure, what went wrong and where; else a remark, or empty
  double seconds = 0;
};

// What a function for a check gives back: ok, or an error. Errors of the plugin itself pass
// through; kUnimplemented from it counts as unsupported.
struct Check {
  std::string_view name;   // "family.condition"
  std::string_view wants;  // in one line
  Status (*run)(Rig& rig);
  // What must have passed, without which this would only fail again.
  std::vector<std::string_view> after = {};
  // kMust: no client works without it: not to have it is a failure. kMay: plugins need not have it,
  // and whatever error they give instead is no failure.
  enum class Need { kMust, kShould, kMay } need = Need::kShould;
};

// Of an error: the check did not find what it needs.
struct Skip {};
std::unexpected<Error> skip(std::string why);
// The plugin lacks something, told otherwise than by an error of its own.
struct Lacks {};
std::unexpected<Error> lacks(std::string what);
// What the plugin did is wrong.
std::unexpected<Error> broken(std::string what);
// Of an error that the plugin itself gave.
struct PluginError {};

// All of them, in the order in which they run: what others build on comes first.
const std::vector<Check>& all_checks();

// Each in its file.
std::vector<Check> table_checks();
std::vector<Check> plugin_checks();
std::vector<Check> client_checks();
std::vector<Check> device_checks();
std::vector<Check> size_checks();
std::vector<Check> host_checks();
std::vector<Check> compile_checks();
std::vector<Check> execute_checks();
std::vector<Check> event_checks();
std::vector<Check> error_checks();
std::vector<Check> buffer_checks();
std::vector<Check> transfer_checks();
std::vector<Check> donation_checks();
std::vector<Check> deletion_checks();
std::vector<Check> serialize_checks();
std::vector<Check> topology_checks();
std::vector<Check> layout_checks();
std::vector<Check> interop_checks();
std::vector<Check> several_checks();
std::vector<Check> thread_checks();
std::vector<Check> leak_checks();

}  // namespace millrace::conform
