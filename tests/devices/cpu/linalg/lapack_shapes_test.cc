// All calls of LAPACK that JAX writes, in all four element types, in batches: what comes out is
// checked by the equations that it has to solve. Read beside lapack_test.cc, which has the factors.
#include <algorithm>
#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "tests/devices/cpu/linalg/lapack_program.h"

namespace millrace::devices::cpu::testing {
namespace {

using C = std::complex<double>;

struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<C> data;
  Dense(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), data(static_cast<std::size_t>(m * n)) {}
  C& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  C operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
};
Dense operator*(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const double re = a(i, k).real(), im = a(i, k).imag();  // faster than a product of C
      const C* const from = b.data.data() + k * b.columns;
      C* const to = c.data.data() + i * c.columns;
      for (std::int64_t j = 0; j < b.columns; ++j)
        to[j] +=
            C(re * from[j].real() - im * from[j].imag(), re * from[j].imag() + im * from[j].real());
    }
  }
  return c;
}
Dense operator-(Dense a, const Dense& b) {
  for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i] -= b.data[i];
  return a;
}
Dense adjoint(const Dense& a) {
  Dense c(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) c(j, i) = std::conj(a(i, j));
  }
  return c;
}
Dense diagonal(std::int64_t m, std::int64_t n, const Dense& values) {
  Dense d(m, n);
  for (std::int64_t i = 0; i < std::min(m, n); ++i) d(i, i) = values(0, i);
  return d;
}
Dense identity(std::int64_t n) {
  Dense one(n, n);
  for (std::int64_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}
double largest(const Dense& a) {
  double most = 0;
  for (const C& x : a.data) most = std::isnan(std::abs(x)) ? HUGE_VAL : std::max(most, std::abs(x));
  return most;
}

std::string type_text(const Shape& s) {
  std::string text = "tensor<";
  for (const std::int64_t d : s.dims()) text += std::to_string(d) + "x";
  switch (s.dtype()) {
    case DType::kF32:
      return text + "f32>";
    case DType::kF64:
      return text + "f64>";
    case DType::kC64:
      return text + "complex<f32>>";
    case DType::kC128:
      return text + "complex<f64>>";
    default:
      return text + "i32>";
  }
}

constexpr std::int64_t kBatch = 2;

class LapackShapesTest : public ::testing::TestWithParam<DType> {
 protected:
  DType type() const { return GetParam(); }
  bool complex() const { return is_complex(type()); }
  bool narrow() const { return type() == DType::kF32 || type() == DType::kC64; }
  DType real_type() const { return narrow() ? DType::kF32 : DType::kF64; }
  DType complex_type() const { return narrow() ? DType::kC64 : DType::kC128; }
  // 300 rows once, since the checks take longer than what they check.
  std::int64_t large() const { return type() == DType::kF64 ? 300 : 90; }
  // The name of a call, of two where the real one and the complex one differ.
  std::string name(const std::string& real, const std::string& other = "") const {
    const char* const letters = complex() ? "cz" : "sd";
    return "lapack_" + std::string(1, letters[narrow() ? 0 : 1]) +
           (complex() && !other.empty() ? other : real) + "_ffi";
  }
  Shape shape(DType element, std::vector<std::int64_t> tail) const {
    tail.insert(tail.begin(), kBatch);
    return {element, tail};
  }
  Shape shape(std::vector<std::int64_t> tail) const { return shape(type(), std::move(tail)); }
  Shape words(std::vector<std::int64_t> tail = {}) const {
    return shape(DType::kI32, std::move(tail));
  }

  Dense random(std::int64_t m, std::int64_t n) {
    std::normal_distribution<double> normal;
    Dense a(m, n);
    for (C& x : a.data) x = C(normal(random_), complex() ? normal(random_) : 0.0);
    return rounded(a);
  }
  // As the element type has it.
  Dense rounded(Dense a) const {
    for (C& x : a.data) {
      if (narrow()) x = C(static_cast<float>(x.real()), static_cast<float>(x.imag()));
    }
    return a;
  }
  Dense hermitian(std::int64_t n) {
    Dense a = random(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      a(i, i) = a(i, i).real();
      for (std::int64_t j = 0; j < i; ++j) a(j, i) = std::conj(a(i, j));
    }
    return a;
  }
  // One piece for each of the batch, as matrices or as vectors.
  Array array(const std::vector<Dense>& pieces, bool vectors = false) const {
    const Dense& a = pieces[0];
    Array made{vectors ? shape({a.columns}) : shape({a.rows, a.columns}), {}};
    made.bytes.resize(made.shape.size_bytes());
    std::byte* to = made.bytes.data();
    for (const Dense& d : pieces) {
      for (const C& x : d.data) {
        definition::store(type(),
                          complex() ? definition::from_complex(x.real(), x.imag())
                                    : definition::from_real(x.real()),
                          to);
        to += byte_width(type());
      }
    }
    return made;
  }
  static Dense piece(const Array& a, std::int64_t batch) {
    const int rank = a.shape.rank();
    Dense made(rank == 3 ? a.shape.dim(1) : 1, rank == 1 ? 1 : a.shape.dim(rank - 1));
    const std::size_t width = byte_width(a.shape.dtype()),
                      first = static_cast<std::size_t>(batch) * made.data.size();
    for (std::size_t i = 0; i < made.data.size(); ++i) {
      const auto s = definition::load(a.shape.dtype(), &a.bytes[(first + i) * width]);
      made.data[i] = a.shape.dtype() == DType::kI32 ? C(static_cast<double>(s.i))
                     : is_complex(a.shape.dtype())  ? C(s.re, s.im)
                                                    : C(s.re);
    }
    return made;
  }
  static int word(const Array& a, std::int64_t batch) {
    std::int32_t value = 0;
    std::memcpy(&value, &a.bytes[static_cast<std::size_t>(batch) * sizeof value], sizeof value);
    return value;
  }

  static Arrays call(const std::string& target, const std::string& config, const Arrays& inputs,
                     const std::vector<Shape>& results) {
    std::vector<std::string> input_types, result_types;
    for (const Array& input : inputs) input_types.push_back(type_text(input.shape));
    for (const Shape& result : results) result_types.push_back(type_text(result));
    return run_lapack(target, config, inputs, input_types, result_types);
  }
  static std::string letter(const char* field, char value) {
    return std::string(field) + " = " + std::to_string(int{value}) + " : ui8";
  }

  double epsilon() const { return narrow() ? 1.2e-7 : 2.3e-16; }
  // A residual of n terms of this size.
  void expect_small(const Dense& residual, std::int64_t n, double size) const {
    EXPECT_LE(largest(residual), 30 * epsilon() * static_cast<double>(n + 1) * (size + 1e-30));
  }
  void expect_unitary(const Dense& q) const {
    if (q.rows >= q.columns) expect_small(adjoint(q) * q - identity(q.columns), q.rows, 1);
    if (q.columns >= q.rows) expect_small(q * adjoint(q) - identity(q.rows), q.rows, 1);
  }
  // Q from what a factorisation has left below the diagonal, shifted down by `below` rows.
  Dense q_of(const Dense& a, const Dense& taus, std::int64_t below) const {
    const std::int64_t n = a.rows - below, k = taus.columns;
    Dense part(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < k; ++j) part(i, j) = a(i + below, j);
    }
    const Arrays made = call(name("orgqr", "ungqr"), "",
                             {array({part, part}), array({taus, taus}, true)}, {shape({n, n})});
    Dense q = identity(a.rows);
    const Dense inner = piece(made[0], 1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) q(i + below, j + below) = inner(i, j);
    }
    return q;
  }

  std::mt19937 random_{11};
};

