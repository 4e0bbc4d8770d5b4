#include "millrace/transfer/batch_model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>

#include "millrace/core/base/check.h"

namespace millrace::transfer {

using devices::kUnknownDimension;
using devices::Shape;

namespace {

std::int64_t unknown_dimensions(const Shape& shape) {
  return std::ranges::count(shape.dims(), kUnknownDimension);
}

// The shape with every unknown dimension being that length.
Shape with_length(const Shape& row, std::int64_t length) {
  std::array<std::int64_t, devices::kMaxRank> dims{};
  std::ranges::transform(row.dims(), dims.begin(), [length](std::int64_t dim) {
    return dim == kUnknownDimension ? length : dim;
  });
  return Shape(row.dtype(), std::span(dims).first(row.dims().size()));
}

std::string quoted(const std::string& name) { return "'" + name + "'"; }

Status check_tensor(const std::string& model, const char* kind, const BatchTensor& tensor,
                    std::set<std::string>& names) {
  const std::string which =
      "model " + quoted(model) + ": " + kind + " " + quoted(tensor.name) + " ";
  if (!names.insert(tensor.name).second) {
    return fail(ErrorCode::kInvalidArgument, which + "is there twice; names are given once");
  }
  if (tensor.row.rank() + 1 > devices::kMaxRank || unknown_dimensions(tensor.row) > 1) {
    return fail(ErrorCode::kInvalidArgument, which + "has rows " + tensor.row.to_string() +
                                                 "; a row has at most one unknown dimension and " +
                                                 std::to_string(devices::kMaxRank - 1) +
                                                 " dimensions in all");
  }
  return {};
}

// One row of an input with an unknown dimension: how its bytes repeat. outer runs of (length *
// inner) bytes.
struct RowGrid {
  std::size_t outer = 1;
  std::size_t inner = 1;
};
RowGrid grid_of(const Shape& row) {
  RowGrid grid{.inner = devices::byte_width(row.dtype())};
  bool before = true;
  for (const std::int64_t dim : row.dims()) {
    if (dim == kUnknownDimension) {
      before = false;
    } else {
      (before ? grid.outer : grid.inner) *= static_cast<std::size_t>(dim);
    }
  }
  return grid;
}

}  // namespace

Shape batch_shape(const Shape& row, std::int64_t rows, std::int64_t length) {
  const Shape whole = with_length(row, length);
  std::array<std::int64_t, devices::kMaxRank + 1> dims{rows};
  std::ranges::copy(whole.dims(), dims.begin() + 1);
  return Shape(row.dtype(), std::span(dims).first(whole.dims().size() + 1));
}

void assemble_rows(const Shape& row, std::int64_t bucket_length, std::span<const RowBytes> rows,
                   std::span<std::byte> batch) {
  const bool varies = unknown_dimensions(row) > 0;
  const RowGrid grid = grid_of(row);
  std::byte* to = batch.data();
  for (const RowBytes& part : rows) {
    if (!varies || part.length == bucket_length) {
      to = std::ranges::copy(part.bytes, to).out;
      continue;
    }
    const std::size_t run = static_cast<std::size_t>(part.length) * grid.inner;
    const std::size_t room = static_cast<std::size_t>(bucket_length) * grid.inner;
    const std::byte* from = part.bytes.data();
    for (std::size_t i = 0; i < static_cast<std::size_t>(part.rows) * grid.outer; ++i) {
      to = std::copy_n(from, run, to);
      to = std::fill_n(to, room - run, std::byte{});
      from += run;
    }
  }
  std::fill(to, batch.data() + batch.size(), std::byte{});
}

Result<std::shared_ptr<const BatchModel>> BatchModel::create(Parts parts) {
  std::shared_ptr<BatchModel> model(new BatchModel(std::move(parts)));
  const Parts& p = model->parts_;
  if (p.programs.empty() || p.inputs.empty() || p.outputs.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "model " + quoted(p.name) + " needs a program, an input and an output at least");
  }
  std::set<std::string> names;
  for (const BatchTensor& input : p.inputs) {
    MILLRACE_TRY_STATUS(check_tensor(p.name, "input", input, names));
  }
  names.clear();
  for (const BatchTensor& output : p.outputs) {
    MILLRACE_TRY_STATUS(check_tensor(p.name, "output", output, names));
  }
  for (const BatchProgram& program : p.programs) {
    MILLRACE_TRY_STATUS(model->check_program(program));
  }
  MILLRACE_TRY_STATUS(model->index_programs());
  return std::shared_ptr<const BatchModel>(std::move(model));
}

