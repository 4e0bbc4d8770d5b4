// FourierTransform: the discrete Fourier transform of one length, with its tables: Stockham's
// algorithm, which sorts as it goes, for lengths with small prime factors, and Bluestein's chirp (a
// convolution of a length that is a power of two) for others. Used by fft.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace millrace::devices::cpu::definition {

struct ComplexNumber {
  double re = 0, im = 0;
};

// Thread-safety: immutable.
class FourierTransform {
 public:
  explicit FourierTransform(std::int64_t n);  // at least 1

  // Elements of memory that a run needs beside its numbers.
  std::int64_t memory_elements() const;
  // In place: x[k] = sum of x[i] exp(-2 pi sqrt(-1) i k / n). The inverse, but for the scale, is
  // the conjugate of the transform of the conjugate.
  void run(std::span<ComplexNumber> x, std::span<ComplexNumber> memory) const;

 private:
  void run_chirp(std::span<ComplexNumber> x, std::span<ComplexNumber> memory) const;

  std::int64_t n_;
  std::vector<int> factors_;          // empty if there is a large one
  std::vector<ComplexNumber> roots_;  // exp(-2 pi sqrt(-1) k / n)
  std::unique_ptr<FourierTransform> padded_;
  std::vector<ComplexNumber> chirp_, spectrum_;
};

// The same of n real numbers, of whose results the first n / 2 + 1 say the others: for even n a
// complex transform of half the length, of pairs of them. Thread-safety: immutable.
class RealFourierTransform {
 public:
  explicit RealFourierTransform(std::int64_t n);  // at least 1

  // Whether run() takes x[0] + sqrt(-1) x[1], x[2] + sqrt(-1) x[3], ... and not x[0], x[1], ...
  bool takes_pairs() const { return n_ % 2 == 0; }
  std::int64_t memory_elements() const { return complex_.memory_elements(); }
  // Overwrites x; gives n / 2 + 1 results.
  void run(std::span<ComplexNumber> x, std::span<ComplexNumber> results,
           std::span<ComplexNumber> memory) const;

 private:
  std::int64_t n_;
  FourierTransform complex_;
  std::vector<ComplexNumber> roots_;  // exp(-2 pi sqrt(-1) k / n), of even n
};

}  // namespace millrace::devices::cpu::definition
