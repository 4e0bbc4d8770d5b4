#include "millrace/devices/cpu/kernels/functions/tile_program.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::devices::cpu {
void fill_splat(void* dst, const void* value, std::size_t width, std::int64_t n) {
  with_width(width, [&](auto tag) {
    typename decltype(tag)::type v;
    std::memcpy(&v, value, sizeof v);
    std::fill_n(static_cast<decltype(v)*>(dst), n, v);
  });
}

int TileProgram::add_input(DType type) {
  values_.push_back({.type = type, .input = true});
  inputs_.push_back(values() - 1);
  return values() - 1;
}

int TileProgram::add_constant(DType type, const void* value) {
  const auto* bytes = static_cast<const std::byte*>(value);
  values_.push_back({.type = type, .constant = static_cast<int>(constants_.size())});
  constants_.insert(constants_.end(), bytes, bytes + byte_width(type));
  return values() - 1;
}

int TileProgram::add(TileOp op, std::span<const int> inputs, DType type, std::uint32_t param) {
  MILLRACE_CHECK(static_cast<int>(inputs.size()) == tile_op_inputs(op), "wrong number of inputs");
  const DType in = dtype(op == TileOp::kSelect ? inputs[1] : inputs[0]);
  TileLoop loop = find_tile_loop(op, in, type);
  if (loop == nullptr) return -1;
  Instruction i{.loop = loop, .param = param};
  i.out = static_cast<std::uint16_t>(values_.size());
  i.input_count = static_cast<std::uint8_t>(inputs.size());
  for (std::size_t k = 0; k < 3; ++k) {
    i.inputs[k] = static_cast<std::uint16_t>(inputs[std::min(k, inputs.size() - 1)]);
  }
  values_.push_back({.type = type, .producer = instructions()});
  code_.push_back(i);
  return values() - 1;
}

std::optional<TileProgram> TileProgram::slice(int value, int input) const {
  TileProgram made;
  std::map<int, int> copies;
  copies[input] = made.add_input(dtype(input));
  // What an instruction takes comes first, in the order in which it takes it. False: another input.
  const auto copy = [&](auto& self, int v) -> bool {
    if (copies.contains(v)) return true;
    const Value& from = values_[static_cast<std::size_t>(v)];
    if (from.input) return false;
    if (from.constant >= 0) {
      copies[v] = made.add_constant(from.type, constants_.data() + from.constant);
      return true;
    }
    Instruction i = code_[static_cast<std::size_t>(from.producer)];
    for (std::uint16_t& taken : i.inputs) {
      if (!self(self, taken)) return false;
      taken = static_cast<std::uint16_t>(copies[taken]);
    }
    i.out = static_cast<std::uint16_t>(made.values());
    copies[v] = made.values();
    made.values_.push_back({.type = from.type, .producer = made.instructions()});
    made.code_.push_back(i);
    return true;
  };
  if (!copy(copy, value)) return std::nullopt;
  made.add_output(copies[value]);
  if (!made.finish()) return std::nullopt;
  return made;
}

int TileProgram::last_use(int value) const {
  if (std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end()) return instructions();
  for (int k = instructions() - 1; k >= 0; --k) {
    const Instruction& i = code_[static_cast<std::size_t>(k)];
    for (int j = 0; j < i.input_count; ++j) {
      if (i.inputs[j] == value) return k;
    }
  }
  return -1;
}

bool TileProgram::finish() {
  if (values() > kMaxValues) return false;
  std::map<std::size_t, std::vector<std::size_t>> free;  // width -> offsets
  std::size_t top = 0;
  const auto take = [&](std::size_t width) {
    std::vector<std::size_t>& list = free[width];
    if (!list.empty()) {
      const std::size_t offset = list.back();
      list.pop_back();
      return offset;
    }
    const std::size_t offset = top;
    top += width;
    return offset;
  };
  std::vector<std::vector<int>> ending(code_.size() + 1);
  for (int v = 0; v < values(); ++v) {
    Value& value = values_[static_cast<std::size_t>(v)];
    if (value.constant >= 0) value.offset = take(byte_width(value.type));
    const int last = last_use(v);
    if (value.producer >= 0)
      ending[static_cast<std::size_t>(std::max(last, value.producer))].push_back(v);
  }
  for (int k = 0; k < instructions(); ++k) {
    Value& out = values_[code_[static_cast<std::size_t>(k)].out];
    out.offset = take(byte_width(out.type));
    for (int v : ending[static_cast<std::size_t>(k)]) {
      const Value& ended = values_[static_cast<std::size_t>(v)];
      free[byte_width(ended.type)].push_back(ended.offset);
    }
  }
  scratch_bytes_ = top;
  return true;
}

void TileProgram::bind(std::byte* scratch, void** pointers, int tile, int n) const {
  for (int v = 0; v < values(); ++v) {
    const Value& value = values_[static_cast<std::size_t>(v)];
    if (value.input) continue;
    pointers[v] = scratch + value.offset * static_cast<std::size_t>(tile);
    if (value.constant >= 0) {
      fill_splat(pointers[v], constants_.data() + value.constant, byte_width(value.type), n);
    }
  }
}

}  // namespace millrace::devices::cpu
