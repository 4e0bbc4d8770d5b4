// Collectives: each one as operations on the values that the clones have. Read next: groups.h,
// reducer.h.
#pragma once

#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/spread/groups.h"
#include "millrace/devices/stablehlo/spread/places.h"
#include "millrace/devices/stablehlo/spread/reducer.h"

namespace millrace::devices::stablehlo::spread {

// One collective at work. Thread-safety: confined.
class Collective {
 public:
  // operands: by operand of op. copy and outside are for its body (reducer.h).
  Collective(const ir::Op& op, const std::vector<Each>& operands, Maker& make, const Places& places,
             const Members& members, CopyRegion copy, Outside outside)
      : op_(op),
        operands_(operands),
        make_(make),
        places_(places),
        members_(members),
        copy_(std::move(copy)),
        outside_(std::move(outside)) {}

  // By result. kInvalidArgument, with place and numbers, for groups that do not fit the devices or
  // the shapes.
  Result<std::vector<Each>> run();

 private:
  using Values = std::vector<ir::Value*>;  // by clone

  Values none() const { return Values(static_cast<std::size_t>(places_.size()), nullptr); }
  Each each(Values values) const { return {std::move(values), members_}; }
  // The group's arrays of operand i, in its order, with elements of the type.
  Values of_group(int i, const std::vector<int>& group, ir::Type element);
  Status check_static() const;

  Result<std::vector<Each>> all_gather();
  Result<std::vector<Each>> all_to_all();
  Result<std::vector<Each>> permute();
  Result<std::vector<Each>> broadcast();
  Result<std::vector<Each>> all_reduce();
  Result<std::vector<Each>> reduce_scatter();
  Result<std::vector<Each>> collective_reduce();
  // ragged.cc
  Result<std::vector<Each>> ragged_all_to_all();

  Result<ir::Value*> fold(std::span<ir::Value* const> arrays);
  bool dynamic_root() const { return op_.bool_or("has_dynamic_root", false); }
  // Which of its group the clone takes for the root of result i.
  ir::Value* root_of(int i, int clone);
  // What the clone gets of the root that it names.
  ir::Value* rooted(int i, const std::vector<int>& group, int clone);
  Result<ir::Value*> folded(int i, const std::vector<int>& group);

  const ir::Op& op_;
  const std::vector<Each>& operands_;
  Maker& make_;
  const Places& places_;
  const Members& members_;
  const CopyRegion copy_;
  const Outside outside_;
};

}  // namespace millrace::devices::stablehlo::spread
