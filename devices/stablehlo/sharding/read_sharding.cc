#include "millrace/devices/stablehlo/sharding/read_sharding.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "millrace/devices/stablehlo/text/cursor.h"

namespace millrace::devices::stablehlo::sharding {
namespace {

using text::Cursor;
using text::TokenKind;

// The sizes of an axis multiply to more devices than a mesh may have: no number overflows.
bool add_axis(Cursor& in, Mesh* mesh) {
  MeshAxis axis;
  if (!in.string(&axis.name) || !in.expect('=') || !in.integer(&axis.size)) return false;
  if (axis.size < 1 || axis.size > kMaxDevices)
    return in.fail("the axis \"", axis.name, "\" of size ", axis.size, "; an axis has 1 to ",
                   kMaxDevices);
  if (mesh->find(axis.name)) return in.fail("the axis \"", axis.name, "\" stands twice in a mesh");
  mesh->axes.push_back(std::move(axis));
  return mesh->devices() <= kMaxDevices ||
         in.fail("a mesh of ", mesh->devices(), " devices; it may have ", kMaxDevices);
}

bool check_device_ids(Cursor& in, const Mesh& mesh) {
  const auto& ids = mesh.device_ids;
  if (mesh.axes.empty()) {
    if (ids.size() != 1 || ids[0] < 0)
      return in.fail("a mesh without axes that has ", ids.size(),
                     " device ids; it has one, not negative, or none");
    return true;
  }
  if (std::ssize(ids) != mesh.devices())
    return in.fail(ids.size(), " device ids of a mesh of ", mesh.devices(), " devices");
  std::vector<bool> seen(ids.size());
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= std::ssize(ids))
      return in.fail("the device id ", id, " of a mesh of ", ids.size(), " devices");
    if (seen[static_cast<std::size_t>(id)]) return in.fail("the device id ", id, " stands twice");
    seen[static_cast<std::size_t>(id)] = true;
  }
  return true;
}

// <["a"=2, "b"=4], device_ids=[0, 2, ...]>
bool read_mesh_body(Cursor& in, Mesh* mesh) {
  if (!in.expect('<') || !in.list('[', ']', [&] { return add_axis(in, mesh); })) return false;
  if (in.accept(',')) {
    if (!in.expect_field("device_ids") || !in.int_list(&mesh->device_ids) ||
        !check_device_ids(in, *mesh)) {
      return false;
    }
    // That these are in order says nothing.
    if (!mesh->axes.empty() && std::ranges::is_sorted(mesh->device_ids)) mesh->device_ids.clear();
  }
  return in.expect('>');
}

// "a" or "a":(2)4, of a mesh.
bool read_axis(Cursor& in, const Mesh& mesh, std::vector<AxisRef>* out) {
  std::string name;
  if (!in.string(&name)) return false;
  const auto axis = mesh.find(name);
  if (!axis)
    return in.fail("there is no axis \"", name, "\" in the mesh ",
                   mesh.name.empty() ? to_string(mesh) : "@" + mesh.name + " " + to_string(mesh));
  const std::int64_t whole = mesh.axes[static_cast<std::size_t>(*axis)].size;
  AxisRef ref{*axis, 1, whole};
  if (in.accept(':')) {
    if (!in.expect('(') || !in.integer(&ref.pre_size) || !in.expect(')') || !in.integer(&ref.size))
      return false;
    const bool good = ref.pre_size >= 1 && ref.size > 1 && ref.size < whole &&
                      ref.pre_size <= whole && whole % ref.end() == 0;
    if (!good)
      return in.fail("\"", name, "\":(", ref.pre_size, ")", ref.size,
                     " is no part of an axis of size ", whole);
  }
  out->push_back(ref);
  return true;
}

bool read_axes(Cursor& in, const Mesh& mesh, std::vector<AxisRef>* out) {
  return in.list('{', '}', [&] { return read_axis(in, mesh, out); });
}

bool read_priority(Cursor& in, DimSharding* dim) {
  if (in.token().kind != TokenKind::kBareId) return true;
  const std::string_view word = in.token().text;
  int value = 0;
  const auto [end, code] = std::from_chars(word.data() + 1, word.data() + word.size(), value);
  if (word[0] != 'p' || code != std::errc() || end != word.data() + word.size() || value < 0)
    return in.unexpected("a priority, p and a number");
  dim->priority = value;
  if (!dim->open && dim->axes.empty())
    return in.fail("a priority of a dimension that is closed and has no axes");
  return in.advance();
}

