#include "millrace/devices/cpu/kernels/fourier/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "millrace/core/base/memory_left.h"

namespace millrace::devices::cpu::definition {
namespace {

using Number = ComplexNumber;

constexpr int kLargestFactor = 31;

Number operator+(const Number& a, const Number& b) { return {a.re + b.re, a.im + b.im}; }
Number operator-(const Number& a, const Number& b) { return {a.re - b.re, a.im - b.im}; }
Number operator*(const Number& a, const Number& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Number conjugate(const Number& a) { return {a.re, -a.im}; }

// exp(-i pi k / n), with k reduced first so that large k lose nothing.
Number unit_root(std::int64_t k, std::int64_t n) {
  const long double angle = std::numbers::pi_v<long double> *
                            static_cast<long double>(k % (2 * n)) / static_cast<long double>(n);
  return {static_cast<double>(std::cos(angle)), static_cast<double>(-std::sin(angle))};
}

// One pass of Stockham's algorithm: of each column of `radix` numbers, m * stride apart, the
// transform, turned by the roots of this pass. What was done before are `stride` transforms side by
// side.
struct Pass {
  int radix;
  std::int64_t m, stride;
  std::span<const Number> roots;

  // k is below n: stride * radix * m is.
  Number root(std::int64_t k) const { return roots[static_cast<std::size_t>(k)]; }

  void run(const Number* x, Number* y) const {
    if (radix == 4) return four(x, y);
    if (radix == 2) return two(x, y);
    if (radix == 3) return odd<3>(x, y);
    if (radix == 5) return odd<5>(x, y);
    if (radix == 7) return odd<7>(x, y);
    odd<0>(x, y);
  }
  void two(const Number* x, Number* y) const {
    for (std::int64_t k = 0; k < m; ++k) {
      const Number w = root(k * stride);
      const Number *a = x + k * stride, *b = a + m * stride;
      Number *first = y + 2 * k * stride, *second = first + stride;
      for (std::int64_t q = 0; q < stride; ++q) {
        first[q] = a[q] + b[q];
        second[q] = (a[q] - b[q]) * w;
      }
    }
  }
  void four(const Number* x, Number* y) const {
    for (std::int64_t k = 0; k < m; ++k) {
      const Number w1 = root(k * stride), w2 = root(2 * k * stride), w3 = root(3 * k * stride);
      const Number *a = x + k * stride, *b = a + m * stride, *c = b + m * stride,
                   *d = c + m * stride;
      Number* out = y + 4 * k * stride;
      for (std::int64_t q = 0; q < stride; ++q) {
        const Number sum = a[q] + c[q], gap = a[q] - c[q], other = b[q] + d[q],
                     turned = {b[q].im - d[q].im, d[q].re - b[q].re};  // -i (b - d)
        out[q] = sum + other;
        out[q + stride] = (gap + turned) * w1;
        out[q + 2 * stride] = (sum - other) * w2;
        out[q + 3 * stride] = (gap - turned) * w3;
      }
    }
  }
  // kRadix: 0 for any. The terms j and radix - j have conjugate roots, so their sums and gaps are
  // multiplied by real numbers, once for the results t and radix - t.
  template <int kRadix>
  void odd(const Number* x, Number* y) const {
    const int r = kRadix == 0 ? radix : kRadix, half = (r - 1) / 2;
    constexpr int kMost = kRadix == 0 ? kLargestFactor : kRadix, kHalf = (kMost - 1) / 2;
    double cosines[kHalf][kHalf], sines[kHalf][kHalf];  // of term j + 1 in result t + 1
    const std::int64_t step = static_cast<std::int64_t>(roots.size()) / r;
    for (int t = 0; t < half; ++t) {
      for (int j = 0; j < half; ++j) {
        const Number w = root((t + 1) * (j + 1) % r * step);
        cosines[t][j] = w.re;
        sines[t][j] = w.im;
      }
    }
    Number turns[kMost], sums[kHalf], gaps[kHalf];
    for (std::int64_t k = 0; k < m; ++k) {
      for (int t = 0; t < r; ++t) turns[t] = root(k * t * stride);
      for (std::int64_t q = 0; q < stride; ++q) {
        const Number* const in = x + k * stride + q;
        Number* const out = y + r * k * stride + q;
        const Number first = in[0];
        Number all = first;
        for (int j = 0; j < half; ++j) {
          const Number &a = in[(j + 1) * m * stride], &b = in[(r - 1 - j) * m * stride];
          sums[j] = a + b;
          gaps[j] = a - b;
          all = all + sums[j];
        }
        out[0] = all;
        for (int t = 0; t < half; ++t) {
          Number even = first, turned;
          for (int j = 0; j < half; ++j) {
            even.re += sums[j].re * cosines[t][j];
            even.im += sums[j].im * cosines[t][j];
            turned.re -= gaps[j].im * sines[t][j];
            turned.im += gaps[j].re * sines[t][j];
          }
          out[(t + 1) * stride] = (even + turned) * turns[t + 1];
          out[(r - 1 - t) * stride] = (even - turned) * turns[r - 1 - t];
        }
      }
    }
  }
};

// Fours, then what is left in order; empty if there is a large prime.
std::vector<int> factors_of(std::int64_t n) {
  std::vector<int> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (int p = 2; p <= kLargestFactor; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  return n == 1 ? factors : std::vector<int>{};
}

// Makes room for n numbers, where there is memory for as many as all tables have; else NoMemory.
void reserve_tables(std::vector<Number>& numbers, std::int64_t n, std::int64_t all) {
  const Status left = check_memory_left("the tables of a Fourier transform",
                                        static_cast<std::size_t>(all) * sizeof(Number));
  if (!left) throw NoMemory(left.error());
  numbers.reserve(static_cast<std::size_t>(n));
}

}  // namespace

FourierTransform::FourierTransform(std::int64_t n) : n_(n), factors_(factors_of(n)) {
  if (n == 1) return;
  if (!factors_.empty()) {
    reserve_tables(roots_, n, n);
    for (std::int64_t k = 0; k < n; ++k) roots_.push_back(unit_root(2 * k, n));
    return;
  }
  std::int64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  reserve_tables(chirp_, n, n + 3 * length);  // spectrum_, memory, and the tables of the other
  padded_ = std::make_unique<FourierTransform>(length);
  spectrum_.resize(static_cast<std::size_t>(length));
  const double scale = 1.0 / static_cast<double>(length);
  for (std::int64_t k = 0; k < n; ++k) {
    chirp_.push_back(unit_root(k * k % (2 * n), n));
    const Number back = {chirp_.back().re * scale, -chirp_.back().im * scale};
    spectrum_[static_cast<std::size_t>(k)] = back;
    if (k > 0) spectrum_[static_cast<std::size_t>(length - k)] = back;
  }
  std::vector<Number> memory(static_cast<std::size_t>(padded_->memory_elements()));
  padded_->run(spectrum_, memory);
}

std::int64_t FourierTransform::memory_elements() const {
  return padded_ == nullptr ? n_ : padded_->n_ + padded_->memory_elements();
}

void FourierTransform::run(std::span<ComplexNumber> x, std::span<ComplexNumber> memory) const {
  if (n_ == 1) return;
  if (padded_ != nullptr) return run_chirp(x, memory);
  Number *from = x.data(), *to = memory.data();
  std::int64_t left = n_, stride = 1;
  for (int radix : factors_) {
    left /= radix;
    Pass{.radix = radix, .m = left, .stride = stride, .roots = roots_}.run(from, to);
    std::swap(from, to);
    stride *= radix;
  }
  if (from != x.data()) std::copy_n(from, n_, x.data());
}

void FourierTransform::run_chirp(std::span<ComplexNumber> x,
                                 std::span<ComplexNumber> memory) const {
  const std::span<Number> a = memory.first(spectrum_.size()), rest = memory.subspan(a.size());
  for (std::size_t k = 0; k < x.size(); ++k) a[k] = x[k] * chirp_[k];
  std::fill(a.begin() + static_cast<std::ptrdiff_t>(x.size()), a.end(), Number{});
  padded_->run(a, rest);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = conjugate(a[k] * spectrum_[k]);
  padded_->run(a, rest);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = conjugate(a[k]) * chirp_[k];
}

RealFourierTransform::RealFourierTransform(std::int64_t n)
    : n_(n), complex_(n % 2 == 0 ? n / 2 : n) {
  for (std::int64_t k = 0; takes_pairs() && k < n / 2; ++k) roots_.push_back(unit_root(2 * k, n));
}

// The transform of the pairs is E + i O, of those of the even and of the odd numbers, both of which
// have conjugates at their other ends; what is wanted is E + root O.
void RealFourierTransform::run(std::span<ComplexNumber> x, std::span<ComplexNumber> results,
                               std::span<ComplexNumber> memory) const {
  complex_.run(x, memory);
  if (!takes_pairs()) {
    std::copy_n(x.begin(), results.size(), results.begin());
    return;
  }
  const std::size_t half = x.size();
  results[0] = {x[0].re + x[0].im, 0};
  results[half] = {x[0].re - x[0].im, 0};
  for (std::size_t k = 1; k < half; ++k) {
    const Number a = x[k], b = conjugate(x[half - k]), sum = a + b, gap = a - b;
    const Number turned = Number{gap.im, -gap.re} * roots_[k];
    results[k] = {0.5 * (sum.re + turned.re), 0.5 * (sum.im + turned.im)};
  }
}

}  // namespace millrace::devices::cpu::definition
