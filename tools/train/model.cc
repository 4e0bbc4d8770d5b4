#include "millrace/tools/train/model.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/read_file.h"

namespace millrace::train {
namespace {

using devices::Shape;
using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, Role>, 13> kRoles = {{
    {"seed", Role::kSeed},
    {"param", Role::kParam},
    {"momentum", Role::kMomentum},
    {"state", Role::kState},
    {"grad", Role::kGrad},
    {"images", Role::kImages},
    {"labels", Role::kLabels},
    {"random", Role::kRandom},
    {"rows", Role::kRows},
    {"loss", Role::kLoss},
    {"correct", Role::kCorrect},
    {"loss_sum", Role::kLossSum},
    {"log_probs", Role::kLogProbs},
}};
Result<Role> role_from(const std::string& text) {
  for (const auto& [name, role] : kRoles) {
    if (name == text) return role;
  }
  return fail(ErrorCode::kInvalidArgument, "role '" + text + "' is not known here");
}

// The field of an object; T = Json takes any.
template <class T>
Result<T> field(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) {
    return fail(ErrorCode::kInvalidArgument, std::string("the field '") + key + "' is missing");
  }
  try {
    return found->template get<T>();
  } catch (const Json::exception&) {
    return fail(ErrorCode::kInvalidArgument, std::string("the field '") + key + "' may not be " +
                                                 json_text(*found).substr(0, 60));
  }
}

Result<TensorSpec> parse_tensor(const Json& json) {
  TensorSpec tensor;
  MILLRACE_TRY(tensor.name, field<std::string>(json, "name"));
  const auto parse = [&]() -> Status {
    MILLRACE_TRY(const std::string role, field<std::string>(json, "role"));
    MILLRACE_TRY(tensor.role, role_from(role));
    MILLRACE_TRY(const auto dims, field<std::vector<std::int64_t>>(json, "shape"));
    MILLRACE_TRY(const std::string dtype_name, field<std::string>(json, "dtype"));
    const auto dtype = devices::dtype_from_string(dtype_name);
    const bool valid = dims.size() <= devices::kMaxRank &&
                       std::ranges::all_of(dims, [](auto d) { return d >= 0; });
    if (!dtype || !valid)
      return fail(ErrorCode::kInvalidArgument, "it has no valid shape and dtype");
    tensor.shape = Shape(*dtype, dims);
    tensor.donated = json.value("donated", false);
    // Each role has its own way; a manifest may say it too.
    if (json.value("combine", Json()).is_null()) return {};
    MILLRACE_TRY(const std::string way, field<std::string>(json, "combine"));
    if (way == "mean" || way == "sum" || way == "concat") return {};
    return fail(ErrorCode::kInvalidArgument, "combine '" + way + "' is not known here");
  };
  if (const Status parsed = parse(); !parsed)
    return std::unexpected(parsed.error().with_context("array '" + tensor.name + "'"));
  return tensor;
}

Result<std::vector<TensorSpec>> parse_tensors(const Json& json, const char* key) {
  MILLRACE_TRY(const Json list, field<Json>(json, key));
  std::vector<TensorSpec> tensors;
  for (const Json& one : list) {
    MILLRACE_TRY(TensorSpec tensor, parse_tensor(one));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<ProgramSpec> parse_program(const Json& json, const std::string& folder) {
  ProgramSpec program;
  MILLRACE_TRY(program.name, field<std::string>(json, "name"));
  const auto parse = [&]() -> Status {
    MILLRACE_TRY(program.kind, field<std::string>(json, "kind"));
    MILLRACE_TRY(const Json rows, field<Json>(json, "rows"));
    if (!rows.is_null()) {
      MILLRACE_TRY(program.rows, field<std::int64_t>(json, "rows"));
    }
    MILLRACE_TRY(const std::string file, field<std::string>(json, "file"));
    program.path = folder + "/" + file;
    MILLRACE_TRY(program.inputs, parse_tensors(json, "inputs"));
    MILLRACE_TRY(program.outputs, parse_tensors(json, "outputs"));
    return {};
  };
  if (const Status parsed = parse(); !parsed) {
    return std::unexpected(parsed.error().with_context("program '" + program.name + "'"));
  }
  return program;
}

std::vector<TensorSpec> family(const std::vector<TensorSpec>& tensors, Role role) {
  std::vector<TensorSpec> found;
  std::ranges::copy_if(tensors, std::back_inserter(found),
                       [role](const TensorSpec& t) { return t.role == role; });
  return found;
}

}  // namespace

std::vector<std::size_t> ProgramSpec::of_role(const std::vector<TensorSpec>& tensors, Role role) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role == role) positions.push_back(i);
  }
  return positions;
}

