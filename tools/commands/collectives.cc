// `millrace collectives`: the collectives of all ranks of a job, checked against a plain
// computation or timed; or one with a mistake of a rank, to see what the others say. What is run is
// in collectives/cases.h and case_calls.h.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/printed.h"
#include "millrace/tools/collectives/case_calls.h"
#include "millrace/tools/collectives/cases.h"
#include "millrace/tools/commands/command.h"

namespace millrace::commands {

namespace {

using collectives::AgreeOp;
using collectives::Algorithm;
using collectives::CollectiveOptions;
using collectives::ProcessGroup;
using collectives::Rank;
using devices::Buffers;
using devices::DType;
using tools::CaseCall;
using tools::CollectiveCase;
using Json = nlohmann::ordered_json;
using Kind = collectives::CollectiveCall::Kind;

constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                            DType::kI16, DType::kI32, DType::kI64, DType::kU8,   DType::kU16,
                            DType::kU32, DType::kU64, DType::kI1};
constexpr int kTimedRuns = 21;
constexpr std::size_t kMostBytes = std::size_t{1} << 40;

// The mistake of one rank of the group.
struct Fault {
  tools::Mistake mistake{};
  int rank = 0;
};

Result<Fault> parse_fault(const std::string& text) {
  const auto at = text.find('@');
  const auto mistake = tools::mistake_of(text.substr(0, at));
  int rank = 0;
  const bool numbered =
      at != std::string::npos && CLI::detail::lexical_cast(text.substr(at + 1), rank) && rank >= 0;
  if (!mistake || !numbered)
    return usage_error("--fault " + text +
                       " is none of skip@RANK, op@RANK, dtype@RANK, shape@RANK, root@RANK");
  return Fault{*mistake, rank};
}

struct Outcome {
  bool ok = true;
  std::string error = {};
  double us = 0;
};

// The cases of one command, over the ranks of this process. Blocks.
class Collectives {
 public:
  Collectives(const CollectivesFlags& flags, const Limits& limits, Console& console,
              std::vector<ProcessGroup> members, std::optional<Fault> fault)
      : flags_(flags),
        limits_(limits),
        console_(console),
        members_(std::move(members)),
        fault_(fault) {}

  // Whether all were well.
  Result<bool> run(const std::vector<CollectiveCase>& cases) {
    const TimePoint begin = steady_clock().now();
    int failed = 0;
    for (const CollectiveCase& one : cases) {
      MILLRACE_TRY(const Outcome outcome, run_case(one));
      if (!outcome.ok) ++failed;
      MILLRACE_TRY_STATUS(report(one, outcome));
    }
    if (!reports()) return failed == 0;
    const double seconds = std::chrono::duration<double>(steady_clock().now() - begin).count();
    const std::string text = flags_.json ? to_line({{"event", "done"},
                                                    {"cases", cases.size()},
                                                    {"failed", failed},
                                                    {"ranks", size()},
                                                    {"seconds", seconds}})
                                         : printed("%zu cases over %d ranks, %d failed, %.1f s\n",
                                                   cases.size(), size(), failed, seconds);
    MILLRACE_TRY_STATUS(console_.data(text));
    return failed == 0;
  }

 private:
  int size() const { return members_[0].size(); }
  bool reports() const { return members_[0].rank() == Rank{0}; }
  static std::string to_line(const Json& json) { return json_text(json) + "\n"; }

  CollectiveOptions options(const CollectiveCase& one) const {
    CollectiveOptions options;
    options.call = limits_.call();
    options.algorithm = one.algorithm;
    if (fault_) {
      const TimePoint until = steady_clock().now() + std::chrono::seconds(2);
      options.call.deadline = std::min(options.call.deadline, until);
    }
    return options;
  }

  Result<Outcome> run_case(const CollectiveCase& one) {
    std::vector<Buffers> inputs;
    for (const ProcessGroup& member : members_) {
      Buffers mine;
      if (one.has_arrays()) {
        const auto array = tools::input_of(one, index(member.rank()), size());
        MILLRACE_TRY(auto buffer, wait_blocking(member.device().put(
                                      {array.bytes().data(), array.shape(), {}, array.owner()})));
        mine = Buffers({buffer});
      }
      inputs.push_back(std::move(mine));
    }
    Outcome outcome;
    if (fault_) return run_with_fault(one, inputs);
    // The first run makes the links.
    const int runs = flags_.check ? 1 : kTimedRuns + 1;
    std::vector<double> times;
    for (int k = 0; k < runs; ++k) {
      const TimePoint begin = steady_clock().now();
      std::vector<CaseCall> calls;
      for (std::size_t m = 0; m < members_.size(); ++m)
        calls.push_back(tools::call_case(one, members_[m], inputs[m], options(one)));
      for (std::size_t m = 0; m < calls.size(); ++m) settle(one, members_[m], calls[m], outcome);
      const std::chrono::duration<double, std::micro> took = steady_clock().now() - begin;
      if (k > 0 || runs == 1) times.push_back(took.count());
    }
    std::ranges::sort(times);
    outcome.us = times.empty() ? 0 : times[times.size() / 2];
    return agreed(std::move(outcome));
  }

