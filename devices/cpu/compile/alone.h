// Whether a program is for one process: it runs on one device, where collectives give what they
// get.
#pragma once

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu {
namespace ir = stablehlo::ir;
}
namespace millrace::devices::cpu::compiler {

// kUnimplemented if the module says that it is for several replicas or partitions.
Status check_alone(const ir::Module& module);
// kUnimplemented, with its place, if op is a collective whose groups name another process than the
// first.
Status check_alone(const ir::Op& op);

}  // namespace millrace::devices::cpu::compiler
