#include "millrace/devices/stablehlo/specialise/static_form.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/devices/stablehlo/ir/message.h"

namespace millrace::devices::stablehlo::specialise {
namespace {

using K = ir::OpKind;
using ir::Ints;

constexpr std::string_view kReduceWindow = "stablehlo.dynamic_reduce_window";
constexpr std::string_view kTopK = "stablehlo.dynamic_top_k";
constexpr std::string_view kRngBitGenerator = "stablehlo.dynamic_rng_bit_generator";

// One operation on the way to its static form.
class Making {
 public:
  Making(const ir::Module& from, const ir::Op& op, std::vector<ir::Value*> operands,
         ir::Module& into, ir::Block& to, KnownValues& known)
      : from_(from), op_(op), into_(into), to_(to), known_(known) {
    form_.kind = op.kind();
    form_.operands = std::move(operands);
    form_.attributes.assign(op.attributes().begin(), op.attributes().end());
    for (const ir::Value& v : op.results()) {
      const Ints dims = v.type().is_tensor() ? v.type().dims() : Ints();
      form_.dims.emplace_back(dims.begin(), dims.end());
    }
  }

  Result<StaticForm> run() {
    MILLRACE_TRY_STATUS(form());
    return std::move(form_);
  }

 private:
  Status form() {
    switch (op_.kind()) {
      case K::kGetDimensionSize:
        return dimension_size();
      case K::kSetDimensionSize:
        return set_dimension_size();
      case K::kDynamicIota:
        return shape_from(0, K::kIota);
      case K::kDynamicReshape:
        return shape_from(1, K::kReshape);
      case K::kDynamicBroadcastInDim:
        drop("known_expanding_dimensions");
        drop("known_nonexpanding_dimensions");
        return shape_from(1, K::kBroadcastInDim);
      case K::kRng:
        return shape_stated(2);
      case K::kDynamicPad:
        return pad();
      case K::kDynamicGather:
        return gather();
      case K::kDynamicConv:
        return convolution();
      case K::kRealDynamicSlice:
        return slice();
      case K::kCustomCall:
        return custom_call();
      default:
        return {};
    }
  }
  template <class... Parts>
  auto wrong(const Parts&... parts) const {
    return ir::invalid(op_, parts...);
  }
  auto unresolved(int operand) const {
    return ir::unimplemented(
        op_, "operand ", operand,
        " says a shape and depends on data: the CPU device runs programs whose shapes follow from "
        "those of their arguments");
  }
  auto negative(std::size_t dimension, std::int64_t size) const {
    return wrong("dimension ", dimension, " of the result would have a size of ", size);
  }

  KnownRef known(int operand) const {
    return known_(form_.operands[static_cast<std::size_t>(operand)]);
  }
  // The integers of an operand, once they are known and mean something.
  Result<Dims> numbers(int operand) const {
    const KnownRef k = known(operand);
    if (k == nullptr) return unresolved(operand);
    if (const DType type = k->shape.dtype(); !is_signed_integer(type) && !is_unsigned_integer(type))
      return wrong("operand ", operand, " is ", k->shape, ", expected integers");
    if (!k->overflow.empty()) {
      return wrong("operand ", operand,
                   " says a shape, but its arithmetic overflows or divides by zero at ",
                   k->overflow);
    }
    return integers(*k);
  }
  Result<Dims> sizes(int operand) const {
    MILLRACE_TRY(Dims list, numbers(operand));
    for (std::size_t d = 0; d < list.size(); ++d) {
      if (list[d] < 0) return negative(d, list[d]);
    }
    return list;
  }
  bool is_stated(std::size_t result = 0) const {
    return std::ranges::find(form_.dims[result], ir::kDynamic) == form_.dims[result].end();
  }
  // That the result has these dimensions; what its type says must agree.
  Status set_dims(const Dims& dims, std::size_t result = 0) {
    Dims& have = form_.dims[result];
    if (dims.size() != have.size()) {
      return wrong("its operands say ", dims.size(), " dimensions, its result has ", have.size());
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (have[d] != ir::kDynamic && have[d] != dims[d]) {
        return wrong("its operands say that dimension ", d, " of the result has a size of ",
                     dims[d], ", its type says ", have[d]);
      }
      have[d] = dims[d];
    }
    return {};
  }

