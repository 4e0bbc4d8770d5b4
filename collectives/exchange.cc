#include "millrace/collectives/exchange.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/collectives/parcels.h"
#include "millrace/core/async/combinators.h"
#include "millrace/devices/operation.h"

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

// The ranks of this process whose arrays a call reads; those of a permute in the order of its
// pairs.
PooledVector<Rank> readers_of(const CollectiveCall& call, int first, int count) {
  PooledVector<Rank> readers;
  if (call.kind == Kind::kCollectivePermute) {
    for (const RankPair& pair : call.pairs) {
      if (index(pair.source) >= first && index(pair.source) < first + count)
        readers.push_back(pair.source);
    }
    return readers;
  }
  readers.reserve(static_cast<std::size_t>(count));
  for (int r = first; r < first + count; ++r) {
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
  const Rank culprit = rank_of(static_cast<std::size_t>(failed - parts.begin()));
  return failed->result()
      .error()
      .with_context(to_string(culprit))
      .with_detail(Culprits{Culprits::Kind::kFailed, {culprit}});
}

// One exchange from the ready inputs to the results.
class Exchange final : public RefCounted, public Pooled {
 public:
  Exchange(const Environment& environment, const CollectiveCall& call,
           std::span<const Device> devices, PooledVector<Buffers> inputs, const FarRanks& far)
      : environment_(environment),
        call_(call),
        devices_(devices.begin(), devices.end()),
        far_(far),
        first_(far.wire ? far.wire->first_rank() : 0),
        readers_(readers_of(call, first_, static_cast<int>(devices.size()))),
        inputs_(std::move(inputs)) {}

  static Future<PooledVector<Buffers>> run(const Ref<Exchange>& self) {
    self->start_reading();
    Executor& compute = *self->environment_.compute;
    // Between processes the steps of a brief call run where the one before ends: on the caller's
    // thread up to the wire, then on the mesh's.
    Executor& next = self->far_.wire && self->is_brief() ? inline_executor() : compute;
    Future<void> read = when_all(self->reading_);
    if (self->far_.wire) {
      Executor& here = read.ready() ? next : compute;
      read = read.then(here, [self](const Status& status) { return self->meet_far(status); });
    }
    return read.then(next, [self](const Status& status) { return self->distribute(status); })
        .then(next, [self](const Status& status) { return self->collect(status); });
  }

 private:
  std::size_t arrays() const { return call_.shapes.size(); }
  // Its place among the ranks of this process.
  std::size_t place(Rank rank) const { return static_cast<std::size_t>(index(rank) - first_); }
  Rank rank_at(std::size_t place) const { return Rank{first_ + static_cast<int>(place)}; }

  // The mesh's thread may put its results, which takes less than to wake a thread of the pool.
  bool is_brief() const {
    std::size_t bytes = 0;
    for (const Shape& shape : call_.shapes) bytes += shape.size_bytes();
    return bytes <= devices::Operation::kShortBytes;
  }
  void start_reading() {
    reading_.reserve(arrays() * readers_.size());
    for (std::size_t i = 0; i < arrays(); ++i) {
      for (const Rank rank : readers_)
        reading_.push_back(host_array(devices_[place(rank)], inputs_[place(rank)][i]));
    }
  }

  Status blamed_read(const Status& status) const {
    return std::unexpected(blame(status.error(), reading_,
                                 [this](std::size_t i) { return readers_[i % readers_.size()]; }));
  }

  // With the other processes.
  Future<void> meet_far(const Status& status) {
    if (!status) return blamed_read(status).error();
    far_inputs_.resize(arrays() * devices_.size());
    for (std::size_t k = 0; k < reading_.size(); ++k) {
      const std::size_t array = k / readers_.size();
      far_inputs_[array * devices_.size() + place(readers_[k % readers_.size()])] =
          *reading_[k].result();
    }
    auto parcels =
        make_parcels(call_, far_.wire->spread(), far_.wire->self(), std::span(far_inputs_));
    if (!parcels) return parcels.error();
    outcomes_ = std::move(parcels->outcomes);
    kept_ = std::move(parcels->kept);
    return far_.wire->run({far_.sequence, call_, std::move(parcels->runs)});
  }

  Future<void> distribute(const Status& status) {
    if (!status) return far_.wire ? status.error() : blamed_read(status).error();
    if (!far_.wire) {
      outcomes_.reserve(arrays());
      for (std::size_t i = 0; i < arrays(); ++i) {
        const auto read = std::span(reading_).subspan(i * readers_.size(), readers_.size());
        outcomes_.push_back(
            compute_outcome(environment_.parallel, call_, call_.shapes[i], read, devices_.size()));
      }
    }
    putting_.reserve(devices_.size() * arrays());
    for (std::size_t d = 0; d < devices_.size() && arrays() > 0; ++d) {
      if (!call_.gives(rank_at(d))) continue;
      receivers_.push_back(d);
      // A broadcast's root keeps what it has.
      const bool keeps = call_.kind == Kind::kBroadcast && rank_at(d) == call_.root;
      for (std::size_t i = 0; i < arrays(); ++i)
        putting_.push_back(keeps ? Future<Buffer>(inputs_[d][i])
                                 : devices_[d].put(outcomes_[i].view(d)));
    }
    return when_all(putting_);
  }

  Result<PooledVector<Buffers>> collect(const Status& status) {
    if (!status) {
      const auto receiver = [this](std::size_t i) { return rank_at(receivers_[i / arrays()]); };
      return std::unexpected(blame(status.error(), putting_, receiver));
    }
    PooledVector<Buffers> results(devices_.size());
    PooledVector<Buffer> buffers(arrays());
    for (std::size_t k = 0; k < receivers_.size(); ++k) {
      for (std::size_t i = 0; i < arrays(); ++i) buffers[i] = *putting_[k * arrays() + i].result();
      results[receivers_[k]] = Buffers(buffers);
    }
    return results;
  }

  const Environment environment_;
  const CollectiveCall call_;
  const PooledVector<Device> devices_;
  const FarRanks far_;
  const int first_;  // rank of the first device
  const PooledVector<Rank> readers_;
  const PooledVector<Buffers> inputs_;       // by device
  PooledVector<Future<HostArray>> reading_;  // one array of every reader after the other
  PooledVector<HostArray> far_inputs_;       // the same, of all devices
  PooledVector<HostArray> kept_;
  PooledVector<Outcome> outcomes_;        // by array
  PooledVector<std::size_t> receivers_;   // devices that get results
  PooledVector<Future<Buffer>> putting_;  // all arrays of one receiver after the other
};

// A rank that is alone in its group gets what it gave; not where shapes differ, or of a permute,
// which may have no pair.
bool keeps_inputs(const CollectiveCall& call) {
  return call.kind != Kind::kCollectivePermute &&
         std::ranges::all_of(call.shapes, [&](const Shape& shape) {
           return outcome_of(call, shape, 1).shape == shape;
         });
}

}  // namespace

