// Control flow with collectives in it: one operation for all clones, whose regions hold what each
// of them does. Without collectives in it, control flow is cloned as any operation is.
#include <algorithm>
#include <map>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/spread/sameness.h"
#include "millrace/devices/stablehlo/spread/walk.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;
using Values = std::vector<ir::Value*>;

bool is_uniform(const Each& each, const Members& members) {
  return std::ranges::all_of(members, [&](int m) { return each[m] == each[members.front()]; });
}

// Whether any of the members' predicates holds.
ir::Value* any_of(Maker& make, const Each& predicate, const Members& members) {
  Values seen;
  ir::Value* any = nullptr;
  for (const int m : members) {
    if (std::ranges::find(seen, predicate[m]) != seen.end()) continue;
    seen.push_back(predicate[m]);
    any = any == nullptr ? predicate[m] : make.either(any, predicate[m]);
  }
  return any;
}

}  // namespace

// The values of several lists that members have in common, each once: what an operation for all of
// them has as results. Thread-safety: confined.
class Walk::Slots {
 public:
  // key(m): equal for members that share a slot.
  template <class KeyOf>
  void add(const Members& members, KeyOf key) {
    auto& slots = slot_of_.emplace_back();
    std::map<decltype(key(0)), std::size_t> seen;
    for (const int m : members) {
      const auto [at, is_new] = seen.try_emplace(key(m), slots_.size());
      if (is_new) slots_.push_back({slot_of_.size() - 1, m});
      slots.emplace_back(m, at->second);
    }
  }
  std::size_t size() const { return slots_.size(); }
  // What each slot holds of the lists.
  Values of(const std::vector<Each>& lists) const {
    Values values;
    for (const auto& [list, member] : slots_) values.push_back(lists[list][member]);
    return values;
  }
  int member(std::size_t slot) const { return slots_[slot].second; }
  // Back again: list i of the values, one for each slot.
  Each each(std::size_t list, const auto& value_of, const Frame& frame) const {
    Values values(static_cast<std::size_t>(frame.places.size()), nullptr);
    for (const auto& [m, slot] : slot_of_[list])
      values[static_cast<std::size_t>(m)] = value_of(slot);
    return {std::move(values), frame.members};
  }

 private:
  std::vector<std::pair<std::size_t, int>> slots_;                 // the list, its first member
  std::vector<std::vector<std::pair<int, std::size_t>>> slot_of_;  // by list
};

Each Walk::by_member(const Frame& frame, const std::function<Key(int)>& key,
                     const std::function<ir::Value*(int)>& make) {
  Values values(static_cast<std::size_t>(frame.places.size()), nullptr);
  std::map<Key, ir::Value*> made;
  for (const int m : frame.members) {
    ir::Value*& v = made[key(m)];
    if (v == nullptr) v = make(m);
    values[static_cast<std::size_t>(m)] = v;
  }
  return {std::move(values), frame.members};
}

// a and b, of each member.
Each Walk::both(Maker& make, const Frame& frame, const Each& a, const Each& b) {
  return by_member(
      frame, [&](int m) { return Key{a[m], b[m]}; }, [&](int m) { return make.both(a[m], b[m]); });
}

void Walk::set_region(const ir::Op& op, ir::Op& made, int region, ir::Block& body,
                      std::span<ir::Value* const> values) {
  Maker(into_, body, op).finish(body, values);
  ir::Block* const blocks[] = {&body};
  into_.set_blocks(made.region(region), blocks);
}

Status Walk::branch(const ir::Op& op, Frame& frame) {
  if (is_uniform(at(op.operand(0)), frame.members)) return joint_branch(op, frame);
  return masked_branch(op, frame);
}

// All members take the same branch.
Status Walk::joint_branch(const ir::Op& op, Frame& frame) {
  std::vector<ir::Block*> bodies;
  std::vector<std::vector<Each>> returned;
  for (const ir::Region& region : op.regions()) {
    bodies.push_back(into_.create_block({}));
    Frame inner{*bodies.back(), frame.places, frame.members, frame.mask, frame.is_masked};
    MILLRACE_TRY(returned.emplace_back(), block(region.block(), inner));
  }
  Slots slots;
  for (std::size_t i = 0; i < static_cast<std::size_t>(op.result_count()); ++i) {
    slots.add(frame.members, [&](int m) {
      Key key;
      for (const auto& values : returned) key.push_back(values[i][m]);
      return key;
    });
  }
  ir::Value* const selector[] = {at(op.operand(0))[frame.first()]};
  ir::Op* made = create(op, selector, ir::types_of(slots.of(returned[0])),
                        static_cast<int>(op.regions().size()));
  for (std::size_t r = 0; r < bodies.size(); ++r)
    set_region(op, *made, static_cast<int>(r), *bodies[r], slots.of(returned[r]));
  frame.to.append(made);
  set_slots(op.results(), slots, made->results(), frame);
  return {};
}

