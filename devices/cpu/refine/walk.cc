#include "millrace/devices/cpu/refine/walk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "millrace/devices/cpu/refine/assertion.h"
#include "millrace/devices/cpu/verify/verify.h"

namespace millrace::devices::cpu::refine {
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

// Whether a result is what the operand at its place is: on one device, and always.
bool passes_on(const ir::Op& op) {
  switch (op.kind()) {
    case K::kOptimizationBarrier:
    case K::kAllGather:
    case K::kAllReduce:
    case K::kAllToAll:
    case K::kCollectiveBroadcast:
    case K::kCollectivePermute:
    case K::kCollectiveReduce:
    case K::kCrossReplicaSum:
    case K::kReduceScatter:
      return true;
    case K::kCustomCall:
      return op.callee() == "Sharding" || op.callee() == "SPMDFullToShardShape" ||
             op.callee() == "SPMDShardToFullShape";
    case K::kOther:
      return op.name() == "sdy.sharding_constraint" || op.name() == "sdy.reshard" ||
             op.name() == "sdy.data_flow_edge" || op.name() == "builtin.unrealized_conversion_cast";
    default:
      return false;
  }
}

bool has_effect(const ir::Op& op) {
  switch (op.kind()) {
    case K::kCustomCall:
    case K::kInfeed:
    case K::kOutfeed:
    case K::kSend:
    case K::kRecv:
    case K::kRng:
    case K::kOther:
      return true;
    default:
      return false;
  }
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
  const bool complete = std::ranges::find(merged, ir::kDynamic) == merged.end();
  return types.tensor(merged, type.element(),
                      complete ? std::span<const std::int64_t>() : type.bounds());
}

Walk::Walk(const ir::Module& from, ir::Module& into)
    : from_(from), into_(into), budget_(kOpsBesides + kTimesLonger * from.op_ids()) {}

KnownRef Walk::known(const ir::Value* v) const {
  const auto found = known_.find(v);
  return found == known_.end() ? nullptr : found->second;
}

Walk::Values Walk::mapped(const ir::Op& op, const Scope& scope) {
  Values values;
  for (const ir::Value* v : op.operands()) values.push_back(scope.at(v));
  return values;
}

void Walk::set_results(const ir::Op& op, std::span<ir::Value* const> values, Scope& scope) {
  for (int i = 0; i < op.result_count(); ++i)
    scope[op.result(i)] = values[static_cast<std::size_t>(i)];
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
                          .regions = regions,
                          .successors = {}});
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
  ir::Block* body = into_.create_block(inputs);
  Scope scope;
  const ir::Block& written = function.body().block();
  for (int i = 0; i < written.argument_count(); ++i) {
    scope[written.argument(i)] = body->argument(i);
    if (known[static_cast<std::size_t>(i)] != nullptr)
      known_[body->argument(i)] = known[static_cast<std::size_t>(i)];
  }
  const bool outer_effect = std::exchange(effect_, false);
  const Result<Values> walked = block(written, *body, scope);
  auto made = std::make_unique<Instance>();
  made->effect = std::exchange(effect_, outer_effect);
  if (!walked) return std::unexpected(walked.error());
  const Values& returned = *walked;
  std::vector<ir::Type> results;
  for (const ir::Value* v : returned) {
    results.push_back(v->type());
    made->known.push_back(this->known(v));
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
  if (depth_ >= kMaxDepth) {
    return fail(ErrorCode::kInvalidArgument,
                from.terminator()->where() + ": calls and regions nested too deeply");
  }
  ++depth_;
  for (const ir::Op& o : from) {
    if (&o == from.terminator()) break;
    const Status done = op(o, to, scope);
    if (!done) {
      --depth_;
      return std::unexpected(done.error());
    }
  }
  --depth_;
  return mapped(*from.terminator(), scope);
}

Status Walk::op(const ir::Op& o, ir::Block& to, Scope& scope) {
  if (--budget_ < 0) {
    return fail(ErrorCode::kResourceExhausted,
                o.where() +
                    ": the program grows without end: its functions are called with ever "
                    "new shapes or constants");
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

Status Walk::assertion(const ir::Op& op, Scope& scope) {
  std::vector<KnownRef> operands;
  for (const ir::Value* v : mapped(op, scope)) operands.push_back(known(v));
  return check_assertion(op, operands);
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
      return fail(ErrorCode::kUnimplemented,
                  op.where() + ": result " + std::to_string(i) + " is " + type.to_string() +
                      ": the CPU device does not run programs with unranked tensors");
    }
    types.push_back(with_dims(into_.types(), type, form.dims[static_cast<std::size_t>(i)]));
  }
  const int count = form.body != nullptr ? 1 : static_cast<int>(op.regions().size());
  ir::Op* made = create(op, form.kind, form.operands, types, form.attributes, count);
  MILLRACE_TRY_STATUS(regions(op, form, *made, scope));
  MILLRACE_TRY_STATUS(infer_types(op, *made));
  effect_ |= has_effect(op);
  std::vector<KnownRef> operands;
  for (const ir::Value* v : form.operands) operands.push_back(known(v));
  const KnownRef value =
      made->kind() == K::kConstant ? known_constant(*made) : fold(into_, *made, operands);
  if (value != nullptr && made->kind() != K::kConstant && value->shape.elements() <= kMaxWritten) {
    ir::Value* written[] = {constant(into_, to, op.location(), value, known_)};
    set_results(op, written, scope);
    return {};
  }
  to.append(made);
  if (value != nullptr) known_[made->result()] = value;
  for (int i = 0; i < op.result_count(); ++i) scope[op.result(i)] = made->result(i);
  return {};
}

