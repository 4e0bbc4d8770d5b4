#include "millrace/collectives/exchange.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "millrace/core/async/combinators.h"

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

Shape gathered(const Shape& one, std::size_t ranks) {
  const auto count = static_cast<std::int64_t>(ranks);
  if (one.rank() == 0) return Shape(one.dtype(), {count});
  std::array<std::int64_t, devices::kMaxRank> dims{};
  std::ranges::copy(one.dims(), dims.begin());
  dims[0] *= count;
  return Shape(one.dtype(), std::span(dims).first(one.dims().size()));
}

// ranks[r]: one array of each rank; only the root's for a broadcast.
HostArray compute(Parallel* parallel, const CollectiveCall& call, const Shape& shape,
                  std::span<const Future<HostArray>> ranks) {
  if (call.kind == Kind::kBroadcast) return *ranks[0].result();
  const bool gather = call.kind == Kind::kAllGather;
  HostArray out = HostArray::make_unwritten(gather ? gathered(shape, ranks.size()) : shape);
  PooledVector<const std::byte*> inputs;
  inputs.reserve(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto bytes = ranks[r].result()->bytes();
    inputs.push_back(bytes.data());
    if (gather && !bytes.empty()) {
      std::memcpy(out.mutable_bytes().data() + r * bytes.size(), bytes.data(), bytes.size());
    }
  }
  if (!gather) reduce(call.op, shape.dtype(), inputs, out.mutable_bytes(), parallel);
  return out;
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
  bool root_only() const { return call_.kind == Kind::kBroadcast; }
  // From how many ranks each array is read.
  std::size_t readers() const { return root_only() ? 1 : devices_.size(); }

  void start_reading() {
    reading_.reserve(arrays() * readers());
    for (std::size_t i = 0; i < arrays(); ++i) {
      for (std::size_t r = 0; r < readers(); ++r) {
        const std::size_t rank = root_only() ? at(call_.root) : r;
        reading_.push_back(host_array(devices_[rank], inputs_[rank][i]));
      }
    }
  }

  Future<void> distribute(const Status& status) {
    if (!status) {
      return blame(status.error(), reading_,
                   [this](std::size_t i) { return root_only() ? at(call_.root) : i % readers(); });
    }
    PooledVector<HostArray> results;
    results.reserve(arrays());
    for (std::size_t i = 0; i < arrays(); ++i) {
      results.push_back(compute(environment_.parallel, call_, call_.shapes[i],
                                std::span(reading_).subspan(i * readers(), readers())));
    }
    putting_.reserve(devices_.size() * arrays());
    for (std::size_t r = 0; r < devices_.size(); ++r) {
      for (std::size_t i = 0; i < arrays(); ++i) {
        // A broadcast's root keeps what it has.
        const bool keeps = root_only() && r == at(call_.root);
        const HostArray& array = results[i];
        putting_.push_back(
            keeps ? Future<Buffer>(inputs_[r][i])
                  : devices_[r].put({array.bytes().data(), array.shape(), {}, array.owner()}));
      }
    }
    return when_all(putting_);
  }

  Result<PooledVector<Buffers>> collect(const Status& status) {
    if (!status)
      return std::unexpected(
          blame(status.error(), putting_, [this](std::size_t i) { return i / arrays(); }));
    PooledVector<Buffers> results;
    results.reserve(devices_.size());
    PooledVector<Buffer> buffers(arrays());
    for (std::size_t r = 0; r < devices_.size(); ++r) {
      for (std::size_t i = 0; i < arrays(); ++i) buffers[i] = *putting_[r * arrays() + i].result();
      results.emplace_back(buffers);
    }
    return results;
  }

  const Environment environment_;
  const CollectiveCall call_;
  const PooledVector<Device> devices_;
  const PooledVector<Buffers> inputs_;       // by rank
  PooledVector<Future<HostArray>> reading_;  // one array of every reader after the other
  PooledVector<Future<Buffer>> putting_;     // all arrays of one rank after the other
};

}  // namespace

Future<PooledVector<Buffers>> run_exchange(const Environment& environment,
                                           const CollectiveCall& call,
                                           std::span<const Device> devices,
                                           PooledVector<Buffers> inputs) {
  if (call.kind == Kind::kBarrier)
    return Future<PooledVector<Buffers>>(PooledVector<Buffers>(devices.size()));
  return Exchange::run(make_ref<Exchange>(environment, call, devices, std::move(inputs)));
}

}  // namespace millrace::collectives
