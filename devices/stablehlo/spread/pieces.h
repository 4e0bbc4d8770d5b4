// Pieces: a whole array put together from the parts that devices have, and cut into such.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "millrace/devices/stablehlo/sharding/shards.h"
#include "millrace/devices/stablehlo/spread/maker.h"

namespace millrace::devices::stablehlo::spread {

using Axes = std::span<const std::string>;

// Which part of an array a device has: devices with equal parts have the same array. Where axes are
// unreduced, arrays of several devices at the same place add up to the whole.
struct Piece {
  sharding::Shard shard;
  std::vector<std::int64_t> summand;  // by unreduced axis: the device's coordinate

  bool is_empty() const;
  bool is_first_summand() const;
  bool operator==(const Piece&) const = default;
  bool operator<(const Piece& other) const;
};

// By all axes of the sharding's mesh; by the named ones alone.
Piece piece_of(const sharding::Sharding& sharding, std::span<const std::int64_t> shape,
               std::int64_t device);
Piece piece_of(const sharding::Sharding& sharding, std::span<const std::int64_t> shape,
               std::int64_t device, Axes axes);

// What a device gets of the whole, with this shape: beyond the array there are zeros. Of summands
// the first gets it all.
ir::Value* cut(Maker& make, ir::Value* whole, const Piece& piece,
               const sharding::Sharding& sharding, std::span<const std::int64_t> local_shape);

struct Part {
  Piece piece;
  ir::Value* value;
};
// The whole, from its different parts.
ir::Value* assemble(Maker& make, std::vector<Part> parts, const sharding::Sharding& sharding,
                    ir::Type whole);

}  // namespace millrace::devices::stablehlo::spread
