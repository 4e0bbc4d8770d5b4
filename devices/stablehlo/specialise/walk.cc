#include "millrace/devices/stablehlo/specialise/walk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::specialise {
namespace {

using K = ir::OpKind;

// A hostile program may call functions with ever new shapes; a sane one stays far below this.
constexpr std::int64_t kOpsBesides = 100'000;
constexpr std::int64_t kTimesLonger = 64;
constexpr int kMaxDepth = 192;
// So that no size in bytes overflows.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;
// Values of more elements stay what they were computed by: a splat is cheaper than its bytes.
constexpr std::int64_t kMaxWritten = 16;

bool is_dynamic(ir::Type type) { return type.is_tensor() && !type.has_static_shape(); }

// Operations whose rules leave a size to the number of processes: on one device the results are
// what the operands at their places are, as they are those of calls that say where arrays lie.
constexpr K kPassOn[] = {K::kAllGather, K::kAllToAll, K::kReduceScatter};
constexpr std::string_view kPassOnCalls[] = {"Sharding", "SPMDFullToShardShape",
                                             "SPMDShardToFullShape"};
constexpr K kEffects[] = {K::kCustomCall, K::kInfeed, K::kOutfeed, K::kSend,
                          K::kRecv,       K::kRng,    K::kOther};

bool is_in(const auto& list, const auto& value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

bool passes_on(const ir::Op& op) {
  return is_in(kPassOn, op.kind()) ||
         (op.kind() == K::kCustomCall && is_in(kPassOnCalls, op.callee()));
}

// text with "{0}", "{1}", ... replaced by the operands after the first.
std::string formatted(std::string_view text, std::span<const KnownRef> operands) {
  std::string out(text);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const std::string mark = ir::message("{", i - 1, "}");
    const std::string value = operands[i] == nullptr ? "?" : to_string(*operands[i]);
    for (std::size_t at = 0; (at = out.find(mark, at)) != out.npos; at += value.size())
      out.replace(at, mark.size(), value);
  }
  return out;
}

void append_bytes(std::string& key, const void* data, std::size_t size) {
  key.append(static_cast<const char*>(data), size);
}

std::string key_of(const ir::Function& function, std::span<const ir::Type> inputs,
                   std::span<const KnownRef> known) {
  std::string key;
  const ir::Function* address = &function;
  append_bytes(key, &address, sizeof address);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::TypeData* type = inputs[i].data();
    append_bytes(key, &type, sizeof type);
    const std::size_t size = known[i] == nullptr ? 0 : known[i]->bytes.size() + 1;
    append_bytes(key, &size, sizeof size);
    if (known[i] == nullptr) continue;
    append_bytes(key, known[i]->bytes.data(), known[i]->bytes.size());
    key += known[i]->overflow.empty() ? '0' : '1';
  }
  return key;
}

}  // namespace

ir::Type with_dims(ir::TypeTable& types, ir::Type type, std::span<const std::int64_t> dims) {
  if (!is_dynamic(type)) return type;
  Dims merged(type.dims().begin(), type.dims().end());
  for (std::size_t d = 0; d < merged.size(); ++d) {
    if (merged[d] == ir::kDynamic) merged[d] = dims[d];
  }
  return types.tensor(merged, type.element(),
                      is_in(merged, ir::kDynamic) ? type.bounds() : ir::Ints());
}

Walk::Walk(const ir::Module& from, ir::Module& into, Evaluate evaluate)
    : from_(from),
      into_(into),
      evaluate_(evaluate),
      budget_(kOpsBesides + kTimesLonger * from.op_ids()) {}

Walk::Values Walk::mapped(const ir::Op& op, const Scope& scope) {
  Values values;
  for (const ir::Value* v : op.operands()) values.push_back(scope.at(v));
  return values;
}

void Walk::set_results(const ir::Op& op, std::span<ir::Value* const> values, Scope& scope) {
  for (int i = 0; i < op.result_count(); ++i)
    scope[op.result(i)] = values[static_cast<std::size_t>(i)];
}

void Walk::set_results(const ir::Op& op, const ir::Op& made, Scope& scope) {
  for (int i = 0; i < op.result_count(); ++i) scope[op.result(i)] = made.result(i);
}

