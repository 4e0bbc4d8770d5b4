// Walk: the pass of spread.h at work: from @main down through calls and regions, each operation
// once for all clones that give it the same operands. Calls are put in their places. Read next:
// places.h, contents.h, collectives.h; walk_control.cc for control flow,
// walk_manual.cc for what Shardy divides among devices.
//
//   SP-1  Clones with the same operands share one operation, unless it does more than compute.
//   SP-2  A clone whose predicate is false keeps its values and keeps no loop alive.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "millrace/devices/stablehlo/spread/contents.h"
#include "millrace/devices/stablehlo/spread/known_parts.h"
#include "millrace/devices/stablehlo/spread/maker.h"
#include "millrace/devices/stablehlo/spread/places.h"

namespace millrace::devices::stablehlo::spread {

// Where operations are made, and for whom. Thread-safety: external.
struct Frame {
  ir::Block& to;
  const Places& places;
  Members members;
  // Which members are active, where that is not known before the program runs: one i1 for each. An
  // operation that does more than compute runs under it.
  Each mask = {};
  bool is_masked = false;

  int first() const { return members.front(); }
};

// Thread-safety: confined.
class Walk {
 public:
  // from is verified and stays as it is; into is over it (ir::Module::over). divides: made_for() is
  // wanted.
  Walk(const ir::Module& from, ir::Module& into, bool divides);

  // What stands for a value of `from` from now on.
  void set(const ir::Value* v, Each each) {
    scope_[static_cast<std::size_t>(v->id())] = std::move(each);
  }
  KnownParts& parts() { return parts_; }
  // Spread::made_for.
  std::vector<std::vector<int>> made_for() { return std::move(made_for_); }
  // The operations of `from` at the end of frame.to; gives what stands for the terminator's
  // operands.
  Result<std::vector<Each>> block(const ir::Block& from, Frame& frame);

 private:
  using Values = std::vector<ir::Value*>;
  using Key = std::vector<const void*>;

  const Each& at(const ir::Value* v) const { return scope_[static_cast<std::size_t>(v->id())]; }
  std::vector<Each> operands_of(const ir::Op& op) const;
  void set_results(const ir::Op& op, const std::vector<Each>& results);
  // make(member), once for all members of one key; gives the results by member.
  Status for_each_key(const ir::Op& op, Frame& frame, const std::function<Key(int)>& key,
                      const std::function<Result<Values>(int)>& make);
  // The members get these values, which operations from number `first` on may have made.
  void note(const Values& values, const Members& members, const Frame& frame, int first);
  // What an operation computes with: its operands, and what its regions use.
  Key inputs_of(const ir::Op& op, int member);

  Status op(const ir::Op& op, Frame& frame);
  Status plain(const ir::Op& op, Frame& frame);
  // For one member, which stands for others.
  Result<ir::Op*> copied(const ir::Op& op, int member, const Frame& frame, ir::Block& to);
  // The region for one member, with arguments of the types that are written.
  Status copy_region(const ir::Region& from, ir::Region& to, int member, const Frame& frame);
  // The operation under the member's mask; else zeros.
  Result<Values> guarded(const ir::Op& op, int member, Frame& frame);
  Status ids(const ir::Op& op, Frame& frame);
  Status collective(const ir::Op& op, Frame& frame);
  Each received(const Each& result, Maker& make, const Frame& frame, int first);
  Status call(const ir::Op& op, Frame& frame);
  // Operations of other dialects; whether it was one that gives what it gets.
  bool passes_on(const ir::Op& op);
  Status async_start(const ir::Op& op, Frame& frame);
  Status async_done(const ir::Op& op, Frame& frame);
  Status check_channel(const ir::Op& op);

  // walk_control.cc
  class Slots;
  Each by_member(const Frame& frame, const std::function<Key(int)>& key,
                 const std::function<ir::Value*(int)>& make);
  Each both(Maker& make, const Frame& frame, const Each& a, const Each& b);
  void set_region(const ir::Op& op, ir::Op& made, int region, ir::Block& body,
                  std::span<ir::Value* const> values);
  Status branch(const ir::Op& op, Frame& frame);
  Status joint_branch(const ir::Op& op, Frame& frame);
  Each takes(const ir::Op& op, std::size_t r, Maker& make, const Frame& frame);
  Status masked_branch(const ir::Op& op, Frame& frame);
  Result<std::vector<Each>> guarded_branch(const ir::Op& op, std::size_t r, const Each& mask,
                                           Frame& frame);
  Status loop(const ir::Op& op, Frame& frame);
  // written[i] is what list i of the slots holds, of which made has one value for each slot.
  void set_slots(std::span<const ir::Value> written, const Slots& slots, std::span<ir::Value> made,
                 const Frame& frame);
  Status joint_loop(const ir::Op& op, const Slots& slots, Frame& frame);
  Result<Each> condition(const ir::Op& op, const std::vector<Each>& carried, const Each* active,
                         Frame& frame);
  Status masked_loop(const ir::Op& op, const Slots& slots, Frame& frame);
  ir::Op* create(const ir::Op& like, std::span<ir::Value* const> operands,
                 std::span<const ir::Type> types, int regions);

  // walk_manual.cc
  struct Manual;
  Result<Manual> manual_of(const ir::Op& op, const Frame& frame);
  Status set_places(const ir::Op& op, Manual& manual, const Frame& frame);
  Result<Each> entering(const ir::Op& op, int i, const Manual& manual, const Members& all,
                        Frame& frame);
  Result<Each> leaving(const ir::Op& op, int i, const Each& inside, const Manual& manual,
                       Frame& frame);
  Status manual(const ir::Op& op, Frame& frame);

  const ir::Module& from_;
  ir::Module& into_;
  const bool divides_;
  Contents contents_;
  std::vector<Each> scope_;  // by value
  KnownParts parts_;         // of whole arrays
  std::vector<std::vector<int>> made_for_;
  std::unordered_map<const ir::Value*, std::vector<Each>> futures_;
  std::unordered_map<std::int64_t, const ir::Op*> channels_;  // the first operation of each
  std::int64_t budget_;                                       // of operations that are still made
  int depth_ = 0;
};

}  // namespace millrace::devices::stablehlo::spread
