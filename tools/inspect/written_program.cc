#include "millrace/tools/inspect/written_program.h"

#include "millrace/devices/stablehlo/bytecode/write_bytecode.h"
#include "millrace/devices/stablehlo/ir/print.h"
#include "millrace/devices/stablehlo/read_program.h"

namespace millrace::inspect {

namespace stablehlo = devices::stablehlo;

Result<std::string> written_program(const devices::Program& program, const std::string& path,
                                    const std::string& version) {
  MILLRACE_TRY(const stablehlo::ir::Module module, stablehlo::read_program(program.code()));
  if (!path.ends_with(".bc") && !path.ends_with(".mlirbc")) {
    if (version.empty()) return stablehlo::ir::print(module);
    return fail(
        ErrorCode::kInvalidArgument,
        "text has no version of VHLO; a name that ends in .bc or .mlirbc asks for an artifact");
  }
  const auto wanted = stablehlo::bytecode::version_from_string(version);
  if (!version.empty() && !wanted) {
    return fail(ErrorCode::kInvalidArgument,
                version + " is no version of VHLO such as 1.0.0 or 1.17.0");
  }
  return stablehlo::bytecode::write_bytecode(module, wanted);
}

}  // namespace millrace::inspect
