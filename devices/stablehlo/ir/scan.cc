#include "millrace/devices/stablehlo/ir/scan.h"

#include <limits>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::ir {
namespace {

// The first of two segments; all but the carried ones where the text leaves the sizes out.
std::optional<int> first_segment(const Op& op, const char* name, int count) {
  const auto sizes = op.ints(name);
  if (!sizes) return std::nullopt;
  if (sizes->size() != 2 || (*sizes)[0] < 0 || (*sizes)[0] > count ||
      (*sizes)[1] != count - (*sizes)[0]) {
    return std::nullopt;
  }
  return static_cast<int>((*sizes)[0]);
}

}  // namespace

std::optional<ScanParts> scan_parts_of(const Op& op) {
  ScanParts parts;
  const auto inputs = first_segment(op, "operandSegmentSizes", op.operand_count()),
             outputs = first_segment(op, "resultSegmentSizes", op.result_count());
  if (!inputs || !outputs || op.regions().size() != 1 || op.region().empty()) return std::nullopt;
  parts.inputs = *inputs;
  parts.outputs = *outputs;
  const Block& body = op.region().block();
  if (op.operand_count() - parts.inputs != op.result_count() - parts.outputs ||
      body.argument_count() != op.operand_count() || body.terminator() == nullptr ||
      body.terminator()->operand_count() != op.result_count()) {
    return std::nullopt;
  }
  parts.dimension = op.int_or("dimension", -1);
  parts.reverse = op.bool_or("is_reverse", false);
  std::vector<Type> whole;
  for (int i = 0; i < parts.inputs; ++i) whole.push_back(op.operand(i)->type());
  for (int i = 0; i < parts.outputs; ++i) whole.push_back(op.result(i)->type());
  parts.extent = op.int_or("scan_dim_size", -1);
  for (const Type type : whole) {
    if (!type.is_tensor() || !type.has_static_shape() || parts.dimension < 0 ||
        parts.dimension >= type.rank()) {
      return std::nullopt;
    }
    const std::int64_t extent = type.dims()[static_cast<std::size_t>(parts.dimension)];
    if (parts.extent >= 0 && parts.extent != extent) return std::nullopt;
    parts.extent = extent;
  }
  if (parts.extent < 0 || parts.extent > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return parts;
}

}  // namespace millrace::devices::stablehlo::ir