Future<PooledVector<Buffers>> run_exchange(const Environment& environment,
                                           const CollectiveCall& call,
                                           std::span<const Device> devices,
                                           PooledVector<Buffers> inputs, const FarRanks& far) {
  if (call.kind == Kind::kBarrier && !far.wire)
    return Future<PooledVector<Buffers>>(PooledVector<Buffers>(devices.size()));
  if (devices.size() == 1 && !far.wire && keeps_inputs(call))
    return Future<PooledVector<Buffers>>(std::move(inputs));
  return Exchange::run(make_ref<Exchange>(environment, call, devices, std::move(inputs), far));
}

Future<Numbers> run_exchange(const CollectiveCall& call, std::span<const HostArray> inputs,
                             const FarRanks& far) {
  const std::vector<int> alone = {static_cast<int>(inputs.size())};
  const Spread spread = far.wire ? far.wire->spread() : Spread(alone);
  auto made = make_parcels(call, spread, far.wire ? far.wire->self() : 0, inputs);
  if (!made) return made.error();
  const auto outcome = made->outcomes[0];
  const auto result = [call, outcome, kept = PooledVector<HostArray>(inputs.begin(), inputs.end())](
                          const Status& status) -> Result<Numbers> {
    if (!status) return std::unexpected(status.error());
    return numbers_of(call, outcome.whole.bytes());
  };
  if (!far.wire) {
    made->runs[0].advance();  // to its end: it needs no other process
    return Future<Numbers>(result(Status()));
  }
  return far.wire->run({far.sequence, call, std::move(made->runs)}).then(inline_executor(), result);
}

}  // namespace millrace::collectives
