#include "millrace/devices/stablehlo/text/state.h"

namespace millrace::devices::stablehlo::text {

std::span<ir::Value> Scope::find(std::string_view name) const {
  const auto it = visible_.find(name);
  return it == visible_.end() ? std::span<ir::Value>() : it->second;
}

bool Scope::define(std::string_view name, std::span<ir::Value> values) {
  if (!visible_.emplace(name, values).second) return false;
  names_.push_back(name);
  return true;
}

void Scope::leave(std::size_t mark) {
  while (names_.size() > mark) {
    visible_.erase(names_.back());
    names_.pop_back();
  }
}

void Draft::clear() {
  kind = ir::OpKind::kOther;
  name = {};
  location = {};
  operands.clear();
  result_types.clear();
  attributes.clear();
  regions.clear();
  successors.clear();
}

}  // namespace millrace::devices::stablehlo::text
