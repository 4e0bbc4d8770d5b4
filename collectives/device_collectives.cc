#include "millrace/collectives/device_collectives.h"

#include <algorithm>
#include <utility>

#include "millrace/collectives/collective_program.h"
#include "millrace/collectives/exchange.h"
#include "millrace/core/async/combinators.h"
#include "millrace/devices/device_body.h"

namespace millrace::collectives {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::Executable;
using Kind = CollectiveCall::Kind;
using Devices = std::vector<Device>;
using Results = PooledVector<Buffers>;

// A group makes few kinds of calls; one that makes many compiles some of them again.
constexpr std::size_t kMaxPrograms = 64;

// The error with the rank whose device has failed, if that is the reason.
Error blame(const Error& error, const Devices& devices) {
  const auto* failure = error.detail<devices::DeviceFailure>();
  if (failure == nullptr) return error;
  const auto failed = std::ranges::find(devices, failure->device, &Device::id);
  if (failed == devices.end()) return error;
  const Rank rank{static_cast<int>(failed - devices.begin())};
  return error.with_context(to_string(rank)).with_detail(Culprits{Culprits::Kind::kFailed, {rank}});
}

Future<Results> launch(const Executable& program, const CollectiveCall& call,
                       const std::shared_ptr<const Devices>& devices, const Results& inputs) {
  std::vector<std::vector<devices::Argument>> arguments(devices->size());
  std::vector<std::span<const devices::Argument>> views;
  for (std::size_t d = 0; d < devices->size(); ++d) {
    arguments[d].assign(inputs[d].begin(), inputs[d].end());
    views.emplace_back(arguments[d]);
  }
  return launch_spanning(*devices, program, views)
      .then(inline_executor(), [call, devices](const Result<Buffers>& outputs) -> Result<Results> {
        if (!outputs) return std::unexpected(blame(outputs.error(), *devices));
        const std::size_t arrays = call.shapes.size();
        Results results(devices->size());
        for (std::size_t d = 0; d < devices->size(); ++d) {
          if (!call.gives(Rank{static_cast<int>(d)})) continue;
          results[d] = Buffers(std::span(outputs->begin() + d * arrays, arrays));
        }
        return results;
      });
}

}  // namespace

std::unique_ptr<DeviceCollectives> DeviceCollectives::make(const Environment& environment,
                                                           std::span<const Device> devices) {
  if (devices.size() < 2) return nullptr;
  const devices::Client* const client = &devices[0].client();
  if (!client->calls_may_block() || client->platform_name() == "cpu") return nullptr;
  if (!std::ranges::all_of(devices, [&](const Device& d) { return &d.client() == client; }))
    return nullptr;
  return std::make_unique<DeviceCollectives>(environment, devices);
}

DeviceCollectives::DeviceCollectives(const Environment& environment,
                                     std::span<const Device> devices)
    : environment_(environment),
      devices_(std::make_shared<const Devices>(devices.begin(), devices.end())) {}

Future<void> DeviceCollectives::compiled() const {
  std::vector<Future<Executable>> programs;
  for (const auto& [key, program] : programs_) programs.push_back(program);
  return when_all(programs).then(inline_executor(), [](const Status&) { return Status(); });
}

Future<Executable> DeviceCollectives::program_of(const CollectiveCall& call) {
  const std::uint64_t key = fingerprint(call);
  const auto known = programs_.find(key);
  if (known != programs_.end()) return known->second;
  std::optional<devices::Program> program =
      collective_program(call, static_cast<int>(devices_->size()));
  if (!program) return Future<Executable>(Executable());
  auto compile = [devices = devices_, program = std::move(*program)](const Status&) {
    devices::CompileOptions options;
    options.replicas = static_cast<int>(devices->size());
    options.portable = false;
    std::vector<devices::DeviceId> ids;
    for (const Device& device : *devices) ids.push_back(device.id());
    options.devices = ids;
    Result<Executable> compiled = devices->front().client().compile(program, options);
    return compiled ? compiled : Result<Executable>(Executable());  // the host does it
  };
  // Those under way are waited for (compiled()), so they stay.
  if (programs_.size() >= kMaxPrograms)
    std::erase_if(programs_, [](const auto& entry) { return entry.second.ready(); });
  Future<Executable> compiled = make_ready().then(*environment_.blocking, std::move(compile));
  programs_.emplace(key, compiled);
  return compiled;
}

Future<Results> DeviceCollectives::broadcast(const CollectiveCall& call, Results inputs) const {
  const auto root = static_cast<std::size_t>(index(call.root));
  PooledVector<Future<Buffer>> copies;
  copies.reserve(devices_->size() * call.shapes.size());
  for (std::size_t d = 0; d < devices_->size(); ++d) {
    for (std::size_t i = 0; i < call.shapes.size(); ++i) {
      copies.push_back(d == root ? Future<Buffer>(inputs[root][i])
                                 : (*devices_)[d].copy_from(inputs[root][i]));
    }
  }
  const Future<void> all = when_all(copies);
  return all.then(inline_executor(),
                  [call, devices = devices_,
                   copies = std::move(copies)](const Status& status) -> Result<Results> {
                    if (!status) return std::unexpected(blame(status.error(), *devices));
                    const std::size_t arrays = call.shapes.size();
                    Results results(devices->size());
                    PooledVector<Buffer> buffers(arrays);
                    for (std::size_t d = 0; d < devices->size(); ++d) {
                      for (std::size_t i = 0; i < arrays; ++i)
                        buffers[i] = *copies[d * arrays + i].result();
                      results[d] = Buffers(buffers);
                    }
                    return results;
                  });
}

Future<Results> DeviceCollectives::run(const CollectiveCall& call, Results inputs) {
  if (call.kind == Kind::kBroadcast) return broadcast(call, std::move(inputs));
  const Future<Executable> program = program_of(call);
  auto& executor = program.ready() ? inline_executor() : *environment_.compute;
  return program.then(executor, [environment = environment_, call, devices = devices_,
                                 inputs = std::move(inputs)](const Result<Executable>& found) {
    if (!found) return Future<Results>(found.error());
    if (!*found) return run_exchange(environment, call, *devices, inputs);
    return launch(*found, call, devices, inputs);
  });
}

}  // namespace millrace::collectives
