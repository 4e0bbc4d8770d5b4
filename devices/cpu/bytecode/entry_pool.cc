#include "millrace/devices/cpu/bytecode/entry_pool.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "millrace/devices/cpu/bytecode/dense_bytes.h"
#include "millrace/devices/cpu/bytecode/vhlo_codes.h"
#include "millrace/devices/cpu/ir/print.h"

namespace millrace::devices::cpu::bytecode {
namespace {

using ir::AttrKind;
using ir::TypeKind;

constexpr int kMaxWriteDepth = 256;

void put(ByteWriter& out, auto code) { out.varint(static_cast<std::uint64_t>(code)); }

// An integer of a known width, without sign: a byte, or a varint with room for a sign.
void put_bits(ByteWriter& out, int width, std::uint64_t bits) {
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  width <= 8 ? out.byte(bits) : out.svarint(static_cast<std::int64_t>(bits));
}

std::unexpected<Error> no_form(const std::string& what) {
  return fail(ErrorCode::kUnimplemented, what + " has no form in a portable artifact");
}

}  // namespace

std::uint64_t EntryPool::List::add(Dialect dialect, std::string bytes) {
  std::string key = static_cast<char>(dialect) + bytes;
  const auto [it, added] = known.emplace(std::move(key), all.size());
  if (added) all.push_back({dialect, std::move(bytes)});
  return it->second;
}

Status EntryPool::needs(Version since, const std::string& what) const {
  if (since <= version_) return {};
  return fail(ErrorCode::kUnimplemented,
              what + " needs version " + to_string(since) + " of VHLO or a later one");
}

std::uint64_t EntryPool::string(std::string_view text) {
  const auto [it, added] = string_numbers_.emplace(std::string(text), strings_.size());
  if (added) strings_.emplace_back(text);
  return it->second;
}

Status EntryPool::types(ByteWriter& out, std::span<const ir::Type> list) {
  out.varint(list.size());
  for (const ir::Type member : list) {
    MILLRACE_TRY(const std::uint64_t index, type(member));
    out.varint(index);
  }
  return {};
}

Result<std::uint64_t> EntryPool::scalar(ir::Type type) {
  ByteWriter out;
  const DType dtype = type.dtype();
  if (is_complex(dtype)) {
    const DType part = dtype == DType::kC64 ? DType::kF32 : DType::kF64;
    MILLRACE_TRY(const std::uint64_t index, scalar(scratch_.types().scalar(part)));
    put(out, TypeCode::kComplex);
    out.varint(index);
    return types_.add(Dialect::kVhlo, out.take());
  }
  for (const ScalarCode& code : scalar_codes()) {
    if (code.type != dtype) continue;
    MILLRACE_TRY_STATUS(needs(code.since, "the type " + type.to_string()));
    out.varint(code.code);
    return types_.add(Dialect::kVhlo, out.take());
  }
  return no_form("the type " + type.to_string());
}

Result<std::uint64_t> EntryPool::quant(const ir::QuantParameters& q) {
  const bool per_axis = q.axis >= 0;
  if (per_axis) MILLRACE_TRY_STATUS(needs({0, 18, 0}, "a quantised type with an axis"));
  // The storage is an integer without a sign of its own; a flag says whether it has one.
  const bool is_signed = is_signed_integer(q.storage);
  const std::string storage = "i" + std::to_string(bit_width(q.storage));
  ByteWriter out;
  put(out, per_axis ? TypeCode::kQuantPerAxis : TypeCode::kQuant);
  out.varint(is_signed ? 1 : 0);
  ir::TypeTable& made = scratch_.types();
  MILLRACE_TRY(const std::uint64_t stored,
               type(made.scalar(dtype_from_string(storage).value_or(q.storage))));
  MILLRACE_TRY(const std::uint64_t expressed, type(made.scalar(q.expressed)));
  out.varint(stored);
  out.varint(expressed);
  const auto scale = [&](double value) { put_bits(out, 64, std::bit_cast<std::uint64_t>(value)); };
  if (!per_axis) {
    scale(q.scales[0]);
    out.svarint(q.zero_points[0]);
  } else {
    out.varint(static_cast<std::uint64_t>(q.axis));
  }
  out.svarint(q.storage_min);
  out.svarint(q.storage_max);
  if (per_axis) {
    out.varint(q.scales.size());
    for (const double value : q.scales) scale(value);
    out.svarints(q.zero_points);
  }
  return types_.add(Dialect::kVhlo, out.take());
}

Status EntryPool::encode(ByteWriter& out, ir::Type type) {
  switch (type.kind()) {
    case TypeKind::kIndex:
      put(out, TypeCode::kIndex);
      return {};
    case TypeKind::kNone:
      put(out, TypeCode::kNone);
      return needs({1, 6, 0}, "the type none");
    case TypeKind::kToken:
      put(out, TypeCode::kToken);
      return {};
    case TypeKind::kTuple:
      put(out, TypeCode::kTuple);
      return types(out, type.members());
    case TypeKind::kFuture:
      MILLRACE_TRY_STATUS(needs({1, 15, 0}, "the type of a future"));
      put(out, TypeCode::kFuture);
      return types(out, type.members());
    case TypeKind::kFunction:
      put(out, TypeCode::kFunction);
      MILLRACE_TRY_STATUS(types(out, type.members()));
      return types(out, type.results());
    case TypeKind::kTensor:
    case TypeKind::kMemRef:
    case TypeKind::kUnranked: {
      if (!type.data()->text.empty()) return no_form("the type " + type.to_string());
      MILLRACE_TRY(const std::uint64_t element, this->type(type.element()));
      if (type.kind() == TypeKind::kMemRef) {
        MILLRACE_TRY_STATUS(needs({1, 13, 0}, "the type " + type.to_string()));
        put(out, TypeCode::kBuffer);
      } else if (type.kind() == TypeKind::kUnranked) {
        put(out, TypeCode::kUnranked);
      } else if (!type.bounds().empty()) {
        MILLRACE_TRY(const std::uint64_t bounds,
                     attribute(scratch_.attribute(ir::BoundsAttr{{}, type.bounds()})));
        put(out, TypeCode::kBoundedTensor);
        out.varint(bounds);
      } else {
        put(out, TypeCode::kTensor);
      }
      if (type.kind() != TypeKind::kUnranked) out.svarints(type.dims());
      out.varint(element);
      return {};
    }
    case TypeKind::kScalar:
    case TypeKind::kQuant:
    case TypeKind::kOpaque:
      break;
  }
  return no_form("the type " + type.to_string());
}

Result<std::uint64_t> EntryPool::type(ir::Type type) {
  if (depth_ > kMaxWriteDepth) return no_form("a type that is nested so deeply");
  if (type.kind() == TypeKind::kScalar) return scalar(type);
  if (type.kind() == TypeKind::kQuant) return quant(*type.quant());
  ByteWriter out;
  ++depth_;
  const Status done = encode(out, type);
  --depth_;
  MILLRACE_TRY_STATUS(done);
  return types_.add(Dialect::kVhlo, out.take());
}

Status EntryPool::encode_integer(ByteWriter& out, const ir::IntegerAttr& integer) {
  const bool index = integer.type.kind() == TypeKind::kIndex;
  const int width = index ? 64 : bit_width(integer.type.dtype());
  if (width < 4) return no_form("an integer of type " + integer.type.to_string());
  MILLRACE_TRY(const std::uint64_t type, this->type(integer.type));
  put(out, AttributeCode::kInteger);
  out.varint(type);
  put_bits(out, width, static_cast<std::uint64_t>(integer.value));
  return {};
}

Status EntryPool::encode_enum(ByteWriter& out, const ir::EnumAttr& value) {
  for (const EnumCode& row : enum_codes()) {
    if (row.enum_class != value.enum_class) continue;
    put(out, row.code);
    out.varint(value.value + static_cast<std::uint64_t>(row.first));
    return {};
  }
  return no_form("an enum");
}

Status EntryPool::encode_array(ByteWriter& out, std::span<const ir::Attribute> values) {
  put(out, AttributeCode::kArray);
  out.varint(values.size());
  for (const ir::Attribute value : values) {
    MILLRACE_TRY(const std::uint64_t index, attribute(value));
    out.varint(index);
  }
  return {};
}

Status EntryPool::encode_dict(ByteWriter& out, std::span<const ir::NamedAttribute> values) {
  put(out, AttributeCode::kDict);
  out.varint(values.size());
  for (const ir::NamedAttribute& named : values) {
    MILLRACE_TRY(const std::uint64_t name,
                 attribute(scratch_.attribute(ir::StringAttr{{}, named.name})));
    MILLRACE_TRY(const std::uint64_t value, attribute(named.value));
    out.varint(name);
    out.varint(value);
  }
  return {};
}

Status EntryPool::encode_dense(ByteWriter& out, const ir::DenseAttr& dense) {
  MILLRACE_TRY(const std::uint64_t type, this->type(dense.type));
  const std::vector<std::byte> raw = bytes_of_dense(dense);
  put(out, AttributeCode::kTensor);
  out.varint(type);
  out.varint(raw.size());
  out.text({reinterpret_cast<const char*>(raw.data()), raw.size()});
  return {};
}

// Numbers that are all the same are one: readers look for that when they leave out defaults.
Status EntryPool::encode_ints(ByteWriter& out, const ir::IntArrayAttr& ints) {
  const bool bools = ints.element == DType::kI1;
  if (ints.element != DType::kI64 && !bools)
    return no_form("an array of " + std::string(devices::to_string(ints.element)));
  const std::size_t n = ints.values.size();
  std::size_t kept = n;
  if (n > 1 && std::ranges::count(ints.values, ints.values[0]) == std::ssize(ints.values)) kept = 1;
  const std::size_t width = bools ? 1 : sizeof(std::int64_t);
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(kept * width, 1));
  for (std::size_t i = 0; i < kept; ++i) {
    for (std::size_t b = 0; b < width; ++b)
      bytes[i * width + b] = static_cast<std::byte>(ints.values[i] >> (8 * b) & 0xFF);
  }
  const ir::Type type = scratch_.types().tensor({static_cast<std::int64_t>(n)}, ints.element);
  const ir::Attribute dense = scratch_.dense(type, kept != n, std::move(bytes), kept * width);
  return encode_dense(out, *dense.as<ir::DenseAttr>());
}

