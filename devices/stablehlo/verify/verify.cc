#include "millrace/devices/stablehlo/verify/verify.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/verify/rules.h"

namespace millrace::devices::stablehlo::verify {
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
    MILLRACE_TRY_STATUS(obeys_rule(o, &dims));
    return dims;
  }

 private:
  Status obeys_rule(const ir::Op& o, std::vector<Dims>* inferred = nullptr) {
    const Rule& rule = rule_of(o);
    Check check(module_, o, inferred);
    if (!rule.tensors || tensors(check)) rule.check(check);
    if (check.error()) return std::unexpected(*check.error());
    return {};
  }

  Status function(const ir::Function& f) {
    if (f.is_declaration()) return {};
    const std::string where = ir::message(to_string(f.location()), ": func.func @", f.name(), ": ");
    const auto bad = [&where](const auto&... parts) {
      return fail(ErrorCode::kInvalidArgument, ir::message(where, parts...));
    };
    if (f.body().blocks().size() != 1) {
      return bad("found ", f.body().blocks().size(),
                 " blocks, expected one: programs have no branches between blocks");
    }
    const ir::Block& entry = f.body().block();
    if (static_cast<std::size_t>(entry.argument_count()) != f.inputs().size())
      return bad("the body has another number of arguments than the signature");
    for (const ir::Value& argument : entry.arguments()) {
      const ir::Type expected = f.inputs()[static_cast<std::size_t>(argument.index())];
      if (argument.type() != expected) {
        return bad("argument ", argument.index(), " is ", argument.type(), ", expected ", expected);
      }
    }
    // JAX ends the comparators of its approximate top_k with stablehlo.return.
    const OpKind end = entry.empty() ? OpKind::kOther : entry.terminator()->kind();
    if (end != OpKind::kFuncReturn && end != OpKind::kReturn)
      return bad("the body does not end in func.return");
    function_ = &f;
    MILLRACE_TRY_STATUS(types(entry.arguments(), where + "argument "));
    MILLRACE_TRY_STATUS(block(entry, ir::to_string(end)));
    return end == OpKind::kReturn ? returned(*entry.terminator()) : Status();
  }

  // The types of results and of the arguments of a block.
  static Status types(std::span<const ir::Value> values, const std::string& where) {
    for (const ir::Value& v : values) {
      const std::string fault = type_fault(v.type());
      if (fault.empty()) continue;
      return fail(ErrorCode::kInvalidArgument,
                  ir::message(where, v.index(), " is ", v.type(), ": ", fault));
    }
    return {};
  }

  Status block(const ir::Block& b, std::string_view terminator) {
    for (const ir::Op& o : b) {
      if (is_return(o) && (&o != b.terminator() || o.name() != terminator)) {
        return ir::invalid(o, "found here, expected only ", terminator, " at the end of the block");
      }
      MILLRACE_TRY_STATUS(op(o));
    }
    return {};
  }

  Status op(const ir::Op& o) {
    if (o.kind() == OpKind::kFuncReturn) return returned(o);
    if (!o.successors().empty())
      return ir::invalid(o, "it branches to other blocks, which programs do not have");
    for (std::size_t i = 0; i < o.regions().size(); ++i) {
      MILLRACE_TRY_STATUS(o.kind() == OpKind::kOther ? foreign_region(o, i) : region(o, i));
    }
    MILLRACE_TRY_STATUS(types(o.results(), o.where() + ": result "));
    MILLRACE_TRY_STATUS(accuracy(o));
    MILLRACE_TRY_STATUS(obeys_rule(o));
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
      return ir::invalid(o, "result_accuracy has atol ", a->atol, ", rtol ", a->rtol, " and ulps ",
                         a->ulps, ", expected numbers that are not negative");
    }
    if (a->mode != ir::AccuracyMode::kTolerance && (a->atol != 0 || a->rtol != 0 || a->ulps != 0))
      return ir::invalid(
          o, "result_accuracy has tolerances, expected them with the mode TOLERANCE only");
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
    if (r.blocks().size() != 1)
      return ir::invalid(o, "region ", i, " has ", r.blocks().size(), " blocks, expected one");
    if (r.block().empty() || r.block().terminator()->kind() != OpKind::kReturn)
      return ir::invalid(o, "region ", i, " does not end in stablehlo.return");
    MILLRACE_TRY_STATUS(
        types(r.block().arguments(), ir::message(o.where(), ": region ", i, ": argument ")));
    return block(r.block(), ir::to_string(OpKind::kReturn));
  }

  // Whether the operands and results are ranked tensors. An unranked one is no error, but nothing
  // can be said of it until shapes are refined.
  static bool tensors(Check& check) {
    bool ranked = true;
    const auto good = [&](ir::Type type, std::string_view what, int i) {
      if (type.is_tensor()) return true;
      ranked = false;
      return type.kind() == ir::TypeKind::kUnranked ||
             check.fail(what, " ", i, " is ", type, ", expected a tensor");
    };
    return all(check.op.operand_count(),
               [&](int i) { return good(check.operand(i), "operand", i); }) &&
           all(check.op.result_count(),
               [&](int i) { return good(check.result(i), "result", i); }) &&
           ranked;
  }

  Status returned(const ir::Op& o) {
    const auto expected = function_->results();
    if (static_cast<std::size_t>(o.operand_count()) != expected.size()) {
      return ir::invalid(o, "found ", o.operand_count(), " values, expected the ", expected.size(),
                         " results of @", function_->name());
    }
    for (int i = 0; i < o.operand_count(); ++i) {
      const ir::Type found = o.operand(i)->type(), want = expected[static_cast<std::size_t>(i)];
      if (found != want) {
        return ir::invalid(o, "value ", i, " is ", found, ", expected ", want, ", a result of @",
                           function_->name());
      }
    }
    return {};
  }

  // A function that calls itself, directly or not, would never end: found by a walk without
  // recursion.
  Status calls_end() {
    enum class Mark { kNew, kOpen, kDone };
    std::unordered_map<const ir::Function*, Mark> marks;
    std::vector<std::pair<const ir::Function*, std::size_t>> path;  // with the next of their calls
    const auto open = [&](const ir::Function* function) {
      if (marks[function] != Mark::kNew) return;
      marks[function] = Mark::kOpen;
      path.emplace_back(function, 0);
    };
    for (const ir::Function& root : module_.functions()) {
      for (open(&root); !path.empty();) {
        auto& [function, next] = path.back();
        const auto& calls = calls_[function];
        if (next == calls.size()) {
          marks[function] = Mark::kDone;
          path.pop_back();
          continue;
        }
        const ir::Op& call = *calls[next++];
        const ir::Function* callee = module_.find(call.callee());
        if (marks[callee] == Mark::kOpen)
          return ir::invalid(call, "@", callee->name(), " calls itself, directly or by others");
        open(callee);
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

}  // namespace millrace::devices::stablehlo::verify
