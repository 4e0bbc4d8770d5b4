#include "millrace/devices/cpu/kernels/gemm.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "millrace/core/check.h"
#include "millrace/devices/cpu/kernels/element.h"
#include "millrace/devices/cpu/kernels/gemm_tile.h"

namespace millrace::devices::cpu {
namespace {

using Index = std::int64_t;

constexpr Index kTerms = 256;  // of a panel: one of the left side's stays in the first cache
constexpr Index kBlockRows = 96, kBlockColumns = 1920;
constexpr Index kPartWork = 1 << 18;  // multiply-adds that make a part worth its start
constexpr Index kMaxParts = 16;
// Products of fewer multiply-adds are not split; the batch is.
constexpr Index kSmallWork = 1 << 20;

Index up(Index n, Index to) { return (n + to - 1) / to * to; }

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// The type of sums of elements of T.
template <class T, class = void>
struct SumOf {
  using type = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
};
template <class T>
struct SumOf<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  using type = T;
};
template <class T>
struct SumOf<std::complex<T>> {
  using type = T;
};

// Elements [outer, term] of an operand, which lie these many elements apart.
struct Matrix {
  const void* data;
  Index outer, term;
};

// Panels of `width` sums: to[t * width + i] = m[i, t], with zeros for the `outers` that are not
// there.
template <class A>
using Pack = void (*)(const Matrix& m, Index outers, Index terms, Index width, A* to);

template <class A, class T>
void pack_real(const Matrix& m, Index outers, Index terms, Index width, A* to) {
  const T* const data = static_cast<const T*>(m.data);
  if (m.outer == 1) {
    for (Index t = 0; t < terms; ++t, to += width) {
      const T* const from = data + t * m.term;
      if constexpr (std::is_same_v<A, T>)
        std::memcpy(to, from, static_cast<std::size_t>(outers) * sizeof(A));
      else
        std::transform(from, from + outers, to, [](T x) { return static_cast<A>(x); });
      std::fill(to + outers, to + width, A{});
    }
    return;
  }
  // Some lines at a time: what they read is whole cache lines, what they write is neighbours.
  constexpr Index kLines = 8;
  Index i = 0;
  for (; i + kLines <= outers; i += kLines) {
    const T* const from = data + i * m.outer;
    for (Index t = 0; t < terms; ++t) {
      for (Index j = 0; j < kLines; ++j)
        to[t * width + i + j] = static_cast<A>(from[j * m.outer + t * m.term]);
    }
  }
  for (; i < width; ++i) {
    for (Index t = 0; t < terms; ++t)
      to[t * width + i] = i < outers ? static_cast<A>(data[i * m.outer + t * m.term]) : A{};
  }
}

// Each complex row is two, each term two.
template <class A>
void pack_complex_left(const Matrix& m, Index outers, Index terms, Index width, A* to) {
  const auto* const data = static_cast<const std::complex<A>*>(m.data);
  for (Index t = 0; t < terms; ++t) {
    A* const first = to + 2 * t * width;
    A* const second = first + width;
    for (Index i = 0; i < outers; ++i) {
      const std::complex<A> x = data[i * m.outer + t * m.term];
      first[2 * i] = x.real();
      first[2 * i + 1] = x.imag();
      second[2 * i] = -x.imag();
      second[2 * i + 1] = x.real();
    }
    std::fill(first + 2 * outers, first + width, A{});
    std::fill(second + 2 * outers, second + width, A{});
  }
}
template <class A>
void pack_complex_right(const Matrix& m, Index outers, Index terms, Index width, A* to) {
  const auto* const data = static_cast<const std::complex<A>*>(m.data);
  for (Index t = 0; t < terms; ++t) {
    A* const first = to + 2 * t * width;
    A* const second = first + width;
    for (Index i = 0; i < outers; ++i) {
      const std::complex<A> x = data[i * m.outer + t * m.term];
      first[i] = x.real();
      second[i] = x.imag();
    }
    std::fill(first + outers, first + width, A{});
    std::fill(second + outers, second + width, A{});
  }
}

// How operands of the types become sums of A; null functions where they do not.
template <class A>
struct Packing {
  Pack<A> left = nullptr, right = nullptr;
};
template <class A>
Pack<A> pack_of_real(DType type) {
  return visit(
      type,
      [](auto tag) -> Pack<A> {
        using T = typename decltype(tag)::type;
        constexpr bool kKnown = std::is_integral_v<A>
                                    ? kIsInteger<T> && sizeof(T) <= sizeof(A)
                                    : std::is_floating_point_v<T> && sizeof(T) <= sizeof(A);
        if constexpr (kKnown) return pack_real<A, T>;
        return nullptr;
      },
      []() -> Pack<A> { return nullptr; });
}
// T: the type of the result.
template <class T, class A = typename SumOf<T>::type>
Packing<A> packing_of(DType lhs, DType rhs) {
  if constexpr (kIsComplex<T>) {
    constexpr DType kType = sizeof(A) == 4 ? DType::kC64 : DType::kC128;
    if (lhs != kType || rhs != kType) return {};
    return {pack_complex_left<A>, pack_complex_right<A>};
  } else {
    return {pack_of_real<A>(lhs), pack_of_real<A>(rhs)};
  }
}

// c (op)= a tile's sums, whose rows lie `width` apart.
template <class A, class T>
void merge(const A* sums, Index width, Index rows, Index columns, T* c, Index row, bool add) {
  for (Index i = 0; i < rows; ++i) {
    T* const to = c + i * row;
    const A* const from = sums + i * width;
    for (Index j = 0; j < columns; ++j)
      to[j] = static_cast<T>(add ? static_cast<A>(to[j]) + from[j] : from[j]);
  }
}
template <class A>
void merge(const A* sums, Index width, Index rows, Index columns, std::complex<A>* c, Index row,
           bool add) {
  for (Index i = 0; i < rows; ++i) {
    std::complex<A>* const to = c + i * row;
    const A *const re = sums + 2 * i * width, *const im = re + width;
    for (Index j = 0; j < columns; ++j) {
      const std::complex<A> sum(re[j], im[j]);
      to[j] = add ? to[j] + sum : sum;
    }
  }
}

// How a product is cut; the same whatever the number of threads. Sizes are in real elements where
// they are of panels.
struct Cut {
  Index fold;        // real rows of a row, real terms of a term: 2 for complex numbers
  Index rows;        // of a block, a multiple of those of a tile
  Index row_blocks;  // of a product
  Index columns;     // of the right side that is packed at a time
  Index chunk;       // of those columns, what a part takes at a time, a multiple of a tile's
  Index terms;
  Index parts;
  bool by_batch;  // parts are of the batch, each with panels of its own
  Index a_bytes,
      b_bytes;  // of the panels of a part; of those that parts share or, by batch, of one