ir::Op* Walk::create(const ir::Op& like, K kind, std::span<ir::Value* const> operands,
                     std::span<const ir::Type> results,
                     std::span<const ir::NamedAttribute> attributes, int regions) {
  return into_.create_op({.kind = kind,
                          .name = kind == K::kOther ? like.name() : std::string_view(),
                          .location = like.location(),
                          .operands = operands,
                          .result_types = results,
                          .attributes = attributes,
                          .regions = regions});
}

std::string Walk::unused_name(std::string_view like) {
  std::string name(like);
  while (from_.find(name) != nullptr || into_.find(name) != nullptr)
    name = std::string(like) + "." + std::to_string(++name_counter_);
  return name;
}

Status Walk::entry(const ir::Function& function, std::span<const ir::Type> inputs) {
  const auto made = instance(function, {inputs.begin(), inputs.end()},
                             std::vector<KnownRef>(inputs.size()), std::string(function.name()));
  return made ? Status() : Status(std::unexpected(made.error()));
}

Result<const Walk::Instance*> Walk::instance(const ir::Function& function,
                                             std::vector<ir::Type> inputs,
                                             std::vector<KnownRef> known, const std::string& name) {
  std::string key = key_of(function, inputs, known);
  if (const auto found = instances_.find(key); found != instances_.end())
    return found->second.get();
  Scope scope;
  const ir::Block& written = function.body().block();
  ir::Block* body = block_like(written, inputs, known, scope);
  const bool outer_effect = std::exchange(effect_, false);
  const Result<Values> walked = block(written, *body, scope);
  auto made = std::make_unique<Instance>();
  made->effect = std::exchange(effect_, outer_effect);
  if (!walked) return std::unexpected(walked.error());
  const Values& returned = *walked;
  std::vector<ir::Type> results;
  for (const ir::Value* v : returned) {
    results.push_back(v->type());
    made->known.push_back(known_(v));
    made->passed.push_back(v->block() == body ? v->index() : -1);
  }
  end_block(*written.terminator(), returned, *body);
  std::vector<std::span<const ir::NamedAttribute>> of_arguments, of_results;
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i)
    of_arguments.push_back(function.arg_attributes(i));
  for (int i = 0; i < static_cast<int>(results.size()); ++i)
    of_results.push_back(function.result_attributes(i));
  ir::Function& f = into_.create_function({.name = name,
                                           .visibility = function.visibility(),
                                           .location = function.location(),
                                           .inputs = inputs,
                                           .results = results,
                                           .arg_attributes = of_arguments,
                                           .result_attributes = of_results,
                                           .attributes = function.attributes()});
  ir::Block* const blocks[] = {body};
  into_.set_blocks(f.body(), blocks);
  made->function = &f;
  return instances_.emplace(std::move(key), std::move(made)).first->second.get();
}

void Walk::end_block(const ir::Op& terminator, std::span<ir::Value* const> values, ir::Block& to) {
  to.append(create(terminator, terminator.kind(), values, {}, terminator.attributes(), 0));
}

Result<Walk::Values> Walk::block(const ir::Block& from, ir::Block& to, Scope& scope) {
  if (depth_ >= kMaxDepth)
    return ir::invalid(*from.terminator(), "calls and regions nested too deeply");
  ++depth_;
  Status done;
  for (const ir::Op& o : from) {
    if (&o != from.terminator() && done) done = op(o, to, scope);
  }
  --depth_;
  if (!done) return std::unexpected(done.error());
  return mapped(*from.terminator(), scope);
}

Status Walk::op(const ir::Op& o, ir::Block& to, Scope& scope) {
  if (--budget_ < 0) {
    return fail(ErrorCode::kResourceExhausted,
                ir::message(o.where(),
                            ": the program grows without end: its functions are called with ever "
                            "new shapes or constants"));
  }
  switch (o.kind()) {
    case K::kCall:
    case K::kComposite:
      return call(o, to, scope);
    case K::kIf:
    case K::kCase:
      return branch(o, to, scope);
    case K::kWhile:
      return loop(o, to, scope);
    case K::kCustomCall:
      if (o.callee() == "shape_assertion") return assertion(o, scope);
      break;
    default:
      break;
  }
  return plain(o, to, scope);
}

