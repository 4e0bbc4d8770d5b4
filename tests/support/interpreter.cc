#include "tests/support/interpreter.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "millrace/devices/cpu/choose/make_kernel.h"
#include "millrace/devices/cpu/kernels/base/scalar.h"
#include "millrace/devices/stablehlo/ir/scan.h"

namespace millrace::devices::cpu::testing {
namespace {

using definition::Kernel;
using definition::Scalar;
using ir::OpKind;

constexpr int kMaxDepth = 64;  // of calls: StableHLO has no recursion

using ArrayPointer = std::shared_ptr<const Array>;
// An array is one, a tuple those of its members in a row, a token none.
using Arrays = std::vector<ArrayPointer>;

std::size_t leaves(ir::Type type) {
  if (type.kind() == ir::TypeKind::kToken) return 0;
  if (type.kind() != ir::TypeKind::kTuple && type.kind() != ir::TypeKind::kFuture) return 1;
  std::size_t n = 0;
  for (const ir::Type member : type.members()) n += leaves(member);
  return n;
}

class Interpreter {
 public:
  explicit Interpreter(const ir::Module& module) : module_(module) {}

  Result<Arrays> run_block(const ir::Block& block, Arrays arguments, int depth) {
    std::size_t first = 0;
    for (const ir::Value& argument : block.arguments()) {
      const std::size_t n = leaves(argument.type());
      if (first + n > arguments.size())
        return fail(ErrorCode::kInvalidArgument, "too few arguments for a block");
      set(argument, arguments, first);
      first += n;
    }
    for (const ir::Op& op : block) {
      if (op.kind() == OpKind::kReturn || op.kind() == OpKind::kFuncReturn) return operands(op);
      MILLRACE_TRY(const Arrays results, run(op, depth));
      std::size_t at = 0;
      for (const ir::Value& v : op.results()) {
        set(v, results, at);
        at += leaves(v.type());
      }
    }
    return fail(ErrorCode::kInvalidArgument, "a block without a return");
  }

 private:
  void set(const ir::Value& v, const Arrays& from, std::size_t first) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
    values_[&v].assign(begin, begin + static_cast<std::ptrdiff_t>(leaves(v.type())));
  }
  Arrays operands(const ir::Op& op) const {
    Arrays all;
    for (const ir::Value* v : op.operands()) {
      const Arrays& one = values_.at(v);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  Result<Arrays> run(const ir::Op& op, int depth) {
    switch (op.kind()) {
      case OpKind::kCall:
      case OpKind::kComposite: {
        const ir::Function* callee = module_.find(op.callee());
        if (callee == nullptr || callee->is_declaration() || depth > kMaxDepth)
          return fail(ErrorCode::kInvalidArgument, op.where() + ": there is no such function");
        return run_block(callee->body().block(), operands(op), depth + 1);
      }
      case OpKind::kTuple:
      case OpKind::kOptimizationBarrier:
      case OpKind::kAsyncDone:
        return operands(op);
      case OpKind::kAsyncStart:
        if (op.regions().size() != 1 || op.region().empty()) break;
        return run_block(op.region().block(), operands(op), depth);
      case OpKind::kAfterAll:
      case OpKind::kCreateToken:
        return Arrays{};
      case OpKind::kGetTupleElement:
        return tuple_element(op);
      case OpKind::kIf: {
        const bool chosen = read(*operands(op)[0]).u != 0;
        return run_block(op.region(chosen ? 0 : 1).block(), {}, depth);
      }
      case OpKind::kCase: {
        const std::int64_t index = read(*operands(op)[0]).i;
        const auto last = static_cast<std::int64_t>(op.regions().size()) - 1;
        const std::int64_t chosen = index < 0 || index > last ? last : index;
        return run_block(op.region(static_cast<int>(chosen)).block(), {}, depth);
      }
      case OpKind::kWhile:
        return loop(op, depth);
      case OpKind::kChloScan:
        return scan(op, depth);
      default:
        break;
    }
    return run_kernel(op);
  }

  static Scalar read(const Array& array) {
    return definition::load(array.shape.dtype(), array.bytes.data());
  }

  Arrays tuple_element(const ir::Op& op) const {
    const auto members = op.operand(0)->type().members();
    const auto index = static_cast<std::size_t>(op.int_or("index", 0));
    std::size_t first = 0;
    for (std::size_t i = 0; i < index; ++i) first += leaves(members[i]);
    const Arrays all = operands(op);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(leaves(members[index]))};
  }

  Result<Arrays> loop(const ir::Op& op, int depth) {
    Arrays carried = operands(op);
    while (true) {
      MILLRACE_TRY(const Arrays go_on, run_block(op.region(0).block(), carried, depth));
      if (read(*go_on[0]).u == 0) return carried;
      MILLRACE_TRY(carried, run_block(op.region(1).block(), carried, depth));
    }
  }

  // Where place `at` of a dimension lies in an array of `whole`: of each of `outer` rows the bytes
  // from `first` on, `bytes` of them.
  struct Slice {
    std::size_t outer = 1, first = 0, bytes = 0, stride = 0;
    Slice(const Shape& whole, std::int64_t dimension, std::int64_t at) {
      bytes = byte_width(whole.dtype());
      for (int d = 0; d < whole.rank(); ++d) {
        const auto n = static_cast<std::size_t>(whole.dim(d));
        if (d < dimension) outer *= n;
        if (d > dimension) bytes *= n;
      }
      stride = bytes * static_cast<std::size_t>(whole.dim(static_cast<int>(dimension)));
      first = bytes * static_cast<std::size_t>(at);
    }
  };

  Result<Arrays> scan(const ir::Op& op, int depth) {
    const auto parts = ir::scan_parts_of(op);
    if (!parts) return fail(ErrorCode::kInvalidArgument, op.where() + ": not a scan that fits");
    const Arrays all = operands(op);
    const ir::Block& body = op.region().block();
    std::vector<std::shared_ptr<Array>> outputs;
    for (int i = 0; i < parts->outputs; ++i) {
      const auto shape = ir::memory_shape(op.result(i)->type());
      if (!shape) return fail(ErrorCode::kUnimplemented, op.where() + ": no array");
      outputs.push_back(
          std::make_shared<Array>(Array{*shape, std::vector<std::byte>(shape->size_bytes())}));
    }
    Arrays carried(all.begin() + parts->inputs, all.end());
    for (std::int64_t round = 0; round < parts->extent; ++round) {
      const std::int64_t at = parts->reverse ? parts->extent - 1 - round : round;
      Arrays arguments;
      for (int i = 0; i < parts->inputs; ++i) {
        const Array& whole = *all[static_cast<std::size_t>(i)];
        const auto shape = ir::memory_shape(body.argument(i)->type());
        if (!shape) return fail(ErrorCode::kUnimplemented, op.where() + ": no array");
        const Slice slice(whole.shape, parts->dimension, at);
        auto piece = std::make_shared<Array>(Array{*shape, {}});
        for (std::size_t o = 0; o < slice.outer; ++o) {
          const auto from =
              whole.bytes.begin() + static_cast<std::ptrdiff_t>(o * slice.stride + slice.first);
          piece->bytes.insert(piece->bytes.end(), from,
                              from + static_cast<std::ptrdiff_t>(slice.bytes));
        }
        arguments.push_back(std::move(piece));
      }
      arguments.insert(arguments.end(), carried.begin(), carried.end());
      MILLRACE_TRY(const Arrays made, run_block(body, std::move(arguments), depth));
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Slice slice(outputs[i]->shape, parts->dimension, at);
        for (std::size_t o = 0; o < slice.outer; ++o)
          std::copy_n(made[i]->bytes.begin() + static_cast<std::ptrdiff_t>(o * slice.bytes),
                      slice.bytes,
                      outputs[i]->bytes.begin() +
                          static_cast<std::ptrdiff_t>(o * slice.stride + slice.first));
      }
      carried.assign(made.begin() + parts->outputs, made.end());
    }
    Arrays results(outputs.begin(), outputs.end());
    results.insert(results.end(), carried.begin(), carried.end());
    return results;
  }