  void drop(std::string_view name) {
    std::erase_if(form_.attributes, [&](const ir::NamedAttribute& a) { return a.name == name; });
  }
  void set(std::string_view name, ir::Attribute value) {
    drop(name);
    form_.attributes.push_back({into_.intern(name), value});
  }
  void set(std::string_view name, const Dims& values) { set(name, ints(name, values).value); }
  // The operation is one of this kind, with its first n operands; what others say become
  // attributes.
  Status absorb(K kind, int n, std::initializer_list<std::pair<std::string_view, int>> others) {
    for (const auto& [name, operand] : others) {
      MILLRACE_TRY(const Dims values, numbers(operand));
      set(name, values);
    }
    return become(kind, n);
  }
  // Pairs of low and high.
  Status set_padding(int operand) {
    MILLRACE_TRY(const Dims values, numbers(operand));
    const auto pairs = static_cast<std::int64_t>(values.size() / 2);
    const auto bytes = std::as_bytes(std::span(values));
    std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
    std::ranges::copy(bytes, copy.get());
    set("padding", into_.dense(into_.types().tensor({pairs, 2}, DType::kI64), false,
                               std::move(copy), bytes.size()));
    return {};
  }
  Status become(K kind, int n) {
    form_.kind = kind;
    form_.operands.resize(static_cast<std::size_t>(n));
    return {};
  }
  ir::Value* add(K kind, std::vector<ir::Value*> operands, ir::Type type,
                 std::vector<ir::NamedAttribute> attributes) {
    const ir::Type types[] = {type};
    ir::Op* op = into_.create_op({.kind = kind,
                                  .location = op_.location(),
                                  .operands = operands,
                                  .result_types = types,
                                  .attributes = attributes});
    to_.append(op);
    return op->result();
  }
  ir::NamedAttribute ints(std::string_view name, const Dims& values) {
    return {name, into_.attribute(ir::IntArrayAttr{{}, DType::kI64, into_.copy(Ints(values))})};
  }

  Status dimension_size() {
    const ir::Type type = form_.operands[0]->type();
    if (!type.is_tensor()) return wrong("its operand is ", type);
    const std::int64_t extent = type.dim(op_.int_or("dimension", 0));
    const DType dtype = op_.result()->type().dtype();
    const KnownRef size = known_scalar(dtype, extent);
    if (size == nullptr) return wrong("a size of ", extent, " does not fit in ", dtype);
    form_.instead = {constant(into_, to_, op_.location(), size, known_)};
    return {};
  }

  // Smaller: what lies behind the size is cut off; larger, up to the bound: nothing is known of
  // what lies there, it is zero.
  Status set_dimension_size() {
    const ir::Type type = form_.operands[0]->type();
    if (!type.is_tensor()) return wrong("its operand is ", type);
    const auto d = static_cast<std::size_t>(op_.int_or("dimension", 0));
    if (known(1) == nullptr && is_stated() && form_.dims[0][d] == type.dims()[d]) return {};
    MILLRACE_TRY(const Dims wanted, sizes(1));
    Dims dims(type.dims().begin(), type.dims().end());
    const std::int64_t before = dims[d];
    dims[d] = wanted[0];
    if (wanted[0] == before) {
      form_.instead = {form_.operands[0]};
      return {};
    }
    MILLRACE_TRY_STATUS(set_dims(dims));
    const Dims zeros(dims.size(), 0), ones(dims.size(), 1);
    const ir::Type result = into_.types().tensor(dims, type.element());
    if (wanted[0] < before) {
      form_.instead = {
          add(K::kSlice, {form_.operands[0]}, result,
              {ints("start_indices", zeros), ints("limit_indices", dims), ints("strides", ones)})};
      return {};
    }
    const std::optional<std::int64_t> bound = bound_of(d);
    if (!bound || wanted[0] > *bound) {
      return wrong("a size of ", wanted[0], " for dimension ", d, ", which has ",
                   bound.value_or(before), " at most");
    }
    if (type.dtype() == DType::kInvalid) return wrong("a larger size for ", type);
    auto zero = std::make_shared<Known>();
    zero->shape = Shape(type.dtype(), {});
    zero->bytes.resize(byte_width(type.dtype()));
    Dims high = zeros;
    high[d] = wanted[0] - before;
    form_.instead = {add(
        K::kPad, {form_.operands[0], constant(into_, to_, op_.location(), zero, known_)}, result,
        {ints("edge_padding_low", zeros), ints("edge_padding_high", high),
         ints("interior_padding", zeros)})};
    return {};
  }
  // What the program says of the operand or the result.
  std::optional<std::int64_t> bound_of(std::size_t d) const {
    for (const ir::Type type : {op_.operand(0)->type(), op_.result()->type()}) {
      if (!type.is_tensor()) continue;
      if (type.dims()[d] != ir::kDynamic) return type.dims()[d];
      if (d < type.bounds().size() && type.bounds()[d] != ir::kDynamic) return type.bounds()[d];
    }
    return std::nullopt;
  }

