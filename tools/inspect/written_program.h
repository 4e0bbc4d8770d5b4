// written_program: a program from one form into the other, text or portable artifact.
#pragma once

#include <string>

#include "millrace/devices/program.h"

namespace millrace::inspect {

// The content of a file of that name: a portable artifact if it ends in .bc or .mlirbc, of this
// version of VHLO ("" leaves the choice to write_bytecode), else text. Errors of reading the
// program and of write_bytecode.
Result<std::string> written_program(const devices::Program& program, const std::string& path,
                                    const std::string& version);

}  // namespace millrace::inspect