  // Asks all ranks. What is wrong with the group itself ends the command.
  Result<std::int64_t> agree(AgreeOp op, bool value) {
    std::vector<Future<std::int64_t>> votes;
    CollectiveOptions options;
    options.call = limits_.call();
    for (const ProcessGroup& member : members_)
      votes.push_back(member.agree(op, value ? 1 : 0, options));
    std::int64_t agreed = 0;
    for (const auto& vote : votes) {
      MILLRACE_TRY(agreed, wait_blocking(vote));
    }
    return agreed;
  }
  // All ranks hear whether one has seen something wrong.
  Result<Outcome> agreed(Outcome outcome) {
    MILLRACE_TRY(const std::int64_t all, agree(AgreeOp::kMin, outcome.ok));
    if (all == 0 && outcome.ok) {
      outcome.ok = false;
      outcome.error = "another rank has seen it fail";
    }
    return outcome;
  }

  void settle(const CollectiveCase& one, const ProcessGroup& group, const CaseCall& pending,
              Outcome& outcome) const {
    const auto wrong = [&](const std::string& words) {
      if (!outcome.ok) return;
      outcome.ok = false;
      outcome.error = to_string(group.rank()) + ": " + words;
    };
    if (pending.done.valid()) {
      if (const auto done = wait_blocking(pending.done); !done) wrong(done.error().message());
      return;
    }
    const auto result = wait_blocking(pending.arrays);
    if (!result) return wrong(result.error().message());
    if (!flags_.check) return;
    const auto expected = tools::expected_of(one, index(group.rank()), size());
    if (!expected) return;
    if (result->size() != 1) return wrong("it got no array");
    const auto got = wait_blocking(group.device().fetch((*result)[0]));
    if (!got) return wrong(got.error().message());
    const auto a = got->bytes(), b = expected->bytes();
    if (got->shape() != expected->shape())
      return wrong("it got " + got->shape().to_string() + " in place of " +
                   expected->shape().to_string());
    const auto differ = std::ranges::mismatch(a, b);
    if (differ.in1 == a.end()) return;
    const auto element =
        static_cast<std::size_t>(differ.in1 - a.begin()) / devices::byte_width(one.dtype);
    wrong("element " + std::to_string(element) + " is not what a plain computation gives");
  }

  // A group of all ranks for one case: a mistake that is found once a rank has its results ends it.
  Result<std::vector<ProcessGroup>> groups_of_their_own() const {
    CollectiveOptions options;
    options.call = limits_.call();
    std::vector<Future<ProcessGroup>> made;
    for (const ProcessGroup& member : members_)
      made.push_back(member.split(0, index(member.rank()), options));
    std::vector<ProcessGroup> groups;
    for (const auto& one : made) {
      MILLRACE_TRY(ProcessGroup group, wait_blocking(one));
      groups.push_back(std::move(group));
    }
    return groups;
  }

