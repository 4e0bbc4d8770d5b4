// ModelManifest: what an exported model folder says of itself, in its manifest.json: programs and
// the arrays that they take and give, by role and name (tools/models/README.md has the schema).
// Users: train::Model, which wires the programs of a training, and Model (model.h), which serves
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"

namespace millrace {

// What an array is for. Families (param, momentum, grad, state) are distinguished by name within a
// role.
enum class TensorRole : std::uint8_t {
  kSeed,
  kParam,
  kMomentum,
  kState,
  kGrad,
  kImages,
  kLabels,
  kRandom,
  kRows,
  kLoss,
  kCorrect,
  kLossSum,
  kLogProbs,
  kInput,   // rows of any kind
  kOutput,  // the same
};

struct TensorSpec {
  std::string name;
  TensorRole role{};
  devices::Shape shape;
  bool donated = false;
  // The dimension that is the length of the rows, where that varies between programs.
  std::optional<int> length_dimension = {};
};
// It comes with the model: the other inputs and outputs come and go with each run.
inline bool is_weight(const TensorSpec& tensor) {
  return tensor.role == TensorRole::kParam || tensor.role == TensorRole::kState;
}

struct ProgramSpec {
  std::string name;
  std::string kind;                  // init, grad, update, eval, predict
  std::optional<std::int64_t> rows;  // images per run
  std::string path;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::int64_t length = 0;  // of the rows; 0: they have one length

  // Positions of a role, in the order of the program.
  static std::vector<std::size_t> of_role(const std::vector<TensorSpec>& tensors, TensorRole role);
};

// Value type.
struct ModelManifest {
  std::string folder = {};
  std::string path = {};  // of the manifest itself
  std::string name = {};
  std::optional<std::int64_t> classes = {};
  std::optional<std::vector<std::int64_t>> image_shape = {};
  std::string weights = {};  // a file of the folder; empty: the manifest names none
  std::vector<ProgramSpec> programs = {};

  // Errors name the folder, the program and the field. Blocking.
  static Result<ModelManifest> read(const std::string& folder);
  // The rows that programs of a kind were exported for, ascending.
  std::vector<std::int64_t> rows_of(const std::string& kind) const;
};

}  // namespace millrace
