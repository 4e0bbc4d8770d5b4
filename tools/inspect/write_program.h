// write_program: a program from one form into the other, text or portable artifact.
#pragma once

#include <string>

#include "millrace/devices/program.h"

namespace millrace::inspect {

// As a portable artifact if path ends in .bc, of this version of VHLO ("" leaves the choice to
// write_bytecode), else as text. The file is replaced. Errors of reading the program and of
// write_bytecode, and kUnavailable with the path.
Status write_program(const devices::Program& program, const std::string& path,
                     const std::string& version);

}  // namespace millrace::inspect
