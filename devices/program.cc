#include "millrace/devices/program.h"

#include <utility>

#include "millrace/core/base/read_file.h"

namespace millrace::devices {

Program Program::from_text(std::string text, std::string name) {
  return Program(std::make_shared<const std::string>(std::move(text)), std::move(name));
}

Result<Program> Program::from_file(const std::string& path) {
  Result<std::string> read = read_file(path);
  if (!read) return std::unexpected(read.error().with_context("cannot read the program"));
  std::string text = *std::move(read);
  if (text.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the program " + path + " is empty");
  }
  return Program(std::make_shared<const std::string>(std::move(text)), path);
}

}  // namespace millrace::devices