Result<Model> Model::load(const std::string& folder) {
  const std::string path = folder + "/manifest.json";
  const Result<std::string> text = read_file(path);
  if (!text) {
    return std::unexpected(text.error().with_context(
        "a model folder has a manifest.json (tools/models/README.md); --model names the folder"));
  }
  Model model;
  model.folder_ = folder;
  try {
    const Json json = Json::parse(*text);
    if (json.at("schema").get<int>() != 1) {
      return fail(ErrorCode::kUnimplemented,
                  path + ": schema " + json_text(json.at("schema")) + "; this reads schema 1");
    }
    const Json& facts = json.at("model");
    model.name_ = facts.at("name").get<std::string>();
    model.classes_ = facts.at("classes").get<std::int64_t>();
    model.image_shape_ = facts.at("image_shape").get<std::vector<std::int64_t>>();
    for (const Json& one : json.at("programs")) {
      auto program = parse_program(one, folder);
      if (!program) return std::unexpected(program.error().with_context(path));
      model.programs_.push_back(*std::move(program));
    }
  } catch (const Json::exception& e) {
    return fail(ErrorCode::kInvalidArgument, path + ": " + e.what());
  }
  MILLRACE_TRY(const ProgramSpec* const init, model.program("init"));
  for (const Role role : {Role::kParam, Role::kMomentum, Role::kState}) {
    for (const std::size_t position : ProgramSpec::of_role(init->outputs, role)) {
      model.carried_by_init_.push_back(position);
      model.carried_.push_back(init->outputs[position]);
    }
  }
  if (Status status = model.check(); !status)
    return std::unexpected(status.error().with_context(path));
  return model;
}

Status Model::check() const {
  for (const ProgramSpec& p : programs_) {
    if (p.kind == "init") continue;
    // The arrays of a role must be exactly those of a family: names and shapes, in the same order.
    const auto same = [&](const std::vector<TensorSpec>& tensors, Role role, Role of,
                          const char* what) -> Status {
      const auto equal = [](const TensorSpec& a, const TensorSpec& b) {
        return a.name == b.name && a.shape == b.shape;
      };
      if (std::ranges::equal(family(tensors, role), family(carried_, of), equal)) return {};
      return fail(ErrorCode::kInvalidArgument,
                  "program '" + p.name + "': its " + what +
                      " are not those that init gives (names, shapes, order)");
    };
    MILLRACE_TRY_STATUS(same(p.inputs, Role::kParam, Role::kParam, "parameters"));
    if (p.kind == "update") {
      MILLRACE_TRY_STATUS(same(p.inputs, Role::kMomentum, Role::kMomentum, "momenta"));
      MILLRACE_TRY_STATUS(same(p.inputs, Role::kGrad, Role::kParam, "gradients"));
      MILLRACE_TRY_STATUS(same(p.outputs, Role::kParam, Role::kParam, "new parameters"));
      MILLRACE_TRY_STATUS(same(p.outputs, Role::kMomentum, Role::kMomentum, "new momenta"));
      continue;
    }
    MILLRACE_TRY_STATUS(same(p.inputs, Role::kState, Role::kState, "state arrays"));
    if (p.kind == "grad") {
      MILLRACE_TRY_STATUS(same(p.outputs, Role::kGrad, Role::kParam, "gradients"));
      MILLRACE_TRY_STATUS(same(p.outputs, Role::kState, Role::kState, "new state arrays"));
    }
  }
  return {};
}

std::vector<std::int64_t> Model::rows_of(const std::string& kind) const {
  std::vector<std::int64_t> rows;
  for (const ProgramSpec& p : programs_) {
    if (p.kind == kind && p.rows) rows.push_back(*p.rows);
  }
  std::ranges::sort(rows);
  return rows;
}

Result<const ProgramSpec*> Model::program(const std::string& kind,
                                          std::optional<std::int64_t> rows) const {
  for (const ProgramSpec& p : programs_) {
    if (p.kind == kind && p.rows == rows) return &p;
  }
  std::string text = "model folder " + folder_ + " has no program of kind '" + kind + "'";
  if (rows) {
    text += " for " + std::to_string(*rows) + " rows; it has";
    for (const std::int64_t r : rows_of(kind)) text += " " + std::to_string(r);
    text += ". Export it for other rows, or choose another --batch-size or --devices";
  }
  return fail(ErrorCode::kNotFound, std::move(text));
}

}  // namespace millrace::train