  template <class A>
  Cut(const MatmulSpec& s, const GemmTile<A>& tile, bool complex, Index most_parts)
      : fold(complex ? 2 : 1) {
    const Index tile_rows = tile.rows / fold, tile_columns = Index{tile.lanes} * tile.vectors;
    const Index work = s.m * s.n * s.k * fold * fold;
    by_batch = s.batch > 1 && work < kSmallWork;
    const Index all = by_batch ? work * s.batch : work;
    parts = std::clamp<Index>(all / kPartWork, 1,
                              by_batch ? std::min(s.batch, most_parts) : most_parts);
    const Index split = by_batch ? 1 : parts;
    rows = std::min(kBlockRows / fold, up((s.m + split - 1) / split, tile_rows));
    rows = up(rows, tile_rows);
    row_blocks = (s.m + rows - 1) / rows;
    columns = std::min(kBlockColumns, up(s.n, tile_columns));
    const Index pieces = std::max<Index>((split + row_blocks - 1) / row_blocks, 1);
    chunk = up((columns + pieces - 1) / pieces, tile_columns);
    terms = std::min(kTerms / fold, s.k);
    const auto bytes = [](Index n) { return up(n * static_cast<Index>(sizeof(A)), 64); };
    a_bytes = bytes(rows * fold * terms * fold);
    b_bytes = bytes(columns * terms * fold);
  }
  std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(parts * a_bytes + (by_batch ? parts : 1) * b_bytes);
  }
};