  // One rank makes a mistake: all others must get an error that says so. Where a rank only gives,
  // or takes from none that errs, it may have its result before; the group's next calls find the
  // mistake then, at the latest those behind one in which all have met.
  Result<Outcome> run_with_fault(const CollectiveCase& one, const std::vector<Buffers>& inputs) {
    MILLRACE_TRY(const std::vector<ProcessGroup> groups, groups_of_their_own());
    const ErrorCode expected = fault_->mistake == tools::Mistake::kSkip
                                   ? ErrorCode::kDeadlineExceeded
                                   : ErrorCode::kFailedPrecondition;
    const bool may_end_first = one.op.kind == Kind::kBroadcast || one.op.kind == Kind::kScatter ||
                               one.op.kind == Kind::kGather ||
                               one.op.kind == Kind::kCollectivePermute;
    Outcome outcome;
    std::string heard;  // by a rank of this process
    const auto hear = [&](const ProcessGroup& group, const Status& status, bool may_succeed) {
      if (status) {
        if (may_succeed) return;
        outcome.error = to_string(group.rank()) + " has succeeded";
      } else {
        heard = status.error().message();
        if (status.error().code() == expected) return;
        outcome.error = heard;
      }
      outcome.ok = false;
    };
    std::vector<CaseCall> calls;
    for (std::size_t m = 0; m < groups.size(); ++m) {
      const bool wrong = index(groups[m].rank()) == fault_->rank;
      calls.push_back(
          wrong ? tools::call_wrong(one, fault_->mistake, groups[m], inputs[m], options(one))
                : tools::call_case(one, groups[m], inputs[m], options(one)));
    }
    std::vector<Future<void>> next;
    for (int round = 0; may_end_first && round < 2; ++round) {
      for (const ProcessGroup& group : groups) next.push_back(group.barrier(options(one)));
    }
    for (std::size_t m = 0; m < groups.size(); ++m) {
      if (calls[m].done.valid()) hear(groups[m], wait_blocking(calls[m].done), may_end_first);
      if (!calls[m].arrays.valid()) continue;
      const auto result = wait_blocking(calls[m].arrays);
      hear(groups[m], result ? Status() : std::unexpected(result.error()), may_end_first);
    }
    for (std::size_t i = 0; i < next.size(); ++i)
      hear(groups[i % groups.size()], wait_blocking(next[i]), true);
    MILLRACE_TRY(const std::int64_t any, agree(AgreeOp::kMax, !heard.empty()));
    if (any == 0) outcome = {.ok = false, .error = "no rank has heard of it"};
    if (outcome.ok) outcome.error = heard;
    MILLRACE_TRY(const Outcome all, agreed(std::move(outcome)));
    for (const ProcessGroup& group : groups) group.close().ignore();
    return all;
  }

  Status report(const CollectiveCase& one, const Outcome& outcome) {
    if (!reports()) return {};
    const std::string algorithm(to_string(one.algorithm));
    const std::string dtype(one.has_arrays() ? devices::to_string(one.dtype) : "");
    const std::size_t bytes = one.has_arrays() ? one.shape(size()).size_bytes() : 0;
    if (flags_.json) {
      Json json = {{"op", one.op.name}, {"algorithm", algorithm}, {"dtype", dtype},
                   {"bytes", bytes},    {"ranks", size()},        {"us_median", outcome.us},
                   {"ok", outcome.ok}};
      if (!outcome.error.empty()) json["error"] = outcome.error;
      return console_.data(to_line(json));
    }
    std::string line =
        printed("%-20s %-18s %-5s %10zu B %10.1f us  %s", one.op.name.c_str(), algorithm.c_str(),
                dtype.c_str(), bytes, outcome.us, outcome.ok ? "ok" : "FAILED");
    if (!outcome.error.empty()) line += "  " + outcome.error;
    return console_.data(line + "\n");
  }

