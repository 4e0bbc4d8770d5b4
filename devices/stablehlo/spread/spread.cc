#include "millrace/devices/stablehlo/spread/spread.h"

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/spread/new_main.h"
#include "millrace/devices/stablehlo/spread/pieces.h"
#include "millrace/devices/stablehlo/spread/walk.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::spread {
namespace {

// The first operation that says by GSPMD where its arrays lie; nullptr: none does.
const ir::Op* annotated(const ir::Region& region) {
  for (const ir::Block* block : region.blocks()) {
    for (const ir::Op& op : *block) {
      const std::string_view callee =
          op.kind() == ir::OpKind::kCustomCall ? op.callee() : std::string_view();
      if (op.attr("mhlo.sharding") || callee == "Sharding" || callee == "SPMDFullToShardShape" ||
          callee == "SPMDShardToFullShape")
        return &op;
      for (const ir::Region& inner : op.regions()) {
        if (const ir::Op* found = annotated(inner)) return found;
      }
    }
  }
  return nullptr;
}

// GSPMD's way to say where arrays lie, which only older clients send.
Status check_annotations(const ir::Module& module) {
  const auto refuse = [](const std::string& what) {
    return fail(ErrorCode::kUnimplemented,
                what +
                    ": annotations of GSPMD are not read, expected Shardy's (sdy.sharding), "
                    "which JAX writes unless jax_use_shardy_partitioner is off");
  };
  constexpr std::string_view kAnnotation = "mhlo.sharding";
  for (const ir::Function& f : module.functions()) {
    const std::string where = ir::message(to_string(f.location()), ": func.func @", f.name());
    for (int i = 0; i < static_cast<int>(f.inputs().size()); ++i) {
      if (f.arg_attribute(i, kAnnotation))
        return refuse(ir::message(where, ": argument ", i, " has ", kAnnotation));
    }
    for (int i = 0; i < static_cast<int>(f.results().size()); ++i) {
      if (ir::find(f.result_attributes(i), kAnnotation))
        return refuse(ir::message(where, ": result ", i, " has ", kAnnotation));
    }
    if (const ir::Op* op = annotated(f.body())) {
      return refuse(op->kind() == ir::OpKind::kCustomCall
                        ? op->where() + " @" + std::string(op->callee())
                        : ir::message(op->where(), ": it has ", kAnnotation));
    }
  }
  return {};
}

// What the devices that have an equal part of an argument or result share.
struct Holders {
  Piece piece;
  std::vector<int> devices;
};
std::vector<Holders> holders_of(const sharding::Sharding& sharding, ir::Type type, int devices) {
  std::vector<Holders> all;
  std::map<Piece, std::size_t> places;
  for (int d = 0; d < devices; ++d) {
    Piece piece = type.is_tensor() ? piece_of(sharding, type.dims(), d) : Piece();
    const auto [at, is_new] = places.try_emplace(piece, all.size());
    if (is_new) all.push_back({std::move(piece), {}});
    all[at->second].devices.push_back(d);
  }
  return all;
}

Status check_layouts(const ir::Function& main, int devices, const Layouts& layouts) {
  const auto check = [&](std::span<const ir::Type> types,
                         std::span<const sharding::Sharding> shardings, std::string_view what) {
    if (types.size() != shardings.size()) {
      return Status(fail(ErrorCode::kInvalidArgument,
                         ir::message("found ", shardings.size(), " shardings for ", types.size(),
                                     " ", what, "s")));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::int64_t places = shardings[i].mesh->devices();
      const bool fits = shardings[i].mesh->axes.empty() || places <= devices;
      if (fits && (!types[i].is_tensor() || types[i].has_static_shape())) continue;
      return Status(fail(fits ? ErrorCode::kUnimplemented : ErrorCode::kInvalidArgument,
                         fits ? ir::message(what, " ", i, " is ", types[i],
                                            ": a program for several devices has static shapes")
                              : ir::message(what, " ", i, " lies on a mesh of ", places,
                                            " devices, but the program is for ", devices)));
    }
    return Status();
  };
  MILLRACE_TRY_STATUS(check(main.inputs(), layouts.arguments, "argument"));
  return check(main.results(), layouts.results, "result");
}

Result<const ir::Function*> entry_of(const ir::Module& module) {
  const ir::Function* main = specialise::entry(module);
  if (main != nullptr && !main->is_declaration()) return main;
  return fail(ErrorCode::kInvalidArgument, "the program has no function @main with a body");
}

Result<Spread> verified(NewMain& main, Walk& walk) {
  Spread made = main.finish();
  made.made_for = walk.made_for();
  MILLRACE_TRY_STATUS(verify::verify(made.module));
  return made;
}

}  // namespace

Result<Spread> spread(const ir::Module& module, const SpreadOptions& options) {
  MILLRACE_TRY(const ir::Function* main, entry_of(module));
  return spread(module, *main, options);
}

