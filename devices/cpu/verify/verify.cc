#include "millrace/devices/cpu/verify/verify.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/verify/rules.h"

namespace millrace::devices::cpu::verify {
namespace {

using ir::OpKind;

// Ops that end a block: which one ends a region of an unknown op is that op's business.
bool is_return(const ir::Op& op) {
  return op.kind() == OpKind::kFuncReturn || op.kind() == OpKind::kReturn ||
         op.name() == "sdy.return";
}

class Verifier {
 public:
  explicit Verifier(const ir::Module& module) : module_(module) {}

  Status run() {
    for (const ir::Function& f : module_.functions()) MILLRACE_TRY_STATUS(function(f));
    return calls_end();
  }

  Result<std::vector<Dims>> inferred(const ir::Op& o) {
    std::vector<Dims> dims;
    for (const ir::Value& v : o.results())
      dims.emplace_back(v.type().is_tensor() ? v.type().dims().size() : 0, ir::kDynamic);
    const Rule& rule = rule_of(o);
    if (rule.check == nullptr) return dims;
    Check check(module_, o, &dims);
    if (!(rule.tensors && !tensors(check)) && !unranked(o, rule)) rule.check(check);
    if (check.error()) return std::unexpected(*check.error());
    return dims;
  }

 private:
  Status failure(const ir::Op& op, const std::string& message) {
    return fail(ErrorCode::kInvalidArgument, op.where() + ": " + message);
  }

  Status function(const ir::Function& f) {
    if (f.is_declaration()) return {};
    const std::string where =
        to_string(f.location()) + ": func.func @" + std::string(f.name()) + ": ";
    if (f.body().blocks().size() != 1) {
      return fail(ErrorCode::kInvalidArgument,
                  where + "found " + std::to_string(f.body().blocks().size()) +
                      " blocks, expected one: programs have no branches between blocks");
    }
    const ir::Block& entry = f.body().block();
    if (static_cast<std::size_t>(entry.argument_count()) != f.inputs().size()) {
      return fail(ErrorCode::kInvalidArgument,
                  where + "the body has another number of arguments than the signature");
    }
    for (int i = 0; i < entry.argument_count(); ++i) {
      if (entry.argument(i)->type() != f.inputs()[static_cast<std::size_t>(i)]) {
        return fail(ErrorCode::kInvalidArgument,
                    where + "argument " + std::to_string(i) + " is " +
                        entry.argument(i)->type().to_string() + ", expected " +
                        f.inputs()[static_cast<std::size_t>(i)].to_string());
      }
    }
    // JAX ends the comparators of its approximate top_k with stablehlo.return.
    const OpKind end = entry.empty() ? OpKind::kOther : entry.terminator()->kind();
    if (end != OpKind::kFuncReturn && end != OpKind::kReturn)
      return fail(ErrorCode::kInvalidArgument, where + "the body does not end in func.return");
    function_ = &f;
    MILLRACE_TRY_STATUS(types(entry.arguments(), where + "argument "));
    MILLRACE_TRY_STATUS(block(entry, ir::to_string(end)));
    return end == OpKind::kReturn ? returned(*entry.terminator()) : Status();
  }

  // Of results and of the arguments of a block.
  static Status types(std::span<const ir::Value> values, const std::string& where) {
    for (const ir::Value& v : values) {
      const std::string fault = type_fault(v.type());
      if (fault.empty()) continue;
      std::string message = where + std::to_string(v.index());
      message.append(" is ").append(v.type().to_string()).append(": ").append(fault);
      return fail(ErrorCode::kInvalidArgument, std::move(message));
    }
    return {};
  }

  Status block(const ir::Block& b, std::string_view terminator) {
    for (const ir::Op& o : b) {
      if (is_return(o) && (&o != b.terminator() || o.name() != terminator)) {
        return failure(
            o, "found here, expected only " + std::string(terminator) + " at the end of the block");
      }
      MILLRACE_TRY_STATUS(op(o));
    }
    return {};
  }

  Status op(const ir::Op& o) {
    if (o.kind() == OpKind::kFuncReturn) return returned(o);
    if (!o.successors().empty())
      return failure(o, "it branches to other blocks, which programs do not have");
    for (std::size_t i = 0; i < o.regions().size(); ++i) {
      MILLRACE_TRY_STATUS(o.kind() == OpKind::kOther ? foreign_region(o, i) : region(o, i));
    }
    MILLRACE_TRY_STATUS(types(o.results(), o.where() + ": result "));
    MILLRACE_TRY_STATUS(accuracy(o));
    const Rule& rule = rule_of(o);
    if (rule.check != nullptr) {
      Check check(module_, o);
      if (!(rule.tensors && !tensors(check)) && !unranked(o, rule)) rule.check(check);
      if (check.error()) return std::unexpected(*check.error());
    }
    if (o.kind() == OpKind::kCall || o.kind() == OpKind::kComposite)
      calls_[function_].push_back(&o);
    return {};
  }