TEST_P(LapackShapesTest, HermitianMatricesHaveRisingValuesAndOrthogonalVectors) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{5},
                               std::int64_t{40}, large()}) {
    for (const bool lower : {true, false}) {
      SCOPED_TRACE(std::to_string(n) + (lower ? " lower" : " upper"));
      std::vector<Dense> as{hermitian(n), hermitian(n)};
      if (n == 5) as[1] = identity(n);
      if (n == 40) as[1] = Dense(n, n);
      const std::string uplo = letter("uplo", lower ? 'L' : 'U');
      const std::vector<Shape> results{shape({n, n}), shape(real_type(), {n}), words()};
      std::vector<Dense> halves = as;  // what is in the other triangle does not count
      for (Dense& half : halves) {
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < i; ++j) (lower ? half(j, i) : half(i, j)) = NAN;
        }
      }
      const Arrays made =
          call(name("syevd", "heevd"), letter("mode", 'V') + ", " + uplo, {array(halves)}, results);
      const Arrays values =
          call(name("syevd", "heevd"), letter("mode", 'N') + ", " + uplo, {array(halves)}, results);
      for (std::int64_t b = 0; b < kBatch; ++b) {
        const Dense &a = as[static_cast<std::size_t>(b)], v = piece(made[0], b),
                    w = piece(made[1], b);
        EXPECT_EQ(word(made[2], b), 0);
        expect_unitary(v);
        expect_small(a * v - v * diagonal(n, n, w), n, largest(w));
        expect_small(piece(values[1], b) - w, n, largest(w));
        for (std::int64_t i = 1; i < n; ++i) EXPECT_LE(w(0, i - 1).real(), w(0, i).real());
      }
    }
  }
}

