// Model: an exported model folder as a training sees it. A trainer wires programs by role and name
// and knows no network. Read next: tools/api/model_manifest.h, which has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/tools/api/model_manifest.h"

namespace millrace::train {

using Role = TensorRole;
using millrace::ProgramSpec;
using millrace::TensorSpec;

// Thread-safety: immutable.
class Model {
 public:
  // Errors name the folder, the program and the field. Checks that the programs fit together: the
  // same names and shapes of parameters, momenta and state everywhere, a gradient for each
  // parameter.
  static Result<Model> load(const std::string& folder);

  const std::string& name() const { return manifest_.name; }
  std::int64_t classes() const { return *manifest_.classes; }
  const std::vector<std::int64_t>& image_shape() const { return *manifest_.image_shape; }
  // What a training carries from step to step: parameters, momenta (same names), then state, each
  // in the order of init's outputs.
  const std::vector<TensorSpec>& carried() const { return carried_; }
  // The positions of these in init's outputs.
  const std::vector<std::size_t>& carried_by_init() const { return carried_by_init_; }

  // The program of a kind, with these rows where it has rows. kNotFound lists what there is.
  Result<const ProgramSpec*> program(const std::string& kind,
                                     std::optional<std::int64_t> rows = {}) const;
  // The rows that programs of a kind were exported for, ascending.
  std::vector<std::int64_t> rows_of(const std::string& kind) const {
    return manifest_.rows_of(kind);
  }

 private:
  Status check() const;

  ModelManifest manifest_;
  std::vector<TensorSpec> carried_;
  std::vector<std::size_t> carried_by_init_;
};

}  // namespace millrace::train