  // The operand is the result's shape, which the type may state as well.
  Status shape_stated(int operand) {
    if (known(operand) == nullptr && is_stated()) return {};
    MILLRACE_TRY(const Dims dims, sizes(operand));
    return set_dims(dims);
  }
  Status shape_from(int operand, K kind) {
    MILLRACE_TRY_STATUS(shape_stated(operand));
    return become(kind, operand);
  }

  // Where operands are not known but the type says it all, the operation runs as it is.
  bool runs_as_it_is(std::initializer_list<int> operands) const {
    return is_stated() && std::ranges::any_of(operands, [&](int i) { return known(i) == nullptr; });
  }

  Status pad() {
    if (runs_as_it_is({2, 3, 4})) return {};
    return absorb(K::kPad, 2,
                  {{"edge_padding_low", 2}, {"edge_padding_high", 3}, {"interior_padding", 4}});
  }

  Status gather() {
    if (runs_as_it_is({2})) return {};
    MILLRACE_TRY(const Dims slice_sizes, sizes(2));
    set("slice_sizes", slice_sizes);
    return become(K::kGather, 2);
  }

  Status convolution() {
    if (runs_as_it_is({2})) return {};
    MILLRACE_TRY_STATUS(set_padding(2));
    return become(K::kConvolution, 2);
  }

  // With starts that are known, a slice; with others, a dynamic_slice of known sizes: the starts of
  // a real_dynamic_slice are in range, so clamping them changes nothing.
  Status slice() {
    const KnownRef start = known(1), limit = known(2);
    if (start != nullptr && limit != nullptr && known(3) != nullptr) {
      return absorb(K::kSlice, 1, {{"start_indices", 1}, {"limit_indices", 2}, {"strides", 3}});
    }
    if (runs_as_it_is({3})) return {};
    MILLRACE_TRY(const Dims strides, numbers(3));
    const bool dense = std::ranges::all_of(strides, [](std::int64_t s) { return s == 1; });
    Dims sizes = slice_sizes(form_.operands[1], form_.operands[2], known_);
    if (!dense || sizes.size() != strides.size()) {
      if (is_stated()) return {};
      return unresolved(start == nullptr ? 1 : 2);
    }
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == ir::kDynamic) sizes[d] = form_.dims[0][d];
      if (sizes[d] == ir::kDynamic) return unresolved(start == nullptr ? 1 : 2);
      if (sizes[d] < 0) return negative(d, sizes[d]);
    }
    MILLRACE_TRY_STATUS(set_dims(sizes));
    std::vector<ir::Value*> operands = {form_.operands[0]};
    const auto rank = static_cast<std::int64_t>(sizes.size());
    for (std::int64_t d = 0; d < rank; ++d) operands.push_back(element(form_.operands[1], d));
    form_.operands = std::move(operands);
    form_.kind = K::kDynamicSlice;
    set("slice_sizes", sizes);
    return {};
  }
  // Element i of a vector, as a scalar.
  ir::Value* element(ir::Value* vector, std::int64_t i) {
    const ir::Type type = vector->type();
    const std::int64_t one[] = {1};
    ir::Value* piece =
        add(K::kSlice, {vector}, into_.types().tensor(one, type.element()),
            {ints("start_indices", {i}), ints("limit_indices", {i + 1}), ints("strides", {1})});
    return add(K::kReshape, {piece}, into_.types().tensor({}, type.element()), {});
  }

  Status custom_call() {
    const std::string_view target = op_.callee();
    if (target == kReduceWindow) return reduce_window();
    if (target == kTopK) return top_k();
    if (target == kRngBitGenerator) return rng_bit_generator();
    return shape_operands();
  }

  Status operands_and_results(std::size_t operands, std::size_t results) const {
    if (form_.operands.size() == operands && form_.dims.size() == results) return {};
    return wrong("@", op_.callee(), " with ", form_.operands.size(), " operands and ",
                 form_.dims.size(), " results");
  }

