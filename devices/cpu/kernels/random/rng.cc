// rng_bit_generator, bit for bit as XLA expands it (threefry 2x32 and philox 4x32 of Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3"), and rng by threefry.
#include <array>
#include <atomic>
#include <cmath>
#include <numbers>

#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {
namespace {

using Words2 = std::array<std::uint32_t, 2>;
using Words4 = std::array<std::uint32_t, 4>;

Words2 halves(std::uint64_t x) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}
std::uint64_t whole(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

Words4 philox(Words4 x, Words2 key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * x[0],
                        b = std::uint64_t{0xCD9E8D57u} * x[2];
    x = {halves(b)[1] ^ x[1] ^ key[0], halves(b)[0], halves(a)[1] ^ x[3] ^ key[1], halves(a)[0]};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

void store_word(const MutableArray& to, std::int64_t i, std::uint64_t word) {
  const std::size_t width = width_of(to.shape);
  std::memcpy(to.data + static_cast<std::size_t>(i) * width, &word, width);
}

// Threefry of `kLanes` counters that follow each other; of many a compiler makes vectors.
template <int kLanes>
struct Threefry {
  std::uint32_t low[kLanes], high[kLanes];

  Threefry(std::uint64_t counter, std::uint64_t key) {
    constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const Words2 k = halves(key);
    const std::uint32_t keys[3] = {k[0], k[1], k[0] ^ k[1] ^ 0x1BD11BDAu};
    for (int i = 0; i < kLanes; ++i) {
      const std::uint64_t at = counter + static_cast<std::uint64_t>(i);
      low[i] = static_cast<std::uint32_t>(at) + keys[0];
      high[i] = static_cast<std::uint32_t>(at >> 32) + keys[1];
    }
    for (std::uint32_t group = 0; group < 5; ++group) {
      for (int by : kRotations[group % 2]) {
        for (int i = 0; i < kLanes; ++i) {
          low[i] += high[i];
          high[i] = (high[i] << by | high[i] >> (32 - by)) ^ low[i];
        }
      }
      for (int i = 0; i < kLanes; ++i) {
        low[i] += keys[(group + 1) % 3];
        high[i] += keys[(group + 2) % 3] + group + 1;
      }
    }
  }
};

// Calls f(block, low word, high word) for blocks 0 to n of the stream.
template <class F>
void each_threefry(std::uint64_t key, std::uint64_t counter, std::int64_t n, F f) {
  constexpr int kLanes = 32;
  for (std::int64_t block = 0; block < n; block += kLanes) {
    const Threefry<kLanes> lanes(counter + static_cast<std::uint64_t>(block), key);
    for (int i = 0; i < kLanes && block + i < n; ++i) f(block + i, lanes.low[i], lanes.high[i]);
  }
}

// Which dimension XLA halves: the first even one, or the longest. Both words of a block lie side by
// side there.
std::size_t halved_dimension(const Shape& shape) {
  const auto dims = shape.dims();
  std::size_t longest = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] % 2 == 0) return d;
    if (dims[d] > dims[longest]) longest = d;
  }
  return longest;
}

// Gives the new counter.
std::uint64_t fill_threefry(std::uint64_t key, std::uint64_t counter, const MutableArray& to) {
  const std::int64_t n = to.shape.elements();
  if (width_of(to.shape) == 8) {
    each_threefry(key, counter, n, [&](std::int64_t i, std::uint32_t low, std::uint32_t high) {
      store_word(to, i, whole(low, high));
    });
    return counter + static_cast<std::uint64_t>(n);
  }
  const auto dims = to.shape.dims();
  std::int64_t extent = 1, inner = 1;
  if (!dims.empty()) {
    const std::size_t split = halved_dimension(to.shape);
    extent = dims[split];
    inner = product(dims.subspan(split + 1));
  }
  const std::int64_t half = (extent + 1) / 2, outer = n == 0 ? 0 : n / (extent * inner);
  std::int64_t row = 0, pair = 0, column = 0;  // of the present block
  each_threefry(key, counter, outer * half * inner,
                [&](std::int64_t, std::uint32_t low, std::uint32_t high) {
                  const std::int64_t at = (row * extent + 2 * pair) * inner + column;
                  store_word(to, at, low);
                  if (2 * pair + 1 < extent) store_word(to, at + inner, high);
                  if (++column < inner) return;
                  column = 0;
                  if (++pair < half) return;
                  pair = 0;
                  ++row;
                });
  return counter + static_cast<std::uint64_t>(outer * half * inner);
}

