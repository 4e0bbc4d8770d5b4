// Shardy's attributes of a module as values. Errors say what is wrong with which name or number;
// callers add the place (12:5: sdy.sharding_constraint). Read next: sharding.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::devices::stablehlo::sharding {

// The meshes of a module by their names. Thread-safety: immutable.
class Meshes {
 public:
  // Reads the module's sdy.mesh operations.
  static Result<Meshes> of(const ir::Module& module);
  // nullptr: there is none of this name.
  std::shared_ptr<const Mesh> find(std::string_view name) const;
  const std::map<std::string, std::shared_ptr<const Mesh>, std::less<>>& all() const {
    return by_name_;
  }
  // kInvalidArgument if the meshes do not have this number of devices. Placeholders have none, and
  // maximal meshes one of them.
  Status check_devices(std::int64_t devices) const;

 private:
  std::map<std::string, std::shared_ptr<const Mesh>, std::less<>> by_name_;
};

// #sdy.mesh<["a"=2, "b"=4], device_ids=[...]>
Result<Mesh> read_mesh(std::string_view text);
// #sdy.sharding<@mesh, [{"a"}, {}]>. The null handle is refused.
Result<Sharding> read_sharding(ir::Attribute attribute, const Meshes& meshes);
Result<Sharding> read_sharding(std::string_view text, const Meshes& meshes);
// #sdy.sharding_per_value<[<@mesh, [{"a"}]>, <@mesh, [{}]>]>
Result<std::vector<Sharding>> read_shardings(ir::Attribute attribute, const Meshes& meshes);
// #sdy<manual_axes{"a", "b"}>
Result<std::vector<std::string>> read_manual_axes(ir::Attribute attribute);

// Whether a value of this type can lie so: a dimension of the sharding for each of the tensor; none
// for what is no tensor, and on maximal meshes.
Status check_type(const Sharding& sharding, ir::Type type);

}  // namespace millrace::devices::stablehlo::sharding
