#include "millrace/devices/stablehlo/spread/spread.h"

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/spread/walk.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;
using Attributes = std::vector<ir::NamedAttribute>;

constexpr std::string_view kAlias = "tf.aliasing_output";
constexpr std::string_view kDonor = "jax.buffer_donor";

// As a caller sees a value of this type.
int arrays_of(ir::Type type) {
  if (type.kind() == ir::TypeKind::kToken) return 0;
  if (type.kind() != ir::TypeKind::kTuple && type.kind() != ir::TypeKind::kFuture) return 1;
  int arrays = 0;
  for (const ir::Type member : type.members()) arrays += arrays_of(member);
  return arrays;
}

// The first array of each.
std::vector<int> first_arrays(std::span<const ir::Type> types) {
  std::vector<int> first = {0};
  for (const ir::Type type : types) first.push_back(first.back() + arrays_of(type));
  return first;
}

// One device runs the module that comes out.
Attributes for_one_device(const ir::Module& module, ir::Module& into) {
  Attributes kept;
  for (const ir::NamedAttribute& a : module.attributes()) {
    const bool counts = a.name == "mhlo.num_replicas" || a.name == "mhlo.num_partitions";
    kept.push_back(counts ? ir::NamedAttribute{a.name, into.integer(1, DType::kI32)} : a);
  }
  return kept;
}

// @main of a local program, argument by argument and device by device.
class LocalMain {
 public:
  LocalMain(const ir::Module& module, const ir::Function& main, const SpreadOptions& options)
      : module_(module), main_(main) {
    places_.replicas = options.replicas;
    places_.partitions = options.partitions;
    places_.devices.resize(static_cast<std::size_t>(options.replicas * options.partitions));
    std::iota(places_.devices.begin(), places_.devices.end(), 0);
  }

  Result<Spread> run() {
    Spread made{ir::Module::over(module_), {}, {}};
    into_ = &made.module;
    into_->set_name(module_.name());
    into_->set_attributes(for_one_device(module_, *into_));
    Walk walk(module_, *into_);
    const ir::Block& written = main_.body().block();
    ir::Block* body = into_->create_block(argument_types(made));
    Members all(places_.devices);
    for (const ir::Value& argument : written.arguments()) {
      std::vector<ir::Value*> clones;
      for (int d = 0; d < places_.size(); ++d)
        clones.push_back(body->argument(argument.index() * places_.size() + d));
      walk.set(&argument, Each(std::move(clones), all));
    }
    Frame frame{*body, places_, all};
    MILLRACE_TRY(const std::vector<Each> returned, walk.block(written, frame));
    finish(made, *body, returned);
    return made;
  }

 private:
  // Those of a device lie apart by the number of devices.
  std::vector<ir::Type> argument_types(Spread& made) const {
    std::vector<ir::Type> types;
    const std::vector<int> first = first_arrays(main_.inputs());
    for (std::size_t a = 0; a < main_.inputs().size(); ++a) {
      for (int d = 0; d < places_.size(); ++d) {
        types.push_back(main_.inputs()[a]);
        for (int i = first[a]; i < first[a + 1]; ++i) made.inputs.push_back({d, i});
      }
    }
    return types;
  }

  // Each value that is returned to some devices, once.
  void finish(Spread& made, ir::Block& body, const std::vector<Each>& returned) {
    std::vector<ir::Value*> values;
    std::map<const ir::Value*, int> places;  // among the results
    std::vector<int> first = {0}, users;
    std::vector<std::vector<int>> place_of(static_cast<std::size_t>(places_.size()));
    for (const Each& each : returned) {
      for (int d = 0; d < places_.size(); ++d) {
        const auto [at, is_new] = places.try_emplace(each[d], static_cast<int>(values.size()));
        if (is_new) {
          values.push_back(each[d]);
          users.push_back(0);
          first.push_back(first.back() + arrays_of(each[d]->type()));
        }
        ++users[static_cast<std::size_t>(at->second)];
        place_of[static_cast<std::size_t>(d)].push_back(at->second);
      }
    }
    made.outputs.resize(place_of.size());
    for (std::size_t d = 0; d < place_of.size(); ++d) {
      for (const int v : place_of[d]) {
        for (int i = first[static_cast<std::size_t>(v)]; i < first[static_cast<std::size_t>(v) + 1];
             ++i)
          made.outputs[d].push_back(i);
      }
    }
    body.append(into_->create_op({.kind = K::kFuncReturn,
                                  .location = main_.body().block().terminator()->location(),
                                  .operands = values}));
    std::vector<Attributes> attributes;
    for (int a = 0; a < static_cast<int>(main_.inputs().size()); ++a) {
      for (std::size_t d = 0; d < place_of.size(); ++d)
        attributes.push_back(argument_attributes(a, place_of[d], users));
    }
    const std::vector<std::span<const ir::NamedAttribute>> lists(attributes.begin(),
                                                                 attributes.end());
    ir::Function& f = into_->create_function({.name = main_.name(),
                                              .visibility = main_.visibility(),
                                              .location = main_.location(),
                                              .inputs = ir::types_of(body.arguments()),
                                              .results = ir::types_of(values),
                                              .arg_attributes = lists,
                                              .attributes = main_.attributes()});
    ir::Block* const blocks[] = {&body};
    into_->set_blocks(f.body(), blocks);
  }

  // An argument is overwritten by the result of its device, if that is no other device's, too.
  Attributes argument_attributes(int argument, const std::vector<int>& results,
                                 const std::vector<int>& users) {
    Attributes kept;
    for (const ir::NamedAttribute& a : main_.arg_attributes(argument)) {
      if (a.name != kAlias) {
        kept.push_back(a);
        continue;
      }
      const auto* result = a.value.as<ir::IntegerAttr>();
      if (result == nullptr || result->value < 0 || result->value >= std::ssize(results)) continue;
      const int place = results[static_cast<std::size_t>(result->value)];
      if (users[static_cast<std::size_t>(place)] == 1) {
        kept.push_back({kAlias, into_->integer(place, DType::kI32)});
      } else {
        kept.push_back({kDonor, into_->attribute(ir::BoolAttr{{}, true})});
      }
    }
    return kept;
  }

  const ir::Module& module_;
  const ir::Function& main_;
  ir::Module* into_ = nullptr;
  Places places_;
};

}  // namespace

Result<Spread> spread(const ir::Module& module, const SpreadOptions& options) {
  constexpr int kMaxDevices = 1 << 16;
  if (options.replicas < 1 || options.partitions < 1 ||
      options.replicas > kMaxDevices / options.partitions) {
    return fail(
        ErrorCode::kInvalidArgument,
        ir::message("a program for ", options.replicas, " replicas of ", options.partitions,
                    " partitions: expected one at least, and ", kMaxDevices, " devices at most"));
  }
  const ir::Function* main = specialise::entry(module);
  if (main == nullptr || main->is_declaration())
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main with a body");
  MILLRACE_TRY(Spread made, LocalMain(module, *main, options).run());
  MILLRACE_TRY_STATUS(verify::verify(made.module));
  return made;
}

}  // namespace millrace::devices::stablehlo::spread
