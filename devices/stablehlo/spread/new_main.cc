#include "millrace/devices/stablehlo/spread/new_main.h"

#include <utility>

namespace millrace::devices::stablehlo::spread {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// The first array of each.
std::vector<int> first_arrays(std::span<const ir::Type> types) {
  std::vector<int> first = {0};
  for (const ir::Type type : types) first.push_back(first.back() + type.arrays());
  return first;
}

// One device runs what comes out.
std::vector<ir::NamedAttribute> for_one_device(const ir::Module& from, ir::Module& into) {
  std::vector<ir::NamedAttribute> kept;
  for (const ir::NamedAttribute& a : from.attributes()) {
    const bool counts = a.name == "mhlo.num_replicas" || a.name == "mhlo.num_partitions";
    kept.push_back(counts ? ir::NamedAttribute{a.name, into.integer(1, DType::kI32)} : a);
  }
  return kept;
}

}  // namespace

NewMain::NewMain(const ir::Module& from, const ir::Function& main, int devices)
    : main_(main), made_{ir::Module::over(from), {}, {}}, places_(index(devices)) {
  made_.module.set_name(from.name());
  made_.module.set_attributes(for_one_device(from, made_.module));
}

int NewMain::add_argument(int argument, ir::Type type, std::vector<int> devices) {
  arguments_.push_back({argument, type, std::move(devices)});
  return static_cast<int>(arguments_.size()) - 1;
}

ir::Block& NewMain::begin() {
  const std::vector<int> first = first_arrays(main_.inputs());
  std::vector<ir::Type> types;
  for (const Argument& a : arguments_) {
    types.push_back(a.type);
    for (int i = first[index(a.argument)]; i < first[index(a.argument) + 1]; ++i)
      made_.inputs.push_back({a.devices.front(), i, a.devices});
  }
  body_ = made_.module.create_block(types);
  return *body_;
}

void NewMain::add_result(int device, ir::Value* value) {
  const auto [at, is_new] = at_.try_emplace(value, static_cast<int>(values_.size()));
  if (is_new) {
    values_.push_back(value);
    users_.emplace_back();
  }
  users_[index(at->second)].push_back(device);
  places_[index(device)].push_back(at->second);
}

// An argument may be overwritten by a result that the same devices get, each once.
std::vector<ir::NamedAttribute> NewMain::attributes_of(const Argument& argument) {
  std::vector<ir::NamedAttribute> kept;
  for (const ir::NamedAttribute& a : main_.arg_attributes(argument.argument)) {
    if (a.name.starts_with("sdy.")) continue;
    if (a.name != kAlias) {
      kept.push_back(a);
      continue;
    }
    const auto* result = a.value.as<ir::IntegerAttr>();
    const std::vector<int>& results = places_[index(argument.devices.front())];
    if (result == nullptr || result->value < 0 || result->value >= std::ssize(results)) continue;
    const int place = results[static_cast<std::size_t>(result->value)];
    if (users_[index(place)] == argument.devices &&
        values_[index(place)]->type() == argument.type) {
      kept.push_back({kAlias, made_.module.integer(place, DType::kI32)});
    } else {
      kept.push_back({kDonor, made_.module.attribute(ir::BoolAttr{{}, true})});
    }
  }
  return kept;
}

Spread NewMain::finish() {
  const std::vector<ir::Type> results = ir::types_of(values_);
  const std::vector<int> first = first_arrays(results);
  for (const std::vector<int>& places : places_) {
    auto& arrays = made_.outputs.emplace_back();
    for (const int place : places) {
      for (int i = first[index(place)]; i < first[index(place) + 1]; ++i) arrays.push_back(i);
    }
  }
  body_->append(made_.module.create_op({.kind = ir::OpKind::kFuncReturn,
                                        .location = main_.body().block().terminator()->location(),
                                        .operands = values_}));
  std::vector<std::vector<ir::NamedAttribute>> attributes;
  for (const Argument& a : arguments_) attributes.push_back(attributes_of(a));
  const std::vector<std::span<const ir::NamedAttribute>> lists(attributes.begin(),
                                                               attributes.end());
  ir::Function& f = made_.module.create_function({.name = main_.name(),
                                                  .visibility = main_.visibility(),
                                                  .location = main_.location(),
                                                  .inputs = ir::types_of(body_->arguments()),
                                                  .results = results,
                                                  .arg_attributes = lists,
                                                  .attributes = main_.attributes()});
  ir::Block* const blocks[] = {body_};
  made_.module.set_blocks(f.body(), blocks);
  return std::move(made_);
}

}  // namespace millrace::devices::stablehlo::spread
