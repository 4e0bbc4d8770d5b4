#include "millrace/tools/api/model_weights.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

#include "millrace/tools/train/checkpoint_folder.h"

namespace millrace {

using devices::Buffer;
using devices::HostBufferSemantics;
using devices::HostView;
using devices::PutResult;
using transfer::BatchConstant;
using transfer::SafetensorsArray;
using transfer::SafetensorsFile;

namespace {

constexpr std::string_view kStep = "step-";

// The number of a folder that has the name of a complete checkpoint.
std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(kStep)) return std::nullopt;
  name.remove_prefix(kStep.size());
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return step;
}

}  // namespace

Result<std::string> newest_checkpoint(const std::string& folder) {
  std::error_code failed;
  std::optional<std::pair<std::uint64_t, std::string>> newest;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const std::optional<std::uint64_t> step = step_of(name);
    if (step && (!newest || *step > newest->first)) newest = {*step, name};
  }
  if (failed) {
    return fail(ErrorCode::kNotFound, "reading the folder " + folder + ": " + failed.message());
  }
  return newest ? newest->second : std::string();
}

Result<SafetensorsFile> open_weights(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return SafetensorsFile::open(path);
  std::string checkpoint = path;
  if (!std::filesystem::exists(path + "/checkpoint.json", failed)) {
    MILLRACE_TRY(const std::string newest, newest_checkpoint(path));
    if (newest.empty()) {
      return fail(
          ErrorCode::kNotFound,
          path + " has no checkpoint (step-...); `millrace train --checkpoint` writes them");
    }
    checkpoint += "/" + newest;
  }
  MILLRACE_TRY(train::LoadedCheckpoint loaded, train::read_checkpoint(checkpoint));
  return std::move(loaded.arrays);
}

Result<std::vector<WeightPlace>> find_weights(const ProgramSpec& program,
                                              const transfer::SafetensorsHeader& header,
                                              const std::string& file) {
  std::vector<WeightPlace> places;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const TensorSpec& wanted = program.inputs[i];
    if (!is_weight(wanted)) continue;
    const std::string family =
        (wanted.role == TensorRole::kParam ? "param/" : "state/") + wanted.name;
    auto found = std::ranges::find(header.arrays, family, &SafetensorsArray::name);
    if (found == header.arrays.end())
      found = std::ranges::find(header.arrays, wanted.name, &SafetensorsArray::name);
    if (found == header.arrays.end()) {
      return fail(ErrorCode::kInvalidArgument, file + " has no array '" + family + "' nor '" +
                                                   wanted.name + "', which program '" +
                                                   program.name +
                                                   "' takes; give the weights of this model");
    }
    if (found->shape != wanted.shape) {
      return fail(ErrorCode::kInvalidArgument,
                  file + ": the array '" + found->name + "' is " + found->shape.to_string() +
                      ", and program '" + program.name + "' takes " + wanted.shape.to_string() +
                      "; export the program again or give the weights of this model");
    }
    places.push_back({.position = i, .shape = found->shape, .offset = found->offset});
  }
  return places;
}

Task<std::vector<BatchConstant>> put_weights(devices::Device device, SafetensorsFile file,
                                             std::vector<WeightPlace> places) {
  std::vector<BatchConstant> constants;
  std::deque<std::pair<std::size_t, Future<void>>> in_flight;  // bytes, and when they are there
  std::size_t bytes = 0;
  for (const WeightPlace& place : places) {
    const std::size_t size = place.shape.size_bytes();
    while (!in_flight.empty() && bytes + size > kWeightsInFlight) {
      const Status there = co_await in_flight.front().second;
      if (!there) co_return there.error();
      bytes -= in_flight.front().first;
      in_flight.pop_front();
    }
    HostView view;
    view.data = file.bytes().data() + place.offset;
    view.shape = place.shape;
    view.owner = std::make_shared<SafetensorsFile>(file);
    const Result<PutResult> put = co_await device.put_borrowed(
        std::move(view), HostBufferSemantics::kImmutableUntilTransferCompletes);
    if (!put) co_return put.error();
    constants.push_back({.position = place.position, .buffer = put->buffer});
    in_flight.emplace_back(size, put->buffer.ready());
    bytes += size;
  }
  for (const auto& [size, ready] : in_flight) {
    const Status there = co_await ready;
    if (!there) co_return there.error();
  }
  co_return constants;
}

}  // namespace millrace
