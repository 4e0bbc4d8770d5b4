#include "millrace/devices/cpu/bytecode/to_vhlo.h"

#include <algorithm>

#include "millrace/devices/cpu/bytecode/attribute_rules.h"
#include "millrace/devices/cpu/bytecode/defaults.h"
#include "millrace/devices/cpu/bytecode/record_fields.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::Attribute;

constexpr std::string_view kRecords[] = {
    "dimension_numbers", "dot_dimension_numbers",     "algorithm",
    "channel_handle",    "scatter_dimension_numbers", "channel_id"};

class Conversion {
 public:
  Conversion(EntryPool& pool, const ir::Op& op, const VhloOp& row)
      : pool_(pool), op_(op), row_(row) {}

  Result<OpAttributes> run() {
    OpAttributes out;
    for (std::string_view words = row_.attributes; !words.empty();) {
      const std::string_view name = take_word(&words);
      MILLRACE_TRY(const std::uint64_t index, inherent(name));
      out.inherent.emplace_back(name, index);
    }
    MILLRACE_TRY_STATUS(check_later_revision());
    for (const ir::NamedAttribute& a : op_.attributes()) {
      // How a partitioner may divide the operation; JAX writes it beside calls of LAPACK. A hint,
      // and of another dialect.
      if (is_inherent(a.name) || a.name == "sdy.sharding_rule") continue;
      MILLRACE_TRY(const std::uint64_t index, pool_.attribute(a.value));
      out.others.emplace_back(a.name, index);
    }
    return out;
  }

 private:
  bool has_record() const { return bool(record_field(made_, op_, first_field())); }
  // Any field of the row, to ask whether the operation has records at all.
  std::string_view first_field() const {
    for (std::string_view words = row_.attributes; !words.empty();) {
      const std::string_view name = take_word(&words);
      if (attribute_rule(op_.kind(), name).role == Role::kField) return name;
    }
    return {};
  }

  bool is_inherent(std::string_view name) const {
    if (has_word(newest().attributes, name)) return true;
    const bool channel = has_word(newest().attributes, "channel_id") && name == "channel_handle";
    return channel || (std::ranges::find(kRecords, name) != std::end(kRecords) && has_record());
  }

  const VhloOp& newest() const {
    const VhloOp* op = find_vhlo_op(row_.name, kNewestVersion);
    return op != nullptr ? *op : row_;
  }

  // What only a later revision can say must not be said.
  Status check_later_revision() {
    for (std::string_view words = newest().attributes; !words.empty();) {
      const std::string_view name = take_word(&words);
      if (has_word(row_.attributes, name)) continue;
      const AttributeRule& rule = attribute_rule(op_.kind(), name);
      const Attribute value =
          rule.role == Role::kField ? record_field(made_, op_, name) : op_.attr(name);
      if (!value || is_left_out(value) || is_default(rule.value, value)) continue;
      return fail(ErrorCode::kUnimplemented, "the attribute " + std::string(name) +
                                                 " needs version " + to_string(newest().since) +
                                                 " of VHLO or a later one");
    }
    return {};
  }

  Result<std::uint64_t> inherent(std::string_view name) {
    const AttributeRule& rule = attribute_rule(op_.kind(), name);
    Attribute value;
    if (rule.role == Role::kField) {
      value = record_field(made_, op_, name);
    } else if (rule.role == Role::kChannelId) {
      const auto* handle = op_.attr<ir::ChannelHandleAttr>("channel_handle");
      if (handle != nullptr) value = integer(handle->handle);
    } else if (rule.role == Role::kUnit) {
      value = boolean(op_.bool_or(name, false));
    } else {
      value = op_.attr(name);
    }
    if (rule.role == Role::kApiVersion) return pool_.api_version(op_.int_or(name, 1));
    if (!value) value = make_default(rule.value);
    if (!value) {
      return fail(ErrorCode::kInvalidArgument, "there is no attribute " + std::string(name));
    }
    // Symbols are strings, arrays of numbers are tensors: the pool's encodings are that.
    return pool_.attribute(value);
  }

  Attribute integer(std::int64_t value) {
    return made_.attribute(ir::IntegerAttr{{}, value, made_.types().scalar(DType::kI64)});
  }
  Attribute boolean(bool value) { return made_.attribute(ir::BoolAttr{{}, value}); }
  Attribute repeated(std::size_t n, std::int64_t value, DType element = DType::kI64) {
    const std::vector<std::int64_t> values(n, value);
    return made_.attribute(
        ir::IntArrayAttr{{}, element, made_.copy(std::span<const std::int64_t>(values))});
  }

  // Of the windows of an operation, or of the spatial ones of a convolution.
  std::size_t window_dimensions() const {
    if (const auto* conv = op_.attr<ir::ConvDimsAttr>("dimension_numbers"))
      return conv->input_spatial.size();
    const auto window = op_.ints("window_dimensions");
    return window ? window->size() : 0;
  }

  Attribute no_padding() {
    const auto n = static_cast<std::int64_t>(window_dimensions());
    auto bytes = std::make_shared<std::byte[]>(sizeof(std::int64_t));
    return made_.dense(made_.types().tensor({n, 2}, DType::kI64), n != 0, std::move(bytes),
                       n != 0 ? sizeof(std::int64_t) : 0);
  }

  Attribute make_default(Default value) {
    const auto enum_of = [this](ir::EnumClass c) {
      return made_.attribute(ir::EnumAttr{{}, c, 0});
    };
    switch (value) {
      case Default::kNone:
      case Default::kOriginal:
        return {};
      case Default::kZero:
        return integer(0);
      case Default::kMinusOne:
        return integer(-1);
      case Default::kFalse:
        return boolean(false);
      case Default::kOnes:
        return repeated(window_dimensions(), 1);
      case Default::kZeros:
        return no_padding();
      case Default::kFalses:
        return repeated(window_dimensions(), 0, DType::kI1);
      case Default::kNoInts:
        return repeated(0, 0);
      case Default::kEmptyString:
        return made_.attribute(ir::StringAttr{});
      case Default::kEmptyConfig:
        // Typed calls, the fourth interface, take a dictionary.
        if (op_.int_or("api_version", 1) == 4) return made_.attribute(ir::DictAttr{});
        return made_.attribute(ir::StringAttr{});
      case Default::kEmptyArray:
        return made_.attribute(ir::ArrayAttr{});
      case Default::kEmptyDict:
        return made_.attribute(ir::DictAttr{});
      case Default::kNoType:
        return enum_of(ir::EnumClass::kComparisonType);
      case Default::kPrecision: {
        const Attribute both[] = {enum_of(ir::EnumClass::kPrecision),
                                  enum_of(ir::EnumClass::kPrecision)};
        return made_.attribute(ir::ArrayAttr{{}, made_.copy(std::span<const Attribute>(both))});
      }
      case Default::kAccuracy:
        return made_.attribute(ir::ResultAccuracyAttr{});
    }
    return {};
  }

  EntryPool& pool_;
  const ir::Op& op_;
  const VhloOp& row_;
  mutable ir::Module made_;
};

}  // namespace

Result<OpAttributes> to_vhlo(EntryPool& pool, const ir::Op& op, const VhloOp& row) {
  return Conversion(pool, op, row).run();
}

}  // namespace millrace::devices::cpu::bytecode
