// Calls of LAPACK as JAX writes them: what comes out is checked by the equations that it has to
// solve, of real and of complex numbers.
#include <algorithm>
#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/devices/cpu/linalg/lapack_program.h"

namespace millrace::devices::cpu::testing {
namespace {

using C = std::complex<double>;

// Square or not, of complex numbers whatever its program computes with.
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<C> data;
  C& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * columns + j)]; }
  C at(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
};
Dense times(const Dense& a, const Dense& b) {
  Dense c{a.rows, b.columns, std::vector<C>(static_cast<std::size_t>(a.rows * b.columns))};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.columns; ++j) {
      for (std::int64_t k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}
Dense adjoint(const Dense& a, bool conjugate = true) {
  Dense c{a.columns, a.rows, std::vector<C>(a.data.size())};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j)
      c.at(j, i) = conjugate ? std::conj(a.at(i, j)) : a.at(i, j);
  }
  return c;
}
// What `keep` lets through, else 0; ones on the diagonal if `unit`.
template <class F>
Dense masked(const Dense& a, F keep, bool unit = false) {
  Dense c = a;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      if (!keep(i, j)) c.at(i, j) = 0;
      if (unit && i == j) c.at(i, j) = 1;
    }
  }
  return c;
}
void expect_near(const Dense& got, const Dense& want) {
  ASSERT_EQ(got.data.size(), want.data.size());
  for (std::size_t i = 0; i < got.data.size(); ++i)
    EXPECT_LT(std::abs(got.data[i] - want.data[i]), 1e-12) << "element " << i;
}
const auto kLower = [](std::int64_t i, std::int64_t j) { return i >= j; };
const auto kUpper = [](std::int64_t i, std::int64_t j) { return i <= j; };

class LapackTest : public ::testing::TestWithParam<bool> {
 protected:
  bool complex() const { return GetParam(); }
  std::string element() const { return complex() ? "complex<f64>" : "f64"; }
  std::string name(const std::string& what) const { return (complex() ? "z" : "d") + what; }
  std::string type(std::int64_t m, std::int64_t n) const {
    return "tensor<" + std::to_string(m) + "x" + std::to_string(n) + "x" + element() + ">";
  }
  Dense random(std::int64_t m, std::int64_t n) {
    Dense a{m, n, {}};
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < m * n; ++i)
      a.data.emplace_back(normal(random_), complex() ? normal(random_) : 0.0);
    return a;
  }
  Array array(const Dense& a) const {
    Array made{Shape(complex() ? DType::kC128 : DType::kF64, {a.rows, a.columns}), {}};
    made.bytes.resize(made.shape.size_bytes());
    const std::size_t width = complex() ? 16 : 8;
    for (std::size_t i = 0; i < a.data.size(); ++i)
      std::memcpy(&made.bytes[i * width], &a.data[i], width);
    return made;
  }
  Dense dense(const Array& a) const {
    const int rank = a.shape.rank();
    Dense made{rank == 2 ? a.shape.dim(0) : 1, a.shape.dim(rank - 1), {}};
    for (std::int64_t i = 0; i < a.shape.elements(); ++i) {
      const auto s = definition::load(
          a.shape.dtype(), &a.bytes[static_cast<std::size_t>(i) * byte_width(a.shape.dtype())]);
      made.data.emplace_back(s.re, is_complex(a.shape.dtype()) ? s.im : 0.0);
    }
    return made;
  }
  static std::int64_t integer(const Array& a, std::size_t i = 0) {
    std::int32_t value = 0;
    std::memcpy(&value, &a.bytes[i * sizeof value], sizeof value);
    return value;
  }
  // The results of one call.
  Arrays call(const std::string& what, const std::string& config, const std::vector<Dense>& inputs,
              const std::vector<std::string>& results) {
    std::vector<std::string> types;
    Arrays arrays;
    for (const Dense& input : inputs) {
      types.push_back(input.rows == 0
                          ? "tensor<" + std::to_string(input.columns) + "x" + element() + ">"
                          : type(input.rows, input.columns));
      arrays.push_back(array({std::max<std::int64_t>(input.rows, 1), input.columns, input.data}));
      if (input.rows == 0)
        arrays.back().shape = Shape(arrays.back().shape.dtype(), {input.columns});
    }
    return run_lapack("lapack_" + what + "_ffi", config, arrays, types, results);
  }

  std::mt19937 random_{7};
};