// {"a", ?}p1
bool read_dim(Cursor& in, const Mesh& mesh, DimSharding* dim) {
  const auto one = [&] {
    if (dim->open) return in.unexpected("'}' behind '?'");
    if (!in.accept('?')) return read_axis(in, mesh, &dim->axes);
    return dim->open = true;
  };
  return in.list('{', '}', one) && read_priority(in, dim);
}

// replicated={"b"}, unreduced=max{"c"}
bool read_rest(Cursor& in, Sharding* out) {
  while (in.accept(',')) {
    if (in.accept_word("replicated")) {
      if (!in.expect('=') || !read_axes(in, *out->mesh, &out->replicated)) return false;
      continue;
    }
    if (!in.expect_word("unreduced")) return false;
    if (in.accept('=')) {
      if (in.accept_word("max")) {
        out->reduction = Reduction::kMax;
      } else if (in.accept_word("min")) {
        out->reduction = Reduction::kMin;
      } else {
        in.accept_word("sum");
      }
    }
    if (!read_axes(in, *out->mesh, &out->unreduced)) return false;
  }
  return true;
}

// SH-1, and that parts of an axis that follow each other are one.
bool check_axes(Cursor& in, const Sharding& s) {
  std::vector<AxisRef> all;
  const auto add = [&](const std::vector<AxisRef>& list, bool sorted) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const AxisRef& one = list[i];
      for (const AxisRef& other : all) {
        if (one.overlaps(other) || one == other)
          return in.fail("the axis ", to_string(one, *s.mesh), " is used twice, beside ",
                         to_string(other, *s.mesh));
      }
      all.push_back(one);
      if (i == 0) continue;
      const AxisRef& before = list[i - 1];
      if (before.axis == one.axis && before.end() == one.pre_size)
        return in.fail("the axes ", to_string(before, *s.mesh), " and ", to_string(one, *s.mesh),
                       " are one, and have to be written as one");
      if (sorted && std::pair(before.axis, before.pre_size) > std::pair(one.axis, one.pre_size))
        return in.fail("replicated or unreduced axes that are not in the order of the mesh");
    }
    return true;
  };
  for (const DimSharding& dim : s.dims) {
    if (!add(dim.axes, false)) return false;
  }
  return add(s.replicated, true) && add(s.unreduced, true);
}

// @mesh, or mesh<["a"=2]>
bool read_mesh_or_name(Cursor& in, const Meshes& meshes, Sharding* out) {
  if (in.accept_word("mesh")) {
    Mesh mesh;
    if (!read_mesh_body(in, &mesh)) return false;
    out->mesh = std::make_shared<const Mesh>(std::move(mesh));
    return true;
  }
  std::string name;
  if (!in.symbol(&name)) return false;
  out->mesh = meshes.find(name);
  return out->mesh != nullptr || in.fail("there is no mesh @", name);
}

// <@mesh, [{"a"}, {}]>
bool read_body(Cursor& in, const Meshes& meshes, Sharding* out) {
  if (!in.expect('<') || !read_mesh_or_name(in, meshes, out) || !in.expect(',')) return false;
  const auto dim = [&] { return read_dim(in, *out->mesh, &out->dims.emplace_back()); };
  return in.list('[', ']', dim) && read_rest(in, out) && check_axes(in, *out) && in.expect('>');
}

bool expect_end(Cursor& in) {
  return in.token().kind == TokenKind::kEnd || in.unexpected("the end");
}

bool expect_mnemonic(Cursor& in, std::string_view mnemonic) {
  return (in.token().kind == TokenKind::kAttrId && in.token().text == mnemonic && in.advance()) ||
         in.unexpected(mnemonic);
}

// What the cursor could not read, without its place in the attribute.
std::unexpected<Error> error_of(std::string_view what, const Cursor& in, std::string_view text) {
  constexpr std::size_t kShown = 200;
  return fail(ErrorCode::kInvalidArgument,
              ir::message("the ", what, " ", text.substr(0, kShown),
                          text.size() > kShown ? "..." : "", ": ", in.error()->message()));
}

Result<std::string_view> text_of(ir::Attribute attribute, std::string_view what) {
  const auto* opaque = attribute.as<ir::OpaqueAttr>();
  if (opaque == nullptr)
    return fail(ErrorCode::kInvalidArgument, ir::message("a ", what, " is expected here"));
  return opaque->text;
}

}  // namespace

