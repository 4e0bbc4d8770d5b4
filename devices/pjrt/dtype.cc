#include "millrace/devices/pjrt/dtype.h"

#include <algorithm>
#include <array>

namespace millrace::devices::pjrt {
namespace {

struct Row {
  DType ours;
  abi::BufferType pjrt;
  int xla;  // 0: none
};

using enum DType;
using abi::BufferType;

constexpr std::array kRows = {
    Row{kI1, BufferType::kPred, 1},
    Row{kI2, BufferType::kS2, 26},
    Row{kI4, BufferType::kS4, 21},
    Row{kI8, BufferType::kS8, 2},
    Row{kI16, BufferType::kS16, 3},
    Row{kI32, BufferType::kS32, 4},
    Row{kI64, BufferType::kS64, 5},
    Row{kU2, BufferType::kU2, 27},
    Row{kU4, BufferType::kU4, 22},
    Row{kU8, BufferType::kU8, 6},
    Row{kU16, BufferType::kU16, 7},
    Row{kU32, BufferType::kU32, 8},
    Row{kU64, BufferType::kU64, 9},
    Row{kF16, BufferType::kF16, 10},
    Row{kBF16, BufferType::kBF16, 16},
    Row{kF32, BufferType::kF32, 11},
    Row{kF64, BufferType::kF64, 12},
    Row{kF8E5M2, BufferType::kF8E5M2, 19},
    Row{kF8E4M3, BufferType::kF8E4M3, 28},
    Row{kF8E4M3FN, BufferType::kF8E4M3FN, 20},
    Row{kF8E4M3B11FNUZ, BufferType::kF8E4M3B11FNUZ, 23},
    Row{kF8E5M2FNUZ, BufferType::kF8E5M2FNUZ, 24},
    Row{kF8E4M3FNUZ, BufferType::kF8E4M3FNUZ, 25},
    Row{kF8E3M4, BufferType::kF8E3M4, 29},
    Row{kF8E8M0FNU, BufferType::kF8E8M0FNU, 33},
    Row{kF4E2M1FN, BufferType::kF4E2M1FN, 32},
    Row{kF6E2M3FN, BufferType::kF6E2M3FN, 0},
    Row{kF6E3M2FN, BufferType::kF6E3M2FN, 0},
    Row{kC64, BufferType::kC64, 15},
    Row{kC128, BufferType::kC128, 18},
    Row{kToken, BufferType::kToken, 17},
};

// By DType: every put asks.
constexpr auto kBufferTypes = [] {
  std::array<BufferType, static_cast<std::size_t>(kToken) + 1> types{};
  types.fill(BufferType::kInvalid);
  for (const Row& row : kRows) types[static_cast<std::size_t>(row.ours)] = row.pjrt;
  return types;
}();

}  // namespace

abi::BufferType to_buffer_type(DType type) {
  const auto i = static_cast<std::size_t>(type);
  return i < kBufferTypes.size() ? kBufferTypes[i] : BufferType::kInvalid;
}

DType from_buffer_type(abi::BufferType type) {
  const auto row = std::ranges::find(kRows, type, &Row::pjrt);
  return row == kRows.end() ? kInvalid : row->ours;
}

DType from_primitive_type(int type) {
  const auto row =
      std::ranges::find_if(kRows, [type](const Row& r) { return r.xla == type && type != 0; });
  return row == kRows.end() ? kInvalid : row->ours;
}

}  // namespace millrace::devices::pjrt