  Result<Arrays> run_kernel(const ir::Op& op) {
    auto& kernel = kernels_[&op];
    if (kernel == nullptr) {
      MILLRACE_TRY(kernel, definition::make_kernel(module_, op));
    }
    Arrays from = operands(op);
    for (const ir::Value* v : kernel->captures()) from.push_back(values_.at(v)[0]);
    std::vector<ConstArray> in;
    for (const ArrayPointer& a : from) in.push_back({a->shape, a->bytes.data()});
    std::vector<std::shared_ptr<Array>> made;
    std::vector<MutableArray> out;
    for (const ir::Value& v : op.results()) {
      if (v.type().kind() == ir::TypeKind::kToken) continue;
      const auto shape = ir::memory_shape(v.type());
      if (!shape) {
        return fail(ErrorCode::kUnimplemented, op.where() + ": the type " + v.type().to_string() +
                                                   " is not supported by the CPU device");
      }
      made.push_back(
          std::make_shared<Array>(Array{*shape, std::vector<std::byte>(shape->size_bytes())}));
      out.push_back({*shape, made.back()->bytes.data()});
    }
    std::vector<std::byte> scratch(kernel->scratch_bytes(in, out));
    MILLRACE_TRY_STATUS(kernel->run(in, out, scratch));
    return Arrays(made.begin(), made.end());
  }

  const ir::Module& module_;
  std::map<const ir::Value*, Arrays> values_;
  std::map<const ir::Op*, std::shared_ptr<const Kernel>> kernels_;
};

}  // namespace

Result<std::vector<Array>> interpret(const ir::Module& module, const ir::Function& function,
                                     std::vector<Array> inputs) {
  if (function.is_declaration()) {
    return fail(ErrorCode::kInvalidArgument,
                "the function @" + std::string(function.name()) + " has no body");
  }
  Arrays arguments;
  for (Array& input : inputs) arguments.push_back(std::make_shared<const Array>(std::move(input)));
  MILLRACE_TRY(const Arrays results,
               Interpreter(module).run_block(function.body().block(), std::move(arguments), 0));
  std::vector<Array> copies;
  for (const ArrayPointer& r : results) copies.push_back(*r);
  return copies;
}

}  // namespace millrace::devices::cpu::testing