  // Tolerances are numbers from zero on, and only of the mode that has some. A NaN would fit
  // nothing.
  Status accuracy(const ir::Op& o) {
    const auto* a = o.attr<ir::ResultAccuracyAttr>("result_accuracy");
    if (a == nullptr) return {};
    if (!(a->atol >= 0) || !(a->rtol >= 0) || a->ulps < 0) {
      return failure(o, "result_accuracy has atol " + std::to_string(a->atol) + ", rtol " +
                            std::to_string(a->rtol) + " and ulps " + std::to_string(a->ulps) +
                            ", expected numbers that are not negative");
    }
    if (a->mode != ir::AccuracyMode::kTolerance && (a->atol != 0 || a->rtol != 0 || a->ulps != 0))
      return failure(o,
                     "result_accuracy has tolerances, expected them with the mode TOLERANCE only");
    return {};
  }

  // Regions of other dialects' ops: their blocks hold ours, which are lowered where the op is known
  // (sdy.manual_computation).
  Status foreign_region(const ir::Op& o, std::size_t i) {
    for (const ir::Block* b : o.regions()[i].blocks()) {
      MILLRACE_TRY_STATUS(types(b->arguments(), o.where() + ": argument "));
      const bool returns = !b->empty() && is_return(*b->terminator()) &&
                           b->terminator()->kind() != OpKind::kFuncReturn;
      const std::string_view end = returns ? b->terminator()->name() : "an op that returns";
      MILLRACE_TRY_STATUS(block(*b, end));
    }
    return {};
  }

  // Regions of StableHLO's and CHLO's ops: one block, ended by stablehlo.return.
  Status region(const ir::Op& o, std::size_t i) {
    const ir::Region& r = o.regions()[i];
    const std::string name = "region " + std::to_string(i);
    if (r.blocks().size() != 1)
      return failure(o,
                     name + " has " + std::to_string(r.blocks().size()) + " blocks, expected one");
    if (r.block().empty() || r.block().terminator()->kind() != OpKind::kReturn) {
      return failure(o, name + " does not end in stablehlo.return");
    }
    MILLRACE_TRY_STATUS(types(r.block().arguments(), o.where() + ": " + name + ": argument "));
    return block(r.block(), ir::to_string(OpKind::kReturn));
  }

  bool tensors(Check& check) {
    const auto good = [&check](ir::Type type, const std::string& what) {
      return type.is_tensor() || type.kind() == ir::TypeKind::kUnranked ||
             check.fail(what + " is " + type.to_string() + ", expected a tensor");
    };
    for (int i = 0; i < check.op.operand_count(); ++i) {
      if (!good(check.operand(i), "operand " + std::to_string(i))) return false;
    }
    for (int i = 0; i < check.op.result_count(); ++i) {
      if (!good(check.result(i), "result " + std::to_string(i))) return false;
    }
    return true;
  }

  // Of unranked tensors nothing can be said until shapes are refined.
  bool unranked(const ir::Op& o, const Rule& rule) {
    if (!rule.tensors) return false;
    for (const ir::Value* v : o.operands()) {
      if (v->type().kind() == ir::TypeKind::kUnranked) return true;
    }
    for (const ir::Value& v : o.results()) {
      if (v.type().kind() == ir::TypeKind::kUnranked) return true;
    }
    return false;
  }

  Status returned(const ir::Op& o) {
    const auto expected = function_->results();
    if (static_cast<std::size_t>(o.operand_count()) != expected.size()) {
      return failure(o, "found " + std::to_string(o.operand_count()) + " values, expected the " +
                            std::to_string(expected.size()) + " results of @" +
                            std::string(function_->name()));
    }
    for (int i = 0; i < o.operand_count(); ++i) {
      const ir::Type want = expected[static_cast<std::size_t>(i)];
      if (o.operand(i)->type() != want) {
        return failure(o, "value " + std::to_string(i) + " is " + o.operand(i)->type().to_string() +
                              ", expected " + want.to_string() + ", a result of @" +
                              std::string(function_->name()));
      }
    }
    return {};
  }

  // A function that calls itself, directly or not, would never end: found by a walk without
  // recursion.
  Status calls_end() {
    enum class Mark { kNew, kOpen, kDone };
    std::unordered_map<const ir::Function*, Mark> marks;
    struct Step {
      const ir::Function* function;
      std::size_t next;
    };
    for (const ir::Function& root : module_.functions()) {
      if (marks[&root] != Mark::kNew) continue;
      std::vector<Step> path{{&root, 0}};
      marks[&root] = Mark::kOpen;
      while (!path.empty()) {
        Step& step = path.back();
        const auto& calls = calls_[step.function];
        if (step.next == calls.size()) {
          marks[step.function] = Mark::kDone;
          path.pop_back();
          continue;
        }
        const ir::Op& call = *calls[step.next++];
        const ir::Function* callee = module_.find(call.callee());
        if (marks[callee] == Mark::kOpen) {
          return failure(
              call, "@" + std::string(callee->name()) + " calls itself, directly or by others");
        }
        if (marks[callee] == Mark::kDone) continue;
        marks[callee] = Mark::kOpen;
        path.push_back({callee, 0});
      }
    }
    return {};
  }

  const ir::Module& module_;
  const ir::Function* function_ = nullptr;
  std::unordered_map<const ir::Function*, std::vector<const ir::Op*>> calls_;
};

}  // namespace

Status verify(const ir::Module& module) { return Verifier(module).run(); }

Result<std::vector<Dims>> infer(const ir::Module& module, const ir::Op& op) {
  return Verifier(module).inferred(op);
}

}  // namespace millrace::devices::cpu::verify
