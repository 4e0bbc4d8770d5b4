// sdy.manual_computation: its body is for one device of some axes of a mesh. There is a clone of it
// for each place along these axes; along the other axes one device stands for all, as the arrays
// are whole there.
#include <map>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/sharding/manual.h"
#include "millrace/devices/stablehlo/spread/pieces.h"
#include "millrace/devices/stablehlo/spread/walk.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using sharding::Mesh;
using sharding::Sharding;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

struct Walk::Manual {
  sharding::Manual says;
  std::shared_ptr<const Mesh> mesh;
  bool is_of_all = false;  // no axis of the mesh is left, and each device has a clone
  Places places;           // of the body
  std::vector<int> outer;  // of each of its clones: the clone around it
};

Result<Walk::Manual> Walk::manual_of(const ir::Op& op, const Frame& frame) {
  Manual manual;
  MILLRACE_TRY(manual.says, sharding::read_manual(op, *frame.places.meshes));
  for (const auto* list : {&manual.says.in, &manual.says.out}) {
    for (const Sharding& s : *list) {
      if (manual.mesh == nullptr || manual.mesh->axes.empty()) manual.mesh = s.mesh;
      if (s.mesh->axes.empty() || s.mesh->axes == manual.mesh->axes) continue;
      return ir::invalid(op, "it has shardings of the meshes ", to_string(*manual.mesh), " and ",
                         to_string(*s.mesh), ", expected one mesh");
    }
  }
  for (const auto& [name, mesh] : frame.places.meshes->all()) {
    if (manual.mesh == nullptr &&
        std::ranges::all_of(manual.says.axes,
                            [&](const std::string& axis) { return mesh->find(axis).has_value(); }))
      manual.mesh = mesh;
  }
  if (manual.mesh == nullptr) manual.mesh = std::make_shared<Mesh>();
  MILLRACE_TRY_STATUS(set_places(op, manual, frame));
  const auto is_manual = [&](const sharding::MeshAxis& axis) {
    return axis.size == 1 ||
           std::ranges::find(manual.says.axes, axis.name) != manual.says.axes.end();
  };
  manual.is_of_all = frame.places.is_whole && !manual.mesh->axes.empty() &&
                     manual.places.size() == frame.places.partitions &&
                     std::ranges::all_of(manual.mesh->axes, is_manual);
  manual.places.is_each = manual.is_of_all;
  return manual;
}

Status Walk::set_places(const ir::Op& op, Manual& manual, const Frame& frame) {
  const Mesh& mesh = *manual.mesh;
  const Places& around = frame.places;
  manual.places = {.replicas = around.replicas,
                   .partitions = around.partitions,
                   .devices = {},
                   .manual_axes = around.manual_axes,
                   .meshes = around.meshes};
  std::vector<std::size_t> axes;
  std::int64_t clones = std::ssize(frame.members);
  for (const std::string& name : manual.says.axes) {
    const auto axis = mesh.find(name);
    if (!axis)
      return ir::invalid(op, "manual axis \"", name, "\" is none of the mesh ", to_string(mesh));
    if (std::ranges::find(around.manual_axes, name) != around.manual_axes.end())
      return ir::invalid(op, "axis \"", name, "\" is manual around it, too");
    axes.push_back(index(*axis));
    manual.places.manual_axes.push_back(name);
    clones *= mesh.axes[axes.back()].size;
  }
  constexpr std::int64_t kMostClones = 1 << 16;
  if (clones > kMostClones || (mesh.devices() > around.partitions && !mesh.axes.empty()))
    return ir::invalid(op, "the mesh ", to_string(mesh), " has ", mesh.devices(),
                       " devices, but the program is for ", around.partitions);
  for (const int member : frame.members) {
    std::vector<std::int64_t> at(mesh.axes.size(), 0);
    const auto place = mesh.place_of(around.device(member));
    for (const std::string& name : around.manual_axes) {
      const auto axis = mesh.find(name);
      if (!axis || !place) {
        return ir::unimplemented(op, "axis \"", name, "\", which is manual around it, is none of ",
                                 "the mesh ", to_string(mesh));
      }
      at[index(*axis)] = mesh.coordinates(*place)[index(*axis)];
    }
    for (bool more = true; more;) {
      std::int64_t linear = 0;
      for (std::size_t a = 0; a < at.size(); ++a) linear = linear * mesh.axes[a].size + at[a];
      manual.places.devices.push_back(mesh.axes.empty() ? around.device(member)
                                                        : static_cast<int>(mesh.device_at(linear)));
      manual.outer.push_back(member);
      more = false;
      for (std::size_t a = axes.size(); a-- > 0 && !more;) {
        at[axes[a]] = (at[axes[a]] + 1) % mesh.axes[axes[a]].size;
        more = at[axes[a]] != 0;
      }
    }
  }
  return {};
}