Result<Meshes> Meshes::of(const ir::Module& module) {
  Meshes out;
  for (const ir::Op& op : module.top_level()) {
    if (op.name() != "sdy.mesh") continue;
    const std::string name(op.string_or("sym_name", ""));
    const auto* text = op.attr<ir::OpaqueAttr>("mesh");
    if (name.empty() || text == nullptr) return ir::invalid(op, "a mesh needs a name and its axes");
    auto mesh = read_mesh(text->text);
    if (!mesh) return ir::invalid(op, mesh.error().message());
    mesh->name = name;
    if (!out.by_name_.emplace(name, std::make_shared<const Mesh>(*std::move(mesh))).second)
      return ir::invalid(op, "the mesh @", name, " is defined twice");
  }
  return out;
}

std::shared_ptr<const Mesh> Meshes::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

Status Meshes::check_devices(std::int64_t devices) const {
  for (const auto& [name, mesh] : by_name_) {
    if (mesh->is_maximal() ? mesh->device_ids[0] < devices
                           : mesh->devices() == devices || mesh->axes.empty()) {
      continue;
    }
    return fail(ErrorCode::kInvalidArgument,
                ir::message("the mesh @", name, " ", to_string(*mesh), " is of ",
                            mesh->is_maximal() ? mesh->device_ids[0] + 1 : mesh->devices(),
                            " devices, and the program runs on ", devices));
  }
  return {};
}

Result<Mesh> read_mesh(std::string_view text) {
  Cursor in(text);
  Mesh mesh;
  if (!expect_mnemonic(in, "#sdy.mesh") || !read_mesh_body(in, &mesh) || !expect_end(in))
    return error_of("mesh", in, text);
  return mesh;
}

Result<Sharding> read_sharding(std::string_view text, const Meshes& meshes) {
  Cursor in(text);
  Sharding out;
  if (!expect_mnemonic(in, "#sdy.sharding") || !read_body(in, meshes, &out) || !expect_end(in))
    return error_of("sharding", in, text);
  return out;
}

Result<Sharding> read_sharding(ir::Attribute attribute, const Meshes& meshes) {
  MILLRACE_TRY(const std::string_view text, text_of(attribute, "sharding"));
  return read_sharding(text, meshes);
}

Result<std::vector<Sharding>> read_shardings(ir::Attribute attribute, const Meshes& meshes) {
  MILLRACE_TRY(const std::string_view text, text_of(attribute, "sharding per value"));
  Cursor in(text);
  std::vector<Sharding> out;
  const auto one = [&] { return read_body(in, meshes, &out.emplace_back()); };
  if (!expect_mnemonic(in, "#sdy.sharding_per_value") || !in.expect('<') ||
      !in.list('[', ']', one) || !in.expect('>') || !expect_end(in)) {
    return error_of("sharding per value", in, text);
  }
  return out;
}

Result<std::vector<std::string>> read_manual_axes(ir::Attribute attribute) {
  MILLRACE_TRY(const std::string_view text, text_of(attribute, "list of manual axes"));
  Cursor in(text);
  std::vector<std::string> out;
  const auto one = [&] {
    std::string name;
    if (!in.string(&name)) return false;
    if (std::ranges::find(out, name) != out.end())
      return in.fail("the axis \"", name, "\" stands twice");
    out.push_back(std::move(name));
    return true;
  };
  const bool long_form = in.token().text == "#sdy.manual_axes";
  const bool begins =
      long_form ? in.advance()
                : expect_mnemonic(in, "#sdy") && in.expect('<') && in.expect_word("manual_axes");
  if (!begins || (long_form && !in.expect('<')) || !in.list('{', '}', one) || !in.expect('>') ||
      !expect_end(in)) {
    return error_of("list of manual axes", in, text);
  }
  return out;
}

Status check_type(const Sharding& sharding, ir::Type type) {
  const bool none =
      sharding.dims.empty() && sharding.replicated.empty() && sharding.unreduced.empty();
  if (sharding.mesh->is_maximal() || !type.is_tensor()) {
    if (none) return {};
    return fail(ErrorCode::kInvalidArgument,
                ir::message("the sharding ", to_string(sharding), " of ", type,
                            ": on one device, and for what is no tensor, it has no dimensions"));
  }
  const bool fits = type.rank() == static_cast<int>(sharding.dims.size());
  if (fits) return {};
  return fail(ErrorCode::kInvalidArgument,
              ir::message("the sharding ", to_string(sharding), " has ", sharding.dims.size(),
                          " dimensions, and the value is ", type));
}

}  // namespace millrace::devices::stablehlo::sharding