Status EntryPool::encode_accuracy(ByteWriter& out, const ir::ResultAccuracyAttr& accuracy) {
  MILLRACE_TRY_STATUS(needs({1, 9, 0}, "the accuracy of a result"));
  const ir::EnumAttr mode{
      {}, ir::EnumClass::kAccuracyMode, static_cast<std::uint8_t>(accuracy.mode)};
  MILLRACE_TRY(const std::uint64_t index, attribute(scratch_.attribute(mode)));
  put(out, AttributeCode::kAccuracy);
  put_bits(out, 64, std::bit_cast<std::uint64_t>(accuracy.atol));
  put_bits(out, 64, std::bit_cast<std::uint64_t>(accuracy.rtol));
  out.svarint(accuracy.ulps);
  out.varint(index);
  return {};
}

Status EntryPool::encode(ByteWriter& out, ir::Attribute a) {
  switch (a.kind()) {
    case AttrKind::kBool:
      put(out, AttributeCode::kBool);
      out.varint(a.as<ir::BoolAttr>()->value ? 1 : 0);
      return {};
    case AttrKind::kInteger:
      return encode_integer(out, *a.as<ir::IntegerAttr>());
    case AttrKind::kFloat: {
      const auto& f = *a.as<ir::FloatAttr>();
      MILLRACE_TRY(const std::uint64_t type, this->type(f.type));
      put(out, AttributeCode::kFloat);
      out.varint(type);
      put_bits(out, bit_width(f.type.dtype()), f.bits);
      return {};
    }
    case AttrKind::kString:
      put(out, AttributeCode::kString);
      out.varint(string(a.as<ir::StringAttr>()->value));
      return {};
    case AttrKind::kSymbol:
      if (a.as<ir::SymbolAttr>()->path.size() != 1) break;
      put(out, AttributeCode::kString);
      out.varint(string(a.as<ir::SymbolAttr>()->path[0]));
      return {};
    case AttrKind::kType: {
      MILLRACE_TRY(const std::uint64_t type, this->type(a.as<ir::TypeAttr>()->value));
      put(out, AttributeCode::kType);
      out.varint(type);
      return {};
    }
    case AttrKind::kArray:
      return encode_array(out, a.as<ir::ArrayAttr>()->values);
    case AttrKind::kDict:
      return encode_dict(out, a.as<ir::DictAttr>()->values);
    case AttrKind::kIntArray:
      return encode_ints(out, *a.as<ir::IntArrayAttr>());
    case AttrKind::kDense:
      return encode_dense(out, *a.as<ir::DenseAttr>());
    case AttrKind::kEnum:
      return encode_enum(out, *a.as<ir::EnumAttr>());
    case AttrKind::kOutputAlias: {
      const auto& alias = *a.as<ir::OutputAliasAttr>();
      put(out, AttributeCode::kOutputAlias);
      out.svarints(alias.output_tuple_indices);
      out.svarint(alias.operand_index);
      out.svarints(alias.operand_tuple_indices);
      return {};
    }
    case AttrKind::kResultAccuracy:
      return encode_accuracy(out, *a.as<ir::ResultAccuracyAttr>());
    case AttrKind::kBounds:
      put(out, AttributeCode::kBounds);
      out.svarints(a.as<ir::BoundsAttr>()->bounds);
      return {};
    default:
      break;
  }
  return no_form("the attribute " + ir::print(a).substr(0, 80));
}

