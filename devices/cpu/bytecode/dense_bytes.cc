#include "millrace/devices/cpu/bytecode/dense_bytes.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "millrace/devices/cpu/ir/dense_bytes.h"

namespace millrace::devices::cpu::bytecode {
using ir::stored_type;

bool dense_from_bytes(ByteCursor& in, ir::Module& module, ir::Type type,
                      std::span<const std::byte> raw, ir::Attribute* out) {
  const DType stored = type.kind() == ir::TypeKind::kTensor ? stored_type(type) : DType::kInvalid;
  const auto elements = type.kind() == ir::TypeKind::kTensor ? type.elements() : std::nullopt;
  if (stored == DType::kInvalid || !elements || *elements < 0)
    return in.fail("a literal of type " + type.to_string().substr(0, 120));
  const auto count = static_cast<std::size_t>(*elements);
  const std::size_t width = byte_width(stored);
  const bool is_bool = stored == DType::kI1;
  const bool all_true = is_bool && raw.size() == 1 && raw[0] == std::byte{0xFF} && count != 0;
  const bool packed = is_bool && !all_true && raw.size() != count &&
                      raw.size() == count / 8 + (count % 8 != 0 ? 1 : 0) &&
                      !(raw.size() == 1 && raw[0] == std::byte{0});
  const bool all = raw.size() / width == count && raw.size() % width == 0;
  const bool splat = all_true || (!all && !packed && raw.size() == width);
  if (!all && !packed && !splat) {
    return in.fail("a literal of " + std::to_string(raw.size()) + " bytes, expected " +
                   std::to_string(count) + " elements of " + std::to_string(width) + " bytes");
  }
  // At most eight elements for each byte of the file.
  const std::size_t size = packed ? count : raw.size();
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
  if (packed) {
    ir::unpack_bits(raw, {bytes.get(), count});
  } else {
    if (size != 0) std::memcpy(bytes.get(), raw.data(), size);
    ir::normalise(stored, {bytes.get(), size});
  }
  *out = module.dense(type, splat && count != 1, std::move(bytes), size);
  return true;
}

std::vector<std::byte> bytes_of_dense(const ir::DenseAttr& dense) {
  const DType stored = stored_type(dense.type);
  std::vector<std::byte> out(dense.bytes.begin(), dense.bytes.end());
  if (stored == DType::kI1) {
    if (dense.splat) return {out[0] != std::byte{0} ? std::byte{0xFF} : std::byte{0}};
    std::vector<std::byte> packed((out.size() + 7) / 8);
    for (std::size_t i = 0; i < out.size(); ++i) packed[i / 8] |= out[i] << (i % 8);
    return packed;
  }
  // Sub-byte integers are without the copies of their sign.
  const int bits = bit_width(stored);
  if (bits < 8) {
    for (std::byte& b : out) b &= static_cast<std::byte>((1u << bits) - 1);
  }
  return out;
}

}  // namespace millrace::devices::cpu::bytecode
