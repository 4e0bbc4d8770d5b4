// make_body: a block of the ir as instructions. Calls are inlined; if, case and while become jumps.
#include <array>
#include <map>
#include <optional>
#include <string>

#include "millrace/devices/cpu/choose/make_kernel.h"
#include "millrace/devices/cpu/kernels/elementwise/quantised.h"

namespace millrace::devices::cpu::definition {

namespace {

constexpr int kMaxDepth = 32;  // of calls and control flow inside a body
constexpr std::size_t kMaxBytes = 64 << 20;
// With all calls in place. A few lines can call each other to more than any memory holds.
constexpr int kMostOps = 1 << 16;

}  // namespace

class BodyBuilder {
 public:
  explicit BodyBuilder(const ir::Module& module) : module_(module) {}

  Result<Body> build(const ir::Op& op, const ir::Block& block) {
    for (const ir::Value& argument : block.arguments()) {
      if (!is_scalar(argument.type())) return unsupported(op);
      values_[&argument] = {.slot = add_slot({})};
    }
    body_.arguments_ = block.argument_count();
    MILLRACE_TRY(const std::vector<Place> results, add_block(block, 0));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].slot < 0) return unsupported(op);
      body_.results_.push_back(results[i].slot);
    }
    return std::move(body_);
  }

 private:
  using K = ir::OpKind;
  using What = Body::What;
  using Place = Body::Place;
  using Places = std::vector<Place>;

  static bool is_scalar(ir::Type type) {
    if (!type.is_tensor() || type.elements() != 1) return false;
    const ir::QuantParameters* quant = quant_of(type);
    return form_of(quant != nullptr ? quant->storage : type.dtype()) != Form::kNone;
  }
  static const ir::QuantParameters* quant_of(ir::Type type) { return type.element().quant(); }
  static std::unexpected<Error> unsupported(const ir::Op& op) {
    return fail(ErrorCode::kUnimplemented,
                op.where() + ": not supported by the CPU device inside a body");
  }

  int add_slot(const Scalar& value) {
    body_.initial_.push_back(value);
    return static_cast<int>(body_.initial_.size()) - 1;
  }
  Result<int> add_array(const ir::Op& op, ir::Type type) {
    const auto shape = ir::memory_shape(type);
    if (!shape) return unsupported(op);
    constexpr std::size_t kAlignment = 16;
    const std::size_t offset = body_.initial_bytes_.size();
    const std::size_t bytes = (shape->size_bytes() + kAlignment) / kAlignment * kAlignment;
    if (bytes > kMaxBytes - offset) return unsupported(op);
    body_.initial_bytes_.resize(offset + bytes);
    body_.arrays_.push_back({*shape, offset});
    return static_cast<int>(body_.arrays_.size()) - 1;
  }
  Result<Place> add_place(const ir::Op& op, ir::Type type) {
    if (is_scalar(type)) return Place{.slot = add_slot({})};
    MILLRACE_TRY(const int array, add_array(op, type));
    return Place{.array = array};
  }

  int add(What what, int from, int result = 0) {
    body_.instructions_.push_back({.what = what, .op = {}, .operands = {from}, .result = result});
    return static_cast<int>(body_.instructions_.size()) - 1;
  }
  int next() const { return static_cast<int>(body_.instructions_.size()); }
  void jump_here(int instruction) {
    body_.instructions_[static_cast<std::size_t>(instruction)].result = next();
  }
  void copy(const Place& from, const Place& to) {
    if (to.slot >= 0)
      add(What::kCopy, from.slot, to.slot);
    else
      add(What::kCopyArray, from.array, to.array);
  }
  int apply(const ScalarOp& op, const std::array<int, 3>& operands) {
    const int result = add_slot({});
    Body::Instruction instruction{.what = What::kApply, .op = op, .result = result};
    std::copy(operands.begin(), operands.end(), instruction.operands);
    body_.instructions_.push_back(instruction);
    return result;
  }
  // The other form of what is in `slot`; itself where nothing is quantised.
  int convert(What what, const ir::QuantParameters* quant, int slot) {
    if (quant == nullptr) return slot;
    const int result = add_slot({});
    body_.instructions_.push_back(
        {.what = what, .op = {}, .quant = quant, .operands = {slot}, .result = result});
    return result;
  }

  Result<Places> add_block(const ir::Block& block, int depth) {
    for (const ir::Op& op : block) {
      if (op.kind() == K::kReturn || op.kind() == K::kFuncReturn) return find_all(op, 0);
      MILLRACE_TRY_STATUS(add_op(op, depth));
    }
    return fail(ErrorCode::kInvalidArgument, "a body without a return");
  }

  Result<Place> find(const ir::Op& op, const ir::Value* v) {
    const auto it = values_.find(v);
    if (it != values_.end()) return it->second;
    // A constant of the surrounding block.
    if (v->def() != nullptr && v->def()->kind() == ir::OpKind::kConstant) {
      MILLRACE_TRY_STATUS(add_constant(*v->def()));
      return values_.at(v);
    }
    // All that is made inside has been seen before.
    MILLRACE_TRY(const Place place, add_place(op, v->type()));
    body_.captures_.push_back(v);
    body_.captured_.push_back(place);
    values_[v] = place;
    return place;
  }
  // The places of the operands from `first` on.
  Result<Places> find_all(const ir::Op& op, int first) {
    Places all;
    for (int i = first; i < op.operand_count(); ++i) {
      MILLRACE_TRY(const Place place, find(op, op.operand(i)));
      all.push_back(place);
    }
    return all;
  }
  void set_results(const ir::Op& op, const Places& places) {
    for (int i = 0; i < op.result_count(); ++i)
      values_[op.result(i)] = places[static_cast<std::size_t>(i)];
  }

  Status add_op(const ir::Op& op, int depth) {
    if (depth > kMaxDepth) return unsupported(op);
    if (++ops_ > kMostOps) {
      return fail(ErrorCode::kResourceExhausted,
                  op.where() +
                      ": with the functions that it calls in their places the body has more than " +
                      std::to_string(kMostOps) + " operations");
    }
    switch (op.kind()) {
      case K::kCall:
      case K::kComposite:
        return add_call(op, depth);
      case K::kIf:
      case K::kCase:
        return add_branches(op, depth);
      case K::kWhile:
        return add_loop(op, depth);
      case K::kConstant:
        return add_constant(op);
      default:
        break;
    }
    bool scalar = op.result_count() == 1 && is_scalar(op.result()->type());
    for (const ir::Value* v : op.operands()) scalar = scalar && is_scalar(v->type());
    if (!scalar) return add_kernel(op);
    if (op.kind() == K::kReshape || op.kind() == K::kBroadcastInDim || op.kind() == K::kTranspose ||
        op.kind() == K::kReverse) {
      MILLRACE_TRY(values_[op.result()], find(op, op.operand(0)));
      return {};
    }
    if (is_quantised(op) && !runs_on_stored(op)) return add_quantised(op);
    const auto function = find_scalar_op(op);
    if (!function || op.operand_count() > 3) return add_kernel(op);
    std::array<int, 3> operands = {};
    for (int i = 0; i < op.operand_count(); ++i) {
      MILLRACE_TRY(const Place place, find(op, op.operand(i)));
      operands[static_cast<std::size_t>(i)] = place.slot;
    }
    values_[op.result()] = {.slot = apply(*function, operands)};
    return {};
  }

  // An op on the numbers that its operands stand for.
  Status add_quantised(const ir::Op& op) {
    const auto dtype = [](ir::Type type) {
      return quant_of(type) != nullptr ? quant_of(type)->expressed : type.dtype();
    };
    std::array<int, 3> operands = {};
    if (static_cast<std::size_t>(op.operand_count()) > operands.size()) return add_kernel(op);
    for (int i = 0; i < op.operand_count(); ++i) {
      MILLRACE_TRY(const Place place, find(op, op.operand(i)));
      operands[static_cast<std::size_t>(i)] =
          convert(What::kDequantise, quant_of(op.operand(i)->type()), place.slot);
    }
    int result = operands[0];
    if (op.kind() != K::kUniformQuantize && op.kind() != K::kUniformDequantize) {
      const int typical = typical_operand(op.kind());
      if (typical >= op.operand_count()) return add_kernel(op);
      const auto function =
          find_scalar_op(op, dtype(op.operand(typical)->type()), dtype(op.result()->type()));
      if (!function) return add_kernel(op);
      result = apply(*function, operands);
    }
    values_[op.result()] = {.slot =
                                convert(What::kQuantise, quant_of(op.result()->type()), result)};
    return {};
  }

  // Written before any run, so also one of a branch is there for all.
  Status add_constant(const ir::Op& op) {
    const auto* dense = op.attr<ir::DenseAttr>("value");
    if (dense == nullptr) return unsupported(op);
    if (is_scalar(op.result()->type())) {
      values_[op.result()] = {.slot = add_slot(load(dense->type.dtype(), dense->bytes.data()))};
      return {};
    }
    MILLRACE_TRY(const int array, add_array(op, op.result()->type()));
    MILLRACE_TRY(const auto kernel, make_kernel(module_, op));
    const Body::ArrayPlace& place = body_.arrays_[static_cast<std::size_t>(array)];
    const MutableArray to[] = {{place.shape, &body_.initial_bytes_[place.offset]}};
    values_[op.result()] = {.array = array};
    return kernel->run({}, to, {});
  }

  Status add_kernel(const ir::Op& op) {
    Body::Inner inner;
    MILLRACE_TRY(inner.kernel, make_kernel(module_, op));
    std::vector<ConstArray> operands;
    std::vector<MutableArray> results;
    const auto shape = [&](int array) {
      return body_.arrays_[static_cast<std::size_t>(array)].shape;
    };
    std::vector<const ir::Value*> read(op.operands().begin(), op.operands().end());
    const auto captures = inner.kernel->captures();
    read.insert(read.end(), captures.begin(), captures.end());
    for (const ir::Value* v : read) {
      MILLRACE_TRY(Place place, find(op, v));
      if (place.array < 0) {
        MILLRACE_TRY(place.array, add_array(op, v->type()));
        add(What::kStore, place.slot, place.array);
      }
      inner.operands.push_back(place.array);
      operands.push_back({shape(place.array)});
    }
    Places places;
    for (const ir::Value& v : op.results()) {
      MILLRACE_TRY(const int array, add_array(op, v.type()));
      inner.results.push_back(array);
      results.push_back({shape(array)});
      places.push_back({.array = array});
    }
    body_.most_operands_ = std::max(body_.most_operands_, operands.size());
    body_.most_results_ = std::max(body_.most_results_, results.size());
    body_.most_scratch_ =
        std::max(body_.most_scratch_, inner.kernel->scratch_bytes(operands, results));
    body_.kernels_.push_back(std::move(inner));
    add(What::kKernel, static_cast<int>(body_.kernels_.size()) - 1);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!is_scalar(op.result(static_cast<int>(i))->type())) continue;
      const int slot = add_slot({});
      add(What::kLoad, places[i].array, slot);
      places[i] = {.slot = slot};
    }
    set_results(op, places);
    return {};
  }

  Status add_branches(const ir::Op& op, int depth) {
    MILLRACE_TRY(const Place selector, find(op, op.operand(0)));
    Places results;
    for (const ir::Value& v : op.results()) {
      MILLRACE_TRY(const Place place, add_place(op, v.type()));
      results.push_back(place);
    }
    std::vector<int> ends;
    const int last = static_cast<int>(op.regions().size()) - 1;
    for (int b = 0; b <= last; ++b) {
      int skip = -1;
      if (b < last) {
        int taken = selector.slot;
        if (op.kind() == K::kCase) {
          const ScalarInfo compare{.in = DType::kI32, .out = DType::kI1};
          taken = apply({integer_function(K::kCompare, Form::kSigned), compare},
                        {selector.slot, add_slot(from_signed(b)), selector.slot});
        }
        skip = add(What::kJumpUnless, taken);
      }
      MILLRACE_TRY(const Places made, add_block(op.region(b).block(), depth + 1));
      for (std::size_t i = 0; i < results.size(); ++i) copy(made[i], results[i]);
      if (skip < 0) break;  // the last one, which is taken where no other is
      ends.push_back(add(What::kJump, 0));
      jump_here(skip);
    }
    for (int end : ends) jump_here(end);
    set_results(op, results);
    return {};
  }

  Status add_loop(const ir::Op& op, int depth) {
    const ir::Block &condition = op.region(0).block(), &step = op.region(1).block();
    MILLRACE_TRY(const Places initial, find_all(op, 0));
    Places carried, made_later;
    for (int i = 0; i < op.operand_count(); ++i) {
      MILLRACE_TRY(const Place place, add_place(op, op.operand(i)->type()));
      MILLRACE_TRY(const Place later, add_place(op, op.operand(i)->type()));
      copy(initial[static_cast<std::size_t>(i)], place);
      values_[condition.argument(i)] = values_[step.argument(i)] = place;
      carried.push_back(place);
      made_later.push_back(later);
    }
    const int begin = next();
    MILLRACE_TRY(const Places goes_on, add_block(condition, depth + 1));
    if (goes_on.size() != 1 || goes_on[0].slot < 0) return unsupported(op);
    const int leave = add(What::kJumpUnless, goes_on[0].slot);
    MILLRACE_TRY(const Places made, add_block(step, depth + 1));
    // All of them first: one may be another's carried value.
    for (std::size_t i = 0; i < made.size(); ++i) copy(made[i], made_later[i]);
    for (std::size_t i = 0; i < made.size(); ++i) copy(made_later[i], carried[i]);
    add(What::kJump, 0, begin);
    jump_here(leave);
    set_results(op, carried);
    return {};
  }

  Status add_call(const ir::Op& op, int depth) {
    const ir::Function* callee = module_.find(op.callee());
    if (callee == nullptr || callee->is_declaration()) return unsupported(op);
    const ir::Block& block = callee->body().block();
    MILLRACE_TRY(const Places operands, find_all(op, 0));
    for (std::size_t i = 0; i < operands.size(); ++i)
      values_[block.argument(static_cast<int>(i))] = operands[i];
    MILLRACE_TRY(const Places results, add_block(block, depth + 1));
    set_results(op, results);
    return {};
  }

  const ir::Module& module_;
  int ops_ = 0;
  Body body_;
  std::map<const ir::Value*, Place> values_;
};

Result<Body> make_body(const ir::Module& module, const ir::Op& op, const ir::Block& block) {
  return BodyBuilder(module).build(op, block);
}

}  // namespace millrace::devices::cpu::definition
