#include "millrace/devices/cpu/kernels/movement/strided.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"

namespace millrace::devices::cpu {
namespace {

// What makes a part of a copy worth its start.
constexpr std::int64_t kPartBytes = 128 << 10;

// Calls run(offset, count, stride) for every innermost run of the elements [start, start + n).
template <class F>
void each_run(std::span<const std::int64_t> dims, std::span<const std::int64_t> strides,
              std::int64_t start, std::int64_t n, F run) {
  const int rank = static_cast<int>(dims.size());
  if (rank == 0) {
    if (n > 0) run(std::int64_t{0}, n, std::int64_t{0});
    return;
  }
  std::int64_t index[kMaxRank];
  std::int64_t offset = 0;
  for (int d = rank - 1; d >= 0; --d) {
    index[d] = start % dims[static_cast<std::size_t>(d)];
    start /= dims[static_cast<std::size_t>(d)];
    offset += index[d] * strides[static_cast<std::size_t>(d)];
  }
  const std::int64_t inner = dims.back(), step = strides.back();
  while (n > 0) {
    const std::int64_t count = std::min(n, inner - index[rank - 1]);
    run(offset, count, step);
    n -= count;
    offset -= index[rank - 1] * step;
    index[rank - 1] = 0;
    for (int d = rank - 2; d >= 0; --d) {
      const auto s = static_cast<std::size_t>(d);
      offset += strides[s];
      if (++index[d] < dims[s]) break;
      offset -= index[d] * strides[s];
      index[d] = 0;
    }
  }
}

}  // namespace

void load_strided(void* to, const void* from, int width, std::span<const std::int64_t> dims,
                  std::span<const std::int64_t> strides, std::int64_t start, int n) {
  with_width(static_cast<std::size_t>(width), [&](auto tag) {
    using U = typename decltype(tag)::type;
    U* out = static_cast<U*>(to);
    const U* in = static_cast<const U*>(from);
    each_run(dims, strides, start, n,
             [&](std::int64_t offset, std::int64_t count, std::int64_t step) {
               const U* p = in + offset;
               if (step == 1) {
                 std::memcpy(out, p, static_cast<std::size_t>(count) * sizeof(U));
               } else if (step == 0) {
                 const U v = *p;
                 for (std::int64_t i = 0; i < count; ++i) out[i] = v;
               } else {
                 for (std::int64_t i = 0; i < count; ++i) out[i] = p[i * step];
               }
               out += count;
             });
  });
}

void fill_iota(void* to, DType type, std::span<const std::int64_t> dims,
               std::span<const std::int64_t> steps, std::int64_t offset, std::int64_t start,
               int n) {
  visit(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* out = static_cast<T*>(to);
        each_run(dims, steps, start, n,
                 [&](std::int64_t at, std::int64_t count, std::int64_t step) {
                   const std::int64_t first = offset + at, last = first + (count - 1) * step;
                   const auto write = [&](auto from, auto by) {
                     for (decltype(from) i = 0; i < count; ++i)
                       out[i] = convert_element<T>(from + i * by);
                   };
                   // Vectors of few processors multiply and convert 64 bits.
                   if (std::min(first, last) >= 0 && std::max(first, last) <= INT32_MAX)
                     write(static_cast<std::int32_t>(first), static_cast<std::int32_t>(step));
                   else
                     write(first, step);
                   out += count;
                 });
      },
      [] { MILLRACE_CHECK(false, "an iota of a type without numbers"); });
}