template <class F>
void each_part(Index parts, Parallel& parallel, F body) {
  if (parts == 1)
    body(0);
  else
    parallel.run(static_cast<int>(parts), [&](int part) { body(part); });
}

// A product of f64 with one vector, which reads its matrix once, where it lies. False where the
// matrix has neither rows nor columns whose elements are neighbours, or there is no vector.
class WithVector {
 public:
  WithVector() = default;
  WithVector(const MatmulSpec& s, const GemmTile<double>& tile, Index most_parts)
      : spec_(s), tile_(tile), most_parts_(most_parts) {
    right_is_vector_ = s.n == 1 && s.c_row == 1;
    if (!right_is_vector_ && s.m != 1) return;
    results_ = right_is_vector_ ? s.m : s.n;
    outer_ = right_is_vector_ ? s.a_row : s.b_column;
    term_ = right_is_vector_ ? s.a_column : s.b_row;
    step_ = right_is_vector_ ? s.b_row : s.a_column;
    if (term_ == 1 && step_ == 1)
      way_ = Way::kDots;
    else if (outer_ == 1)
      way_ = Way::kRows;
  }
  explicit operator bool() const { return way_ != Way::kNone; }

  void run(const double* a, const double* b, double* c, Parallel& parallel) const {
    const Index all = spec_.batch * results_;
    const Index parts = std::clamp<Index>(all * spec_.k / kPartWork, 1, std::min(most_parts_, all));
    each_part(parts, parallel, [&](Index part) {
      const Index end = all * (part + 1) / parts;
      for (Index i = all * part / parts; i < end;) {
        const Index batch = i / results_, first = i % results_,
                    some = std::min(results_ - first, end - i);
        const double* const left = a + batch * spec_.a_batch;
        const double* const right = b + batch * spec_.b_batch;
        multiply((right_is_vector_ ? left : right) + first * outer_,
                 right_is_vector_ ? right : left, some, c + batch * spec_.c_batch + first);
        i += some;
      }
    });
  }

 private:
  enum class Way : std::uint8_t { kNone, kDots, kRows };

  void multiply(const double* matrix, const double* vector, Index results, double* c) const {
    if (way_ == Way::kRows) {
      tile_.sum_rows(spec_.k, results, vector, step_, matrix, term_, c);
      return;
    }
    for (Index i = 0; i < results; ++i) c[i] = tile_.dot(spec_.k, matrix + i * outer_, vector);
  }

  MatmulSpec spec_;
  GemmTile<double> tile_;
  Index most_parts_ = 1;
  bool right_is_vector_ = false;
  Index results_ = 0, outer_ = 0, term_ = 0, step_ = 0;
  Way way_ = Way::kNone;
};

// T: the type of the result.
template <class T>
class Product {
 public:
  using A = typename SumOf<T>::type;

  Product(const MatmulSpec& spec, DType lhs, DType rhs, Index most_parts)
      : spec_(spec),
        a_bytes_(static_cast<Index>(byte_width(lhs))),
        b_bytes_(static_cast<Index>(byte_width(rhs))),
        pack_(packing_of<T>(lhs, rhs)),
        tile_(find_gemm_tile<A>()),
        cut_(spec, tile_, kIsComplex<T>, most_parts) {
    if constexpr (std::is_same_v<T, double>) {
      if (lhs == DType::kF64 && rhs == DType::kF64)
        with_vector_ = WithVector(spec, tile_, most_parts);
    }
  }

  std::size_t scratch_bytes() const { return with_vector_ ? 0 : cut_.scratch_bytes(); }