Status Walk::regions(const ir::Op& op, const StaticForm& form, ir::Op& made, Scope& scope) {
  if (form.body != nullptr) {
    Scope inner;
    const ir::Block& body = form.body->body().block();
    ir::Block* block_made = into_.create_block(form.body->inputs());
    for (int i = 0; i < body.argument_count(); ++i)
      inner[body.argument(i)] = block_made->argument(i);
    MILLRACE_TRY(const Values values, block(body, *block_made, inner));
    block_made->append(create(*body.terminator(), K::kReturn, values, {}, {}, 0));
    ir::Block* const blocks[] = {block_made};
    into_.set_blocks(made.region(), blocks);
    return {};
  }
  for (std::size_t r = 0; r < op.regions().size(); ++r) {
    const ir::Region& written = op.regions()[r];
    if (written.blocks().size() != 1 || written.block().empty()) {
      return fail(ErrorCode::kUnimplemented,
                  op.where() + ": region " + std::to_string(r) + " is not one block");
    }
    // Of scalars; or (async_start, sdy.manual_computation) of what the operands are.
    std::vector<ir::Type> arguments;
    const bool alike = written.block().argument_count() == made.operand_count();
    for (const ir::Value& argument : written.block().arguments()) {
      arguments.push_back(is_dynamic(argument.type()) && alike
                              ? made.operand(argument.index())->type()
                              : argument.type());
      if (is_dynamic(arguments.back())) {
        return fail(ErrorCode::kUnimplemented,
                    op.where() + ": an argument of its body is " + argument.type().to_string());
      }
    }
    const std::vector<KnownRef> none(arguments.size());
    MILLRACE_TRY(const Values values,
                 region(written.block(), arguments, none, made.regions()[r], scope));
    end_block(*written.block().terminator(), values, made.regions()[r].block());
  }
  return {};
}

Result<Walk::Values> Walk::region(const ir::Block& from, std::span<const ir::Type> arguments,
                                  std::span<const KnownRef> known, ir::Region& to, Scope& scope) {
  ir::Block* made = into_.create_block(arguments);
  for (int i = 0; i < from.argument_count(); ++i) {
    scope[from.argument(i)] = made->argument(i);
    if (known[static_cast<std::size_t>(i)] != nullptr)
      known_[made->argument(i)] = known[static_cast<std::size_t>(i)];
  }
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
      type = with_dims(into_.types(), type,
                       like ? made.operand(i)->type().dims()
                            : std::span<const std::int64_t>(inferred[static_cast<std::size_t>(i)]));
    } else if (made.kind() == K::kTuple) {
      std::vector<ir::Type> members;
      for (const ir::Value* operand : made.operands()) members.push_back(operand->type());
      type = into_.types().tuple(members);
    }
    if (made.kind() == K::kGetTupleElement) {
      const auto index = static_cast<std::size_t>(made.int_or("index", 0));
      type = made.operand(0)->type().members()[index];
    } else if (made.kind() == K::kOptimizationBarrier && i < made.operand_count()) {
      type = made.operand(i)->type();
    }
    if (is_dynamic(type)) {
      return fail(ErrorCode::kUnimplemented,
                  made.where() + ": the shape of result " + std::to_string(i) + ", " +
                      op.result(i)->type().to_string() + ", does not follow from its operands");
    }
    if (type.is_tensor() && type.elements().value_or(kMaxElements) >= kMaxElements) {
      return fail(ErrorCode::kInvalidArgument, made.where() + ": result " + std::to_string(i) +
                                                   " would be " + type.to_string() +
                                                   ": more elements than can be counted");
    }
    v.set_type(type);
  }
  return {};
}

Status Walk::call(const ir::Op& op, ir::Block& to, Scope& scope) {
  const ir::Function* callee = from_.find(op.callee());
  if (callee == nullptr || callee->is_declaration()) {
    return fail(ErrorCode::kInvalidArgument,
                op.where() + ": no function @" + std::string(op.callee()) + " in the module");
  }
  const Values operands = mapped(op, scope);
  std::vector<ir::Type> types;
  std::vector<KnownRef> of_operands;
  for (const ir::Value* v : operands) {
    types.push_back(v->type());
    of_operands.push_back(known(v));
  }
  MILLRACE_TRY(const Instance* made,
               instance(*callee, std::move(types), std::move(of_operands),
                        unused_name(callee->name() == "main" ? "main.1" : callee->name())));
  effect_ |= made->effect;
  ir::SymbolAttr symbol;
  const std::string_view path[] = {into_.intern(made->function->name())};
  symbol.path = into_.copy(std::span<const std::string_view>(path));
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

}  // namespace millrace::devices::cpu::refine
