// Model: an exported model folder: manifest.json and its programs (tools/models/README.md has the
// schema). A trainer wires programs by role and name and knows no network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"

namespace millrace::train {

// What an array is for. Families (param, momentum, grad, state) are distinguished by name within a
// role.
enum class Role : std::uint8_t {
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
};

struct TensorSpec {
  std::string name;
  Role role{};
  devices::Shape shape;
  bool donated = false;
};

struct ProgramSpec {
  std::string name;
  std::string kind;                  // init, grad, update, eval, predict
  std::optional<std::int64_t> rows;  // images per run
  std::string path;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;

  // Positions of a role, in the order of the program.
  static std::vector<std::size_t> of_role(const std::vector<TensorSpec>& tensors, Role role);
};

// Thread-safety: immutable.
class Model {
 public:
  // Errors name the folder, the program and the field. Checks that the programs fit together: the
  // same names and shapes of parameters, momenta and state everywhere, a gradient for each
  // parameter.
  static Result<Model> load(const std::string& folder);

  const std::string& name() const { return name_; }
  std::int64_t classes() const { return classes_; }
  const std::vector<std::int64_t>& image_shape() const { return image_shape_; }
  // What a training carries from step to step: parameters, momenta (same names), then state, each
  // in the order of init's outputs.
  const std::vector<TensorSpec>& carried() const { return carried_; }
  // The positions of these in init's outputs.
  const std::vector<std::size_t>& carried_by_init() const { return carried_by_init_; }

  // The program of a kind, with these rows where it has rows. kNotFound lists what there is.
  Result<const ProgramSpec*> program(const std::string& kind,
                                     std::optional<std::int64_t> rows = {}) const;
  // The rows that programs of a kind were exported for, ascending.
  std::vector<std::int64_t> rows_of(const std::string& kind) const;

 private:
  Status check() const;

  std::string folder_;
  std::string name_;
  std::int64_t classes_ = 0;
  std::vector<std::int64_t> image_shape_;
  std::vector<ProgramSpec> programs_;
  std::vector<TensorSpec> carried_;
  std::vector<std::size_t> carried_by_init_;
};

}  // namespace millrace::train
