#include "millrace/collectives/exchange.h"

#include <cstring>

#include "millrace/core/combinators.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::HostArray;
using devices::Shape;
using Kind = CollectiveCall::Kind;

std::size_t at(Rank rank) { return static_cast<std::size_t>(index(rank)); }

// A written buffer as a host array: in place where the host can see it, else a copy.
Future<HostArray> host_array(const Device& device, const Buffer& buffer) {
  if (auto access = buffer.host_access()) {
    return Future<HostArray>(HostArray(buffer.shape(), access->bytes, std::move(access->owner)));
  }
  return device.fetch(buffer);
}

Shape gathered(const Shape& one, int ranks) {
  if (one.rank() == 0) return Shape(one.dtype(), {ranks});
  std::vector<std::int64_t> dims(one.dims().begin(), one.dims().end());
  dims[0] *= ranks;
  return Shape(one.dtype(), dims);
}

// arrays[i][r]: array i of rank r; only the root's for a broadcast. The result has one host array
// per array.
std::vector<HostArray> compute(const CollectiveCall& call,
                               const std::vector<std::vector<HostArray>>& arrays) {
  std::vector<HostArray> results;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::vector<HostArray>& ranks = arrays[i];
    if (call.kind == Kind::kBroadcast) {
      results.push_back(ranks[0]);
      continue;
    }
    const bool gather = call.kind == Kind::kAllGather;
    HostArray out = HostArray::make(
        gather ? gathered(call.shapes[i], static_cast<int>(ranks.size())) : call.shapes[i]);
    std::vector<const std::byte*> inputs;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto bytes = ranks[r].bytes();
      inputs.push_back(bytes.data());
      if (gather && !bytes.empty()) {
        std::memcpy(out.mutable_bytes().data() + r * bytes.size(), bytes.data(), bytes.size());
      }
    }
    if (!gather) reduce(call.op, call.shapes[i].dtype(), inputs, out.mutable_bytes());
    results.push_back(std::move(out));
  }
  return results;
}

// The failure of one rank's device, with the rank for people and for programs.
Error blame(const Error& error, std::size_t rank) {
  const Rank culprit{static_cast<int>(rank)};
  return error.with_context(to_string(culprit))
      .with_detail(Culprits{Culprits::Kind::kFailed, {culprit}});
}

// One exchange from the ready inputs to the results.
class Exchange {
 public:
  Exchange(const Environment& environment, CollectiveCall call, std::vector<Device> devices,
           std::vector<Buffers> inputs)
      : environment_(environment),
        call_(std::move(call)),
        devices_(std::move(devices)),
        inputs_(std::move(inputs)) {}

  static Future<std::vector<Buffers>> run(std::shared_ptr<Exchange> self) {
    self->start_reading();
    std::vector<Ref<AsyncValue>> cells;
    for (const auto& array : self->reading_) {
      for (const auto& rank : array) cells.emplace_back(rank.cell());
    }
    Executor& compute_executor = *self->environment_.compute;
    return when_all(cells)
        .then(compute_executor, [self](const Status& status) { return self->distribute(status); })
        .then(compute_executor, [self](const Status& status) { return self->collect(status); });
  }

 private:
  void start_reading() {
    for (std::size_t i = 0; i < call_.shapes.size(); ++i) {
      auto& array = reading_.emplace_back();
      if (call_.kind == Kind::kBroadcast) {
        array.push_back(host_array(devices_[at(call_.root)], inputs_[at(call_.root)][i]));
        continue;
      }
      for (std::size_t r = 0; r < devices_.size(); ++r)
        array.push_back(host_array(devices_[r], inputs_[r][i]));
    }
  }

  Future<void> distribute(const Status& status) {
    if (!status) return Future<void>(reading_error(status.error()));
    std::vector<std::vector<HostArray>> arrays(reading_.size());
    for (std::size_t i = 0; i < reading_.size(); ++i) {
      for (const auto& rank : reading_[i]) arrays[i].push_back(*rank.result());
    }
    const std::vector<HostArray> results = compute(call_, arrays);
    devices::PutOptions options;
    options.semantics = devices::HostBufferSemantics::kImmutableZeroCopy;
    std::vector<Ref<AsyncValue>> cells;
    for (std::size_t r = 0; r < devices_.size(); ++r) {
      auto& rank = putting_.emplace_back();
      for (std::size_t i = 0; i < results.size(); ++i) {
        // A broadcast's root keeps what it has.
        const bool keeps = call_.kind == Kind::kBroadcast && r == at(call_.root);
        const HostArray& array = results[i];
        rank.push_back(
            keeps ? Future<Buffer>(inputs_[r][i])
                  : devices_[r].put({array.bytes().data(), array.shape(), {}, array.owner()},
                                    options));
        cells.emplace_back(rank.back().cell());
      }
    }
    return when_all(cells);
  }

  Result<std::vector<Buffers>> collect(const Status& status) {
    if (!status) return std::unexpected(putting_error(status.error()));
    std::vector<Buffers> results;
    for (const auto& rank : putting_) {
      std::vector<Buffer> buffers;
      for (const auto& put : rank) buffers.push_back(*put.result());
      results.emplace_back(buffers);
    }
    return results;
  }

  Error reading_error(const Error& error) const {
    for (const auto& array : reading_) {
      for (std::size_t r = 0; r < array.size(); ++r) {
        const bool root_only = call_.kind == Kind::kBroadcast;
        if (!array[r].result())
          return blame(array[r].result().error(), root_only ? at(call_.root) : r);
      }
    }
    return error;
  }
  Error putting_error(const Error& error) const {
    for (std::size_t r = 0; r < putting_.size(); ++r) {
      for (const auto& put : putting_[r]) {
        if (!put.result()) return blame(put.result().error(), r);
      }
    }
    return error;
  }

  const Environment environment_;
  const CollectiveCall call_;
  const std::vector<Device> devices_;
  const std::vector<Buffers> inputs_;
  std::vector<std::vector<Future<HostArray>>> reading_;
  std::vector<std::vector<Future<Buffer>>> putting_;
};

}  // namespace

Future<std::vector<Buffers>> run_exchange(const Environment& environment,
                                          const CollectiveCall& call,
                                          const std::vector<Device>& devices,
                                          std::vector<Buffers> inputs) {
  if (call.kind == Kind::kBarrier)
    return Future<std::vector<Buffers>>(std::vector<Buffers>(devices.size()));
  return Exchange::run(std::make_shared<Exchange>(environment, call, devices, std::move(inputs)));
}

}  // namespace millrace::collectives