  const CollectivesFlags& flags_;
  const Limits& limits_;
  Console& console_;
  const std::vector<ProcessGroup> members_;
  const std::optional<Fault> fault_;
};

Result<tools::CaseChoice> choice_of(const CollectivesFlags& flags) {
  tools::CaseChoice choice;
  auto ops = tools::find_ops(flags.ops);
  if (!ops) return usage_error("--op: " + ops.error().message());
  choice.ops = *std::move(ops);
  for (const std::string& name : flags.dtypes) {
    const auto dtype = devices::dtype_from_string(name);
    if (!dtype || std::ranges::find(kTypes, *dtype) == std::end(kTypes)) {
      std::string all;
      for (const DType one : kTypes)
        all += (all.empty() ? "" : ", ") + std::string(devices::to_string(one));
      return usage_error("--dtype " + name + " is none of " + all);
    }
    choice.dtypes.push_back(*dtype);
  }
  if (choice.dtypes.empty()) {
    choice.dtypes.assign(std::begin(kTypes), std::end(kTypes));
    if (!flags.check || !flags.fault.empty()) choice.dtypes = {DType::kF32};
  }
  choice.bytes = flags.bytes;
  if (choice.bytes.empty()) {
    choice.bytes = flags.check ? std::vector<std::size_t>{4, 4096, 300'000}
                               : std::vector<std::size_t>{4, 4096, 1 << 20, 16 << 20};
    if (!flags.fault.empty()) choice.bytes = {4096};
  }
  for (const Algorithm algorithm : collectives::kAlgorithms) {
    if (flags.algorithm == to_string(algorithm)) choice.algorithm = algorithm;
  }
  if (!flags.algorithm.empty() && !choice.algorithm)
    return usage_error("--algorithm " + flags.algorithm +
                       " is none of direct, ring, recursive_doubling, tree");
  return choice;
}

// The group of the ranks of --ranks, as members of this process; none: it has no rank in it.
Result<std::vector<ProcessGroup>> choose_ranks(const CollectivesFlags& flags,
                                               const std::vector<ProcessGroup>& all) {
  if (flags.ranks.empty()) return all;
  for (const int rank : flags.ranks) {
    if (rank >= all[0].size())
      return usage_error("--ranks: there is no rank " + std::to_string(rank) + " of " +
                         std::to_string(all[0].size()));
  }
  std::vector<Future<ProcessGroup>> parts;
  std::vector<bool> inside;
  for (const ProcessGroup& member : all) {
    const int rank = index(member.rank());
    const auto place = std::ranges::find(flags.ranks, rank);
    inside.push_back(place != flags.ranks.end());
    const int key = static_cast<int>(place - flags.ranks.begin());
    parts.push_back(member.split(inside.back() ? 0 : 1 + rank, key));
  }
  std::vector<ProcessGroup> members;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    MILLRACE_TRY(ProcessGroup part, wait_blocking(parts[i]));
    if (inside[i]) members.push_back(std::move(part));
  }
  std::ranges::sort(members, {}, &ProcessGroup::rank);
  return members;
}

// Blocks until all ranks have made all calls.
Result<ExitCode> run_collectives(const CollectivesFlags& flags, const tools::CaseChoice& choice,
                                 const std::optional<Fault>& fault, const Limits& limits,
                                 Console& console, const Runtime& runtime) {
  MILLRACE_TRY(const auto all, wait_blocking(runtime.make_group("collectives", limits.call())));
  MILLRACE_TRY(const auto members, choose_ranks(flags, all));
  bool all_well = true;
  if (!members.empty()) {
    if (fault && fault->rank >= members[0].size())
      return usage_error("--fault: there is no rank " + std::to_string(fault->rank));
    auto cases = tools::make_cases(choice, runtime.mesh() != nullptr || !flags.algorithm.empty());
    if (fault) {
      std::erase_if(cases, [&](const CollectiveCase& one) {
        return !tools::may_have(one, fault->mistake) ||
               one.algorithm != tools::default_algorithm(one.op);
      });
    }
    MILLRACE_TRY(all_well, Collectives(flags, limits, console, members, fault).run(cases));
  }
  // A process that has no rank among --ranks waits here for the others.
  CollectiveOptions last;
  last.call = limits.call();
  std::vector<Future<void>> ends;
  for (const ProcessGroup& member : all) ends.push_back(member.barrier(last));
  for (const auto& end : ends) MILLRACE_TRY_STATUS(wait_blocking(end));
  return all_well ? ExitCode::kOk : ExitCode::kFailure;
}

}  // namespace

void add_collectives_options(CLI::App& command, CollectivesFlags& flags) {
  command.add_flag("--check", flags.check, "against a plain computation, each once; else timed");
  const auto add_words = [&command](const char* name, auto& words, const char* type,
                                    const char* help) {
    return command.add_option(name, words, help)->delimiter(',')->type_name(type);
  };
  add_words("--op", flags.ops, "NAME,...", "default: all");
  add_words("--dtype", flags.dtypes, "NAME,...", "default: all, where timed f32");
  add_words("--bytes", flags.bytes, "N,...", "about what a rank brings, 1 TiB at most")
      ->check(CLI::Range(std::size_t{0}, kMostBytes).description(""));
  command
      .add_option("--algorithm", flags.algorithm,
                  "direct, ring, recursive_doubling or tree (default: each, between processes)")
      ->type_name("NAME");
  add_words("--ranks", flags.ranks, "RANK,...", "a group of these, in this order (default: all)");
  command
      .add_option(
          "--fault", flags.fault,
          "let a rank of the group make a mistake: skip, op, dtype, shape or root; each case "
          "is well if the others get an error that says so, at the latest of their next call")
      ->type_name("KIND@RANK");
}

Result<ExitCode> collectives_command(const CollectivesFlags& flags, Console& console) {
  MILLRACE_TRY(const tools::CaseChoice choice, choice_of(flags));
  std::optional<Fault> fault;
  if (!flags.fault.empty()) {
    MILLRACE_TRY(fault, parse_fault(flags.fault));
  }
  for (const int rank : flags.ranks) {
    if (rank < 0 || std::ranges::count(flags.ranks, rank) > 1)
      return usage_error("--ranks: each is a rank, once");
  }
  MILLRACE_TRY(const RuntimeOptions options, runtime_options(flags));
  MILLRACE_TRY(const auto limits,
               Limits::create(console, {.deadline_seconds = flags.deadline_seconds,
                                        .progress = [] { return std::string(); },
                                        .json = flags.json}));
  return with_runtime(options, *limits, console, [&](const Runtime& runtime) -> Result<ExitCode> {
    auto ended = run_collectives(flags, choice, fault, *limits, console, runtime);
    if (!ended) return std::unexpected(limits->at_end(ended.error()));
    return ended;
  });
}

}  // namespace millrace::commands