// Whether a member takes branch r; the last one also takes what is out of range.
Each Walk::takes(const ir::Op& op, std::size_t r, Maker& make, const Frame& frame) {
  const Each& selector = at(op.operand(0));
  const auto of_selector = [&](int m) { return Key{selector[m]}; };
  if (op.kind() == K::kIf) {
    if (r == 0) return selector;
    return by_member(frame, of_selector, [&](int m) { return make.inverse(selector[m]); });
  }
  const auto is = [&](int m, std::size_t branch) {
    return make.compare(ir::ComparisonDirection::kEq, selector[m],
                        make.number(DType::kI32, static_cast<std::int64_t>(branch)));
  };
  return by_member(frame, of_selector, [&](int m) {
    if (r + 1 < op.regions().size()) return is(m, r);
    ir::Value* other = make.number(DType::kI1, 0);
    for (std::size_t b = 0; b < r; ++b) other = make.either(other, is(m, b));
    return make.inverse(other);
  });
}

// Members take different branches: each branch runs for all if any takes it, and each member
// chooses.
Status Walk::masked_branch(const ir::Op& op, Frame& frame) {
  Maker make(into_, frame.to, op);
  std::vector<Each> chosen;
  for (std::size_t r = op.regions().size(); r-- > 0;) {
    const Each taken = takes(op, r, make, frame);
    const Each mask = frame.is_masked ? both(make, frame, frame.mask, taken) : taken;
    MILLRACE_TRY(const std::vector<Each> results, guarded_branch(op, r, mask, frame));
    if (chosen.empty()) {
      chosen = results;
      continue;
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Each before = chosen[i];
      chosen[i] = by_member(
          frame, [&](int m) { return Key{taken[m], results[i][m], before[m]}; },
          [&](int m) { return make.choose(taken[m], results[i][m], before[m]); });
    }
  }
  if (op.result_count() > 0) set_results(op, chosen);
  return {};
}

Result<std::vector<Each>> Walk::guarded_branch(const ir::Op& op, std::size_t r, const Each& mask,
                                               Frame& frame) {
  Maker make(into_, frame.to, op);
  ir::Value* const any[] = {any_of(make, mask, frame.members)};
  ir::Block* body = into_.create_block({});
  Frame inner{*body, frame.places, frame.members, mask, true};
  MILLRACE_TRY(const std::vector<Each> returned, block(op.regions()[r].block(), inner));
  Slots slots;
  for (const Each& each : returned) slots.add(frame.members, [&](int m) { return each[m]; });
  const Values values = slots.of(returned);
  const std::vector<ir::Type> types = ir::types_of(values);
  ir::Op* guard = make.op(K::kIf, any, types, {}, 2);
  set_region(op, *guard, 0, *body, values);
  ir::Block* otherwise = into_.create_block({});
  Maker inactive(into_, *otherwise, op);
  Values zeros;
  for (const ir::Type type : types) zeros.push_back(inactive.zeros(type));
  set_region(op, *guard, 1, *otherwise, zeros);
  std::vector<Each> results;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    results.push_back(slots.each(
        i, [&](std::size_t slot) { return guard->result(static_cast<int>(slot)); }, frame));
  }
  return results;
}

Status Walk::loop(const ir::Op& op, Frame& frame) {
  Sameness same(
      from_, contents_, frame.places, frame.members,
      [this](const ir::Value* v) -> const Each& { return at(v); },
      frame.is_masked ? &frame.mask : nullptr);
  const Sameness::Loop found = same.of_loop(op);
  Slots slots;
  const auto add = [&](Classes::Id id) {
    const std::vector<int>& classes = same.classes().classes(id);
    slots.add(frame.members, [&](int m) {
      const auto place = std::ranges::find(frame.members, m) - frame.members.begin();
      return classes[static_cast<std::size_t>(place)];
    });
  };
  for (const Classes::Id id : found.carried) add(id);
  if (found.predicate == Classes::kAll) return joint_loop(op, slots, frame);
  add(found.predicate);
  return masked_loop(op, slots, frame);
}

