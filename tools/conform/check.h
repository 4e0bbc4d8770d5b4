// Check: one thing that a PJRT plugin must do, and what came out when it was tried. A family of
// checks is one file's, which may have a second one; runner.h runs every check in a process of its
// own. Read next: rig.h, with which checks are written.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::conform {

namespace abi = devices::pjrt::abi;
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

// kMust: no client works without it: not to have it is a failure. kMay: plugins need not have it,
// and whatever error they give instead is no failure.
enum class Need { kMust, kShould, kMay };
using enum Need;

// What a function for a check returns: ok, or an error. Errors of the plugin itself pass through;
// kUnimplemented from it counts as unsupported.
struct Check {
  std::string_view name;   // "family.condition"
  std::string_view wants;  // in one line
  Status (*run)(Rig& rig);
  // The names, with a blank between, of what must have passed, without which this would only fail
  // again.
  std::string after = {};
  Need need = Need::kShould;
};

// The checks of one file, in the order in which they run. Filled before main.
class Family {
 public:
  // after: what every check of it builds on, as Check::after.
  explicit Family(std::string_view after = {}) : after_(after) {}
  bool add(Check check);
  const std::vector<Check>& checks() const { return checks_; }

 private:
  std::string_view after_;
  std::vector<Check> checks_;
};

// Begins the function of the check "family.condition", behind its family in the same file. What
// follows `wants` are further fields of Check.
#define MILLRACE_CONFORM(family, condition, wants_, ...)                                      \
  Status check_##family##_##condition(Rig& rig);                                              \
  [[maybe_unused]] const bool family##_##condition##_added =                                  \
      family##_family.add({.name = #family "." #condition,                                    \
                           .wants = wants_,                                                   \
                           .run = &check_##family##_##condition __VA_OPT__(, ) __VA_ARGS__}); \
  Status check_##family##_##condition([[maybe_unused]] Rig& rig)

// All of them, in the order in which they run: what others build on comes first.
const std::vector<Check>& all_checks();

// One text of texts and numbers.
template <class... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return std::move(text).str();
}

// A detail of an error: the check did not find what it needs.
struct Skip {};
template <class... Parts>
std::unexpected<Error> skip(const Parts&... why) {
  return std::unexpected(Error(ErrorCode::kFailedPrecondition, joined(why...)).with_detail(Skip{}));
}
// The plugin lacks something, reported otherwise than by an error of its own.
struct Lacks {};
template <class... Parts>
std::unexpected<Error> lacks(const Parts&... what) {
  return std::unexpected(Error(ErrorCode::kUnimplemented, joined(what...)).with_detail(Lacks{}));
}
// What the plugin did is wrong.
template <class... Parts>
std::unexpected<Error> broken(const Parts&... what) {
  return fail(ErrorCode::kInternal, joined(what...));
}
// Ok, or broken unless it is right.
template <class... Parts>
Status expect(bool right, const Parts&... wrong) {
  return right ? Status() : broken(wrong...);
}
// A detail of an error that the plugin itself gave.
struct PluginError {};

}  // namespace millrace::conform
