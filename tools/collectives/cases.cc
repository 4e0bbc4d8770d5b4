#include "millrace/tools/collectives/cases.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "millrace/collectives/parcels.h"
#include "millrace/collectives/reduce.h"

namespace millrace::tools {

using collectives::Algorithm;
using collectives::Rank;
using collectives::RankPair;
using collectives::ReduceOp;
using devices::DType;
using devices::HostArray;
using devices::Shape;
using Kind = collectives::CollectiveCall::Kind;

namespace {

constexpr int kValues = 16;  // below this

// A small whole number as an element. f16 and bf16 have each of them exactly.
void store(DType dtype, int value, std::byte* to) {
  const auto copy = [to](auto element) { std::memcpy(to, &element, sizeof element); };
  const std::uint32_t float_bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  switch (dtype) {
    case DType::kF64:
      return copy(static_cast<double>(value));
    case DType::kF32:
      return copy(static_cast<float>(value));
    case DType::kBF16:
      return copy(static_cast<std::uint16_t>(float_bits >> 16));
    case DType::kF16:  // the exponent's bias is 15 in place of 127
      return copy(static_cast<std::uint16_t>(value == 0 ? 0 : (float_bits >> 13) - (112U << 10)));
    case DType::kI1:
      return copy(static_cast<std::uint8_t>(value % 2));
    default:  // integers, little-endian
      std::memset(to, 0, devices::byte_width(dtype));
      return copy(static_cast<std::uint8_t>(value));
  }
}

int value_at(int rank, std::size_t i) {
  return static_cast<int>((static_cast<std::size_t>(rank) * 7 + i * 5 + i / 11) % kValues);
}

// Each element has a number of at most three ranks, so that sums stay small.
int given(const CollectiveCase& one, int rank, std::size_t i, int ranks) {
  if (one.op.kind != Kind::kAllReduce && one.op.kind != Kind::kReduceScatter)
    return value_at(rank, i);
  if (one.op.reduce != ReduceOp::kSum) return value_at(rank, i);
  const auto turn = static_cast<int>(i % static_cast<std::size_t>(ranks));
  return (rank - turn + ranks) % ranks < 3 ? value_at(rank, i) : 0;
}

int reduced(const CollectiveCase& one, std::size_t i, int ranks) {
  const bool booleans = one.dtype == DType::kI1;
  const auto element = [&](int rank) {
    const int value = given(one, rank, i, ranks);
    return booleans ? value % 2 : value;
  };
  int result = element(0);
  for (int rank = 1; rank < ranks; ++rank) {
    const int value = element(rank);
    result = one.op.reduce == ReduceOp::kMin   ? std::min(result, value)
             : one.op.reduce == ReduceOp::kMax ? std::max(result, value)
             : booleans                        ? result | value
                                               : result + value;
  }
  return result;
}

bool has_form(const CollectiveOp& op, Algorithm algorithm) {
  if (!op.kind) return algorithm == default_algorithm(op);
  collectives::CollectiveCall call;
  call.kind = *op.kind;
  call.algorithm = algorithm;
  return collectives::check_algorithm(call).has_value();
}

template <class ValueAt>
HostArray filled(DType dtype, std::size_t count, const ValueAt& value) {
  HostArray array = HostArray::make(Shape(dtype, {static_cast<std::int64_t>(count)}));
  const std::size_t width = devices::byte_width(dtype);
  for (std::size_t i = 0; i < count; ++i)
    store(dtype, value(i), array.mutable_bytes().data() + i * width);
  return array;
}

}  // namespace

const std::vector<CollectiveOp>& collective_ops() {
  static const std::vector<CollectiveOp> ops = {
      {"all_reduce", Kind::kAllReduce},
      {"all_reduce_min", Kind::kAllReduce, ReduceOp::kMin},
      {"all_reduce_max", Kind::kAllReduce, ReduceOp::kMax},
      {"reduce_scatter", Kind::kReduceScatter},
      {"all_gather", Kind::kAllGather},
      {"all_to_all", Kind::kAllToAll},
      {"collective_permute", Kind::kCollectivePermute},
      {"broadcast", Kind::kBroadcast},
      {"gather", Kind::kGather},
      {"scatter", Kind::kScatter},
      {"barrier", Kind::kBarrier},
      {"agree", Kind::kAgree},
      {"split", Kind::kSplit},
      {"rendezvous", std::nullopt},
  };
  return ops;
}

Result<std::vector<CollectiveOp>> find_ops(const std::vector<std::string>& names) {
  if (names.empty()) return collective_ops();
  std::vector<CollectiveOp> found;
  for (const std::string& name : names) {
    const auto op = std::ranges::find(collective_ops(), name, &CollectiveOp::name);
    if (op == collective_ops().end()) {
      std::string all;
      for (const CollectiveOp& one : collective_ops()) all += (all.empty() ? "" : ", ") + one.name;
      return fail(ErrorCode::kInvalidArgument,
                  "there is no collective '" + name + "'; there are " + all);
    }
    found.push_back(*op);
  }
  return found;
}

Algorithm default_algorithm(const CollectiveOp& op) {
  return op.kind ? collectives::default_algorithm(*op.kind) : Algorithm::kTree;
}

bool CollectiveCase::has_arrays() const {
  return op.kind && op.kind != Kind::kBarrier && op.kind != Kind::kAgree && op.kind != Kind::kSplit;
}

Shape CollectiveCase::shape(int ranks) const {
  const auto size = static_cast<std::size_t>(ranks);
  const std::size_t elements = std::max<std::size_t>(bytes / devices::byte_width(dtype), 1);
  const std::size_t whole = (elements + size - 1) / size * size;
  return Shape(dtype, {static_cast<std::int64_t>(whole)});
}

std::vector<CollectiveCase> make_cases(const CaseChoice& choice, bool between_processes) {
  std::vector<CollectiveCase> cases;
  for (const CollectiveOp& op : choice.ops) {
    for (const Algorithm algorithm : collectives::kAlgorithms) {
      const bool is_default = algorithm == default_algorithm(op);
      if (choice.algorithm ? algorithm != *choice.algorithm : !between_processes && !is_default)
        continue;
      if (!has_form(op, algorithm)) continue;
      const CollectiveCase one{op, algorithm};
      if (!one.has_arrays()) {
        cases.push_back(one);
        continue;
      }
      for (const DType dtype : choice.dtypes) {
        if (op.kind == Kind::kAllReduce || op.kind == Kind::kReduceScatter) {
          if (!collectives::check_reducible(op.reduce, dtype)) continue;
        }
        for (const std::size_t bytes : choice.bytes) cases.push_back({op, algorithm, dtype, bytes});
      }
    }
  }
  return cases;
}

std::vector<RankPair> ring_of(int ranks) {
  std::vector<RankPair> pairs;
  for (int r = 0; r + 1 < ranks; ++r) pairs.push_back({Rank{r}, Rank{r + 1}});
  return pairs;
}

HostArray input_of(const CollectiveCase& one, int rank, int ranks) {
  const auto count = static_cast<std::size_t>(one.shape(ranks).dim(0));
  return filled(one.dtype, count, [&](std::size_t i) { return given(one, rank, i, ranks); });
}

std::optional<HostArray> expected_of(const CollectiveCase& one, int rank, int ranks) {
  const auto count = static_cast<std::size_t>(one.shape(ranks).dim(0));
  const auto size = static_cast<std::size_t>(ranks), self = static_cast<std::size_t>(rank);
  const std::size_t part = count / size;
  const int root = index(root_of(ranks));
  const auto from = [&](int source, std::size_t i) { return given(one, source, i, ranks); };
  if (!one.op.kind) return std::nullopt;
  switch (*one.op.kind) {
    case Kind::kAllReduce:
      return filled(one.dtype, count, [&](std::size_t i) { return reduced(one, i, ranks); });
    case Kind::kReduceScatter:
      return filled(one.dtype, part,
                    [&](std::size_t i) { return reduced(one, self * part + i, ranks); });
    case Kind::kGather:
      if (rank != root) return std::nullopt;
      [[fallthrough]];
    case Kind::kAllGather:
      return filled(one.dtype, count * size,
                    [&](std::size_t i) { return from(static_cast<int>(i / count), i % count); });
    case Kind::kAllToAll:
      return filled(one.dtype, count, [&](std::size_t i) {
        return from(static_cast<int>(i / part), self * part + i % part);
      });
    case Kind::kCollectivePermute:
      return filled(one.dtype, count,
                    [&](std::size_t i) { return rank == 0 ? 0 : from(rank - 1, i); });
    case Kind::kBroadcast:
      return filled(one.dtype, count, [&](std::size_t i) { return from(root, i); });
    case Kind::kScatter:
      return filled(one.dtype, part, [&](std::size_t i) { return from(root, self * part + i); });
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::tools