TEST_P(LapackShapesTest, SingularVectorsAndFallingValuesMakeTheMatrix) {
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 3}, {3, 0}, {1, 1}, {1, 4}, {4, 1}, {7, 4}, {4, 7}, {60, 3}, {3, 60}, {40, 40}}) {
    const std::int64_t k = std::min(m, n);
    std::vector<Dense> as{random(m, n), random(m, n)};
    if (m == 7) as[1] = Dense(m, n);
    if (n == 7) as[1] = random(m, 1) * random(1, n);
    if (m == n) as[1] = identity(n);
    as[1] = rounded(as[1]);
    for (const char* const routine : {"gesdd", "gesvd"}) {
      std::vector<Dense> values;
      for (const char mode : {'A', 'S', 'N'}) {
        SCOPED_TRACE(std::to_string(m) + " by " + std::to_string(n) + " " + routine + mode);
        const std::int64_t u_columns = mode == 'S' ? k : m, v_rows = mode == 'S' ? k : n;
        const Arrays made = call(name(routine), letter("mode", mode), {array(as)},
                                 {shape({m, n}), shape(real_type(), {k}), shape({m, u_columns}),
                                  shape({v_rows, n}), words()});
        for (std::int64_t b = 0; b < kBatch; ++b) {
          const auto at = static_cast<std::size_t>(b);
          EXPECT_EQ(word(made[4], b), 0);
          const Dense s = piece(made[1], b), u = piece(made[2], b), vt = piece(made[3], b);
          for (std::int64_t i = 1; i < k; ++i) EXPECT_GE(s(0, i - 1).real(), s(0, i).real());
          if (mode == 'A') values.push_back(s);
          expect_small(s - values[at], m + n, largest(s));
          if (mode == 'N') continue;
          expect_unitary(u);
          expect_unitary(vt);
          expect_small(u * diagonal(u_columns, v_rows, s) * vt - as[at], m + n, largest(s));
        }
      }
    }
  }
}