Status BatchModel::check_program(const BatchProgram& program) const {
  const std::string which = "model " + quoted(parts_.name) + ", program '" +
                            (program.executable ? program.executable.name() : "") + "' for " +
                            std::to_string(program.rows) + " rows: ";
  if (!program.executable || program.rows < 1 || program.length < 0) {
    return fail(ErrorCode::kInvalidArgument, which + "it is empty, or its rows are below one");
  }
  const std::span<const Shape> takes = program.executable.input_shapes();
  const std::span<const Shape> gives = program.executable.output_shapes();
  std::vector<bool> given(takes.size());
  const auto claim = [&](std::size_t position, const std::string& what) -> Status {
    if (position < takes.size() && !given[position]) {
      given[position] = true;
      return {};
    }
    return fail(ErrorCode::kInvalidArgument, which + what + " stands at input " +
                                                 std::to_string(position) + " of " +
                                                 std::to_string(takes.size()) + ", or twice there");
  };
  const auto fits = [&](const Shape& shape, const BatchTensor& tensor, const char* kind) -> Status {
    const Shape wanted = batch_shape(tensor.row, program.rows, program.length);
    if (devices::admits(shape, wanted)) return {};
    return fail(ErrorCode::kInvalidArgument, which + kind + " " + quoted(tensor.name) +
                                                 " of the program is " + shape.to_string() +
                                                 ", not " + wanted.to_string());
  };
  for (const BatchTensor& input : parts_.inputs) {
    MILLRACE_TRY_STATUS(claim(input.position, quoted(input.name)));
    MILLRACE_TRY_STATUS(fits(takes[input.position], input, "input"));
  }
  if (!parts_.constants.empty()) {
    for (const BatchConstant& constant : parts_.constants.front()) {
      MILLRACE_TRY_STATUS(claim(constant.position, "a constant"));
      if (!program.executable.donated_inputs()[constant.position]) continue;
      return fail(ErrorCode::kInvalidArgument, which + "it donates input " +
                                                   std::to_string(constant.position) +
                                                   ", which later batches need");
    }
  }
  if (const auto none = std::ranges::find(given, false); none != given.end()) {
    return fail(ErrorCode::kInvalidArgument,
                which + "nothing gives its input " + std::to_string(none - given.begin()));
  }
  for (const BatchTensor& output : parts_.outputs) {
    if (output.position >= gives.size()) {
      return fail(ErrorCode::kInvalidArgument, which + "output " + quoted(output.name) +
                                                   " is beyond its " +
                                                   std::to_string(gives.size()));
    }
    MILLRACE_TRY_STATUS(fits(gives[output.position], output, "output"));
  }
  return {};
}

Status BatchModel::index_programs() {
  auto& programs = parts_.programs;
  const auto place = [](const BatchProgram& p) { return std::pair(p.length, p.rows); };
  std::ranges::sort(programs, {}, place);
  const auto twice = std::ranges::adjacent_find(programs, {}, place);
  if (twice != programs.end()) {
    return fail(ErrorCode::kInvalidArgument, "model " + quoted(parts_.name) +
                                                 " has two programs for " +
                                                 std::to_string(twice->rows) + " rows");
  }
  for (const BatchProgram& program : programs) {
    if (lengths_.empty() || lengths_.back() != program.length) lengths_.push_back(program.length);
  }
  const auto varies = [](const BatchTensor& tensor) { return unknown_dimensions(tensor.row) > 0; };
  const bool needs = std::ranges::any_of(parts_.inputs, varies);
  if (needs == (lengths_.front() == 0)) {
    return fail(ErrorCode::kInvalidArgument,
                "model " + quoted(parts_.name) + ": " +
                    (needs ? "its rows vary, and a program says no length"
                           : "its rows do not vary, and a program says a length"));
  }
  std::optional<std::int64_t> most;
  for (const auto& bucket : sizes()) most = std::min(most.value_or(bucket.back()), bucket.back());
  most_rows_ = *most;
  return {};
}