Result<std::uint64_t> EntryPool::attribute(ir::Attribute attribute) {
  if (depth_ > kMaxWriteDepth) return no_form("an attribute that is nested so deeply");
  ByteWriter out;
  ++depth_;
  const Status done = encode(out, attribute);
  --depth_;
  MILLRACE_TRY_STATUS(done);
  return attributes_.add(Dialect::kVhlo, out.take());
}

std::uint64_t EntryPool::api_version(std::int64_t value) {
  ByteWriter out;
  put(out, AttributeCode::kApiVersion);
  out.varint(static_cast<std::uint64_t>(value));
  return attributes_.add(Dialect::kVhlo, out.take());
}

std::string EntryPool::strings() const {
  ByteWriter out;
  out.varint(strings_.size());
  for (std::size_t i = strings_.size(); i-- != 0;) out.varint(strings_[i].size() + 1);
  for (const std::string& text : strings_) {
    out.text(text);
    out.byte(0);
  }
  return out.take();
}

// Numbers of entries, then groups of one dialect each with the sizes of theirs.
std::string EntryPool::offsets() const {
  ByteWriter out;
  out.varint(attributes_.all.size());
  out.varint(types_.all.size());
  for (const List* list : {&attributes_, &types_}) {
    for (std::size_t begin = 0; begin < list->all.size();) {
      std::size_t end = begin;
      while (end < list->all.size() && list->all[end].dialect == list->all[begin].dialect) ++end;
      out.varint(static_cast<std::uint64_t>(list->all[begin].dialect));
      out.varint(end - begin);
      for (; begin < end; ++begin) out.flagged(list->all[begin].bytes.size(), true);
    }
  }
  return out.take();
}

std::string EntryPool::entries() const {
  ByteWriter out;
  for (const List* list : {&attributes_, &types_}) {
    for (const Entry& entry : list->all) out.text(entry.bytes);
  }
  return out.take();
}

}  // namespace millrace::devices::cpu::bytecode