void Walk::set_slots(std::span<const ir::Value> written, const Slots& slots,
                     std::span<ir::Value> made, const Frame& frame) {
  for (std::size_t i = 0; i < written.size(); ++i)
    set(&written[i], slots.each(i, [&](std::size_t slot) { return &made[slot]; }, frame));
}

// All members leave the loop together.
Status Walk::joint_loop(const ir::Op& op, const Slots& slots, Frame& frame) {
  const Values operands = slots.of(operands_of(op));
  const std::vector<ir::Type> types = ir::types_of(operands);
  ir::Op* made = create(op, operands, types, 2);
  for (int r = 0; r < 2; ++r) {
    ir::Block* body = into_.create_block(types);
    set_slots(op.region(r).block().arguments(), slots, body->arguments(), frame);
    Frame inner{*body, frame.places, frame.members, frame.mask, frame.is_masked};
    MILLRACE_TRY(const std::vector<Each> returned, block(op.region(r).block(), inner));
    const Values values = r == 0 ? Values{returned[0][frame.first()]} : slots.of(returned);
    set_region(op, *made, r, *body, values);
  }
  frame.to.append(made);
  set_slots(op.results(), slots, made->results(), frame);
  return {};
}

// The loop's condition for these values, of members that are active.
Result<Each> Walk::condition(const ir::Op& op, const std::vector<Each>& carried, const Each* active,
                             Frame& frame) {
  const ir::Block& written = op.region(0).block();
  for (int i = 0; i < written.argument_count(); ++i)
    set(written.argument(i), carried[static_cast<std::size_t>(i)]);
  MILLRACE_TRY(const std::vector<Each> returned, block(written, frame));
  if (active == nullptr) return returned[0];
  Maker make(into_, frame.to, op);
  return both(make, frame, *active, returned[0]);
}

// Members leave the loop at different times. It carries, as the last list of slots, whose predicate
// still holds; it goes on while any does, and who has left keeps what it had.
Status Walk::masked_loop(const ir::Op& op, const Slots& slots, Frame& frame) {
  std::vector<Each> carried = operands_of(op);
  const auto lists = carried.size();
  const Each outer = frame.mask;
  MILLRACE_TRY(Each first, condition(op, carried, frame.is_masked ? &outer : nullptr, frame));
  carried.push_back(std::move(first));
  const Values operands = slots.of(carried);
  const std::vector<ir::Type> types = ir::types_of(operands);
  ir::Op* made = create(op, operands, types, 2);
  const auto arguments = [&](ir::Block& body) {
    std::vector<Each> each;
    for (std::size_t i = 0; i <= lists; ++i) {
      each.push_back(slots.each(
          i, [&](std::size_t slot) { return body.argument(static_cast<int>(slot)); }, frame));
    }
    return each;
  };

  ir::Block* head = into_.create_block(types);
  Maker in_head(into_, *head, op);
  ir::Value* const any[] = {any_of(in_head, arguments(*head).back(), frame.members)};
  set_region(op, *made, 0, *head, any);

  ir::Block* body = into_.create_block(types);
  const std::vector<Each> before = arguments(*body);
  const Each& active = before.back();
  Frame inner{*body, frame.places, frame.members, active, true};
  const ir::Block& written = op.region(1).block();
  for (int i = 0; i < written.argument_count(); ++i)
    set(written.argument(i), before[static_cast<std::size_t>(i)]);
  MILLRACE_TRY(std::vector<Each> after, block(written, inner));
  Maker make(into_, *body, op);
  for (std::size_t i = 0; i < lists; ++i) {
    const Each computed = after[i];
    after[i] = by_member(
        inner, [&](int m) { return Key{active[m], computed[m], before[i][m]}; },
        [&](int m) { return make.choose(active[m], computed[m], before[i][m]); });
  }
  MILLRACE_TRY(Each next, condition(op, after, &active, inner));
  after.push_back(std::move(next));
  set_region(op, *made, 1, *body, slots.of(after));
  frame.to.append(made);
  set_slots(op.results(), slots, made->results(), frame);
  return {};
}

}  // namespace millrace::devices::stablehlo::spread