std::span<const BatchConstant> BatchModel::constants(std::size_t device) const {
  if (parts_.constants.empty()) return {};
  return parts_.constants[parts_.constants.size() == 1 ? 0 : device];
}

std::vector<std::vector<std::int64_t>> BatchModel::sizes() const {
  std::vector<std::vector<std::int64_t>> sizes(lengths_.size());
  for (const BatchProgram& program : parts_.programs) {
    const auto bucket = std::ranges::find(lengths_, program.length) - lengths_.begin();
    sizes[static_cast<std::size_t>(bucket)].push_back(program.rows);
  }
  return sizes;
}

const BatchProgram& BatchModel::program(std::size_t bucket, std::int64_t size) const {
  const auto found = std::ranges::find_if(parts_.programs, [&](const BatchProgram& p) {
    return p.length == lengths_[bucket] && p.rows == size;
  });
  MILLRACE_CHECK(found != parts_.programs.end(), "a batch has an exported size");
  return *found;
}

bool BatchModel::same_interface(const BatchModel& other) const {
  const auto equal = [](const BatchTensor& a, const BatchTensor& b) {
    return a.name == b.name && a.row == b.row;
  };
  return std::ranges::equal(inputs(), other.inputs(), equal) &&
         std::ranges::equal(outputs(), other.outputs(), equal) &&
         std::ranges::equal(lengths(), other.lengths());
}

Result<BatchModel::Request> BatchModel::check(std::span<const RowInput> inputs) const {
  Request request;
  std::optional<std::int64_t> rows;
  std::optional<std::int64_t> length;
  const auto bad = [](const std::string& input, const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "input " + quoted(input) + " " + why);
  };
  if (inputs.size() > parts_.inputs.size()) {
    for (const RowInput& input : inputs) {
      if (std::ranges::find(parts_.inputs, input.name, &BatchTensor::name) == parts_.inputs.end())
        return bad(input.name, "is none of model " + quoted(parts_.name));
    }
    return bad(inputs.back().name, "is one too many; inputs are given once");
  }
  for (const BatchTensor& wanted : parts_.inputs) {
    const auto input = std::ranges::find(inputs, wanted.name, &RowInput::name);
    if (input == inputs.end()) return bad(wanted.name, "is missing");
    const devices::HostView& view = input->view;
    if (Status ok = devices::check(view); !ok) return bad(wanted.name, ok.error().message());
    if (view.owner == nullptr) return bad(wanted.name, "has bytes without an owner");
    if (!devices::is_dense(view)) return bad(wanted.name, "is not dense and row-major");
    const Shape pattern = batch_shape(wanted.row, kUnknownDimension, kUnknownDimension);
    if (!devices::admits(pattern, view.shape)) {
      return bad(wanted.name,
                 "is " + view.shape.to_string() + " and " + devices::misfit(pattern, view.shape));
    }
    if (rows && *rows != view.shape.dim(0)) {
      return bad(wanted.name, "has " + std::to_string(view.shape.dim(0)) +
                                  " rows, and an input before it " + std::to_string(*rows));
    }
    rows = view.shape.dim(0);
    for (int i = 0; i < wanted.row.rank(); ++i) {
      if (wanted.row.dim(i) != kUnknownDimension) continue;
      const std::int64_t here = view.shape.dim(i + 1);
      if (length && *length != here) {
        return bad(wanted.name, "has rows of length " + std::to_string(here) +
                                    ", and an input before it " + std::to_string(*length));
      }
      length = here;
    }
    request.bytes += view.shape.size_bytes();
  }
  if (inputs.size() != parts_.inputs.size()) return bad(inputs.back().name, "is there twice");
  request.rows = *rows;
  if (request.rows < 1 || request.rows > most_rows_) {
    return bad(parts_.inputs.front().name,
               "has " + std::to_string(request.rows) + " rows; a request has 1 to " +
                   std::to_string(most_rows_) + ", the largest batch that was exported");
  }
  const auto bucket = std::ranges::lower_bound(lengths_, length.value_or(0));
  if (bucket == lengths_.end()) {
    return bad(parts_.inputs.front().name, "has rows of length " + std::to_string(*length) +
                                               "; the longest exported is " +
                                               std::to_string(lengths_.back()));
  }
  request.length = length.value_or(0);
  request.bucket = static_cast<std::size_t>(bucket - lengths_.begin());
  return request;
}

}  // namespace millrace::transfer
