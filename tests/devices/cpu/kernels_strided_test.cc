// Copies between views beside a walk from element to element: dimensions in any order, reversed,
// repeated, with holes.
#include "millrace/devices/cpu/kernels/movement/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace millrace::devices::cpu {
namespace {

template <class U>
void check(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % unsigned(n)); };
  const auto rank = static_cast<std::size_t>(1 + below(4));
  DimVector dims, from_strides(rank), to_strides;
  for (std::size_t d = 0; d < rank; ++d) dims.push_back(1 + below(d + 1 == rank ? 70 : 6));
  to_strides = dense_strides(dims);
  std::vector<std::size_t> order(rank);  // of the dimensions in the memory that is read
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (below(2) == 0) std::ranges::shuffle(order, random);
  std::int64_t step = 1 + below(2), first = 0;
  for (std::size_t i = rank; i-- > 0;) {
    const std::size_t d = order[i];
    const std::int64_t way = below(5);
    if (way == 0) continue;  // the same element along it
    from_strides[d] = way == 1 ? -step : step;
    if (way == 1) first += step * (dims[d] - 1);
    step *= dims[d];
  }
  std::vector<U> from(static_cast<std::size_t>(step)), want, got;
  for (U& x : from) x = static_cast<U>(random());
  for (std::int64_t i = 0; i < product(dims); ++i)
    want.push_back(from[static_cast<std::size_t>(first + place_of(i, dims, from_strides))]);
  got.resize(want.size());
  StridedCopy(dims, from_strides, to_strides, sizeof(U)).run(from.data() + first, got.data());
  ASSERT_EQ(got, want);
}

TEST(StridedCopyTest, EachElementComesFromItsPlace) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    check<std::uint8_t>(random);
    check<float>(random);
    check<std::uint64_t>(random);
    if (HasFatalFailure()) return;
  }
}

TEST(StridedCopyTest, ARowMayBeReadFromItsEnd) {
  const std::vector<float> from = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  std::vector<float> to(18);
  const std::int64_t dims[] = {2, 9}, strides[] = {9, -1}, dense[] = {9, 1};
  StridedCopy(dims, strides, dense, 4).run(from.data() + 8, to.data());
  const std::vector<float> want = {8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 16, 15, 14, 13, 12, 11, 10, 9};
  EXPECT_EQ(to, want);
}

}  // namespace
}  // namespace millrace::devices::cpu