TEST_P(LapackTest, CholeskyGivesTheTriangleThatIsAsked) {
  for (const int n : {5, 20}) {  // by us, by the library
    const Dense root = random(n, n), a = times(root, adjoint(root));
    for (const bool lower : {true, false}) {
      const auto made = call(name("potrf"), lower ? "uplo = 76 : ui8" : "uplo = 85 : ui8", {a},
                             {type(n, n), "tensor<i32>"});
      const Dense l =
          lower ? masked(dense(made[0]), kLower) : adjoint(masked(dense(made[0]), kUpper));
      expect_near(times(l, adjoint(l)), a);
      EXPECT_EQ(integer(made[1]), 0);
    }
    Dense none = a;
    none.at(2, 2) = -1;
    EXPECT_EQ(
        integer(call(name("potrf"), "uplo = 76 : ui8", {none}, {type(n, n), "tensor<i32>"})[1]), 3);
  }
}

TEST_P(LapackTest, TheFactorsOfARectangleMakeItAgain) {
  for (const auto& [m, n] : {std::pair{5, 5}, {6, 4}, {4, 6}}) {
    const int least = std::min(m, n);
    const Dense a = random(m, n);
    const auto made =
        call(name("getrf"), "", {a},
             {type(m, n), "tensor<" + std::to_string(least) + "xi32>", "tensor<i32>"});
    Dense rows = a;
    for (int k = 0; k < least; ++k) {
      const std::int64_t pivot = integer(made[1], static_cast<std::size_t>(k)) - 1;
      for (int j = 0; j < n; ++j) std::swap(rows.at(k, j), rows.at(pivot, j));
    }
    const Dense lu = dense(made[0]);
    Dense l{m, least, std::vector<C>(static_cast<std::size_t>(m * least))}, u = l;
    u = {least, n, std::vector<C>(static_cast<std::size_t>(least * n))};
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        if (j < least && i >= j) l.at(i, j) = i == j ? C(1) : lu.at(i, j);
        if (i < least && i <= j) u.at(i, j) = lu.at(i, j);
      }
    }
    expect_near(times(l, u), rows);
    EXPECT_EQ(integer(made[2]), 0);
  }
  const Dense zero{3, 3, std::vector<C>(9)};
  EXPECT_EQ(
      integer(call(name("getrf"), "", {zero}, {type(3, 3), "tensor<3xi32>", "tensor<i32>"})[2]), 1);
}

TEST_P(LapackTest, TriangularSystemsAreSolvedFromBothSides) {
  for (const bool left : {true, false}) {
    for (const bool lower : {true, false}) {
      for (const char turned : {'N', 'T', 'C'}) {
        for (const bool unit : {true, false}) {
          SCOPED_TRACE(std::string(left ? "left " : "right ") + (lower ? "lower " : "upper ") +
                       turned + (unit ? " unit" : ""));
          const Dense a = random(4, 4), b = left ? random(4, 3) : random(3, 4);
          const auto number = [](const char* field, char value) {
            return std::string(field) + " = " + std::to_string(int{value}) + " : ui8";
          };
          const auto made =
              call(name("trsm"),
                   number("side", left ? 'L' : 'R') + ", " + number("uplo", lower ? 'L' : 'U') +
                       ", " + number("trans_x", turned) + ", " + number("diag", unit ? 'U' : 'N'),
                   {a, b}, {type(b.rows, b.columns)});
          Dense op = lower ? masked(a, kLower, unit) : masked(a, kUpper, unit);
          if (turned != 'N') op = adjoint(op, turned == 'C');
          const Dense x = dense(made[0]);
          const Dense back = left ? times(op, x) : times(x, op);
          for (std::size_t i = 0; i < b.data.size(); ++i)
            EXPECT_LT(std::abs(back.data[i] - b.data[i]), 1e-9) << i;
        }
      }
    }
  }
}

TEST_P(LapackTest, OrthogonalColumnsAndATriangleMakeTheMatrixAgain) {
  for (const auto& [m, n] : {std::pair{4, 4}, {6, 4}}) {
    const Dense a = random(m, n);
    const std::string taus = "tensor<" + std::to_string(n) + "x" + element() + ">";
    const auto made = call(name("geqrf"), "", {a}, {type(m, n), taus});
    Dense tau = dense(made[1]);
    tau.rows = 0;
    const Dense q =
        dense(call(complex() ? "zungqr" : "dorgqr", "", {dense(made[0]), tau}, {type(m, n)})[0]);
    Dense r{n, n, std::vector<C>(static_cast<std::size_t>(n * n))}, one = r;
    const Dense whole = dense(made[0]);
    for (int i = 0; i < n; ++i) {
      one.at(i, i) = 1;
      for (int j = i; j < n; ++j) r.at(i, j) = whole.at(i, j);
    }
    expect_near(times(q, r), a);
    expect_near(times(adjoint(q), q), one);
  }
}

