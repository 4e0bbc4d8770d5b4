#include "millrace/tools/commands/inputs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "millrace/devices/shape_pattern.h"
#include "millrace/tools/commands/exit_code.h"

namespace millrace::commands {

namespace {

using devices::Shape;
using transfer::NpyArray;

std::string times(std::size_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

constexpr std::size_t kFew = 8;

// "3 arguments (tensor<f32>, tensor<2xf32>, tensor<f32>)"; of many the first few.
std::string describe(std::span<const Shape> shapes) {
  if (shapes.empty()) return "no arguments";
  std::string text =
      std::to_string(shapes.size()) + (shapes.size() == 1 ? " argument (" : " arguments (");
  const char* separator = "";
  for (const Shape& shape : shapes.first(std::min(shapes.size(), kFew))) {
    text += separator + shape.to_string();
    separator = ", ";
  }
  if (shapes.size() > kFew) text += " and " + std::to_string(shapes.size() - kFew) + " more";
  return text + ")";
}

// The file of each argument, in order.
Result<std::vector<std::string>> input_files(const InputFlags& flags, const std::string& program,
                                             std::span<const Shape> shapes) {
  if (flags.folder.empty()) {
    if (flags.files.size() == shapes.size()) return flags.files;
    return usage_error(program + " takes " + describe(shapes) + ", but --input was given " +
                       times(flags.files.size()));
  }
  std::vector<std::string> files;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    files.push_back(flags.folder + "/" + std::to_string(i) + ".npy");
  }
  const std::string next = flags.folder + "/" + std::to_string(shapes.size()) + ".npy";
  std::error_code ignored;
  if (std::filesystem::exists(next, ignored)) {
    return usage_error(program + " takes " + describe(shapes) + ", but there is also " + next);
  }
  return files;
}

}  // namespace

Result<std::vector<std::shared_ptr<NpyArray>>> read_inputs(const InputFlags& flags,
                                                           const std::string& program,
                                                           std::span<const Shape> shapes) {
  MILLRACE_TRY(const std::vector<std::string> files, input_files(flags, program, shapes));
  std::vector<std::shared_ptr<NpyArray>> arrays;
  for (std::size_t i = 0; i < files.size(); ++i) {
    MILLRACE_TRY(NpyArray array, transfer::read_npy_file(files[i], {.as = shapes[i].dtype()}));
    if (!devices::admits(shapes[i], array.shape)) {
      return fail(ErrorCode::kInvalidArgument, files[i] + " is " + array.shape.to_string() +
                                                   ", but argument " + std::to_string(i) + " of " +
                                                   program + " is " + shapes[i].to_string());
    }
    arrays.push_back(std::make_shared<NpyArray>(std::move(array)));
  }
  return arrays;
}

}  // namespace millrace::commands
