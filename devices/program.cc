#include "millrace/devices/program.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace millrace::devices {
namespace {

ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
      return ErrorCode::kPermissionDenied;
    case EISDIR:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kUnavailable;
  }
}

std::unexpected<Error> file_error(const std::string& path, int error) {
  return fail(code_of(error), "cannot read the program " + path + ": " + std::strerror(error));
}

}  // namespace

Program Program::from_text(std::string text, std::string name) {
  return Program(std::make_shared<const std::string>(std::move(text)), std::move(name));
}

Result<Program> Program::from_file(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                       &std::fclose);
  if (!file) return file_error(path, errno);
  std::string text;
  char block[1 << 16];
  while (const std::size_t read = std::fread(block, 1, sizeof(block), file.get())) {
    text.append(block, read);
  }
  if (std::ferror(file.get()) != 0) return file_error(path, errno);
  if (text.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the program " + path + " is empty");
  }
  return Program(std::make_shared<const std::string>(std::move(text)), path);
}

}  // namespace millrace::devices
