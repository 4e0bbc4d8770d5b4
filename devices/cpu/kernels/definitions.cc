#include "millrace/devices/cpu/kernels/definitions.h"

#include <algorithm>

namespace millrace::devices::cpu::definition {

IntLists::IntLists(const ir::Op& op) {
  constexpr std::int64_t kMost = 64;  // more is no list of dimensions but a constant's value
  for (const ir::NamedAttribute& a : op.attributes()) {
    const auto* dense = a.value.as<ir::DenseAttr>();
    if (dense != nullptr && dense->type.elements() > kMost) continue;
    if (auto list = ir::to_ints(a.value)) lists_.emplace_back(a.name, *std::move(list));
  }
}

std::span<const std::int64_t> IntLists::find(std::string_view name) const {
  const auto found = std::ranges::find(lists_, name, [](const auto& list) { return list.first; });
  return found == lists_.end() ? std::span<const std::int64_t>() : found->second;
}

Integers ints_or(const Call& c, std::string_view name, std::size_t n, std::int64_t otherwise) {
  const auto found = c.ints(name);
  return found.size() == n ? Integers(found) : Integers(n, otherwise);
}

Integers index_vector(const ConstArray& array) {
  Integers list(static_cast<std::size_t>(array.shape.elements()), 0);
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = index_element(array, static_cast<std::int64_t>(i));
  return list;
}

}  // namespace millrace::devices::cpu::definition
