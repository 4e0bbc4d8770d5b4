#include "millrace/devices/cpu/kernels/contraction/gemm.h"

#include <algorithm>
#include <complex>
#include <optional>
#include <type_traits>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/contraction/direct_product.h"
#include "millrace/devices/cpu/kernels/contraction/gemm_pack.h"
#include "millrace/devices/cpu/kernels/contraction/gemm_tile.h"

namespace millrace::devices::cpu {
namespace {

using Index = std::int64_t;

constexpr Index kMaxParts = 16;
// Terms of a panel: one of the left side's stays in the first cache.
constexpr Index kGemmTerms = 256;
constexpr Index kBlockRows = 96, kBlockColumns = 1920;
// Products of fewer multiply-adds are not split; the batch is.
constexpr Index kSmallWork = 1 << 20;

// Multiply-adds that make a part worth its start.
constexpr Index kGemmPartWork = 1 << 18;

Index up(Index n, Index to) { return (n + to - 1) / to * to; }

// How a product is cut for the caches and in parts; the same whatever the number of threads. Sizes
// are in real elements where they are of panels.
struct GemmCut {
  std::int64_t fold;        // real rows of a row, real terms of a term: 2 for complex numbers
  std::int64_t rows;        // of a block, a multiple of those of a tile
  std::int64_t row_blocks;  // of a product
  std::int64_t columns;     // of the right side that is packed at a time
  std::int64_t chunk;       // of those columns, what a part takes at a time, a multiple of a tile's
  std::int64_t terms;
  std::int64_t parts;
  bool by_batch;  // parts are of the batch, each with panels of its own
  std::int64_t a_bytes,
      b_bytes;  // of the panels of a part; of those that parts share or, by batch, of one

  struct Tile {
    std::int64_t rows, columns;  // at most, in real elements
    std::int64_t bytes;          // of a sum
  };
  GemmCut(const MatmulSpec& s, const Tile& tile, bool complex, std::int64_t most_parts);

  std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(parts * a_bytes + (by_batch ? parts : 1) * b_bytes);
  }
};
GemmCut::GemmCut(const MatmulSpec& s, const Tile& tile, bool complex, Index most_parts)
    : fold(complex ? 2 : 1) {
  const Index tile_rows = tile.rows / fold, tile_columns = tile.columns;
  const Index work = s.m * s.n * s.k * fold * fold;
  by_batch = s.batch > 1 && work < kSmallWork;
  const Index all = by_batch ? work * s.batch : work;
  parts = std::clamp<Index>(all / kGemmPartWork, 1,
                            by_batch ? std::min(s.batch, most_parts) : most_parts);
  const Index split = by_batch ? 1 : parts;
  rows = std::min(kBlockRows / fold, up((s.m + split - 1) / split, tile_rows));
  rows = up(rows, tile_rows);
  row_blocks = (s.m + rows - 1) / rows;
  columns = std::min(kBlockColumns, up(s.n, tile_columns));
  const Index pieces = std::max<Index>((split + row_blocks - 1) / row_blocks, 1);
  chunk = up((columns + pieces - 1) / pieces, tile_columns);
  terms = std::min(kGemmTerms / fold, s.k);
  const auto bytes = [&tile](Index n) { return up(n * tile.bytes, 64); };
  a_bytes = bytes(rows * fold * terms * fold);
  b_bytes = bytes(columns * terms * fold);
}

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

// A block's sum as an element; kGemmTerms bounds its terms.
template <class T, class A>
T result_of(A sum) {
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<A>)
    return static_cast<T>(static_cast<std::int32_t>(sum));
  else
    return static_cast<T>(sum);
}