  void run(const void* a, const void* b, void* c, std::byte* scratch, Parallel& parallel) const {
    if (with_vector_) {
      return with_vector_.run(static_cast<const double*>(a), static_cast<const double*>(b),
                              static_cast<double*>(c), parallel);
    }
    const Operands o{static_cast<const std::byte*>(a), static_cast<const std::byte*>(b),
                     static_cast<T*>(c)};
    const auto panels_of = [&](Index part) {
      return reinterpret_cast<A*>(scratch + part * cut_.a_bytes);
    };
    const auto shared = [&](Index part) {
      return reinterpret_cast<A*>(scratch + cut_.parts * cut_.a_bytes + part * cut_.b_bytes);
    };
    if (cut_.by_batch) {
      each_part(cut_.parts, parallel, [&](Index part) {
        const Index end = spec_.batch * (part + 1) / cut_.parts;
        for (Index i = spec_.batch * part / cut_.parts; i < end; ++i) {
          each_slab([&](const Slab& slab) {
            pack(at(o, i), slab, 0, panels(slab), shared(part));
            multiply(at(o, i), slab, 0, blocks(slab), panels_of(part), shared(part));
          });
        }
      });
      return;
    }
    for (Index i = 0; i < spec_.batch; ++i) {
      const Operands here = at(o, i);
      each_slab([&](const Slab& slab) {
        const Index n = panels(slab), packers = std::min(cut_.parts, n);
        each_part(packers, parallel, [&](Index part) {
          pack(here, slab, n * part / packers, n * (part + 1) / packers, shared(0));
        });
        const Index all = blocks(slab), parts = std::min(cut_.parts, all);
        each_part(parts, parallel, [&](Index part) {
          multiply(here, slab, all * part / parts, all * (part + 1) / parts, panels_of(part),
                   shared(0));
        });
      });
    }
  }

 private:
  struct Operands {
    const std::byte* a;
    const std::byte* b;
    T* c;
  };
  // Some columns and some terms, whose part of the right side is packed as a whole.
  struct Slab {
    Index column, columns, term, terms;
  };

  template <class F>
  void each_slab(F body) const {
    for (Index column = 0; column < spec_.n; column += cut_.columns) {
      for (Index term = 0; term < spec_.k; term += cut_.terms)
        body(Slab{column, std::min(cut_.columns, spec_.n - column), term,
                  std::min(cut_.terms, spec_.k - term)});
    }
  }
  Operands at(const Operands& o, Index i) const {
    return {o.a + i * spec_.a_batch * a_bytes_, o.b + i * spec_.b_batch * b_bytes_,
            o.c + i * spec_.c_batch};
  }

  Index width() const { return Index{tile_.lanes} * tile_.vectors; }
  Index panels(const Slab& slab) const { return (slab.columns + width() - 1) / width(); }
  Index chunks(const Slab& slab) const { return (slab.columns + cut_.chunk - 1) / cut_.chunk; }
  Index blocks(const Slab& slab) const { return cut_.row_blocks * chunks(slab); }
  // Vectors of a panel that begins at this column of the slab: the last one is as narrow as it may.
  Index vectors(const Slab& slab, Index column) const {
    return std::min<Index>((slab.columns - column + tile_.lanes - 1) / tile_.lanes, tile_.vectors);
  }

  void pack(const Operands& o, const Slab& slab, Index begin, Index end, A* to) const {
    for (Index p = begin; p < end; ++p) {
      const Index column = p * width(), wide = vectors(slab, column) * tile_.lanes;
      const std::byte* const from =
          o.b + ((slab.column + column) * spec_.b_column + slab.term * spec_.b_row) * b_bytes_;
      pack_.right({from, spec_.b_column, spec_.b_row}, std::min(wide, slab.columns - column),
                  slab.terms, wide, to + column * slab.terms * cut_.fold);
    }
  }

  // Blocks [begin, end): rows by a chunk of columns, those of the same rows one after the other.
  void multiply(const Operands& o, const Slab& slab, Index begin, Index end, A* left,
                const A* right) const {
    const Index chunks = this->chunks(slab);
    Index packed = -1;
    for (Index block = begin; block < end; ++block) {
      const Index row = block / chunks * cut_.rows, rows = std::min(cut_.rows, spec_.m - row);
      if (packed != row) pack_rows(o, slab, row, rows, left);
      packed = row;
      const Index first = block % chunks * cut_.chunk,
                  last = std::min(first + cut_.chunk, slab.columns);
      for (Index column = first; column < last; column += width()) {
        const A* const panel = right + column * slab.terms * cut_.fold;
        for (Index i = 0; i < rows; i += tile_.rows / cut_.fold) {
          multiply_tile(left + i * cut_.fold * slab.terms * cut_.fold, panel, slab, column,
                        std::min(rows - i, tile_.rows / cut_.fold),
                        o.c + (row + i) * spec_.c_row + slab.column + column);
        }
      }
    }
  }

