// What can be said of a program: its functions, how often it does what, what it donates, what one
// run of it takes on the CPU device and, after some runs, where their time goes, per kind of step.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/program.h"

namespace millrace::devices::cpu {
class Plan;
}

namespace millrace::inspect {

// One line of JSON: {"schema":1,"file":…,"module":…,"text_bytes":…,"functions":[…]}, where a
// function has its name, arguments, results and how often it has which operation, those of nested
// regions too. Then "steps" and "memory": of the CPU device's plan for @main after fusion, in
// bytes, where "temporaries" share one arena, "constants" are shared by all runs and "reused" are
// results that are written over donated arguments; or "open": true where a call decides shapes that
// were not given; or "not_planned": why the CPU device does not run it. Blocks: plans the program.
// shapes: of the arguments, where the program leaves them open; then steps and memory are those of
// a run with such. kInvalidArgument with line:column for a program that does not parse or verify.
Result<std::string> program_facts(const devices::Program& program,
                                  std::span<const devices::Shape> shapes = {});
// The same facts in words.
std::string facts_text(const std::string& facts);

// The shapes of @main's arguments, with devices::kUnknownDimension where a call decides. Errors as
// program_facts().
Result<std::vector<devices::Shape>> argument_shapes(const devices::Program& program);

// Blocks. One line of JSON: {"schema":1,"runs":…,"run_ms":…,"ops":[…]}, where run_ms is the median
// over the runs of the whole. "ops" are kinds of steps, the longest time first, each with what one
// run takes: "count", steps, each round of a loop anew; "ms", the sum over them of the median over
// the runs, without what they run, and its "share"; "bytes" read and written, each array of a step
// once; "operations" on elements (0: not counted), and how many in a second. Runs the plan twice
// before it counts. inputs: dense, one for each of the plan's; none: made ones, of floats in [-1,
// 1) and whole numbers from 0 to 9, always the same. kCancelled between two runs.
Result<std::string> time_ops(const devices::cpu::Plan& plan, std::span<const void* const> inputs,
                             int runs, Parallel& parallel, const std::stop_token& stop);
// The same times as a table.
std::string op_times_text(const std::string& times);

// The kind of a step of a plan by its name: fused loops of all lengths are one.
std::string step_kind(const std::string& step);

}  // namespace millrace::inspect
