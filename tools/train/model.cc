#include "millrace/tools/train/model.h"

#include <algorithm>
#include <array>
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
  const auto named = [&](const Error& error) {
    return std::unexpected(error.with_context("array '" + tensor.name + "'"));
  };
  const auto role = field<std::string>(json, "role");
  if (!role) return named(role.error());
  MILLRACE_TRY(tensor.role, role_from(*role));
  const auto shape = field<std::vector<std::int64_t>>(json, "shape");
  if (!shape) return named(shape.error());
  const std::vector<std::int64_t>& dims = *shape;
  const auto dtype_name = field<std::string>(json, "dtype");
  if (!dtype_name) return named(dtype_name.error());
  const auto dtype = devices::dtype_from_string(*dtype_name);
  const bool valid =
      dims.size() <= devices::kMaxRank && std::ranges::all_of(dims, [](auto d) { return d >= 0; });
  if (!dtype || !valid) {
    return fail(ErrorCode::kInvalidArgument,
                "array '" + tensor.name + "' has no valid shape and dtype");
  }
  tensor.shape = Shape(*dtype, dims);
  tensor.donated = json.value("donated", false);
  // Each role has its own way; a manifest may say it too.
  if (const auto combine = json.find("combine"); combine != json.end() && !combine->is_null()) {
    const auto way = field<std::string>(json, "combine");
    if (!way) return named(way.error());
    if (*way != "mean" && *way != "sum" && *way != "concat")
      return named(Error(ErrorCode::kInvalidArgument, "combine '" + *way + "' is not known here"));
  }
  return tensor;
}

Result<std::vector<TensorSpec>> parse_tensors(const Json& json) {
  std::vector<TensorSpec> tensors;
  for (const Json& one : json) {
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
    MILLRACE_TRY(const Json inputs, field<Json>(json, "inputs"));
    MILLRACE_TRY(program.inputs, parse_tensors(inputs));
    MILLRACE_TRY(const Json outputs, field<Json>(json, "outputs"));
    MILLRACE_TRY(program.outputs, parse_tensors(outputs));
    return {};
  };
  if (const Status parsed = parse(); !parsed) {
    return std::unexpected(parsed.error().with_context("program '" + program.name + "'"));
  }
  return program;
}

std::vector<TensorSpec> family(const std::vector<TensorSpec>& tensors, Role role) {
  std::vector<TensorSpec> found;
  for (const TensorSpec& t : tensors) {
    if (t.role == role) found.push_back(t);
  }
  return found;
}

// The arrays of a role must be exactly those of the family: names and shapes, in the same order.
Status check_family(const ProgramSpec& program, const std::vector<TensorSpec>& tensors, Role role,
                    const std::vector<TensorSpec>& expected, const char* what) {
  const auto found = family(tensors, role);
  const bool same =
      std::ranges::equal(found, expected, [](const TensorSpec& a, const TensorSpec& b) {
        return a.name == b.name && a.shape == b.shape;
      });
  if (same) return {};
  return fail(ErrorCode::kInvalidArgument,
              "program '" + program.name + "': its " + what +
                  " are not those that init gives (names, shapes, order)");
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
  auto init = model.program("init");
  if (!init) return std::unexpected(init.error());
  model.params_ = family((*init)->outputs, Role::kParam);
  model.momenta_ = family((*init)->outputs, Role::kMomentum);
  model.state_ = family((*init)->outputs, Role::kState);
  if (Status status = model.check(); !status)
    return std::unexpected(status.error().with_context(path));
  return model;
}

Status Model::check() const {
  for (const ProgramSpec& p : programs_) {
    if (p.kind == "init") continue;
    MILLRACE_TRY_STATUS(check_family(p, p.inputs, Role::kParam, params_, "parameters"));
    if (p.kind == "update") {
      MILLRACE_TRY_STATUS(check_family(p, p.inputs, Role::kMomentum, momenta_, "momenta"));
      MILLRACE_TRY_STATUS(check_family(p, p.inputs, Role::kGrad, params_, "gradients"));
      MILLRACE_TRY_STATUS(check_family(p, p.outputs, Role::kParam, params_, "new parameters"));
      MILLRACE_TRY_STATUS(check_family(p, p.outputs, Role::kMomentum, momenta_, "new momenta"));
      continue;
    }
    MILLRACE_TRY_STATUS(check_family(p, p.inputs, Role::kState, state_, "state arrays"));
    if (p.kind == "grad") {
      MILLRACE_TRY_STATUS(check_family(p, p.outputs, Role::kGrad, params_, "gradients"));
      MILLRACE_TRY_STATUS(check_family(p, p.outputs, Role::kState, state_, "new state arrays"));
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
