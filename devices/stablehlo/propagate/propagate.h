// Where the arguments and results of a program for several devices lie. Shardy's attributes say it
// for some values; what the program leaves open follows from the operations between them: axes
// spread along the factors of each operation's rule (rule.h), forwards and backwards, through
// loops, branches and calls. Read next: op_rules.h, factors.h, graph.h.
//
//   PR-1  A sharding that the program gives and closes is what comes out, but for axes that do not
//         divide a dimension, as XLA cuts them off.
//   PR-2  Whatever comes out is right: any sharding of a result is, since each device gets its part
//         of the same array.
#pragma once

#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::devices::stablehlo::propagate {

// What the compiler may choose. A list of one flag is for all arguments or results; an empty one
// allows nothing. What it may not choose, and the program leaves open, is replicated.
struct MayChoose {
  std::vector<bool> arguments;
  std::vector<bool> results;
};

// Closed, without priorities; a value that is no tensor has a sharding without dimensions.
struct MainShardings {
  std::vector<sharding::Sharding> arguments;
  std::vector<sharding::Sharding> results;
};

// The module has a function @main and is verified. kInvalidArgument for attributes of Shardy that
// are wrong, with place and numbers.
Result<MainShardings> shardings_of_main(const ir::Module& module, const MayChoose& may_choose);

}  // namespace millrace::devices::stablehlo::propagate
