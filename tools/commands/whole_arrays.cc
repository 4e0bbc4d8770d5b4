#include "millrace/tools/commands/whole_arrays.h"

#include <cstring>
#include <string>
#include <utility>

#include "millrace/devices/cpu/compile/several_devices.h"
#include "millrace/devices/stablehlo/propagate/propagate.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/sharding/shards.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::commands {

namespace stablehlo = devices::stablehlo;
using devices::HostArray;
using devices::Shape;
using stablehlo::sharding::Shard;
using stablehlo::sharding::Sharding;

namespace {

// Copies the elements of a part between the whole array, where the part begins at shard.offsets,
// and an array that begins with it: row by row of the last dimension.
void copy_part(const Shard& shard, const Shape& whole, std::byte* in_whole, const Shape& part,
               std::byte* in_part, bool to_part) {
  const std::size_t rank = whole.dims().size(), width = devices::byte_width(whole.dtype());
  for (const std::int64_t size : shard.sizes) {
    if (size == 0) return;
  }
  const std::size_t row = rank == 0 ? width : static_cast<std::size_t>(shard.sizes.back()) * width;
  std::vector<std::int64_t> at(rank, 0);
  for (;;) {
    std::int64_t from = 0, to = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      from = from * whole.dims()[d] + shard.offsets[d] + at[d];
      to = to * part.dims()[d] + at[d];
    }
    std::byte* const a = in_whole + static_cast<std::size_t>(from) * width;
    std::byte* const b = in_part + static_cast<std::size_t>(to) * width;
    std::memcpy(to_part ? b : a, to_part ? a : b, row);
    std::size_t d = rank < 2 ? 0 : rank - 1;
    while (d > 0 && ++at[d - 1] == shard.sizes[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

WholeArrays::List WholeArrays::list_of(std::span<const stablehlo::ir::Type> types,
                                       std::vector<Sharding> shardings) {
  List list;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::optional<Shape> shape = types[i].shape();
    if (!shape) continue;  // a token, which no device has
    list.shapes.push_back(*shape);
    list.shardings.push_back(std::move(shardings[i]));
  }
  return list;
}

Result<std::optional<WholeArrays>> WholeArrays::of(const devices::Program& program) {
  MILLRACE_TRY(const stablehlo::ir::Module module, stablehlo::read_program(program.code()));
  const stablehlo::ir::Function* const main = stablehlo::specialise::entry(module);
  if (main == nullptr || !devices::cpu::has_mesh(module)) return std::nullopt;
  MILLRACE_TRY_STATUS(stablehlo::verify::verify(module));
  MILLRACE_TRY(
      stablehlo::propagate::MainShardings lie,
      stablehlo::propagate::shardings_of_main(module, {.arguments = {true}, .results = {true}}));
  WholeArrays arrays;
  arrays.arguments_ = list_of(main->inputs(), std::move(lie.arguments));
  arrays.results_ = list_of(main->results(), std::move(lie.results));
  return arrays;
}

HostArray WholeArrays::part(std::size_t argument, const HostArray& whole,
                            std::size_t device) const {
  const Sharding& sharding = arguments_.shardings[argument];
  const Shape& shape = whole.shape();
  const Shape local(shape.dtype(), stablehlo::sharding::local_shape(sharding, shape.dims()));
  if (local == shape) return whole;
  HostArray part = HostArray::make(local);
  copy_part(stablehlo::sharding::shard_of(sharding, shape.dims(), static_cast<int>(device)), shape,
            const_cast<std::byte*>(whole.bytes().data()), local, part.mutable_bytes().data(), true);
  return part;
}

Result<HostArray> WholeArrays::whole(std::size_t result, std::span<const HostArray> parts) const {
  const Sharding& sharding = results_.shardings[result];
  if (!sharding.unreduced.empty()) {
    return fail(ErrorCode::kUnimplemented,
                "result " + std::to_string(result) +
                    " is a sum of which devices have summands (unreduced "
                    "axes): give its result a sharding without them");
  }
  const Shape& shape = results_.shapes[result];
  if (parts[0].shape() == shape) return parts[0];
  HostArray whole = HostArray::make(shape);
  for (std::size_t d = 0; d < parts.size(); ++d) {
    const Shard shard = stablehlo::sharding::shard_of(sharding, shape.dims(), static_cast<int>(d));
    copy_part(shard, shape, whole.mutable_bytes().data(), parts[d].shape(),
              const_cast<std::byte*>(parts[d].bytes().data()), false);
  }
  return whole;
}

}  // namespace millrace::commands
