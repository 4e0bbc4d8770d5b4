#include "millrace/collectives/exchange.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::HostArray;
using devices::Shape;
using Kind = CollectiveCall::Kind;

// A written buffer as a host array: in place where the host can see it, else a copy. Where looking
// may block, the device's own thread looks.
Future<HostArray> host_array(const Device& device, const Buffer& buffer) {
  if (device.client().calls_may_block()) return device.fetch(buffer);
  if (auto access = buffer.host_access()) {
    return Future<HostArray>(HostArray(buffer.shape(), access->bytes, std::move(access->owner)));
  }
  return device.fetch(buffer);
}

// One of the parts that the first dimension is cut into.
Shape part_of(const Shape& whole, std::size_t parts) {
  std::array<std::int64_t, devices::kMaxRank> dims{};
  std::ranges::copy(whole.dims(), dims.begin());
  dims[0] /= static_cast<std::int64_t>(parts);
  return Shape(whole.dtype(), std::span(dims).first(whole.dims().size()));
}

// So many of one after the other; scalars become a vector.
Shape repeated(const Shape& one, std::size_t times) {
  const auto count = static_cast<std::int64_t>(times);
  if (one.rank() == 0) return Shape(one.dtype(), {count});
  std::array<std::int64_t, devices::kMaxRank> dims{};
  std::ranges::copy(one.dims(), dims.begin());
  dims[0] *= count;
  return Shape(one.dtype(), std::span(dims).first(one.dims().size()));
}

// What an exchange makes of one array: for each rank all of it, or its part, by rank.
struct Outcome {
  HostArray whole;
  bool in_parts = false;
  Shape shape = {};  // of what a rank gets

  devices::HostView view(std::size_t rank) const {
    const std::size_t begin = in_parts ? rank * shape.size_bytes() : 0;
    return {whole.bytes().data() + begin, shape, {}, whole.owner()};
  }
};

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

// read: one array of each rank that the call reads, in the order of readers_of().
Outcome compute(Parallel* parallel, const CollectiveCall& call, const Shape& shape, Arrays read,
                std::size_t size) {
  switch (call.kind) {
    case Kind::kAllReduce:
      return {reduced(parallel, call.op, shape, read), false, shape};
    case Kind::kReduceScatter:
      return {reduced(parallel, call.op, shape, read), true, part_of(shape, size)};
    case Kind::kAllGather:
    case Kind::kGather:
      return {concatenated(shape, read), false, repeated(shape, size)};
    case Kind::kAllToAll:
      return {transposed(shape, read), true, shape};
    case Kind::kCollectivePermute:
      return {permuted(shape, call, read, size), true, shape};
    case Kind::kScatter:
      return {*read[0].result(), true, part_of(shape, size)};
    case Kind::kBroadcast:
      return {*read[0].result(), false, shape};
    case Kind::kBarrier:
    case Kind::kSplit:
      break;
  }
  MILLRACE_CHECK(false, "a call without arrays has no exchange");
}

// The ranks whose arrays a call reads.
PooledVector<Rank> readers_of(const CollectiveCall& call, std::size_t size) {
  PooledVector<Rank> readers;
  if (call.kind == Kind::kCollectivePermute) {
    for (const RankPair& pair : call.pairs) readers.push_back(pair.source);
    return readers;
  }
  readers.reserve(size);
  for (int r = 0; r < static_cast<int>(size); ++r) {
    if (call.reads(Rank{r})) readers.push_back(Rank{r});
  }
  return readers;
}

// The first error of parts, with its rank in words and as a detail; `error` where no part has
// failed: an earlier step has.
template <class Parts, class RankOf>
Error blame(const Error& error, const Parts& parts, const RankOf& rank_of) {
  const auto failed =
      std::ranges::find_if(parts, [](const auto& part) { return !part.result().has_value(); });
  if (failed == parts.end()) return error;
  const Rank culprit{static_cast<int>(rank_of(static_cast<std::size_t>(failed - parts.begin())))};
  return failed->result()
      .error()
      .with_context(to_string(culprit))
      .with_detail(Culprits{Culprits::Kind::kFailed, {culprit}});
}

