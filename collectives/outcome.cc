#include "millrace/collectives/outcome.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "millrace/core/base/check.h"
#include "millrace/core/base/pool.h"

namespace millrace::collectives {

using devices::HostArray;
using devices::Shape;
using Kind = CollectiveCall::Kind;

Shape repeated(const Shape& one, std::size_t times) {
  const auto count = static_cast<std::int64_t>(times);
  if (one.rank() == 0) return Shape(one.dtype(), {count});
  std::array<std::int64_t, devices::kMaxRank> dims{};
  std::ranges::copy(one.dims(), dims.begin());
  dims[0] *= count;
  return Shape(one.dtype(), std::span(dims).first(one.dims().size()));
}

namespace {

// One of the parts that the first dimension is cut into.
Shape part_of(const Shape& whole, std::size_t parts) {
  std::array<std::int64_t, devices::kMaxRank> dims{};
  std::ranges::copy(whole.dims(), dims.begin());
  dims[0] /= static_cast<std::int64_t>(parts);
  return Shape(whole.dtype(), std::span(dims).first(whole.dims().size()));
}

using Arrays = std::span<const Future<HostArray>>;

std::span<const std::byte> bytes_of(const Future<HostArray>& array) {
  return array.result()->bytes();
}

void copy(std::span<std::byte> to, std::size_t at, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to.data() + at, from.data(), from.size());
}

HostArray reduced(Parallel* parallel, ReduceOp op, const Shape& shape, Arrays ranks) {
  HostArray out = HostArray::make_unwritten(shape);
  PooledVector<const std::byte*> inputs;
  inputs.reserve(ranks.size());
  for (const auto& rank : ranks) inputs.push_back(bytes_of(rank).data());
  reduce(op, shape.dtype(), inputs, out.mutable_bytes(), parallel);
  return out;
}

HostArray concatenated(const Shape& one, Arrays ranks) {
  HostArray out = HostArray::make_unwritten(repeated(one, ranks.size()));
  for (std::size_t r = 0; r < ranks.size(); ++r)
    copy(out.mutable_bytes(), r * one.size_bytes(), bytes_of(ranks[r]));
  return out;
}

// Part t of rank s becomes part s of rank t.
HostArray transposed(const Shape& one, Arrays ranks) {
  const std::size_t size = ranks.size(), part = one.size_bytes() / size;
  HostArray out = HostArray::make_unwritten(repeated(one, size));
  for (std::size_t s = 0; s < size; ++s) {
    for (std::size_t t = 0; t < size; ++t)
      copy(out.mutable_bytes(), (t * size + s) * part, bytes_of(ranks[s]).subspan(t * part, part));
  }
  return out;
}

// sources[i]: the array of the source of pair i. Ranks that are no target get zeros.
HostArray permuted(const Shape& one, const CollectiveCall& call, Arrays sources, std::size_t size) {
  const Shape all = repeated(one, size);
  const bool total = sources.size() == size;
  HostArray out = total ? HostArray::make_unwritten(all) : HostArray::make(all);
  for (std::size_t i = 0; i < sources.size(); ++i)
    copy(out.mutable_bytes(), at(call.pairs[i].target) * one.size_bytes(), bytes_of(sources[i]));
  return out;
}

}  // namespace

Outcome outcome_of(const CollectiveCall& call, const Shape& shape, std::size_t size) {
  switch (call.kind) {
    case Kind::kReduceScatter:
    case Kind::kScatter:
      return {{}, 0, true, part_of(shape, size)};
    case Kind::kAllToAll:
    case Kind::kCollectivePermute:
      return {{}, 0, true, shape};
    case Kind::kAllGather:
    case Kind::kGather:
    case Kind::kSplit:
      return {{}, 0, false, repeated(shape, size)};
    default:
      return {{}, 0, false, shape};
  }
}

Outcome compute_outcome(Parallel* parallel, const CollectiveCall& call, const Shape& shape,
                        Arrays read, std::size_t size) {
  Outcome outcome = outcome_of(call, shape, size);
  switch (call.kind) {
    case Kind::kAllReduce:
    case Kind::kReduceScatter:
    case Kind::kAgree:
      outcome.whole = reduced(parallel, call.op, shape, read);
      break;
    case Kind::kAllGather:
    case Kind::kGather:
    case Kind::kSplit:
      outcome.whole = concatenated(shape, read);
      break;
    case Kind::kAllToAll:
      outcome.whole = transposed(shape, read);
      break;
    case Kind::kCollectivePermute:
      outcome.whole = permuted(shape, call, read, size);
      break;
    case Kind::kBroadcast:
    case Kind::kScatter:
      outcome.whole = *read[0].result();
      break;
    case Kind::kBarrier:
      MILLRACE_CHECK(false, "a call without arrays has no outcome");
  }
  return outcome;
}

}  // namespace millrace::collectives