struct Counter128 {
  std::uint64_t low = 0, high = 0;
  Counter128 plus(std::uint64_t n) const { return {low + n, high + (low + n < low ? 1 : 0)}; }
};

Counter128 fill_philox(std::uint64_t key, Counter128 counter, const MutableArray& to) {
  const std::int64_t n = to.shape.elements(), words = width_of(to.shape) == 8 ? 2 : 1;
  const std::int64_t per_block = 4 / words;
  for (std::int64_t first = 0; first < n; first += per_block) {
    const Words2 low = halves(counter.low), high = halves(counter.high);
    const Words4 x = philox({low[0], low[1], high[0], high[1]}, halves(key));
    for (std::int64_t i = 0; i < per_block && first + i < n; ++i) {
      const auto at = static_cast<std::size_t>(i * words);
      store_word(to, first + i, words == 2 ? whole(x[at], x[at + 1]) : x[at]);
    }
    counter = counter.plus(1);
  }
  return counter;
}

}  // namespace

// The state is the key and then the counter, in words of 64 bits; it may be given as ui32.
Status run_rng_bit_generator(const Call& c) {
  const std::size_t words = c.operands[0].shape.size_bytes() / 8;
  std::uint64_t state[3] = {};
  if (words < 1 || words > 3)
    return fail(ErrorCode::kInvalidArgument, c.op.where() + ": a state of another size");
  std::memcpy(state, c.operands[0].data, words * 8);
  const auto algorithm = c.op.enum_or("rng_algorithm", ir::RngAlgorithm::kDefault);
  const bool threefry = algorithm == ir::RngAlgorithm::kThreeFry;
  if (threefry) {
    state[1] = fill_threefry(state[0], state[1], c.results[1]);
  } else {
    // The first of two words is the key and the upper half of the counter.
    const Counter128 begin{state[1], words == 2 ? state[0] : state[2]};
    const Counter128 next = fill_philox(state[0], begin, c.results[1]);
    state[1] = next.low;
    state[2] = next.high;
  }
  std::memcpy(c.results[0].data, state, words * 8);
  return {};
}

// Uniform in [a, b), or normal of mean a and deviation b. The stream continues from call to call of
// the process, from the same start.
Status run_rng(const Call& c) {
  static std::atomic<std::uint64_t> stream = 0;
  const MutableArray& to = c.results[0];
  const DType type = to.shape.dtype();
  const Scalar a = element(c.operands[0], 0), b = element(c.operands[1], 0);
  const bool normal = c.op.enum_or("rng_distribution", ir::RngDistribution::kUniform) ==
                      ir::RngDistribution::kNormal;
  const std::int64_t n = to.shape.elements();
  std::uint64_t counter = stream.fetch_add(static_cast<std::uint64_t>(n));
  constexpr std::uint64_t kKey = 0x6D696C6C72616365;
  for (std::int64_t i = 0; i < n; ++i) {
    const Threefry<1> x(counter++, kKey);
    const std::uint64_t bits = whole(x.low[0], x.high[0]);
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
    Scalar s;
    switch (form_of(type)) {
      case Form::kBool:
        s = from_unsigned(bits & 1);
        break;
      case Form::kSigned:
      case Form::kUnsigned:
        s = from_unsigned(a.u + (b.u == a.u ? 0 : bits % (b.u - a.u)));
        break;
      default:
        if (normal) {
          // Box and Muller.
          const double u = (static_cast<double>(x.low[0]) + 1) * 0x1p-32,
                       v = static_cast<double>(x.high[0]) * 0x1p-32;
          s = from_real(a.re +
                        b.re * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
        } else {
          s = from_real(a.re + (b.re - a.re) * unit);
          // Rounding may reach the end that does not belong.
          if (rounded(type, s).re >= b.re && a.re < b.re) s = a;
        }
    }
    put(to, i, s);
  }
  return {};
}

}  // namespace millrace::devices::cpu::definition
