#include "millrace/tools/api/model.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/tools/api/model_weights.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace {

using devices::Executable;
using devices::HostArray;
using devices::Shape;
using transfer::BatchModel;
using transfer::BatchTensor;
using transfer::SafetensorsFile;

namespace {

constexpr const char* kPredict = "predict";
constexpr const char* kWeightsFile = "weights.safetensors";

std::string list_of(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text.empty() ? "none" : text;
}

// Name, size and time of a file; its name alone where it has gone meanwhile.
std::string file_line(const std::string& path) {
  std::error_code failed;
  std::string line = path;
  const auto size = std::filesystem::file_size(path, failed);
  if (!failed) line += " " + std::to_string(size);
  const auto time = std::filesystem::last_write_time(path, failed);
  if (!failed) line += " " + std::to_string(time.time_since_epoch().count());
  return line;
}

// The programs that are served, of the sizes that are asked for.
Result<std::vector<ProgramSpec>> served_programs(const ModelManifest& manifest,
                                                 std::vector<std::int64_t> sizes) {
  const std::vector<std::int64_t> exported = manifest.rows_of(kPredict);
  if (sizes.empty()) sizes = exported;
  for (const std::int64_t size : sizes) {
    if (std::ranges::binary_search(exported, size)) continue;
    return fail(ErrorCode::kNotFound, manifest.path + " has no program of kind 'predict' for " +
                                          std::to_string(size) + " rows; it has " +
                                          list_of(exported) + ". Export it for these rows");
  }
  std::vector<ProgramSpec> programs;
  for (const ProgramSpec& program : manifest.programs) {
    if (program.kind != kPredict || !program.rows) continue;
    if (std::ranges::find(sizes, *program.rows) != sizes.end()) programs.push_back(program);
  }
  if (!programs.empty()) return programs;
  return fail(ErrorCode::kNotFound,
              manifest.path + " has no program of kind 'predict' with rows; export one");
}

// One row of an array whose first dimension is the rows.
Result<Shape> row_of(const ProgramSpec& program, const TensorSpec& tensor) {
  const std::string which = "program '" + program.name + "', array '" + tensor.name + "' ";
  if (tensor.shape.rank() < 1 || tensor.shape.dim(0) != *program.rows) {
    return fail(ErrorCode::kInvalidArgument, which + "is " + tensor.shape.to_string() +
                                                 "; its first dimension must be the " +
                                                 std::to_string(*program.rows) + " rows");
  }
  std::vector<std::int64_t> dims(tensor.shape.dims().begin() + 1, tensor.shape.dims().end());
  if (!tensor.length_dimension) return Shape(tensor.shape.dtype(), dims);
  std::int64_t& length = dims[static_cast<std::size_t>(*tensor.length_dimension) - 1];
  if (length != program.length) {
    return fail(ErrorCode::kInvalidArgument, which + "has the length " + std::to_string(length) +
                                                 ", and the program " +
                                                 std::to_string(program.length));
  }
  length = devices::kUnknownDimension;
  return Shape(tensor.shape.dtype(), dims);
}

Result<std::vector<BatchTensor>> row_tensors(const ProgramSpec& program,
                                             const std::vector<TensorSpec>& tensors) {
  std::vector<BatchTensor> rows;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_weight(tensors[i])) continue;
    MILLRACE_TRY(const Shape row, row_of(program, tensors[i]));
    rows.push_back({.name = tensors[i].name, .row = row, .position = i});
  }
  return rows;
}

// All programs take the same weights and the same rows, at the same places.
Status check_alike(const ModelManifest& manifest, const std::vector<ProgramSpec>& programs) {
  const auto equal = [](const TensorSpec& a, const TensorSpec& b) {
    return a.name == b.name && a.role == b.role && (!is_weight(a) || a.shape == b.shape);
  };
  for (const ProgramSpec& program : programs) {
    if (std::ranges::equal(program.inputs, programs.front().inputs, equal) &&
        std::ranges::equal(program.outputs, programs.front().outputs, equal))
      continue;
    return fail(ErrorCode::kInvalidArgument,
                manifest.path + ": programs '" + programs.front().name + "' and '" + program.name +
                    "' take or give other arrays; export all sizes of one network");
  }
  return {};
}

