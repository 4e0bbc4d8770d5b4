// `millrace conform`: checks any PJRT plugin.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "millrace/core/base/printed.h"
#include "millrace/devices/pjrt/plugin_list.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/conform/report.h"
#include "millrace/tools/conform/runner.h"
#include "millrace/transfer/formats/file.h"

namespace millrace::commands {
namespace {

namespace fs = std::filesystem;

// "a, b, c": the families of all checks.
std::string families() {
  std::string text;
  for (std::string_view last; const conform::Check& check : conform::all_checks()) {
    const std::string_view family = check.name.substr(0, check.name.find('.'));
    if (family == last) continue;
    text.append(text.empty() ? "" : ", ").append(family);
    last = family;
  }
  return text;
}

Status check_filters(const ConformFlags& flags) {
  for (const std::string& filter : flags.filters) {
    const bool matches = std::ranges::any_of(
        conform::all_checks(),
        [&filter](const conform::Check& check) { return conform::selected(check.name, {filter}); });
    if (matches) continue;
    return usage_error("no check matches --filter '" + filter + "'; there are families of them (" +
                       families() + "), and --list prints their names");
  }
  return {};
}

Result<ExitCode> list_checks(const ConformFlags& flags, Console& console) {
  std::string text;
  for (const conform::Check& check : conform::all_checks()) {
    if (!conform::selected(check.name, flags.filters)) continue;
    if (flags.json) {
      text += conform::to_json_line(check);
      continue;
    }
    text += printed("%-34s  ", std::string(check.name).c_str()) + std::string(check.wants) + "\n";
  }
  MILLRACE_TRY_STATUS(console.data(text));
  return ExitCode::kOk;
}

// "NAME=PATH,OPTION=VALUE,...", where the user may leave out the name, with the options of
// --option.
std::string plugin_text(const ConformFlags& flags) {
  const std::string first = flags.plugin.substr(0, flags.plugin.find(','));
  std::string text = (first.contains('=') && !fs::exists(first) ? "" : "plugin=") + flags.plugin;
  for (const std::string& option : flags.options) text += "," + option;
  return text;
}

}  // namespace

Result<ExitCode> conform_command(const ConformFlags& flags, Console& console) {
  MILLRACE_TRY_STATUS(check_filters(flags));
  if (flags.list) return list_checks(flags, console);
  if (flags.plugin.empty()) return usage_error("it wants a plugin: millrace conform PLUGIN.so");
  const std::string text = plugin_text(flags);
  const Result<devices::pjrt::PluginEntry> parsed = devices::pjrt::parse_plugin(text);
  if (!parsed) return usage_error(parsed.error().message());
  const devices::pjrt::PluginEntry& entry = *parsed;
  std::error_code problem;
  if (!fs::is_regular_file(entry.path, problem)) {
    return std::unexpected(
        Error(ErrorCode::kNotFound,
              "there is no plugin " + entry.path + ": " +
                  (fs::exists(entry.path, problem) ? "it is no file" : "no file of that name"))
            .with_detail(ExitWith{ExitCode::kDevice}));
  }
  // A bare name is one in this folder, not one that the dynamic linker looks for.
  conform::RunOptions options{.path = fs::absolute(entry.path).string(),
                              .rig = {.settings = entry.settings, .executions = flags.executions},
                              .deadline_seconds = flags.deadline_seconds,
                              .filters = flags.filters,
                              .here = flags.here};
  // Found before the checks, not after them; made after them, so that a Ctrl-C leaves no part.
  if (!flags.junit.empty()) MILLRACE_TRY_STATUS(transfer::NewFile::check(flags.junit));
  conform::Report report{.plugin = fs::path(entry.path).filename().string(),
                         .options = text.contains(',') ? text.substr(text.find(',') + 1) : "",
                         .verdicts = {}};
  Status printed;
  report.verdicts = conform::run_checks(options, [&](const conform::Verdict& verdict) {
    if (!printed) return;
    printed = console.data(flags.json ? conform::to_json_line(verdict) : conform::to_line(verdict));
  });
  MILLRACE_TRY_STATUS(printed);
  MILLRACE_TRY_STATUS(console.data(flags.json ? conform::to_json_summary(report)
                                              : "\n" + conform::to_summary(report)));
  if (!flags.junit.empty())
    MILLRACE_TRY_STATUS(transfer::write_file(flags.junit, conform::to_junit(report)));
  return conform::count(report, conform::Outcome::kFailed) == 0 ? ExitCode::kOk
                                                                : ExitCode::kFailure;
}

}  // namespace millrace::commands