// What a program says of the shapes that it takes.
Status Walk::assertion(const ir::Op& op, Scope& scope) {
  constexpr std::string_view kTarget = "@shape_assertion: ";
  const std::vector<KnownRef> operands = known_(mapped(op, scope));
  if (operands.empty() || op.result_count() != 0 || op.operand(0)->type().dtype() != DType::kI1 ||
      op.operand(0)->type().rank() != 0) {
    return fail(ErrorCode::kInvalidArgument,
                ir::message(op.where(), " ", kTarget,
                            "expected a tensor<i1>, the numbers of its message, and no results"));
  }
  if (operands[0] == nullptr) {
    return fail(ErrorCode::kUnimplemented,
                ir::message(op.where(), " ", kTarget,
                            "it depends on data, expected something that follows from the shapes "
                            "of the program's arguments"));
  }
  if (operands[0]->overflow.empty() && integers(*operands[0])[0] != 0) return {};
  const std::string what =
      operands[0]->overflow.empty()
          ? formatted(op.string_or("error_message", "it does not hold"), operands)
          : "the arithmetic that it is about overflows or divides by zero at " +
                operands[0]->overflow;
  return fail(ErrorCode::kInvalidArgument, ir::message(op.where(), " ", kTarget, what));
}

Status Walk::plain(const ir::Op& op, ir::Block& to, Scope& scope) {
  MILLRACE_TRY(StaticForm form, static_form(from_, op, mapped(op, scope), into_, to, known_));
  if (!form.instead.empty()) {
    set_results(op, form.instead, scope);
    return {};
  }
  std::vector<ir::Type> types;
  for (int i = 0; i < op.result_count(); ++i) {
    const ir::Type type = op.result(i)->type();
    if (type.kind() == ir::TypeKind::kUnranked) {
      return ir::unimplemented(op, "result ", i, " is ", type,
                               ": the CPU device does not run programs with unranked tensors");
    }
    types.push_back(with_dims(into_.types(), type, form.dims[static_cast<std::size_t>(i)]));
  }
  const int count = form.body != nullptr ? 1 : static_cast<int>(op.regions().size());
  ir::Op* made = create(op, form.kind, form.operands, types, form.attributes, count);
  MILLRACE_TRY_STATUS(regions(op, form, *made, scope));
  MILLRACE_TRY_STATUS(infer_types(op, *made));
  effect_ |= is_in(kEffects, op.kind());
  const KnownRef value = made->kind() == K::kConstant
                             ? known_constant(*made)
                             : fold(into_, *made, known_(form.operands), evaluate_);
  if (value != nullptr && made->kind() != K::kConstant && value->shape.elements() <= kMaxWritten) {
    ir::Value* written[] = {constant(into_, to, op.location(), value, known_)};
    set_results(op, written, scope);
    return {};
  }
  to.append(made);
  if (value != nullptr) known_.set(made->result(), value);
  set_results(op, *made, scope);
  return {};
}

Status Walk::regions(const ir::Op& op, const StaticForm& form, ir::Op& made, Scope& scope) {
  if (form.body != nullptr) {
    Scope inner;
    const ir::Block& body = form.body->body().block();
    const std::vector<KnownRef> none(form.body->inputs().size());
    MILLRACE_TRY(const Values values,
                 region(body, form.body->inputs(), none, made.region(), inner));
    made.region().block().append(create(*body.terminator(), K::kReturn, values, {}, {}, 0));
    return {};
  }
  for (std::size_t r = 0; r < op.regions().size(); ++r) {
    const ir::Region& written = op.regions()[r];
    if (written.blocks().size() != 1 || written.block().empty()) {
      return ir::unimplemented(op, "region ", r, " is not one block");
    }
    // Arguments are scalars, or (async_start, sdy.manual_computation) what the operands are.
    std::vector<ir::Type> arguments;
    const bool alike = written.block().argument_count() == made.operand_count();
    for (const ir::Value& argument : written.block().arguments()) {
      arguments.push_back(is_dynamic(argument.type()) && alike
                              ? made.operand(argument.index())->type()
                              : argument.type());
      if (is_dynamic(arguments.back())) {
        return ir::unimplemented(op, "an argument of its body is ", argument.type());
      }
    }
    const std::vector<KnownRef> none(arguments.size());
    MILLRACE_TRY(const Values values,
                 region(written.block(), arguments, none, made.regions()[r], scope));
    end_block(*written.block().terminator(), values, made.regions()[r].block());
  }
  return {};
}