StridedCopy::StridedCopy(std::span<const std::int64_t> dims,
                         std::span<const std::int64_t> from_strides,
                         std::span<const std::int64_t> to_strides, int width)
    : width_(width) {
  // Destination order, largest stride first, so that the innermost loop writes densely.
  DimVector order;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    order.push_back(static_cast<std::int64_t>(d));
    for (std::size_t i = d; i > 0; --i) {  // insertion sort: stable, no memory
      const auto before = static_cast<std::size_t>(order[i - 1]);
      if (std::abs(to_strides[before]) >= std::abs(to_strides[d])) break;
      std::swap(order[i - 1], order[i]);
    }
  }
  for (std::int64_t at : order) {
    const auto d = static_cast<std::size_t>(at);
    elements_ *= dims[d];
    if (dims[d] == 1) continue;
    if (!dims_.empty() && from_.back() == from_strides[d] * dims[d] &&
        to_.back() == to_strides[d] * dims[d]) {
      dims_.back() *= dims[d];
      from_.back() = from_strides[d];
      to_.back() = to_strides[d];
    } else {
      dims_.push_back(dims[d]);
      from_.push_back(from_strides[d]);
      to_.push_back(to_strides[d]);
    }
  }
  // A transpose is copied in square blocks of its two innermost dimensions: bring the one that is
  // dense in the source next to the last.
  if (dims_.size() > 2 && from_.back() != 1) {
    const auto dense = std::find_if(from_.begin(), from_.end() - 1,
                                    [](std::int64_t s) { return std::abs(s) == 1; });
    if (dense != from_.end() - 1) {
      const auto at = dense - from_.begin();
      const auto last = static_cast<std::ptrdiff_t>(dims_.size()) - 1;
      for (auto* v : {&dims_, &from_, &to_})
        std::rotate(v->begin() + at, v->begin() + at + 1, v->begin() + last);
    }
  }
  while (dims_.size() < 2) {
    dims_.push_front(1);
    from_.push_front(0);
    to_.push_front(0);
  }
  for (std::size_t d = 0; d + 2 < dims_.size(); ++d) outer_ *= dims_[d];
  dense_ = dims_.back() == elements_ && (elements_ == 1 || (from_.back() == 1 && to_.back() == 1));
}

// Rows [begin, end): a row is one index of all dimensions but the last; blocks of rows share an
// outer index.
void StridedCopy::run_range(const std::byte* from, std::byte* to, std::int64_t begin,
                            std::int64_t end) const {
  const std::size_t rank = dims_.size();
  const std::int64_t rows = dims_[rank - 2], columns = dims_[rank - 1];
  with_width(static_cast<std::size_t>(width_), [&](auto tag) {
    using U = typename decltype(tag)::type;
    const std::int64_t fr = from_[rank - 2], fc = from_[rank - 1], tr = to_[rank - 2],
                       tc = to_[rank - 1];
    for (std::int64_t at = begin; at < end;) {
      std::int64_t rest = at / rows, f = 0, t = 0;
      for (std::size_t d = rank - 2; d-- > 0;) {
        const std::int64_t i = rest % dims_[d];
        rest /= dims_[d];
        f += i * from_[d];
        t += i * to_[d];
      }
      const std::int64_t first = at % rows, last = std::min(rows, first + (end - at));
      at += last - first;
      const U* source = reinterpret_cast<const U*>(from) + f;
      U* target = reinterpret_cast<U*>(to) + t;
      if (fc == 1 && tc == 1) {
        for (std::int64_t r = first; r < last; ++r) {
          std::memcpy(target + r * tr, source + r * fr,
                      static_cast<std::size_t>(columns) * sizeof(U));
        }
        continue;
      }
      if (fc == -1 && tc == 1) {
        for (std::int64_t r = first; r < last; ++r) {
          const U* __restrict in = source + r * fr;
          U* __restrict out = target + r * tr;
          for (std::int64_t c = 0; c < columns; ++c) out[c] = in[-c];
        }
        continue;
      }
      constexpr std::int64_t kBlock = 16;
      for (std::int64_t r0 = first; r0 < last; r0 += kBlock) {
        const std::int64_t r1 = std::min(last, r0 + kBlock);
        for (std::int64_t c0 = 0; c0 < columns; c0 += kBlock) {
          const std::int64_t c1 = std::min(columns, c0 + kBlock);
          for (std::int64_t r = r0; r < r1; ++r) {
            for (std::int64_t c = c0; c < c1; ++c)
              target[r * tr + c * tc] = source[r * fr + c * fc];
          }
        }
      }
    }
  });
}

void StridedCopy::run(const void* from, void* to) const {
  if (elements_ == 0) return;
  if (dense_) {
    std::memcpy(to, from, static_cast<std::size_t>(elements_ * width_));
    return;
  }
  run_range(static_cast<const std::byte*>(from), static_cast<std::byte*>(to), 0,
            outer_ * dims_[dims_.size() - 2]);
}

void StridedCopy::run(const void* from, void* to, Parallel& parallel) const {
  if (elements_ == 0) return;
  const auto* f = static_cast<const std::byte*>(from);
  auto* t = static_cast<std::byte*>(to);
  if (elements_ * width_ < 2 * kPartBytes) return run(from, to);
  const std::int64_t rows = outer_ * dims_[dims_.size() - 2];
  split(rows, elements_ * width_ / kPartBytes, 16, parallel,
        [&](std::int64_t begin, std::int64_t end) { run_range(f, t, begin, end); });
}

}  // namespace millrace::devices::cpu