// What is read before anything is compiled.
struct Read {
  ModelManifest manifest;
  std::vector<ProgramSpec> programs;
  std::vector<devices::Program> codes;
  std::optional<SafetensorsFile> weights;
  std::vector<WeightPlace> places;
};

Status read_weights(const ModelSource& source, Read& read) {
  if (std::ranges::none_of(read.programs.front().inputs, is_weight)) return {};
  const std::string own = read.manifest.weights.empty() ? kWeightsFile : read.manifest.weights;
  const std::string& given = source.weights;
  const std::string path = given.empty() ? source.folder + "/" + own : given;
  Result<SafetensorsFile> file = open_weights(path);
  if (!file) {
    return std::unexpected(file.error().with_context(
        "the weights of model folder " + source.folder +
        (source.weights.empty() ? ", which has them beside its manifest or gets a checkpoint"
                                : "")));
  }
  MILLRACE_TRY(read.places, find_weights(read.programs.front(), file->header(), file->path()));
  read.weights.emplace(*std::move(file));
  return {};
}

Result<Read> read_model(const ModelSource& source) {
  Read read;
  MILLRACE_TRY(read.manifest, ModelManifest::read(source.folder));
  MILLRACE_TRY(read.programs, served_programs(read.manifest, source.sizes));
  MILLRACE_TRY_STATUS(check_alike(read.manifest, read.programs));
  for (const ProgramSpec& program : read.programs) {
    MILLRACE_TRY(devices::Program code, devices::Program::from_file(program.path));
    read.codes.push_back(std::move(code));
  }
  MILLRACE_TRY_STATUS(read_weights(source, read));
  return read;
}

Result<BatchModel::Parts> batch_parts(const Read& read, const std::string& name,
                                      const std::vector<Executable>& compiled) {
  BatchModel::Parts parts{.name = name.empty() ? read.manifest.name : name};
  const ProgramSpec& first = read.programs.front();
  MILLRACE_TRY(parts.inputs, row_tensors(first, first.inputs));
  MILLRACE_TRY(parts.outputs, row_tensors(first, first.outputs));
  for (std::size_t i = 0; i < read.programs.size(); ++i) {
    parts.programs.push_back({.executable = compiled[i],
                              .rows = *read.programs[i].rows,
                              .length = read.programs[i].length});
  }
  return parts;
}

// That of the same code in the version before; empty: there is none.
Executable known(const Model::Parts* before, const devices::Program& code) {
  if (before == nullptr) return {};
  const auto same = std::ranges::find(before->codes, code.code(), &devices::Program::code);
  if (same == before->codes.end()) return {};
  return before->executables[static_cast<std::size_t>(same - before->codes.begin())];
}

Task<Model> load_model(const Runtime& runtime, ModelSource source, CallOptions call,
                       std::shared_ptr<const Model::Parts> before) {
  MILLRACE_AWAIT(const Read read, train::on_blocking(runtime.environment(),
                                                     [source] { return read_model(source); }));
  auto made = std::make_shared<Model::Parts>();
  std::vector<Future<Executable>> compiled;
  for (const devices::Program& code : read.codes) {
    const Executable there = known(before.get(), code);
    made->cold.push_back(!there);
    compiled.push_back(there ? make_ready(there) : runtime.compile(code, {}, call));
  }
  const Status all = co_await when_all(compiled);
  if (!all) co_return all.error();
  for (const Future<Executable>& one : compiled) made->executables.push_back(one.result().value());
  made->codes = read.codes;
  Result<BatchModel::Parts> parts = batch_parts(read, source.name, made->executables);
  if (!parts) co_return parts.error().with_context(read.manifest.path);

  const std::span<const devices::Device> mine = runtime.devices(runtime.device_kind());
  made->devices.assign(mine.begin(), mine.end());
  made->executor = &runtime.compute();
  if (read.weights) {
    made->weights_path = read.weights->path();
    for (const WeightPlace& place : read.places) made->weights_bytes += place.shape.size_bytes();
    for (const devices::Device& device : made->devices) {
      auto put = put_weights(device, *read.weights, read.places);
      MILLRACE_AWAIT(std::vector<transfer::BatchConstant> constants, std::move(put));
      parts->constants.push_back(std::move(constants));
    }
  }
  made->manifest = read.manifest;
  Result<std::shared_ptr<const BatchModel>> batches = BatchModel::create(*std::move(parts));
  if (!batches) co_return batches.error().with_context(read.manifest.path);
  made->batches = *std::move(batches);
  co_return Model(std::move(made));
}