// One exchange from the ready inputs to the results.
class Exchange final : public RefCounted, public Pooled {
 public:
  Exchange(const Environment& environment, const CollectiveCall& call,
           std::span<const Device> devices, PooledVector<Buffers> inputs)
      : environment_(environment),
        call_(call),
        devices_(devices.begin(), devices.end()),
        readers_(readers_of(call, devices.size())),
        inputs_(std::move(inputs)) {}

  static Future<PooledVector<Buffers>> run(const Ref<Exchange>& self) {
    self->start_reading();
    Executor& compute_executor = *self->environment_.compute;
    return when_all(self->reading_)
        .then(compute_executor, [self](const Status& status) { return self->distribute(status); })
        .then(compute_executor, [self](const Status& status) { return self->collect(status); });
  }

 private:
  std::size_t arrays() const { return call_.shapes.size(); }

  void start_reading() {
    reading_.reserve(arrays() * readers_.size());
    for (std::size_t i = 0; i < arrays(); ++i) {
      for (const Rank rank : readers_)
        reading_.push_back(host_array(devices_[at(rank)], inputs_[at(rank)][i]));
    }
  }

  Future<void> distribute(const Status& status) {
    if (!status) {
      return blame(status.error(), reading_,
                   [this](std::size_t i) { return at(readers_[i % readers_.size()]); });
    }
    PooledVector<Outcome> outcomes;
    outcomes.reserve(arrays());
    for (std::size_t i = 0; i < arrays(); ++i) {
      const auto read = std::span(reading_).subspan(i * readers_.size(), readers_.size());
      outcomes.push_back(
          compute(environment_.parallel, call_, call_.shapes[i], read, devices_.size()));
    }
    putting_.reserve(devices_.size() * arrays());
    for (std::size_t r = 0; r < devices_.size(); ++r) {
      if (!call_.gives(Rank{static_cast<int>(r)})) continue;
      for (std::size_t i = 0; i < arrays(); ++i) {
        // A broadcast's root keeps what it has.
        const bool keeps = call_.kind == Kind::kBroadcast && r == at(call_.root);
        putting_.push_back(keeps ? Future<Buffer>(inputs_[r][i])
                                 : devices_[r].put(outcomes[i].view(r)));
      }
    }
    return when_all(putting_);
  }

  Result<PooledVector<Buffers>> collect(const Status& status) {
    const auto receiver = [this](std::size_t i) {
      return call_.kind == Kind::kGather ? at(call_.root) : i / arrays();
    };
    if (!status) return std::unexpected(blame(status.error(), putting_, receiver));
    PooledVector<Buffers> results(devices_.size());
    PooledVector<Buffer> buffers(arrays());
    for (std::size_t done = 0; done < putting_.size(); done += arrays()) {
      for (std::size_t i = 0; i < arrays(); ++i) buffers[i] = *putting_[done + i].result();
      results[receiver(done)] = Buffers(buffers);
    }
    return results;
  }

  const Environment environment_;
  const CollectiveCall call_;
  const PooledVector<Device> devices_;
  const PooledVector<Rank> readers_;
  const PooledVector<Buffers> inputs_;       // by rank
  PooledVector<Future<HostArray>> reading_;  // one array of every reader after the other
  PooledVector<Future<Buffer>> putting_;     // all arrays of one rank after the other
};

}  // namespace

Future<PooledVector<Buffers>> run_exchange(const Environment& environment,
                                           const CollectiveCall& call,
                                           std::span<const Device> devices,
                                           PooledVector<Buffers> inputs) {
  if (call.kind == Kind::kBarrier || call.kind == Kind::kSplit)
    return Future<PooledVector<Buffers>>(PooledVector<Buffers>(devices.size()));
  return Exchange::run(make_ref<Exchange>(environment, call, devices, std::move(inputs)));
}

}  // namespace millrace::collectives
