#include "millrace/tools/api/model_manifest.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/read_file.h"

namespace millrace {
namespace {

using devices::DType;
using devices::Shape;
using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, TensorRole>, 15> kRoles = {{
    {"seed", TensorRole::kSeed},
    {"param", TensorRole::kParam},
    {"momentum", TensorRole::kMomentum},
    {"state", TensorRole::kState},
    {"grad", TensorRole::kGrad},
    {"images", TensorRole::kImages},
    {"labels", TensorRole::kLabels},
    {"random", TensorRole::kRandom},
    {"rows", TensorRole::kRows},
    {"loss", TensorRole::kLoss},
    {"correct", TensorRole::kCorrect},
    {"loss_sum", TensorRole::kLossSum},
    {"log_probs", TensorRole::kLogProbs},
    {"input", TensorRole::kInput},
    {"output", TensorRole::kOutput},
}};
Result<TensorRole> role_from(const std::string& text) {
  for (const auto& [name, role] : kRoles) {
    if (name == text) return role;
  }
  std::string known;
  for (const auto& [name, role] : kRoles) known.append(known.empty() ? "" : ", ").append(name);
  return fail(ErrorCode::kInvalidArgument,
              "role '" + text + "' is not known here; known: " + known);
}

// Tokens are read, but no array of a model is one.
Result<DType> dtype_from(const std::string& text) {
  if (const std::optional<DType> dtype = devices::dtype_from_string(text)) return *dtype;
  std::string known;
  for (int i = 1; i < static_cast<int>(DType::kToken); ++i)
    known.append(i == 1 ? "" : ", ").append(devices::to_string(static_cast<DType>(i)));
  return fail(ErrorCode::kInvalidArgument, "dtype '" + text +
                                               "' is not known here; known, as StableHLO spells "
                                               "them: " +
                                               known);
}

Status check_dimensions(const std::vector<std::int64_t>& dims) {
  const std::string shape = "shape " + json_text(Json(dims)).substr(0, 60);
  if (dims.size() > devices::kMaxRank) {
    return fail(ErrorCode::kInvalidArgument,
                shape + " has more than " + std::to_string(devices::kMaxRank) + " dimensions");
  }
  if (std::ranges::all_of(dims, [](std::int64_t d) { return d >= 0; })) return {};
  return fail(ErrorCode::kInvalidArgument, shape + " has a negative dimension");
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
    MILLRACE_TRY(const DType dtype, dtype_from(dtype_name));
    MILLRACE_TRY_STATUS(check_dimensions(dims));
    tensor.shape = Shape(dtype, dims);
    tensor.donated = json.value("donated", false);
    if (json.contains("length_dimension")) {
      MILLRACE_TRY(const int dimension, field<int>(json, "length_dimension"));
      if (dimension < 1 || dimension >= tensor.shape.rank()) {
        return fail(ErrorCode::kInvalidArgument,
                    "length_dimension " + std::to_string(dimension) +
                        " is none of its dimensions behind the first, which is the rows");
      }
      tensor.length_dimension = dimension;
    }
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
    if (json.contains("length")) {
      MILLRACE_TRY(program.length, field<std::int64_t>(json, "length"));
    }
    MILLRACE_TRY(program.inputs, parse_tensors(json, "inputs"));
    MILLRACE_TRY(program.outputs, parse_tensors(json, "outputs"));
    return {};
  };
  if (const Status parsed = parse(); !parsed) {
    return std::unexpected(parsed.error().with_context("program '" + program.name + "'"));
  }
  return program;
}

}  // namespace

std::vector<std::size_t> ProgramSpec::of_role(const std::vector<TensorSpec>& tensors,
                                              TensorRole role) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role == role) positions.push_back(i);
  }
  return positions;
}

Result<ModelManifest> ModelManifest::read(const std::string& folder) {
  ModelManifest manifest{.folder = folder, .path = folder + "/manifest.json"};
  const Result<std::string> text = read_file(manifest.path);
  if (!text) {
    return std::unexpected(text.error().with_context(
        "a model folder has a manifest.json (tools/models/README.md); name the folder of a model"));
  }
  try {
    const Json json = Json::parse(*text);
    if (json.at("schema").get<int>() != 1) {
      return fail(
          ErrorCode::kUnimplemented,
          manifest.path + ": schema " + json_text(json.at("schema")) + "; this reads schema 1");
    }
    const Json& facts = json.at("model");
    manifest.name = facts.at("name").get<std::string>();
    if (facts.contains("classes")) manifest.classes = facts.at("classes").get<std::int64_t>();
    if (facts.contains("image_shape")) {
      manifest.image_shape = facts.at("image_shape").get<std::vector<std::int64_t>>();
    }
    if (json.contains("weights")) manifest.weights = json.at("weights").get<std::string>();
    for (const Json& one : json.at("programs")) {
      auto program = parse_program(one, folder);
      if (!program) return std::unexpected(program.error().with_context(manifest.path));
      manifest.programs.push_back(*std::move(program));
    }
  } catch (const Json::exception& e) {
    return fail(ErrorCode::kInvalidArgument, manifest.path + ": " + e.what());
  }
  return manifest;
}

std::vector<std::int64_t> ModelManifest::rows_of(const std::string& kind) const {
  std::vector<std::int64_t> rows;
  for (const ProgramSpec& p : programs) {
    if (p.kind == kind && p.rows) rows.push_back(*p.rows);
  }
  std::ranges::sort(rows);
  const auto twice = std::ranges::unique(rows);
  rows.erase(twice.begin(), twice.end());
  return rows;
}

}  // namespace millrace
