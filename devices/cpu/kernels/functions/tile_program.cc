#include "millrace/devices/cpu/kernels/functions/tile_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <map>
#include <utility>

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
  Instruction i{.loop = loop, .op = op, .param = param};
  i.out = static_cast<std::uint16_t>(values_.size());
  i.input_count = static_cast<std::uint8_t>(inputs.size());
  for (std::size_t k = 0; k < kMostInputs; ++k) {
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

// An instruction takes into its loop the one that makes an operand for it alone: an xor a rotation,
// others a sum, difference or product. An or takes two shifts that together are a rotation. Results
// are the same to the bit, but for which of two NaNs they are.
void TileProgram::join() {
  std::vector<int> uses(values_.size());
  for (const Instruction& i : code_) {
    for (int k = 0; k < i.input_count; ++k) ++uses[i.inputs[k]];
  }
  for (const int v : outputs_) ++uses[static_cast<std::size_t>(v)];
  std::vector<bool> gone(code_.size());
  // The instruction that makes the value, of so many inputs, for no other.
  const auto maker_of = [&](std::uint16_t v, int inputs) -> const Instruction* {
    const int p = producer(v);
    if (p < 0 || uses[v] != 1) return nullptr;
    const Instruction& i = code_[static_cast<std::size_t>(p)];
    return i.input_count == inputs && dtype(i.inputs[0]) == dtype(v) ? &i : nullptr;
  };
  const auto take = [&](Instruction& i, TileLoop loop, std::initializer_list<int> makers,
                        std::initializer_list<std::uint16_t> inputs) {
    for (const int p : makers) gone[static_cast<std::size_t>(p)] = true;
    i.loop = loop;
    i.input_count = static_cast<std::uint8_t>(inputs.size());
    for (std::size_t k = 0; k < kMostInputs; ++k)
      i.inputs[k] = inputs.begin()[std::min(k, inputs.size() - 1)];
  };
  for (Instruction& i : code_) {
    const DType type = dtype(i.out);
    if (i.input_count != 2 || dtype(i.inputs[0]) != type) continue;
    const std::array<std::uint16_t, 2> of{i.inputs[0], i.inputs[1]};
    const std::array<const Instruction*, 2> made_by{maker_of(of[0], 2), maker_of(of[1], 2)};
    if (i.op == TileOp::kOr && made_by[0] != nullptr && made_by[1] != nullptr) {
      const bool swapped = made_by[0]->op != TileOp::kShiftLeft;
      const Instruction& left = *made_by[swapped ? 1 : 0];
      const Instruction& right = *made_by[swapped ? 0 : 1];
      const TileLoop loop = find_rotation_loop(type);
      if (loop != nullptr && left.op == TileOp::kShiftLeft &&
          right.op == TileOp::kShiftRightLogical && left.inputs[0] == right.inputs[0]) {
        take(i, loop, {producer(of[0]), producer(of[1])},
             {left.inputs[0], left.inputs[1], right.inputs[1]});
        continue;
      }
    }
    for (std::size_t side = 0; i.op == TileOp::kXor && side < 2; ++side) {
      const Instruction* const rotation = maker_of(of[side], 3);
      const TileLoop loop = find_rotation_xor_loop(type);
      if (rotation == nullptr || rotation->loop != find_rotation_loop(type) || loop == nullptr)
        continue;
      const auto* const inputs = rotation->inputs;
      take(i, loop, {producer(of[side])}, {inputs[0], inputs[1], inputs[2], of[1 - side]});
      break;
    }
    for (std::size_t side = 0; i.input_count == 2 && side < 2; ++side) {
      if (made_by[side] == nullptr) continue;
      const Instruction& first = *made_by[side];
      const TileLoop loop =
          find_pair_loop({.first = first.op, .second = i.op, .swapped = side == 1}, type);
      if (loop == nullptr) continue;
      take(i, loop, {producer(of[side])}, {first.inputs[0], first.inputs[1], of[1 - side]});
      break;
    }
  }
  std::vector<Instruction> kept;
  for (std::size_t k = 0; k < code_.size(); ++k) {
    values_[code_[k].out].producer = gone[k] ? -1 : static_cast<int>(kept.size());
    if (!gone[k]) kept.push_back(code_[k]);
  }
  code_ = std::move(kept);
}

bool TileProgram::finish() {
  if (values() > kMaxValues) return false;
  join();
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
