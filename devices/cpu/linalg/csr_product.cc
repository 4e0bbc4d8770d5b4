#include "millrace/devices/cpu/linalg/csr_product.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace millrace::devices::cpu::linalg {
namespace {

using definition::Kernel;

constexpr std::string_view kCsrName = "cpu_csr_sparse_dense_ffi";

// The elements of an array, row-major.
template <class T>
std::span<const T> csr_elements(const ConstArray& a) {
  return {reinterpret_cast<const T*>(a.data), static_cast<std::size_t>(a.shape.elements())};
}

// Integers wrap. Complex numbers are multiplied as the formula says: the standard's product would
// look for infinities in each.
template <class T>
T wrapped_product(const T& a, const T& b) {
  if constexpr (requires { a.imag(); }) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else if constexpr (std::is_integral_v<T>) {  // it wraps
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}
template <class T>
T wrapped_sum(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <class T, class Index>
void csr_multiply(std::span<const ConstArray> operands, const MutableArray& result) {
  const auto values = csr_elements<T>(operands[0]);
  const auto starts = csr_elements<Index>(operands[1]), columns = csr_elements<Index>(operands[2]);
  const Shape& dense = operands[3].shape;
  const std::int64_t inner = dense.dim(0), width = dense.rank() == 2 ? dense.dim(1) : 1;
  const auto* const from = reinterpret_cast<const T*>(operands[3].data);
  auto* to = reinterpret_cast<T*>(result.data);
  const auto place = [&](std::size_t i) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(starts[i], 0, static_cast<std::int64_t>(values.size())));
  };
  for (std::size_t row = 0; row + 1 < starts.size(); ++row, to += width) {
    std::fill_n(to, width, T(0));
    const std::size_t end = place(row + 1);
    for (std::size_t e = place(row); e < end; ++e) {
      if (columns[e] < 0 || columns[e] >= inner) continue;
      const T value = values[e];
      const T* const other = from + columns[e] * width;
      for (std::int64_t j = 0; j < width; ++j)
        to[j] = wrapped_sum(to[j], wrapped_product(value, other[j]));
    }
  }
}

using CsrRun = void (*)(std::span<const ConstArray> operands, const MutableArray& result);
struct CsrRow {
  DType type;
  CsrRun with_s32, with_s64;
};
template <class T>
constexpr CsrRow csr_row(DType type) {
  return {type, &csr_multiply<T, std::int32_t>, &csr_multiply<T, std::int64_t>};
}
constexpr CsrRow kCsrRows[] = {csr_row<std::int32_t>(DType::kI32),
                               csr_row<std::int64_t>(DType::kI64),
                               csr_row<float>(DType::kF32),
                               csr_row<double>(DType::kF64),
                               csr_row<std::complex<float>>(DType::kC64),
                               csr_row<std::complex<double>>(DType::kC128)};

// nullptr for types that it does not take.
CsrRun find_csr_run(DType type, DType index) {
  for (const CsrRow& row : kCsrRows) {
    if (row.type != type) continue;
    if (index == DType::kI32) return row.with_s32;
    if (index == DType::kI64) return row.with_s64;
  }
  return nullptr;
}

class CsrKernel final : public Kernel {
 public:
  explicit CsrKernel(CsrRun run) : run_(run) {}
  Status run(std::span<const ConstArray> operands, std::span<const MutableArray> results,
             std::span<std::byte> /*scratch*/) const override {
    run_(operands, results[0]);
    return {};
  }

 private:
  const CsrRun run_;
};

// nullptr where the call does not fit.
CsrRun csr_run_of(const ir::Op& op) {
  if (op.operand_count() != 4 || op.result_count() != 1) return nullptr;
  std::array<std::optional<Shape>, 5> shapes;
  for (int i = 0; i < 4; ++i)
    shapes[static_cast<std::size_t>(i)] = ir::memory_shape(op.operand(i)->type());
  shapes[4] = ir::memory_shape(op.result(0)->type());
  if (!std::ranges::all_of(shapes, [](const auto& shape) { return shape.has_value(); }))
    return nullptr;
  const Shape &values = *shapes[0], &starts = *shapes[1], &columns = *shapes[2],
              &dense = *shapes[3], &result = *shapes[4];
  const int rank = dense.rank();
  const bool fits = values.rank() == 1 && starts.rank() == 1 && columns.rank() == 1 &&
                    columns.dim(0) == values.dim(0) && (rank == 1 || rank == 2) &&
                    result.rank() == rank && starts.dim(0) == result.dim(0) + 1 &&
                    (rank == 1 || result.dim(1) == dense.dim(1)) &&
                    dense.dtype() == values.dtype() && result.dtype() == values.dtype() &&
                    starts.dtype() == columns.dtype();
  return fits ? find_csr_run(values.dtype(), starts.dtype()) : nullptr;
}

}  // namespace

std::shared_ptr<const Kernel> make_csr_kernel(const ir::Op& op) {
  const CsrRun run = op.callee() == kCsrName ? csr_run_of(op) : nullptr;
  return run == nullptr ? nullptr : std::make_shared<const CsrKernel>(run);
}

std::string csr_fault(const ir::Op& op) {
  if (op.callee() != kCsrName || csr_run_of(op) != nullptr) return "";
  std::string found;
  for (const ir::Value* v : op.operands())
    found += (found.empty() ? "" : ", ") + v->type().to_string();
  found += " ->";
  for (const ir::Value& v : op.results()) found += " " + v.type().to_string();
  return "found " + found +
         ", expected T[e], I[m + 1], I[e], T[k] -> T[m] or T[e], I[m + 1], I[e], T[k,n] -> T[m,n], "
         "with T one of s32, s64, f32, f64 and complex numbers, I s32 or s64";
}

}  // namespace millrace::devices::cpu::linalg