TEST_P(LapackShapesTest, EigenvectorsOfAnyMatrixAreOfLengthOne) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{5},
                               std::int64_t{40}, large()}) {
    SCOPED_TRACE(n);
    std::vector<Dense> as{random(n, n), random(n, n)};
    if (n == 2) {
      as[1] = Dense(2, 2);  // a turn: values i and -i
      as[1](0, 1) = -1;
      as[1](1, 0) = 1;
    }
    if (n == 5) {
      as[1] = Dense(5, 5);  // a Jordan block
      for (std::int64_t i = 0; i < 5; ++i) {
        as[1](i, i) = 2;
        if (i > 0) as[1](i - 1, i) = 1;
      }
    }
    if (n == 40) as[1] = Dense(n, n);
    std::vector<Shape> results(complex() ? 1 : 2, shape({n}));
    results.push_back(shape(complex_type(), {n, n}));
    results.push_back(shape(complex_type(), {n, n}));
    results.push_back(words());
    const std::size_t first = complex() ? 1 : 2;
    const auto values_of = [&](const Arrays& made, std::int64_t b) {
      Dense w = piece(made[0], b);
      for (std::int64_t i = 0; i < n && !complex(); ++i)
        w(0, i) += C(0, 1) * piece(made[1], b)(0, i);
      return w;
    };
    const Arrays made =
        call(name("geev"), letter("compute_left", 'V') + ", " + letter("compute_right", 'V'),
             {array(as)}, results);
    const Arrays only =
        call(name("geev"), letter("compute_left", 'N') + ", " + letter("compute_right", 'N'),
             {array(as)}, results);
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const Dense &a = as[static_cast<std::size_t>(b)], w = values_of(made, b),
                  left = piece(made[first], b), right = piece(made[first + 1], b);
      EXPECT_EQ(word(made[first + 2], b), 0);
      EXPECT_EQ(word(only[first + 2], b), 0);
      expect_small(a * right - right * diagonal(n, n, w), n, largest(a) * std::sqrt(n));
      expect_small(adjoint(left) * a - diagonal(n, n, w) * adjoint(left), n,
                   largest(a) * std::sqrt(n));
      for (const Dense& vectors : {left, right}) {
        for (std::int64_t j = 0; j < n; ++j) {
          double square = 0;
          C most = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            square += std::norm(vectors(i, j));
            if (std::abs(vectors(i, j)) > std::abs(most) * (1 + 1e-4)) most = vectors(i, j);
          }
          EXPECT_NEAR(square, 1, 100 * epsilon());
          if (std::abs(most) > 0.75) {
            EXPECT_NEAR(most.imag(), 0, 10 * epsilon());
          }
        }
      }
      if (n < 5) {
        expect_small(values_of(only, b) - w, n, largest(a));
      }
      C trace = 0, sum = 0, sum_only = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        trace += a(i, i);
        sum += w(0, i);
        sum_only += values_of(only, b)(0, i);
      }
      EXPECT_NEAR(std::abs(trace - sum), 0, 100 * epsilon() * static_cast<double>(n * n + 1));
      EXPECT_NEAR(std::abs(trace - sum_only), 0, 100 * epsilon() * static_cast<double>(n * n + 1));
    }
  }
}

TEST_P(LapackShapesTest, SchurFormsHaveBlocksOfTwoRowsAtMost) {
  for (const std::int64_t n : {0, 1, 2, 6, 40}) {
    SCOPED_TRACE(n);
    const std::vector<Dense> as{random(n, n), n == 6 ? Dense(n, n) : random(n, n)};
    std::vector<Shape> results{shape({n, n}), shape({n, n}), shape({n})};
    if (!complex()) results.push_back(shape({n}));
    results.push_back(words());
    results.push_back(words());
    const Arrays made =
        call(name("gees"), letter("mode", 'V') + ", " + letter("sort", 'N'), {array(as)}, results);
    const Arrays only =
        call(name("gees"), letter("mode", 'N') + ", " + letter("sort", 'N'), {array(as)}, results);
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const Dense &a = as[static_cast<std::size_t>(b)], t = piece(made[0], b),
                  z = piece(made[1], b), w = piece(made[2], b);
      EXPECT_EQ(word(made[results.size() - 1], b), 0);
      EXPECT_EQ(word(made[results.size() - 2], b), 0);
      EXPECT_EQ(word(only[results.size() - 1], b), 0);
      expect_unitary(z);
      expect_small(z * t * adjoint(z) - a, n, largest(a) * std::sqrt(n));
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_EQ(t(i, i).real(), w(0, i).real());
        for (std::int64_t j = 0; j + 1 < i; ++j) EXPECT_EQ(t(i, j), 0.0);
        if (i == 0 || t(i, i - 1) == 0.0) continue;
        EXPECT_FALSE(complex());
        EXPECT_EQ(t(i, i), t(i - 1, i - 1));
        EXPECT_LT(t(i, i - 1).real() * t(i - 1, i).real(), 0);
        if (i > 1) {
          EXPECT_EQ(t(i - 1, i - 2), 0.0);
        }
        EXPECT_GT(piece(made[3], b)(0, i - 1).real(), 0);
        EXPECT_EQ(piece(made[3], b)(0, i), -piece(made[3], b)(0, i - 1));
      }
    }
  }
}

