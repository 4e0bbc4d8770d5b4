// Element-wise reduction of the same array of several ranks. Reductions are enum values, never
// closures, so that a message can carry them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"

namespace millrace::collectives {

enum class ReduceOp : std::uint8_t { kSum, kMean, kMin, kMax };
std::string_view to_string(ReduceOp op);

// kUnimplemented for a type without such a reduction (complex min, integer mean, sub-byte floats).
Status check_reducible(ReduceOp op, devices::DType dtype);

// output[i] = op over inputs[r][i], always combined in the order of the ranks, so that the bits
// depend on nothing but the inputs. f16 and bf16 accumulate in f32; NaN wins in min and max; i1
// reduces as or (sum, max) and and (min). output may be one of the inputs. All arrays have
// output.size() bytes, at any alignment. Checked type only. With parallel, every core that is free
// takes parts of a large output; the bits are the same however it is cut. A mean divides by ranks
// (0: the number of inputs): an input may be a sum of several ranks.
void reduce(ReduceOp op, devices::DType dtype, std::span<const std::byte* const> inputs,
            std::span<std::byte> output, Parallel* parallel = nullptr, std::size_t ranks = 0);

// What the results of some ranks are reduced with before those of others are there.
constexpr ReduceOp partial(ReduceOp op) { return op == ReduceOp::kMean ? ReduceOp::kSum : op; }
// Whether reducing the first ranks, storing that, and reducing it with the others gives the bits of
// reducing all at once: not for sums of f16 and bf16, which are added in f32.
bool folds_exactly(ReduceOp op, devices::DType dtype);

}  // namespace millrace::collectives
