#include "millrace/tools/inspect/write_program.h"

#include <fstream>
#include <optional>

#include "millrace/devices/cpu/bytecode/write_bytecode.h"
#include "millrace/devices/cpu/ir/print.h"
#include "millrace/devices/cpu/read/read_program.h"

namespace millrace::inspect {
namespace {

namespace bytecode = devices::cpu::bytecode;

Result<std::string> in_form(const devices::cpu::ir::Module& module, const std::string& path,
                            const std::string& version) {
  if (!path.ends_with(".bc") && !path.ends_with(".mlirbc")) {
    if (version.empty()) return devices::cpu::ir::print(module);
    return fail(
        ErrorCode::kInvalidArgument,
        "text has no version of VHLO; a name that ends in .bc or .mlirbc asks for an artifact");
  }
  std::optional<bytecode::Version> wanted;
  if (!version.empty()) {
    wanted = bytecode::version_from_string(version);
    if (!wanted) {
      return fail(ErrorCode::kInvalidArgument,
                  version + " is no version of VHLO such as 1.0.0 or 1.17.0");
    }
  }
  return bytecode::write_bytecode(module, wanted);
}

}  // namespace

Status write_program(const devices::Program& program, const std::string& path,
                     const std::string& version) {
  MILLRACE_TRY(const devices::cpu::ir::Module module,
               devices::cpu::read::read_program(program.code()));
  MILLRACE_TRY(const std::string written, in_form(module, path, version));
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(written.data(), static_cast<std::streamsize>(written.size()));
  file.close();
  if (!file) return fail(ErrorCode::kUnavailable, "cannot write the file " + path);
  return {};
}

}  // namespace millrace::inspect
