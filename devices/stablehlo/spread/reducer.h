// Reducer: combines arrays, element by element, by a body of two scalars: what all_reduce and its
// like do with the arrays of a group.
#pragma once

#include <functional>
#include <span>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/spread/maker.h"

namespace millrace::devices::stablehlo::spread {

// Makes a region that does what another does, with arguments and results of the same types.
using CopyRegion = std::function<Status(const ir::Region& from, ir::Region& to)>;
// What stands for a value of the body's surroundings.
using Outside = std::function<ir::Value*(const ir::Value*)>;

// Thread-safety: confined.
class Reducer {
 public:
  Reducer(const ir::Region& body, CopyRegion copy, Outside outside)
      : body_(body.block()), region_(body), copy_(std::move(copy)), outside_(std::move(outside)) {}

  // ((a0 + a1) + a2) + ..., arrays of one shape, with elements that the body takes.
  Result<ir::Value*> fold(Maker& make, std::span<ir::Value* const> arrays) const;

 private:
  // The body's operations on whole arrays; nullptr if some are not element by element.
  ir::Value* lifted(Maker& make, ir::Value* a, ir::Value* b) const;
  bool can_lift() const;
  // As a map, whose body it is.
  Result<ir::Value*> mapped(Maker& make, ir::Value* a, ir::Value* b) const;

  const ir::Block& body_;
  const ir::Region& region_;
  const CopyRegion copy_;
  const Outside outside_;
};

}  // namespace millrace::devices::stablehlo::spread
