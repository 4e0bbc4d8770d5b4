// Control flow: if and case, of which one branch stays where the choice is known; while, whose
// carried values keep their shapes.
#include <algorithm>
#include <utility>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/specialise/walk.h"

namespace millrace::devices::stablehlo::specialise {
namespace {

using K = ir::OpKind;

constexpr int kMaxGuesses = 64;

// The branch that a known selector takes.
std::size_t chosen(const ir::Op& op, const Known& selector) {
  const std::int64_t value = integers(selector)[0];
  if (op.kind() == K::kIf) return value != 0 ? 0 : 1;
  const auto last = static_cast<std::int64_t>(op.regions().size()) - 1;
  return static_cast<std::size_t>(value < 0 || value > last ? last : value);
}

// What the body of a loop returns.
std::span<ir::Value* const> returned(const ir::Op& loop) {
  return loop.region(1).block().terminator()->operands();
}

}  // namespace

Status Walk::branch(const ir::Op& op, ir::Block& to, Scope& scope) {
  const Values operands = mapped(op, scope);
  if (const KnownRef selector = known_(operands[0])) {
    MILLRACE_TRY(const Values values,
                 block(op.regions()[chosen(op, *selector)].block(), to, scope));
    set_results(op, values, scope);
    return {};
  }
  // The regions are made before the operation: their results have its types.
  std::vector<Values> returned;
  ir::Op* made = nullptr;
  for (std::size_t r = 0; r < op.regions().size(); ++r) {
    ir::Block* body = into_.create_block({});
    MILLRACE_TRY(const Values values, block(op.regions()[r].block(), *body, scope));
    end_block(*op.regions()[r].block().terminator(), values, *body);
    if (made == nullptr) {
      made = create(op, op.kind(), operands, ir::types_of(values), op.attributes(),
                    static_cast<int>(op.regions().size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ir::Type first = made->result(static_cast<int>(i))->type();
      if (values[i]->type() != first) {
        return ir::unimplemented(op, "result ", i, " would be ", first, " from one branch, ",
                                 values[i]->type(), " from another, and data choose");
      }
    }
    ir::Block* const blocks[] = {body};
    into_.set_blocks(made->regions()[r], blocks);
    returned.push_back(values);
  }
  to.append(made);
  for (int i = 0; i < op.result_count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const KnownRef first = known_(returned[0][at]);
    if (std::ranges::all_of(returned, [&](const Values& v) { return same(known_(v[at]), first); }))
      known_.set(made->result(i), first);
  }
  set_results(op, *made, scope);
  return {};
}

// fixed[i]: carried value i is taken to be in each iteration what it is before the loop.
Result<ir::Op*> Walk::try_loop(const ir::Op& op, const Values& operands,
                               const std::vector<bool>& fixed, Scope& scope) {
  const std::vector<ir::Type> types = ir::types_of(operands);
  std::vector<KnownRef> inside = known_(operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!fixed[i]) inside[i] = nullptr;
  }
  ir::Op* made = create(op, K::kWhile, operands, types, op.attributes(), 2);
  for (int r = 0; r < 2; ++r) {
    const ir::Block& written = op.region(r).block();
    MILLRACE_TRY(const Values values, region(written, types, inside, made->region(r), scope));
    end_block(*written.terminator(), values, made->region(r).block());
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (const ir::Type after = returned(*made)[i]->type(); after != types[i]) {
      return ir::unimplemented(op, "what it carries as value ", i, " is ", types[i],
                               " before an iteration and ", after,
                               " after it: the CPU device runs loops whose shapes stay");
    }
  }
  return made;
}

// Tries whether what is known before the loop stays as it is: taken to be so, it must come out so.
ir::Op* Walk::guessed_loop(const ir::Op& op, const Values& operands, std::vector<bool>& fixed,
                           Scope& scope) {
  fixed.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Op* last = op.region(1).block().terminator()->operand(static_cast<int>(i))->def();
    // A counter is no candidate.
    const bool counts =
        last != nullptr && (last->kind() == K::kAdd || last->kind() == K::kSubtract);
    fixed.push_back(known_(operands[i]) != nullptr && !counts);
  }
  while (std::ranges::find(fixed, true) != fixed.end() && guesses_ < kMaxGuesses) {
    ++guesses_;
    const Result<ir::Op*> loop = try_loop(op, operands, fixed, scope);
    if (!loop) return nullptr;
    bool right = true;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!fixed[i] || same(known_(returned(**loop)[i]), known_(operands[i]))) continue;
      fixed[i] = right = false;
    }
    if (right) return *loop;
  }
  return nullptr;
}

Status Walk::loop(const ir::Op& op, ir::Block& to, Scope& scope) {
  const Values operands = mapped(op, scope);
  const ir::Block& body = op.region(1).block();
  // It is plain to see that a value stays if the body returns its argument.
  std::vector<bool> fixed;
  for (int i = 0; i < op.operand_count(); ++i)
    fixed.push_back(body.terminator()->operand(i) == body.argument(i));
  const Result<ir::Op*> plain = try_loop(op, operands, fixed, scope);
  ir::Op* const made = plain ? *plain : guessed_loop(op, operands, fixed, scope);
  if (made == nullptr) return std::unexpected(plain.error());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (fixed[i]) known_.set(made->result(static_cast<int>(i)), known_(operands[i]));
  }
  to.append(made);
  set_results(op, *made, scope);
  return {};
}

}  // namespace millrace::devices::stablehlo::specialise
