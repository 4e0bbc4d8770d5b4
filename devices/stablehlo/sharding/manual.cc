#include "millrace/devices/stablehlo/sharding/manual.h"

#include <algorithm>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/sharding/shards.h"

namespace millrace::devices::stablehlo::sharding {
namespace {

// What is wrong with the sharding of one value; "" if nothing is.
std::string fault(const Sharding& sharding, ir::Type type, const std::vector<std::string>& axes) {
  const Status fits = check_type(sharding, type);
  if (!fits) return fits.error().message();
  const Mesh& mesh = *sharding.mesh;
  for (const std::string& axis : axes) {
    if (!mesh.find(axis))
      return ir::message("the manual axis \"", axis, "\" is not in the mesh of ",
                         to_string(sharding), ", ", to_string(mesh));
  }
  for (std::size_t d = 0; d < sharding.dims.size(); ++d) {
    bool free_before = false;
    std::int64_t parts = 1;
    for (const AxisRef& axis : sharding.dims[d].axes) {
      const std::string& name = mesh.axes[static_cast<std::size_t>(axis.axis)].name;
      const bool manual = std::ranges::find(axes, name) != axes.end();
      if (manual && free_before)
        return ir::message("the manual axis \"", name, "\" comes behind others in dimension ", d,
                           " of ", to_string(sharding));
      free_before = free_before || !manual;
      if (manual) parts *= axis.size;
    }
    const std::int64_t size = type.dims()[d];
    if (size >= 0 && size % parts != 0)
      return ir::message("the manual axes of ", to_string(sharding), " cut dimension ", d, " of ",
                         type, " into ", parts, " parts, which do not divide it");
  }
  return {};
}

Result<std::vector<Sharding>> read_side(const ir::Op& op, const Meshes& meshes, const char* name,
                                        const std::vector<ir::Type>& types,
                                        const std::vector<std::string>& axes) {
  auto list = read_shardings(op.attr(name), meshes);
  if (!list) return ir::invalid(op, name, ": ", list.error().message());
  if (list->size() != types.size())
    return ir::invalid(op, name, " has ", list->size(), " shardings for ", types.size(), " values");
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string why = fault((*list)[i], types[i], axes);
    if (!why.empty()) return ir::invalid(op, name, " ", i, ": ", why);
  }
  return list;
}

}  // namespace

Result<Manual> read_manual(const ir::Op& op, const Meshes& meshes) {
  Manual out;
  auto axes = read_manual_axes(op.attr("manual_axes"));
  if (!axes) return ir::invalid(op, axes.error().message());
  out.axes = *std::move(axes);
  MILLRACE_TRY(out.in,
               read_side(op, meshes, "in_shardings", ir::types_of(op.operands()), out.axes));
  MILLRACE_TRY(out.out,
               read_side(op, meshes, "out_shardings", ir::types_of(op.results()), out.axes));
  return out;
}

std::vector<ir::Type> local_types(const ir::Module& module, const std::vector<ir::Type>& types,
                                  const std::vector<Sharding>& shardings,
                                  const std::vector<std::string>& axes) {
  std::vector<ir::Type> out = types;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!types[i].is_tensor() || !types[i].has_static_shape()) continue;
    const Dims dims = local_shape(shardings[i], types[i].dims(), axes);
    if (!std::ranges::equal(dims, types[i].dims()))
      out[i] = module.types().tensor(dims, types[i].element());
  }
  return out;
}

}  // namespace millrace::devices::stablehlo::sharding