TEST_P(LapackShapesTest, HessenbergsFormIsZeroBelowItsFirstDiagonal) {
  for (const std::int64_t n : {1, 2, 6, 50}) {
    SCOPED_TRACE(n);
    const std::vector<Dense> as{random(n, n), random(n, n)};
    const Arrays made = call(name("gehrd"), "low = 1 : i32, high = " + std::to_string(n) + " : i32",
                             {array(as)}, {shape({n, n}), shape({n - 1}), words()});
    for (std::int64_t b = 0; b < kBatch; ++b) {
      EXPECT_EQ(word(made[2], b), 0);
      Dense h = piece(made[0], b);
      const Dense q = n > 1 ? q_of(h, piece(made[1], b), 1) : identity(n);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j + 1 < i; ++j) h(i, j) = 0;
      }
      expect_unitary(q);
      expect_small(q * h * adjoint(q) - as[static_cast<std::size_t>(b)], n, std::sqrt(n));
    }
  }
}

TEST_P(LapackShapesTest, HermitianMatricesBecomeThreeDiagonals) {
  for (const std::int64_t n : {1, 2, 6, 50}) {
    SCOPED_TRACE(n);
    const std::vector<Dense> as{hermitian(n), hermitian(n)};
    const std::vector<Shape> results{shape({n, n}), shape(real_type(), {n}),
                                     shape(real_type(), {n - 1}), shape({n - 1}), words()};
    const Arrays made = call(name("sytrd", "hetrd"), letter("uplo", 'L'), {array(as)}, results);
    const Arrays upper = call(name("sytrd", "hetrd"), letter("uplo", 'U'), {array(as)}, results);
    for (std::int64_t b = 0; b < kBatch; ++b) {
      EXPECT_EQ(word(made[4], b), 0);
      EXPECT_EQ(word(upper[4], b), 0);
      const Dense d = piece(made[1], b), e = piece(made[2], b);
      Dense t = diagonal(n, n, d);
      for (std::int64_t i = 0; i + 1 < n; ++i) t(i + 1, i) = t(i, i + 1) = e(0, i);
      const Dense q = n > 1 ? q_of(piece(made[0], b), piece(made[3], b), 1) : identity(n);
      const Dense& a = as[static_cast<std::size_t>(b)];
      expect_small(q * t * adjoint(q) - a, n, std::sqrt(n));
      double squares = 0, upper_squares = 0;  // which no turn changes
      for (std::int64_t i = 0; i < n; ++i) {
        squares += std::norm(d(0, i)) + (i + 1 < n ? 2 * std::norm(e(0, i)) : 0.0);
        upper_squares += std::norm(piece(upper[1], b)(0, i)) +
                         (i + 1 < n ? 2 * std::norm(piece(upper[2], b)(0, i)) : 0.0);
      }
      EXPECT_NEAR(upper_squares / squares, 1, 100 * epsilon());
    }
  }
}

TEST_P(LapackShapesTest, PivotedColumnsFallInSizeAndAColumnCanBeHeldInFront) {
  for (const auto& [m, n] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 5}, {7, 4}, {4, 7}, {50, 40}}) {
    SCOPED_TRACE(std::to_string(m) + " by " + std::to_string(n));
    const std::int64_t k = std::min(m, n);
    const std::vector<Dense> as{random(m, n), random(m, n)};
    Array held{words({n}), std::vector<std::byte>(static_cast<std::size_t>(kBatch * n) * 4)};
    held.bytes[static_cast<std::size_t>(n + 2) * 4] = std::byte{1};  // column 2 of the second
    const Arrays made =
        call(name("geqp3"), "", {array(as), held}, {shape({m, n}), words({n}), shape({k})});
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const Dense packed = piece(made[0], b), columns = piece(made[1], b);
      if (b == 1) {
        EXPECT_EQ(columns(0, 0).real(), 3);
      }
      Dense r(m, n), permuted(m, n);
      for (std::int64_t j = 0; j < n; ++j) {
        const auto from = static_cast<std::int64_t>(columns(0, j).real()) - 1;
        for (std::int64_t i = 0; i < m; ++i) {
          if (i <= j) r(i, j) = packed(i, j);
          permuted(i, j) = as[static_cast<std::size_t>(b)](i, from);
        }
      }
      for (std::int64_t i = b + 1; i < k; ++i)
        EXPECT_LE(std::abs(r(i, i)), std::abs(r(i - 1, i - 1)) * (1 + 1e-4));
      expect_small(q_of(packed, piece(made[2], b), 0) * r - permuted, m, std::sqrt(m));
    }
  }
}