Result<Spread> spread(const ir::Module& module, const ir::Function& main,
                      const SpreadOptions& options) {
  constexpr int kMaxDevices = 1 << 16;
  if (options.replicas < 1 || options.partitions < 1 ||
      options.replicas > kMaxDevices / options.partitions) {
    return fail(
        ErrorCode::kInvalidArgument,
        ir::message("a program for ", options.replicas, " replicas of ", options.partitions,
                    " partitions: expected one at least, and ", kMaxDevices, " devices at most"));
  }
  MILLRACE_TRY(const sharding::Meshes meshes, sharding::Meshes::of(module));
  if (options.partitions > 1) MILLRACE_TRY_STATUS(check_annotations(module));
  Places places{options.replicas, options.partitions, {}};
  places.meshes = &meshes;
  places.is_each = true;
  places.devices.resize(static_cast<std::size_t>(options.replicas * options.partitions));
  std::iota(places.devices.begin(), places.devices.end(), 0);
  NewMain made(module, main, places.size());
  for (int a = 0; a < static_cast<int>(main.inputs().size()); ++a) {
    for (int d = 0; d < places.size(); ++d)
      made.add_argument(a, main.inputs()[static_cast<std::size_t>(a)], {d});
  }
  ir::Block& body = made.begin();
  Walk walk(module, made.module(), options.divides);
  for (const ir::Value& argument : main.body().block().arguments()) {
    std::vector<ir::Value*> clones;
    for (int d = 0; d < places.size(); ++d)
      clones.push_back(body.argument(argument.index() * places.size() + d));
    walk.set(&argument, Each(std::move(clones), places.devices));
  }
  Frame frame{body, places, places.devices};
  MILLRACE_TRY(const std::vector<Each> returned, walk.block(main.body().block(), frame));
  for (const Each& each : returned) {
    for (int d = 0; d < places.size(); ++d) made.add_result(d, each[d]);
  }
  return verified(made, walk);
}

Result<Spread> spread_global(const ir::Module& module, int devices, const Layouts& layouts,
                             bool divides) {
  MILLRACE_TRY(const ir::Function* main, entry_of(module));
  MILLRACE_TRY_STATUS(check_annotations(module));
  MILLRACE_TRY_STATUS(check_layouts(*main, devices, layouts));
  MILLRACE_TRY(const sharding::Meshes meshes, sharding::Meshes::of(module));
  const ir::Block& written = main->body().block();
  NewMain made(module, *main, devices);
  std::vector<std::vector<Holders>> holders;
  for (const ir::Value& argument : written.arguments()) {
    const auto& sharding = layouts.arguments[static_cast<std::size_t>(argument.index())];
    auto& parts = holders.emplace_back(holders_of(sharding, argument.type(), devices));
    ir::Type type = argument.type();
    if (type.is_tensor()) {
      type = made.module().types().tensor(sharding::local_shape(sharding, type.dims()),
                                          type.element());
    }
    for (const Holders& part : parts) made.add_argument(argument.index(), type, part.devices);
  }
  ir::Block& body = made.begin();
  Maker make(made.module(), body, *written.terminator());
  Walk walk(module, made.module(), divides);
  int next = 0;
  for (const ir::Value& argument : written.arguments()) {
    const auto a = static_cast<std::size_t>(argument.index());
    std::vector<Part> parts;
    std::vector<ir::Value*> by_device(static_cast<std::size_t>(devices));
    for (const Holders& part : holders[a]) {
      parts.push_back({part.piece, body.argument(next++)});
      for (const int d : part.devices) by_device[static_cast<std::size_t>(d)] = parts.back().value;
    }
    walk.parts().add(&argument, layouts.arguments[a], std::move(by_device));
    walk.set(&argument,
             Each(assemble(make, std::move(parts), layouts.arguments[a], argument.type())));
  }
  const Places whole{.partitions = devices, .devices = {0}, .is_whole = true, .meshes = &meshes};
  Frame frame{body, whole, {0}};
  MILLRACE_TRY(const std::vector<Each> returned, walk.block(written, frame));
  for (std::size_t r = 0; r < returned.size(); ++r) {
    ir::Value* value = returned[r][0];
    const auto& sharding = layouts.results[r];
    const ir::Value* const source = written.terminator()->operand(static_cast<int>(r));
    if (walk.parts().find(source, sharding, 0) != nullptr) {
      for (int d = 0; d < devices; ++d) made.add_result(d, walk.parts().find(source, sharding, d));
      continue;
    }
    for (const Holders& part : holders_of(sharding, value->type(), devices)) {
      ir::Value* cut_out = value;
      if (value->type().is_tensor()) {
        cut_out = cut(make, value, part.piece, sharding,
                      sharding::local_shape(sharding, value->type().dims()));
      }
      for (const int d : part.devices) made.add_result(d, cut_out);
    }
  }
  return verified(made, walk);
}

}  // namespace millrace::devices::stablehlo::spread
