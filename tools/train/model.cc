#include "millrace/tools/train/model.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace millrace::train {
namespace {

std::vector<TensorSpec> family(const std::vector<TensorSpec>& tensors, Role role) {
  std::vector<TensorSpec> found;
  std::ranges::copy_if(tensors, std::back_inserter(found),
                       [role](const TensorSpec& t) { return t.role == role; });
  return found;
}

}  // namespace

Result<Model> Model::load(const std::string& folder) {
  MILLRACE_TRY(ModelManifest manifest, ModelManifest::read(folder));
  const std::string path = manifest.path;
  if (!manifest.classes || !manifest.image_shape) {
    return fail(ErrorCode::kInvalidArgument,
                path + ": a training needs the facts 'classes' and 'image_shape' of its 'model'");
  }
  Model model;
  model.manifest_ = std::move(manifest);
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
  for (const ProgramSpec& p : manifest_.programs) {
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

Result<const ProgramSpec*> Model::program(const std::string& kind,
                                          std::optional<std::int64_t> rows) const {
  for (const ProgramSpec& p : manifest_.programs) {
    if (p.kind == kind && p.rows == rows) return &p;
  }
  std::string text = "model folder " + manifest_.folder + " has no program of kind '" + kind + "'";
  if (rows) {
    text += " for " + std::to_string(*rows) + " rows; it has";
    for (const std::int64_t r : rows_of(kind)) text += " " + std::to_string(r);
    text += ". Export it for other rows, or choose another --batch-size or --devices";
  }
  return fail(ErrorCode::kNotFound, std::move(text));
}

}  // namespace millrace::train