  // (inputs, initial values, window dimensions, strides, base and window dilations, padding)
  Status reduce_window() {
    const std::size_t n = form_.dims.size();
    const int first = static_cast<int>(2 * n);
    MILLRACE_TRY_STATUS(operands_and_results(2 * n + 5, n));
    const auto* called = op_.attr<ir::ArrayAttr>("called_computations");
    const auto* symbol = called != nullptr && called->values.size() == 1
                             ? called->values[0].as<ir::SymbolAttr>()
                             : nullptr;
    form_.body = symbol != nullptr && !symbol->path.empty() ? from_.find(symbol->path[0]) : nullptr;
    if (form_.body == nullptr || form_.body->is_declaration() ||
        form_.body->inputs().size() != 2 * n)
      return wrong("called_computations names no function of ", 2 * n, " scalars");
    form_.attributes.clear();
    MILLRACE_TRY_STATUS(set_padding(first + 4));
    return absorb(K::kReduceWindow, first,
                  {{"window_dimensions", first},
                   {"window_strides", first + 1},
                   {"base_dilations", first + 2},
                   {"window_dilations", first + 3}});
  }

  Status top_k() {
    MILLRACE_TRY_STATUS(operands_and_results(2, 2));
    MILLRACE_TRY(const Dims k, numbers(1));
    if (k.size() != 1) return wrong("operand 1 is no scalar");
    form_.attributes.clear();
    set("k", into_.attribute(ir::IntegerAttr{{}, k[0], into_.types().scalar(DType::kI64)}));
    return become(K::kChloTopK, 1);
  }

  Status rng_bit_generator() {
    MILLRACE_TRY_STATUS(operands_and_results(2, 2));
    MILLRACE_TRY(const Dims dims, sizes(1));
    MILLRACE_TRY_STATUS(set_dims(dims, 1));
    const ir::Attribute algorithm = op_.attr("rng_algorithm");
    form_.attributes.clear();
    if (algorithm) set("rng_algorithm", algorithm);
    return become(K::kRngBitGenerator, 1);
  }

  // indices_of_shape_operands: these operands, one per result, are the results' shapes.
  Status shape_operands() {
    const auto indices = op_.ints("indices_of_shape_operands");
    if (!indices) return {};
    if (indices->size() != form_.dims.size())
      return wrong("indices_of_shape_operands has ", indices->size(),
                   " numbers, expected one per result");
    const auto count = static_cast<std::int64_t>(form_.operands.size());
    for (std::size_t r = 0; r < indices->size(); ++r) {
      const std::int64_t i = (*indices)[r];
      if (i < 0 || i >= count) return wrong("found ", i, " in indices_of_shape_operands");
      MILLRACE_TRY(const Dims dims, sizes(static_cast<int>(i)));
      MILLRACE_TRY_STATUS(set_dims(dims, r));
    }
    std::vector<ir::Value*> rest;
    std::vector<ir::Attribute> layouts;
    const auto* all = op_.attr<ir::ArrayAttr>("operand_layouts");
    for (std::int64_t i = 0; i < count; ++i) {
      if (std::ranges::find(*indices, i) != indices->end()) continue;
      const auto at = static_cast<std::size_t>(i);
      rest.push_back(form_.operands[at]);
      if (all != nullptr && at < all->values.size()) layouts.push_back(all->values[at]);
    }
    if (all != nullptr) {
      set("operand_layouts",
          into_.attribute(ir::ArrayAttr{{}, into_.copy(std::span<const ir::Attribute>(layouts))}));
    }
    form_.operands = std::move(rest);
    drop("indices_of_shape_operands");
    return {};
  }

  const ir::Module& from_;
  const ir::Op& op_;
  ir::Module& into_;
  ir::Block& to_;
  KnownValues& known_;
  StaticForm form_;
};

}  // namespace

Result<StaticForm> static_form(const ir::Module& from, const ir::Op& op,
                               std::vector<ir::Value*> operands, ir::Module& into, ir::Block& to,
                               KnownValues& known) {
  return Making(from, op, std::move(operands), into, to, known).run();
}

ir::Value* constant(ir::Module& into, ir::Block& to, ir::Location location, const KnownRef& value,
                    KnownValues& known) {
  const ir::Type type = into.types().tensor(value->shape);
  const ir::Type types[] = {type};
  // The bytes live as long as the value that owns them.
  const std::shared_ptr<const std::byte[]> bytes(value, value->bytes.data());
  const ir::NamedAttribute attributes[] = {
      {"value", into.dense(type, false, bytes, value->bytes.size())}};
  ir::Op* op = into.create_op({.kind = K::kConstant,
                               .location = location,
                               .result_types = types,
                               .attributes = attributes});
  to.append(op);
  known.set(op->result(), value);
  return op->result();
}

bool is_shape_call(const ir::Op& op) {
  if (op.kind() != K::kCustomCall) return false;
  const std::string_view target = op.callee();
  return target == "shape_assertion" || target == kReduceWindow || target == kTopK ||
         target == kRngBitGenerator || op.attr("indices_of_shape_operands");
}

}  // namespace millrace::devices::stablehlo::specialise