// Operand i as the body has it.
Result<Each> Walk::entering(const ir::Op& op, int i, const Manual& manual, const Members& all,
                            Frame& frame) {
  const Sharding& sharding = manual.says.in[index(i)];
  const ir::Type type = op.operand(i)->type();
  if (!type.is_tensor() || !type.has_static_shape()) {
    return ir::unimplemented(op, "operand ", i, " is ", type,
                             ", expected an array of known dimensions");
  }
  const auto local = sharding::local_shape(sharding, type.dims(), manual.says.axes);
  Maker make(into_, frame.to, op);
  std::vector<ir::Value*> values;
  std::map<std::pair<ir::Value*, Piece>, ir::Value*> made;
  for (const int clone : all) {
    const int device = manual.places.device(clone);
    if (ir::Value* const part =
            manual.is_of_all ? parts_.find(op.operand(i), sharding, device) : nullptr) {
      values.push_back(part);
      continue;
    }
    ir::Value* whole = at(op.operand(i))[manual.outer[index(clone)]];
    Piece piece = piece_of(sharding, type.dims(), device, manual.says.axes);
    ir::Value*& part = made[{whole, piece}];
    if (part == nullptr) part = cut(make, whole, piece, sharding, local);
    values.push_back(part);
  }
  return Each(std::move(values), all);
}

// Result i as it is around.
Result<Each> Walk::leaving(const ir::Op& op, int i, const Each& inside, const Manual& manual,
                           Frame& frame) {
  const Sharding& sharding = manual.says.out[index(i)];
  const ir::Type type = op.result(i)->type();
  if (!type.is_tensor() || !type.has_static_shape()) {
    return ir::unimplemented(op, "result ", i, " is ", type,
                             ", expected an array of known dimensions");
  }
  std::map<int, std::map<Piece, ir::Value*>> parts;  // by the clone around
  for (int clone = 0; clone < manual.places.size(); ++clone) {
    Piece piece = piece_of(sharding, type.dims(), manual.places.device(clone), manual.says.axes);
    parts[manual.outer[index(clone)]].try_emplace(std::move(piece), inside[clone]);
  }
  Maker make(into_, frame.to, op);
  std::vector<ir::Value*> wholes(index(frame.places.size()), nullptr);
  for (const auto& [member, pieces] : parts) {
    std::vector<Part> list;
    for (const auto& [piece, value] : pieces) list.push_back({piece, value});
    wholes[index(member)] = assemble(make, std::move(list), sharding, type);
  }
  if (manual.is_of_all) {
    std::vector<ir::Value*> by_device(index(manual.places.size()));
    for (int clone = 0; clone < manual.places.size(); ++clone)
      by_device[index(manual.places.device(clone))] = inside[clone];
    parts_.add(op.result(i), sharding, std::move(by_device));
  }
  return Each(std::move(wholes), frame.members);
}

Status Walk::manual(const ir::Op& op, Frame& frame) {
  MILLRACE_TRY(const Manual manual, manual_of(op, frame));
  const ir::Block& body = op.region().block();
  Members all(index(manual.places.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  const auto by_clone = [&](const Each& around) {
    std::vector<ir::Value*> values;
    for (const int outer : manual.outer) values.push_back(around[outer]);
    return Each(std::move(values), all);
  };
  for (int i = 0; i < op.operand_count(); ++i) {
    MILLRACE_TRY(Each argument, entering(op, i, manual, all, frame));
    set(body.argument(i), std::move(argument));
  }
  // Values of the surroundings, as its clones see them.
  std::vector<std::pair<ir::Value*, Each>> around;
  for (ir::Value* v : contents_.captures(op)) {
    around.emplace_back(v, at(v));
    set(v, by_clone(at(v)));
  }
  Frame inner{frame.to, manual.places, all, frame.is_masked ? by_clone(frame.mask) : Each(),
              frame.is_masked};
  const Result<std::vector<Each>> returned = block(body, inner);
  for (auto& [v, each] : around) set(v, std::move(each));
  if (!returned) return std::unexpected(returned.error());
  for (int i = 0; i < op.result_count(); ++i) {
    MILLRACE_TRY(Each result, leaving(op, i, (*returned)[index(i)], manual, frame));
    set(op.result(i), std::move(result));
  }
  return {};
}

}  // namespace millrace::devices::stablehlo::spread
