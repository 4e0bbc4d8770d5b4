#include "millrace/tools/conform/child.h"

#include <string>
#include <utility>

#include "millrace/tools/child/in_child.h"
#include "millrace/tools/child/shared_value.h"
#include "millrace/tools/conform/runner.h"

namespace millrace::conform {
namespace {

// Not of a check's own error: `why` is the plugin's, and the plugin need not have what was checked.
bool is_lack(const Error& why, Check::Need need) {
  if (need == Check::Need::kMust) return false;
  if (why.detail<Lacks>() != nullptr) return true;
  if (why.detail<PluginError>() == nullptr) return false;
  return why.code() == ErrorCode::kUnimplemented || need == Check::Need::kMay;
}

Answer try_with(const Check& check, const RunOptions& options, Progress* progress) {
  const Result<Table> table = Table::load(options.path, progress);
  if (!table) return {.outcome = Outcome::kFailed, .detail = table.error().message()};
  RigOptions rig_options = options.rig;
  rig_options.patience_seconds = options.deadline_seconds * 0.8;
  Rig rig(*table, std::move(rig_options));
  Status status = check.run(rig);
  const Status closed = rig.close();
  if (status && !closed) status = closed;
  if (status) return {.outcome = Outcome::kPassed, .detail = rig.remark()};
  const Error& why = status.error();
  if (why.detail<Skip>() != nullptr) {
    return {.outcome = Outcome::kSkipped, .detail = why.message()};
  }
  std::string text = why.message();
  if (why.detail<PluginError>() != nullptr) {
    text += " (" + std::string(millrace::to_string(why.code())) + ")";
  }
  return {.outcome = is_lack(why, check.need) ? Outcome::kUnsupported : Outcome::kFailed,
          .detail = std::move(text)};
}

std::string place(const Progress& progress) {
  const int slot = progress.slot;
  if (slot == Progress::kLoad) return "while the library was loaded";
  if (slot == Progress::kGetApi) return "in or after GetPjrtApi";
  if (slot < 0) return "before the first call";
  return "in or after " + std::string(abi::to_string(static_cast<abi::Slot>(slot)));
}

// As the child tells it: a digit for the outcome, and the detail.
std::string to_text(const Answer& answer) {
  return std::to_string(static_cast<int>(answer.outcome)) + answer.detail;
}
Answer to_answer(const std::string& text) {
  return {.outcome = static_cast<Outcome>(text.at(0) - '0'), .detail = text.substr(1)};
}

}  // namespace

Answer try_here(const Check& check, const RunOptions& options) {
  Progress progress;
  return try_with(check, options, &progress);
}

Answer try_in_child(const Check& check, const RunOptions& options) {
  const SharedValue<Progress> progress;
  if (progress.get() == nullptr) {
    return {.outcome = Outcome::kFailed, .detail = "no memory for a process"};
  }
  const ChildEnd end = in_child([&] { return to_text(try_with(check, options, progress.get())); },
                                options.deadline_seconds);
  if (end.answer) return to_answer(*end.answer);
  return {.outcome = Outcome::kFailed,
          .detail = end.why_not + ", " + place(*progress.get()) + last_said(end.words)};
}

}  // namespace millrace::conform