TEST_P(LapackTest, EigenvectorsAreStretchedByTheirValues) {
  const Dense root = random(6, 6);
  Dense a = times(root, adjoint(root));
  a.at(3, 3) -= 40;
  for (const bool lower : {true, false}) {
    const Dense half = lower ? masked(a, kLower) : masked(a, kUpper);
    const auto made =
        call(complex() ? "zheevd" : "dsyevd",
             std::string("mode = 86 : ui8, uplo = ") + (lower ? "76" : "85") + " : ui8", {half},
             {type(6, 6), "tensor<6xf64>", "tensor<i32>"});
    const Dense v = dense(made[0]), w = dense(made[1]);
    Dense stretched = v;
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) stretched.at(i, j) *= w.at(0, j);
      if (i > 0) {
        EXPECT_LE(w.at(0, i - 1).real(), w.at(0, i).real());
      }
    }
    expect_near(times(a, v), stretched);
    EXPECT_LT(w.at(0, 0).real(), 0);
    EXPECT_EQ(integer(made[2]), 0);
  }
}

TEST_P(LapackTest, SingularValuesAndVectorsMakeTheMatrixAgain) {
  for (const auto& [m, n] : {std::pair{4, 4}, {6, 4}, {3, 5}}) {
    for (const bool whole : {true, false}) {
      SCOPED_TRACE(std::to_string(m) + " by " + std::to_string(n) + (whole ? ", whole" : ""));
      const int least = std::min(m, n);
      Dense a = random(m, n);
      for (int j = 0; j < n; ++j) a.at(m - 1, j) = a.at(0, j);  // a value is 0 where m <= n
      const auto made =
          call(name("gesdd"), whole ? "mode = 65 : ui8" : "mode = 83 : ui8", {a},
               {type(m, n), "tensor<" + std::to_string(least) + "xf64>", type(m, whole ? m : least),
                type(whole ? n : least, n), "tensor<i32>"});
      const Dense s = dense(made[1]), u = dense(made[2]), vt = dense(made[3]);
      Dense sized{u.columns, n, std::vector<C>(static_cast<std::size_t>(u.columns * n))};
      for (int i = 0; i < least; ++i) {
        for (int j = 0; j < n; ++j) sized.at(i, j) = s.at(0, i) * vt.at(i, j);
        if (i > 0) {
          EXPECT_LE(s.at(0, i).real(), s.at(0, i - 1).real());
        }
      }
      expect_near(times(u, sized), a);
      for (const Dense& square : {times(adjoint(u), u), times(vt, adjoint(vt))}) {
        Dense one = square;
        for (int i = 0; i < square.rows; ++i) {
          for (int j = 0; j < square.rows; ++j) one.at(i, j) = i == j ? 1 : 0;
        }
        expect_near(square, one);
      }
      EXPECT_EQ(integer(made[4]), 0);
    }
  }
}

TEST_P(LapackTest, ANanIsReportedInTheLastResult) {
  Dense a = random(5, 5);
  for (int i = 0; i < 5; ++i) a.at(i, 2) = std::nan("");
  EXPECT_EQ(integer(call(complex() ? "zheevd" : "dsyevd", "", {a},
                         {type(5, 5), "tensor<5xf64>", "tensor<i32>"})[2]),
            5);
  EXPECT_EQ(integer(call(name("gesdd"), "mode = 65 : ui8", {a},
                         {type(5, 5), "tensor<5xf64>", type(5, 5), type(5, 5), "tensor<i32>"})[4]),
            -4);
  // LAPACK's potrf reports it; OpenBLAS (and so JAX) shows it only in the factor.
  const auto factor = call(name("potrf"), "", {a}, {type(5, 5), "tensor<i32>"});
  EXPECT_TRUE(integer(factor[1]) > 0 || std::isnan(dense(factor[0]).at(2, 2).real()));
}

TEST_P(LapackTest, OtherCallsAndShapesThatDoNotFitAreRefused) {
  const Dense a = random(3, 2);
  try {
    call(name("potrf"), "uplo = 76 : ui8", {a}, {type(3, 2), "tensor<i32>"});
    ADD_FAILURE() << "it ran";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("potrf_ffi: found " + type(3, 2) + " -> " + type(3, 2) +
                                         " tensor<i32>, expected"),
              std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("expected T[n,n] -> T[n,n] i32[] after"),
              std::string::npos);
  }
  EXPECT_THROW(call(name("trsyl"), "", {a}, {type(3, 2)}), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Numbers, LapackTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Complex" : "Real"; });

}  // namespace
}  // namespace millrace::devices::cpu::testing