  void pack_rows(const Operands& o, const Slab& slab, Index row, Index rows, A* to) const {
    const Index step = tile_.rows / cut_.fold;
    for (Index i = 0; i < rows; i += step) {
      const std::byte* const from =
          o.a + ((row + i) * spec_.a_row + slab.term * spec_.a_column) * a_bytes_;
      pack_.left({from, spec_.a_row, spec_.a_column}, std::min(step, rows - i), slab.terms,
                 tile_.rows, to + i * cut_.fold * slab.terms * cut_.fold);
    }
  }

  void multiply_tile(const A* left, const A* right, const Slab& slab, Index column, Index rows,
                     T* c) const {
    const Index vectors = this->vectors(slab, column), wide = vectors * tile_.lanes,
                columns = std::min(wide, slab.columns - column), terms = slab.terms * cut_.fold;
    const bool add = slab.term != 0;
    const auto run = tile_.run[vectors - 1];
    if constexpr (std::is_same_v<A, T>) {
      if (rows == tile_.rows && columns == wide)
        return run(terms, left, right, c, spec_.c_row, add);
    }
    constexpr Index kMostRows = 16, kMostBytes = 64 * kMaxTileVectors;
    MILLRACE_DCHECK(tile_.rows <= kMostRows, "a tile of so many rows");
    alignas(64) A sums[kMostRows * kMostBytes / sizeof(A)];
    run(terms, left, right, sums, wide, false);
    merge(sums, wide, rows, columns, c, spec_.c_row, add);
  }

  MatmulSpec spec_;
  Index a_bytes_, b_bytes_;  // of an element
  Packing<A> pack_;
  GemmTile<A> tile_;
  Cut cut_;
  WithVector with_vector_;
};

// Calls f(TypeTag<T>{}) with the type in which the result is written: modulo 2^n, a product of
// integers is the same with and without signs. False for other types.
template <class F>
bool with_result(DType result, F f) {
  switch (result) {
    case DType::kF64:
      f(TypeTag<double>{});
      return true;
    case DType::kC64:
      f(TypeTag<std::complex<float>>{});
      return true;
    case DType::kC128:
      f(TypeTag<std::complex<double>>{});
      return true;
    case DType::kI8:
    case DType::kU8:
      f(TypeTag<std::uint8_t>{});
      return true;
    case DType::kI16:
    case DType::kU16:
      f(TypeTag<std::uint16_t>{});
      return true;
    case DType::kI32:
    case DType::kU32:
      f(TypeTag<std::uint32_t>{});
      return true;
    case DType::kI64:
    case DType::kU64:
      f(TypeTag<std::uint64_t>{});
      return true;
    default:
      return false;
  }
}

}  // namespace

bool can_gemm(DType lhs, DType rhs, DType result) {
  bool known = false;
  with_result(result, [&](auto tag) {
    const auto packing = packing_of<typename decltype(tag)::type>(lhs, rhs);
    known = packing.left != nullptr && packing.right != nullptr;
  });
  return known;
}

Gemm::Gemm(const MatmulSpec& spec, DType lhs, DType rhs, DType result, bool split)
    : spec_(spec), lhs_(lhs), rhs_(rhs), result_(result), most_parts_(split ? kMaxParts : 1) {
  MILLRACE_CHECK(can_gemm(lhs, rhs, result), "a product of other types");
  MILLRACE_CHECK(!spec.bias && spec.k > 0, "a product with a bias, or of nothing");
}

std::size_t Gemm::scratch_bytes() const {
  std::size_t bytes = 0;
  with_result(result_, [&](auto tag) {
    bytes = Product<typename decltype(tag)::type>(spec_, lhs_, rhs_, most_parts_).scratch_bytes();
  });
  return bytes;
}

void Gemm::run(const void* a, const void* b, void* c, std::byte* scratch,
               Parallel& parallel) const {
  with_result(result_, [&](auto tag) {
    Product<typename decltype(tag)::type>(spec_, lhs_, rhs_, most_parts_)
        .run(a, b, c, scratch, parallel);
  });
}

}  // namespace millrace::devices::cpu