ir::Block* Walk::block_like(const ir::Block& from, std::span<const ir::Type> arguments,
                            std::span<const KnownRef> known, Scope& scope) {
  ir::Block* made = into_.create_block(arguments);
  for (int i = 0; i < from.argument_count(); ++i) {
    scope[from.argument(i)] = made->argument(i);
    known_.set(made->argument(i), known[static_cast<std::size_t>(i)]);
  }
  return made;
}

Result<Walk::Values> Walk::region(const ir::Block& from, std::span<const ir::Type> arguments,
                                  std::span<const KnownRef> known, ir::Region& to, Scope& scope) {
  ir::Block* made = block_like(from, arguments, known, scope);
  ir::Block* const blocks[] = {made};
  into_.set_blocks(to, blocks);
  return block(from, *made, scope);
}

// Gives made's results the types that its operands lead to.
Status Walk::infer_types(const ir::Op& op, ir::Op& made) {
  const bool same = passes_on(op);
  MILLRACE_TRY(const std::vector<Dims> inferred, verify::infer(into_, made));
  for (int i = 0; i < made.result_count(); ++i) {
    ir::Value& v = *made.result(i);
    ir::Type type = v.type();
    if (is_dynamic(type)) {
      const bool like = same && i < made.operand_count() && made.operand(i)->type().is_tensor() &&
                        made.operand(i)->type().rank() == type.rank();
      type = with_dims(
          into_.types(), type,
          like ? made.operand(i)->type().dims() : ir::Ints(inferred[static_cast<std::size_t>(i)]));
    } else if (made.kind() == K::kTuple) {
      type = into_.types().tuple(ir::types_of(made.operands()));
    }
    if (made.kind() == K::kGetTupleElement) {
      const auto index = static_cast<std::size_t>(made.int_or("index", 0));
      type = made.operand(0)->type().members()[index];
    } else if (made.kind() == K::kOptimizationBarrier && i < made.operand_count()) {
      type = made.operand(i)->type();
    }
    if (is_dynamic(type)) {
      return ir::unimplemented(made, "the shape of result ", i, ", ", op.result(i)->type(),
                               ", does not follow from its operands");
    }
    if (type.is_tensor() && type.elements().value_or(kMaxElements) >= kMaxElements) {
      return ir::invalid(made, "result ", i, " would be ", type,
                         ": more elements than can be counted");
    }
    v.set_type(type);
  }
  return {};
}

Status Walk::call(const ir::Op& op, ir::Block& to, Scope& scope) {
  const ir::Function* callee = from_.find(op.callee());
  if (callee == nullptr || callee->is_declaration())
    return ir::invalid(op, "no function @", op.callee(), " in the module");
  const Values operands = mapped(op, scope);
  MILLRACE_TRY(const Instance* made,
               instance(*callee, ir::types_of(operands), known_(operands),
                        unused_name(callee->name() == "main" ? "main.1" : callee->name())));
  effect_ |= made->effect;
  const std::string_view path[] = {into_.intern(made->function->name())};
  const ir::SymbolAttr symbol{{}, into_.copy(std::span<const std::string_view>(path))};
  std::vector<ir::NamedAttribute> attributes(op.attributes().begin(), op.attributes().end());
  attributes.push_back(
      {op.kind() == K::kComposite ? "decomposition" : "callee", into_.attribute(symbol)});
  ir::Op* const made_op = create(op, op.kind(), operands, made->function->results(), attributes, 0);
  bool needed = made->effect;
  Values results;
  for (int i = 0; i < op.result_count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    ir::Value* v = made_op->result(i);
    if (made->passed[at] >= 0) {
      v = operands[static_cast<std::size_t>(made->passed[at])];
    } else if (made->known[at] != nullptr && made->known[at]->shape.elements() <= kMaxWritten) {
      v = constant(into_, to, op.location(), made->known[at], known_);
    } else {
      needed = true;
    }
    results.push_back(v);
  }
  if (needed) to.append(made_op);
  set_results(op, results, scope);
  return {};
}

}  // namespace millrace::devices::stablehlo::specialise