TEST_P(LapackShapesTest, TimesQIsTheProductWithTheQThatIsMade) {
  const std::int64_t n = 6, k = 4, others = 3;
  const std::vector<Dense> as{random(n, k), random(n, k)};
  const Arrays qr = call(name("geqrf"), "", {array(as)}, {shape({n, k}), shape({k})});
  for (const bool left : {true, false}) {
    for (const bool transpose : {true, false}) {
      SCOPED_TRACE(std::string(left ? "left" : "right") + (transpose ? ", transposed" : ""));
      const std::int64_t rows = left ? n : others, columns = left ? others : n;
      const std::vector<Dense> cs{random(rows, columns), random(rows, columns)};
      const auto flag = [](bool x) { return x ? "true" : "false"; };
      const Arrays made =
          call(name("ormqr", "unmqr"),
               std::string("left = ") + flag(left) + ", transpose = " + flag(transpose),
               {qr[0], qr[1], array(cs)}, {shape({rows, columns})});
      for (std::int64_t b = 0; b < kBatch; ++b) {
        Dense q = q_of(piece(qr[0], b), piece(qr[1], b), 0);
        if (transpose) q = adjoint(q);
        const Dense& c = cs[static_cast<std::size_t>(b)];
        expect_small(piece(made[0], b) - (left ? q * c : c * q), n, 2);
      }
    }
  }
}

TEST_P(LapackShapesTest, ThreeDiagonalsAreSolvedAndASingularOneIsReported) {
  for (const std::int64_t n : {1, 2, 3, 30}) {
    SCOPED_TRACE(n);
    std::vector<Dense> below{random(1, n), random(1, n)}, middle{random(1, n), random(1, n)},
        above{random(1, n), random(1, n)}, x{random(n, 3), random(n, 3)}, b = x;
    for (std::size_t i = 0; i < 2; ++i) {
      Dense a(n, n);
      for (std::int64_t j = 0; j < n; ++j) {
        middle[i](0, j) += 3;
        a(j, j) = middle[i](0, j);
        if (j > 0) a(j, j - 1) = below[i](0, j);
        if (j + 1 < n) a(j, j + 1) = above[i](0, j);
      }
      middle[i] = rounded(middle[i]);
      b[i] = rounded(a * x[i]);
    }
    const Arrays inputs{array(below, true), array(middle, true), array(above, true), array(b)};
    const Shape v = shape({n}), m = shape({n, 3});
    const Arrays made = call(name("gtsv"), "", inputs, {v, v, v, m, words()});
    const Arrays perturbed = call("tridiagonal_solve_perturbed_ffi", "", inputs, {m});
    for (std::int64_t i = 0; i < kBatch; ++i) {
      EXPECT_EQ(word(made[4], i), 0);
      expect_small(piece(made[3], i) - x[static_cast<std::size_t>(i)], n, 300);
      expect_small(piece(perturbed[0], i) - x[static_cast<std::size_t>(i)], n, 300);
    }
    const std::vector<Dense> zeros{Dense(1, n), Dense(1, n)};
    const Arrays singular{array(zeros, true), array(zeros, true), array(zeros, true), array(b)};
    EXPECT_EQ(word(call(name("gtsv"), "", singular, {v, v, v, m, words()})[4], 1), 1);
    EXPECT_LT(largest(piece(call("tridiagonal_solve_perturbed_ffi", "", singular, {m})[0], 1)),
              HUGE_VAL);
  }
}

