// Sums of products for contractions and convolutions: one pair of classes for all element types.
// Sums that cancel leave what every rounding on the way left, so they are taken in order, as
// everybody takes them: in f32 for f32, in f64 for the other real types.
#pragma once

#include <complex>
#include <vector>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {

// The elements of an operand of a contraction whose result is of `type`: as integers, reals or
// complex numbers, whichever the sum needs.
class Terms {
 public:
  Terms(const ConstArray& array, DType type)
      : values_(load_all(array)), to_(form_of(type)), single_(type == DType::kF32) {
    const ScalarFunction convert = convert_function(form_of(array.shape.dtype()), to_);
    const ScalarInfo info{.in = array.shape.dtype(), .out = wide(to_)};
    for (Scalar& v : values_) v = convert(&v, info);
  }
  const Scalar& operator[](std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }
  Form form() const { return to_; }
  bool single() const { return single_; }  // summed in f32

 private:
  // The type of this form that loses nothing.
  static DType wide(Form form) {
    switch (form) {
      case Form::kSigned:
        return DType::kI64;
      case Form::kUnsigned:
        return DType::kU64;
      case Form::kReal:
      case Form::kReal64:
        return DType::kF64;
      case Form::kBool:
        return DType::kI1;
      default:
        return DType::kC128;
    }
  }

  std::vector<Scalar> values_;
  Form to_;
  bool single_;
};

// Thread-safety: confined.
class Sum {
 public:
  void add(const Terms& a, std::int64_t i, const Terms& b, std::int64_t j) {
    const Scalar &x = a[i], &y = b[j];
    form_ = a.form();
    switch (form_) {
      case Form::kBool:
        bits_ |= x.u & y.u;
        return;
      case Form::kSigned:
      case Form::kUnsigned:
        bits_ += x.u * y.u;
        return;
      case Form::kReal:
      case Form::kReal64:
        if (a.single())
          add_real<float>(x, y);
        else
          add_real<double>(x, y);
        return;
      case Form::kComplex:
        add_complex<float>(x, y);
        return;
      default:
        add_complex<double>(x, y);
    }
  }
  Scalar value(DType type) const {
    const Form form = form_of(type);
    if (form == Form::kBool || form == Form::kSigned || form == Form::kUnsigned)
      return from_unsigned(bits_);
    return from_complex(re_, im_);
  }

 private:
  template <class T>
  void add_real(const Scalar& x, const Scalar& y) {
    const T product = static_cast<T>(x.re) * static_cast<T>(y.re);
    re_ = static_cast<T>(re_) + product;
  }
  template <class T>
  void add_complex(const Scalar& x, const Scalar& y) {
    const T a = static_cast<T>(x.re), b = static_cast<T>(x.im), c = static_cast<T>(y.re),
            d = static_cast<T>(y.im);
    re_ = static_cast<T>(re_) + (a * c - b * d);
    im_ = static_cast<T>(im_) + (a * d + b * c);
  }

  Form form_ = Form::kNone;
  std::uint64_t bits_ = 0;
  double re_ = 0, im_ = 0;
};

}  // namespace millrace::devices::cpu::reference
