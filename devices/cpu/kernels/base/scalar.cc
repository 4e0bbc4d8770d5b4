#include "millrace/devices/cpu/kernels/base/scalar.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/stablehlo/ir/float_format.h"

namespace millrace::devices::cpu::definition {

namespace ir = stablehlo::ir;

namespace {

// Integers of fewer than 8 bits lie in a byte each, extended by their sign or by zeros.
std::int64_t wrap_signed(std::int64_t x, int bits) {
  const int unused = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << unused) >> unused;
}

template <class T>
T read(const std::byte* data, std::int64_t i) {
  T x;
  std::memcpy(&x, data + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return x;
}

template <class T>
void write(std::byte* data, std::int64_t i, T x) {
  std::memcpy(data + static_cast<std::size_t>(i) * sizeof(T), &x, sizeof(T));
}

// Calls f(TypeTag<T>{}) with the C++ type in memory of every type but complex ones and the small
// floats.
template <class F, class G>
void with_stored(DType type, F f, G otherwise) {
  switch (type) {
    case DType::kI2:
    case DType::kI4:
      f(TypeTag<std::int8_t>{});
      return;
    case DType::kU2:
    case DType::kU4:
      f(TypeTag<std::uint8_t>{});
      return;
    default:
      visit(type, f, otherwise);
  }
}

// Calls f(TypeTag<T>{}) with the type of a complex number's parts; false for other types.
template <class F>
bool with_parts(DType type, F f) {
  if (type == DType::kC64) f(TypeTag<float>{});
  if (type == DType::kC128) f(TypeTag<double>{});
  return is_complex(type);
}

// The floats of at most eight bits, by their bits, which lie in a byte each.
const std::array<double, 256>& small_floats(DType type) {
  static const auto tables = [] {
    std::array<std::array<double, 256>, static_cast<std::size_t>(DType::kF6E3M2FN) + 1> all{};
    for (std::size_t t = 0; t < all.size(); ++t) {
      const auto dtype = static_cast<DType>(t);
      if (!is_floating(dtype) || bit_width(dtype) > 8) continue;
      for (std::size_t bits = 0; bits < all[t].size(); ++bits)
        all[t][bits] = ir::decode_float(dtype, bits);
    }
    return all;
  }();
  return tables[static_cast<std::size_t>(type)];
}

}  // namespace

Form form_of(DType type) {
  if (type == DType::kI1) return Form::kBool;
  if (is_signed_integer(type)) return Form::kSigned;
  if (is_unsigned_integer(type)) return Form::kUnsigned;
  if (type == DType::kF64) return Form::kReal64;
  if (is_floating(type)) return Form::kReal;
  if (type == DType::kC64) return Form::kComplex;
  if (type == DType::kC128) return Form::kComplex64;
  return Form::kNone;
}

void load(DType type, const std::byte* data, std::int64_t n, Scalar* to) {
  if (with_parts(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < n; ++i)
          to[i] = from_complex(read<T>(data, 2 * i), read<T>(data, 2 * i + 1));
      }))
    return;
  with_stored(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < n; ++i) {
          const T x = read<T>(data, i);
          if constexpr (kIsBool<T>)
            to[i] = from_unsigned(x.value != 0);
          else if constexpr (kIsFloat<T>)
            to[i] = from_real(static_cast<double>(static_cast<ComputeType<T>>(x)));
          else if constexpr (std::is_signed_v<T>)
            to[i] = from_signed(x);
          else
            to[i] = from_unsigned(x);
        }
      },
      [&] {
        const std::array<double, 256>& values = small_floats(type);
        for (std::int64_t i = 0; i < n; ++i)
          to[i] = from_real(values[static_cast<std::size_t>(data[i])]);
      });
}

void store(DType type, const Scalar* from, std::int64_t n, std::byte* data) {
  if (with_parts(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = 0; i < n; ++i) {
          write(data, 2 * i, static_cast<T>(from[i].re));
          write(data, 2 * i + 1, static_cast<T>(from[i].im));
        }
      }))
    return;
  with_stored(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        const int bits = bit_width(type);
        for (std::int64_t i = 0; i < n; ++i) {
          if constexpr (kIsBool<T>)
            write(data, i, T((from[i].u & 1) != 0));
          else if constexpr (kIsFloat<T>)
            write(data, i, T(from[i].re));
          else if constexpr (std::is_signed_v<T>)
            write(data, i, static_cast<T>(wrap_signed(from[i].i, bits)));
          else
            write(data, i, static_cast<T>(from[i].u & (~std::uint64_t{0} >> (64 - bits))));
        }
      },
      [&] {
        if (type == DType::kF8E8M0FNU) {
          for (std::int64_t i = 0; i < n; ++i)
            data[i] = static_cast<std::byte>(ir::encode_float(type, from[i].re));
          return;
        }
        const ir::FloatEncoder encoder(type);
        for (std::int64_t i = 0; i < n; ++i)
          data[i] = static_cast<std::byte>(encoder.encode(from[i].re));
      });
}

Scalar load(DType type, const std::byte* data) {
  Scalar s;
  load(type, data, 1, &s);
  return s;
}

void store(DType type, const Scalar& value, std::byte* data) { store(type, &value, 1, data); }

Scalar rounded(DType type, const Scalar& value) {
  switch (form_of(type)) {
    case Form::kReal64:
    case Form::kComplex64:
      return value;
    case Form::kSigned:
      return from_signed(wrap_signed(value.i, bit_width(type)));
    // By way of memory, complex numbers too: of a pair of casts to float and back g++ 12 leaves
    // both out when it makes a vector of them.
    default: {
      if (type == DType::kF32) return from_real(static_cast<float>(value.re));
      std::byte memory[16];
      store(type, value, memory);
      return load(type, memory);
    }
  }
}

namespace {

// Rounds to odd, so that the rounding to a narrower format that follows is the only one that
// counts.
template <class T>
Scalar integer_as_float(DType type, T x) {
  double d = static_cast<double>(x);
  if (type == DType::kF64 || type == DType::kC128) return from_real(d);
  __extension__ using Wide = __int128;
  const Wide back = static_cast<Wide>(d), exact = static_cast<Wide>(x);
  auto bits = std::bit_cast<std::uint64_t>(d);
  if (back != exact && (bits & 1) == 0) {
    const bool away = (exact > 0) == (back > exact);
    bits = away ? bits - 1 : bits + 1;
    d = std::bit_cast<double>(bits);
  }
  return from_real(d);
}

}  // namespace

Scalar from_integer(DType type, std::int64_t x) { return integer_as_float(type, x); }
Scalar from_integer(DType type, std::uint64_t x) { return integer_as_float(type, x); }

std::int64_t as_index(DType type, const Scalar& value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (is_signed_integer(type)) return value.i;
  return value.u > static_cast<std::uint64_t>(kMost) ? kMost : static_cast<std::int64_t>(value.u);
}

}  // namespace millrace::devices::cpu::definition
