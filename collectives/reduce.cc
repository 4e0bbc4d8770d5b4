#include "millrace/collectives/reduce.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <string>
#include <type_traits>

#include "millrace/core/base/check.h"
#include "millrace/core/base/pool.h"
#include "millrace/devices/cpu/kernels/base/element.h"

namespace millrace::collectives {
namespace {

using devices::DType;
using devices::cpu::ComputeType;
using devices::cpu::TypeTag;

// As it is computed: 16-bit floats in f32.
template <class T>
ComputeType<T> load(const std::byte* data, std::size_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return static_cast<ComputeType<T>>(value);
}

template <class T>
void store(std::byte* data, std::size_t i, ComputeType<T> value) {
  const T stored = static_cast<T>(value);
  std::memcpy(data + i * sizeof(T), &stored, sizeof(T));
}

template <class V>
V add(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    using U = std::make_unsigned_t<V>;  // wraps, as StableHLO's add does
    return static_cast<V>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

// Elements that are combined at a time: two blocks stay in the first-level cache.
constexpr std::size_t kBlock = 1024;

// One pass: reads every rank, writes the output once. In blocks, so that each inner loop has one
// rank and the compiler makes vectors of it.
template <class T, class Combine>
void run(std::span<const std::byte* const> inputs, std::span<std::byte> output, Combine combine,
         double scale) {
  using V = ComputeType<T>;
  using Scalar =
      std::conditional_t<std::is_same_v<V, double> || std::is_same_v<V, std::complex<double>>,
                         double, float>;
  const auto scaled = [=](V value) {
    if constexpr (std::is_integral_v<V>) {
      return value;
    } else {
      return scale == 1.0 ? value : static_cast<V>(value * static_cast<Scalar>(scale));
    }
  };
  const std::size_t n = output.size() / sizeof(T);
  if (inputs.size() == 2) {  // most often so, and as fast as memory without a detour
    const std::byte* const a = inputs[0];
    const std::byte* const b = inputs[1];
    std::byte* const to = output.data();
    for (std::size_t i = 0; i < n; ++i)
      store<T>(to, i, scaled(combine(load<T>(a, i), load<T>(b, i))));
    return;
  }
  std::array<V, kBlock> sums;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t count = std::min(kBlock, n - begin);
    for (std::size_t i = 0; i < count; ++i) sums[i] = load<T>(inputs[0], begin + i);
    for (const std::byte* input : inputs.subspan(1))
      for (std::size_t i = 0; i < count; ++i) sums[i] = combine(sums[i], load<T>(input, begin + i));
    for (std::size_t i = 0; i < count; ++i) store<T>(output.data(), begin + i, scaled(sums[i]));
  }
}

template <class T>
void dispatch(ReduceOp op, std::span<const std::byte* const> inputs, std::span<std::byte> output,
              std::size_t ranks) {
  using V = ComputeType<T>;
  const auto plus = [](V a, V b) { return add(a, b); };
  switch (op) {
    case ReduceOp::kSum:
      return run<T>(inputs, output, plus, 1.0);
    case ReduceOp::kMean:
      return run<T>(inputs, output, plus, 1.0 / static_cast<double>(ranks));
    default:
      break;
  }
  if constexpr (!std::is_same_v<V, std::complex<float>> &&
                !std::is_same_v<V, std::complex<double>>) {
    if (op == ReduceOp::kMin)
      return run<T>(inputs, output, [](V a, V b) { return devices::cpu::smaller_of(a, b); }, 1.0);
    if (op == ReduceOp::kMax)
      return run<T>(inputs, output, [](V a, V b) { return devices::cpu::larger_of(a, b); }, 1.0);
  }
  MILLRACE_CHECK(false, "check_reducible comes before reduce");
}

// Bytes of the result that are worth another core: about 20 us of reading and writing.
constexpr std::size_t kPartBytes = std::size_t{256} << 10;

void reduce_part(ReduceOp op, DType dtype, std::span<const std::byte* const> inputs,
                 std::span<std::byte> output, std::size_t ranks) {
  const auto as = [&]<class T>(TypeTag<T>) {
    if constexpr (devices::cpu::kIsBool<T>) {  // one byte of 0 or 1: or is max, and is min
      dispatch<std::uint8_t>(op == ReduceOp::kSum ? ReduceOp::kMax : op, inputs, output, ranks);
    } else {
      dispatch<T>(op, inputs, output, ranks);
    }
  };
  if (dtype == DType::kC64) return as(TypeTag<std::complex<float>>());
  if (dtype == DType::kC128) return as(TypeTag<std::complex<double>>());
  devices::cpu::visit(dtype, as,
                      [] { MILLRACE_CHECK(false, "check_reducible comes before reduce"); });
}

}  // namespace

std::string_view to_string(ReduceOp op) {
  constexpr std::string_view kWords[] = {"sum", "mean", "min", "max"};
  return kWords[static_cast<std::size_t>(op)];
}

Status check_reducible(ReduceOp op, DType dtype) {
  const bool wide_float =
      dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF32 || dtype == DType::kF64;
  const bool integer = (devices::is_signed_integer(dtype) || devices::is_unsigned_integer(dtype)) &&
                       devices::bit_width(dtype) >= 8;
  const bool ordered = op == ReduceOp::kMin || op == ReduceOp::kMax;
  if (wide_float) return {};
  if (integer && op != ReduceOp::kMean) return {};
  if (dtype == DType::kI1 && op != ReduceOp::kMean) return {};
  if (devices::is_complex(dtype) && !ordered) return {};
  return fail(ErrorCode::kUnimplemented, "the reduction " + std::string(to_string(op)) +
                                             " has no meaning here for elements of type " +
                                             std::string(devices::to_string(dtype)));
}

bool folds_exactly(ReduceOp op, DType dtype) {
  const bool rounded = dtype == DType::kF16 || dtype == DType::kBF16;
  return !rounded || op == ReduceOp::kMin || op == ReduceOp::kMax;
}

void reduce(ReduceOp op, DType dtype, std::span<const std::byte* const> inputs,
            std::span<std::byte> output, Parallel* parallel, std::size_t ranks) {
  if (ranks == 0) ranks = inputs.size();
  const std::size_t parts = (output.size() + kPartBytes - 1) / kPartBytes;
  if (parallel == nullptr || parallel->width() == 1 || parts < 2)
    return reduce_part(op, dtype, inputs, output, ranks);
  parallel->run(static_cast<int>(parts), [&](int part) {
    const std::size_t begin = static_cast<std::size_t>(part) * kPartBytes;
    PooledVector<const std::byte*> from(inputs.begin(), inputs.end());
    for (const std::byte*& input : from) input += begin;
    reduce_part(op, dtype, from, output.subspan(begin, std::min(kPartBytes, output.size() - begin)),
                ranks);
  });
}

}  // namespace millrace::collectives