TEST_P(LapackShapesTest, OneBadMatrixOfABatchIsReportedAndTheOtherIsNot) {
  const std::int64_t n = 4;
  for (const double bad : {static_cast<double>(NAN), HUGE_VAL}) {
    std::vector<Dense> as{random(n, n), hermitian(n)};
    as[0](2, 1) = bad;
    const Array in = array(as);
    const Shape m = shape({n, n}), v = shape({n}), r = shape(real_type(), {n}),
                cm = shape(complex_type(), {n, n});
    const auto expect = [&](const Arrays& made, std::size_t info, int value, std::size_t result) {
      EXPECT_EQ(word(made[info], 0), value);
      EXPECT_EQ(word(made[info], 1), 0);
      for (const C& x : piece(made[result], 0).data) EXPECT_TRUE(std::isnan(x.real()));
      EXPECT_LT(largest(piece(made[result], 1)), HUGE_VAL);
    };
    const std::string both = letter("compute_left", 'V') + ", " + letter("compute_right", 'V');
    const std::string form = letter("mode", 'V') + ", " + letter("sort", 'N');
    expect(call(name("syevd", "heevd"), letter("mode", 'V') + ", " + letter("uplo", 'L'), {in},
                {m, r, words()}),
           2, 4, 1);
    expect(call(name("gesdd"), letter("mode", 'A'), {in}, {m, r, m, m, words()}), 4, -4, 1);
    expect(call(name("gesvd"), letter("mode", 'A'), {in}, {m, r, m, m, words()}), 4, -4, 1);
    if (complex()) {
      expect(call(name("geev"), both, {in}, {v, cm, cm, words()}), 3, -4, 1);
      expect(call(name("gees"), form, {in}, {m, m, v, words(), words()}), 4, 4, 1);
    } else {
      expect(call(name("geev"), both, {in}, {v, v, cm, cm, words()}), 4, -4, 2);
      expect(call(name("gees"), form, {in}, {m, m, v, v, words(), words()}), 5, 4, 1);
    }
    const Array free{words({n}), std::vector<std::byte>(kBatch * n * 4)};
    const Arrays pivoted = call(name("geqp3"), "", {in, free}, {m, words({n}), v});
    EXPECT_TRUE(std::isnan(piece(pivoted[0], 0)(0, 0).real()));
    EXPECT_LT(largest(piece(pivoted[0], 1)), HUGE_VAL);
  }
}

TEST_P(LapackShapesTest, WhatARuleDoesNotAllowIsRefusedWithIt) {
  const Array in = array({random(3, 3), random(3, 3)});
  const Shape m = shape({3, 3}), v = shape({3});
  const auto fault = [&](const std::string& target, const std::string& config,
                         const std::vector<Shape>& results) -> std::string {
    try {
      call(target, config, {in}, results);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "it ran";
  };
  EXPECT_THAT(fault(name("gees"), letter("mode", 'V') + ", " + letter("sort", 'S'),
                    {m, m, v, words(), words()}),
              ::testing::HasSubstr("sort 'N'"));
  EXPECT_THAT(fault(name("gehrd"), "low = 1 : i32, high = 4 : i32", {m, shape({2}), words()}),
              ::testing::HasSubstr("low <= high <= n"));
  EXPECT_THAT(fault(name("gehrd"), "low = 1 : i32, high = 3 : i32", {m, v, words()}),
              ::testing::HasSubstr("expected T[n,n] -> T[n,n] T[p] i32[]"));
  EXPECT_THAT(
      fault(name("gesdd"), letter("mode", 'O'), {m, shape(real_type(), {3}), m, m, words()}),
      ::testing::HasSubstr("one of both with mode 'N'"));
}

INSTANTIATE_TEST_SUITE_P(Numbers, LapackShapesTest,
                         ::testing::Values(DType::kF32, DType::kF64, DType::kC64, DType::kC128),
                         [](const auto& info) {
                           const DType type = info.param;
                           return std::string(is_complex(type) ? "Complex" : "Real") +
                                  (type == DType::kF32 || type == DType::kC64 ? "Single"
                                                                              : "Double");
                         });

}  // namespace
}  // namespace millrace::devices::cpu::testing
