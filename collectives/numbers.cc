#include "millrace/collectives/numbers.h"

#include <cstring>

#include "millrace/core/base/check.h"

namespace millrace::collectives {

using devices::DType;
using devices::HostArray;
using devices::Shape;

namespace {

constexpr std::int64_t kBits = 64;

// The bits of a number are 64 booleans: their minimum is its "and".
bool is_bits(const CollectiveCall& call) { return call.shapes[0].dtype() == DType::kI1; }

}  // namespace

std::string_view to_string(AgreeOp op) {
  constexpr std::string_view kWords[] = {"min", "max", "and", "sum"};
  return kWords[static_cast<std::size_t>(op)];
}

CollectiveCall agree_call(AgreeOp op) {
  constexpr ReduceOp kFolds[] = {ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kSum};
  const Shape shape = op == AgreeOp::kAnd ? Shape(DType::kI1, {kBits}) : Shape(DType::kI64, {1});
  return {CollectiveCall::Kind::kAgree, kFolds[static_cast<std::size_t>(op)], Rank{0}, {shape}};
}

CollectiveCall split_call() {
  return {CollectiveCall::Kind::kSplit, ReduceOp::kSum, Rank{0}, {Shape(DType::kI64, {2})}};
}

HostArray array_of(const CollectiveCall& call, std::span<const std::int64_t> numbers) {
  HostArray array = HostArray::make(call.shapes[0]);
  const auto bytes = array.mutable_bytes();
  if (is_bits(call)) {
    for (std::size_t bit = 0; bit < bytes.size(); ++bit)
      bytes[bit] = static_cast<std::byte>((static_cast<std::uint64_t>(numbers[0]) >> bit) & 1);
    return array;
  }
  MILLRACE_CHECK(bytes.size() == numbers.size_bytes(), "a call says how many numbers a rank gives");
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return array;
}

Numbers numbers_of(const CollectiveCall& call, std::span<const std::byte> array) {
  std::vector<std::int64_t> numbers;
  if (is_bits(call)) {
    std::uint64_t bits = 0;
    for (std::size_t bit = 0; bit < array.size(); ++bit)
      bits |= static_cast<std::uint64_t>(array[bit]) << bit;
    numbers.push_back(static_cast<std::int64_t>(bits));
  } else {
    numbers.resize(array.size() / sizeof(std::int64_t));
    std::memcpy(numbers.data(), array.data(), array.size());
  }
  return std::make_shared<const std::vector<std::int64_t>>(std::move(numbers));
}

}  // namespace millrace::collectives