// c (op)= a tile's sums, whose rows lie `width` apart.
template <class A, class T>
void merge(const A* sums, Index width, Index rows, Index columns, T* c, Index row, bool add) {
  for (Index i = 0; i < rows; ++i) {
    T* const to = c + i * row;
    const A* const from = sums + i * width;
    for (Index j = 0; j < columns; ++j)
      to[j] = static_cast<T>((add ? to[j] : T{}) + result_of<T>(from[j]));
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

// T: the type of the result. A: of the sums of a block.
template <class T, class A>
class Product {
 public:
  Product(const MatmulSpec& spec, DType lhs, DType rhs, Index most_parts)
      : spec_(spec),
        a_bytes_(static_cast<Index>(byte_width(lhs))),
        b_bytes_(static_cast<Index>(byte_width(rhs))),
        pack_(find_gemm_packing<A>(lhs, rhs)),
        tile_(MILLRACE_BEST_ISA(gemm_tile<A>())),
        cut_(spec, {tile_.rows, Index{tile_.lanes} * tile_.vectors, sizeof(A)}, kIsComplex<T>,
             most_parts) {
    if constexpr (std::is_same_v<T, A>) {
      // Signs are nothing to a product of integers of one size.
      if (a_bytes_ == sizeof(T) && b_bytes_ == sizeof(T)) direct_.emplace(spec, most_parts);
      if (direct_ && !*direct_) direct_.reset();
    }
  }

  std::size_t scratch_bytes() const { return direct_ ? 0 : cut_.scratch_bytes(); }

  void run(const void* a, const void* b, void* c, std::byte* scratch, Parallel& parallel) const {
    if (direct_) {
      return direct_->run(static_cast<const A*>(a), static_cast<const A*>(b), static_cast<A*>(c),
                          parallel);
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
      parallel.run(static_cast<int>(cut_.parts), [&](Index part) {
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
        parallel.run(static_cast<int>(packers), [&](Index part) {
          pack(here, slab, n * part / packers, n * (part + 1) / packers, shared(0));
        });
        const Index all = blocks(slab), parts = std::min(cut_.parts, all);
        parallel.run(static_cast<int>(parts), [&](Index part) {
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
  GemmPacking<A> pack_;
  GemmTile<A> tile_;
  GemmCut cut_;
  std::optional<DirectProduct<A>> direct_;
};

// A block of products of integers of 8 bits has its exact sum in f32, which is multiplied faster.
static_assert(kGemmTerms * 255 * 255 < 1 << 24);

// Calls f(TypeTag<T>{}, TypeTag<A>{}) with the type in which the result is written (modulo 2^n, a
// product of integers is the same with and without signs) and that of its sums. False for types of
// which there are no products.
template <class F>
bool with_product(DType lhs, DType rhs, DType result, F f) {
  const auto call = [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      if (byte_width(lhs) == 1 && byte_width(rhs) == 1 && find_gemm_packing<float>(lhs, rhs)) {
        f(tag, TypeTag<float>{});
        return true;
      }
    }
    using A = typename SumOf<T>::type;
    const bool alike =
        kIsComplex<T> ? lhs == result && rhs == result : !is_complex(lhs) && !is_complex(rhs);
    if (!alike || !find_gemm_packing<A>(lhs, rhs)) return false;
    f(tag, TypeTag<A>{});
    return true;
  };
  switch (result) {
    case DType::kF32:
      return call(TypeTag<float>{});
    case DType::kF64:
      return call(TypeTag<double>{});
    case DType::kC64:
      return call(TypeTag<std::complex<float>>{});
    case DType::kC128:
      return call(TypeTag<std::complex<double>>{});
    case DType::kI8:
    case DType::kU8:
      return call(TypeTag<std::uint8_t>{});
    case DType::kI16:
    case DType::kU16:
      return call(TypeTag<std::uint16_t>{});
    case DType::kI32:
    case DType::kU32:
      return call(TypeTag<std::uint32_t>{});
    case DType::kI64:
    case DType::kU64:
      return call(TypeTag<std::uint64_t>{});
    default:
      return false;
  }
}

}  // namespace

bool can_gemm(DType lhs, DType rhs, DType result) {
  return with_product(lhs, rhs, result, [](auto, auto) {});
}

Gemm::Gemm(const MatmulSpec& spec, DType lhs, DType rhs, DType result, bool split)
    : spec_(spec), lhs_(lhs), rhs_(rhs), result_(result), most_parts_(split ? kMaxParts : 1) {
  MILLRACE_CHECK(can_gemm(lhs, rhs, result), "a product of other types");
  MILLRACE_CHECK(spec.k > 0, "a product of nothing");
}

std::size_t Gemm::scratch_bytes() const {
  std::size_t bytes = 0;
  with_product(lhs_, rhs_, result_, [&](auto t, auto a) {
    bytes = Product<typename decltype(t)::type, typename decltype(a)::type>(spec_, lhs_, rhs_,
                                                                            most_parts_)
                .scratch_bytes();
  });
  return bytes;
}

void Gemm::run(const void* a, const void* b, void* c, std::byte* scratch,
               Parallel& parallel) const {
  with_product(lhs_, rhs_, result_, [&](auto t, auto sum) {
    Product<typename decltype(t)::type, typename decltype(sum)::type>(spec_, lhs_, rhs_,
                                                                      most_parts_)
        .run(a, b, c, scratch, parallel);
  });
}

}  // namespace millrace::devices::cpu