// One program on one device, on zeros.
Task<void> run_once(std::shared_ptr<const Model::Parts> model, std::size_t device,
                    std::size_t bucket, std::int64_t size, CallOptions call) {
  const BatchModel& batches = *model->batches;
  const Executable& program = batches.program(bucket, size).executable;
  const devices::Device& there = model->devices[device];
  ListOf<devices::Argument> arguments;
  arguments.resize(program.input_shapes().size());
  for (const transfer::BatchConstant& constant : batches.constants(device))
    arguments[constant.position] = constant.buffer;
  for (const BatchTensor& input : batches.inputs()) {
    const HostArray zeros =
        HostArray::make(transfer::batch_shape(input.row, size, batches.lengths()[bucket]));
    devices::HostView view;
    view.data = zeros.bytes().data();
    view.shape = zeros.shape();
    view.owner = zeros.owner();
    arguments[input.position] = there.put(std::move(view));
  }
  devices::ExecuteOptions options;
  options.call = std::move(call);
  const Result<devices::Buffers> outputs = co_await there.execute(program, arguments, options);
  if (!outputs) co_await end_with(outputs.error());
  for (const devices::Buffer& output : *outputs) {
    const Status written = co_await output.ready();
    if (!written) co_await end_with(written.error());
  }
}

bool is_cold(const Model::Parts& model, std::size_t bucket, std::int64_t size) {
  const auto& body = model.batches->program(bucket, size).executable.body();
  const auto same = std::ranges::find(model.executables, body, &Executable::body);
  return model.cold[static_cast<std::size_t>(same - model.executables.begin())];
}

Task<void> run_all_once(std::shared_ptr<const Model::Parts> model, CallOptions call) {
  const auto sizes = model->batches->sizes();
  for (std::size_t device = 0; device < model->devices.size(); ++device) {
    for (std::size_t bucket = 0; bucket < sizes.size(); ++bucket) {
      for (const std::int64_t size : sizes[bucket]) {
        if (is_cold(*model, bucket, size))
          MILLRACE_AWAIT_STATUS(run_once(model, device, bucket, size, call));
      }
    }
  }
}

}  // namespace

Result<std::string> Model::fingerprint(const ModelSource& source) {
  std::vector<std::string> paths = {source.folder};
  if (!source.weights.empty()) paths.push_back(source.weights);
  std::vector<std::string> lines;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      lines.push_back(file_line(path));
      continue;
    }
    // A folder of checkpoints is as its newest; what lies beside them does not count.
    MILLRACE_TRY(const std::string newest, newest_checkpoint(path));
    if (!newest.empty()) {
      lines.push_back(path + "/" + newest);
      continue;
    }
    std::filesystem::directory_iterator entry(path, failed);
    for (const std::filesystem::directory_iterator end; !failed && entry != end;
         entry.increment(failed))
      lines.push_back(file_line(entry->path().string()));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Future<Model> Model::load(const Runtime& runtime, ModelSource source, const CallOptions& call) {
  return spawn(runtime.compute(), load_model(runtime, std::move(source), call, nullptr), call.stop);
}

Future<Model> Model::reload(const Runtime& runtime, ModelSource source,
                            const CallOptions& call) const {
  return spawn(runtime.compute(), load_model(runtime, std::move(source), call, parts_), call.stop);
}

Future<void> Model::warm_up(const CallOptions& call) const {
  return spawn(*parts_->executor, run_all_once(parts_, call), call.stop);
}

}  // namespace millrace
