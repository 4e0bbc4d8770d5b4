#include "millrace/devices/cpu/client.h"

#include <algorithm>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/devices/cache/build_id.h"
#include "millrace/devices/cache/sha256.h"
#include "millrace/devices/cpu/buffer.h"
#include "millrace/devices/cpu/copy.h"
#include "millrace/devices/cpu/execution.h"
#include "millrace/devices/cpu/kernels/base/isa_level.h"
#include "millrace/devices/cpu/kernels/contraction/onednn.h"
#include "millrace/devices/cpu/serialized_program.h"
#include "millrace/devices/device_body.h"

namespace millrace::devices::cpu {
namespace {

// The n-th compilation of a digest in a process belongs to the n-th in the others.
// version: of what divides the program, which numbers what processes give each other.
std::string digest_of(const Program& program, const CompileOptions& options,
                      std::string_view version) {
  Sha256 hash;
  hash.add(version);
  hash.add(" " + std::to_string(options.replicas) + " " + std::to_string(options.partitions) + " " +
           std::to_string(options.processes) + (options.deterministic ? " d\n" : "\n"));
  hash.add(program.code());
  return to_hex(hash.finish());
}

LateArray late_array(const Shape& shape, CpuDevice& device, Ref<Block> block) {
  auto array = make_ref<CpuArray>();
  Buffer buffer(make_ref<CpuBuffer>(device, shape, array));
  return LateArray(std::move(buffer), std::move(array), std::move(block));
}

}  // namespace

CpuClient::CpuClient(CpuClientOptions options) : devices_(*this, std::move(options)) {
  for (const auto& device : devices_.all) {
    const int memory = static_cast<int>(infos_.size());
    infos_.push_back({.id = device->id(), .kind = "cpu", .memories = {memory}});
    memories_.push_back({.id = memory, .kind = "device", .devices = {device->id()}});
  }
}

CpuClient::~CpuClient() {
  MILLRACE_CHECK(devices_.scope.holders() == 0, "a CPU client goes after its launches and copies");
  for (const auto& device : devices_.all) device->end_life();
}

Result<std::vector<CpuDevice*>> CpuClient::find_devices(const Program& program,
                                                        const CompileOptions& options) const {
  std::vector<CpuDevice*> found;
  const auto all = static_cast<std::int64_t>(options.replicas) * std::int64_t{options.partitions};
  std::string what = program.name() + " is for " + std::to_string(options.replicas) +
                     " replicas of " + std::to_string(options.partitions) + " partitions";
  if (options.replicas < 1 || options.partitions < 1)
    return fail(ErrorCode::kInvalidArgument, what + ": there is at least one of each");
  if (options.processes != 1) what += " on " + std::to_string(options.processes) + " processes";
  if (options.processes < 1 || all % options.processes != 0) {
    return fail(ErrorCode::kInvalidArgument,
                what + ": each process has as many of the " + std::to_string(all) + " devices");
  }
  const std::int64_t wanted = all / options.processes;
  const std::string takes = options.processes > 1
                                ? ", which takes " + std::to_string(wanted) + " devices of each; "
                                : ", which takes " + std::to_string(wanted) + " devices; ";
  if (options.on_any_one() || (all == 1 && options.devices.empty())) return found;
  if (wanted > std::ssize(devices_.all)) {
    return fail(ErrorCode::kInvalidArgument,
                what + takes + "the CPU client has " + std::to_string(devices_.all.size()));
  }
  if (static_cast<std::int64_t>(options.devices.size()) != wanted) {
    return fail(ErrorCode::kInvalidArgument, what + takes + "CompileOptions::devices names " +
                                                 std::to_string(options.devices.size()));
  }
  for (const DeviceId id : options.devices) {
    MILLRACE_TRY(CpuDevice* const device, devices_.find(id));
    if (std::ranges::find(found, device) != found.end()) {
      return fail(ErrorCode::kInvalidArgument, what +
                                                   ", and CompileOptions::devices names device " +
                                                   std::to_string(index(id)) + " twice");
    }
    found.push_back(device);
  }
  return found;
}

Result<Executable> CpuClient::make(const Program& program, const CompileOptions& options,
                                   const KernelChoices* chosen) {
  MILLRACE_TRY(std::vector<CpuDevice*> found, find_devices(program, options));
  CompileContext context{.chosen = chosen};
  Ref<ProgramLink> link;
  // It is there before anything can fail: the others hear of the end of this one.
  if (options.processes > 1) {
    MILLRACE_TRY(CollectiveBackend* const others, find_processes(program, options.processes));
    context.process = others->process();
    MILLRACE_TRY(link,
                 others->open(program.name(), digest_of(program, options, platform_version())));
  }
  Result<std::shared_ptr<const Compiled>> compiled =
      devices_.options.compile(program, options, context);
  if (!compiled)
    return std::unexpected(compiled.error().with_context("cannot compile " + program.name()));
  MILLRACE_CHECK(found.size() < 2 || (*compiled)->device_parts() != nullptr,
                 "a program for several devices says what is whose");
  return Executable(
      make_ref<CpuExecutable>(devices_, program, std::move(*compiled),
                              CpuExecutable::Options{.replicas = options.replicas,
                                                     .partitions = options.partitions,
                                                     .devices = std::move(found),
                                                     .deterministic = options.deterministic,
                                                     .link = std::move(link)}));
}

Result<CollectiveBackend*> CpuClient::find_processes(const Program& program, int wanted) const {
  CollectiveBackend* others = nullptr;
  if (devices_.options.processes) {
    MILLRACE_TRY(others, devices_.options.processes());
  }
  const int there = others == nullptr ? 1 : others->processes();
  if (there == wanted) return others;
  return fail(ErrorCode::kInvalidArgument,
              program.name() + " spans " + std::to_string(wanted) + " processes; the job has " +
                  std::to_string(there) + (others == nullptr ? " (millrace launch -n N)" : ""));
}

Result<Executable> CpuClient::compile(const Program& program, const CompileOptions& options) {
  return make(program, options, nullptr);
}

Result<Executable> CpuClient::load(std::string_view serialized) {
  MILLRACE_TRY(const SerializedProgram read, SerializedProgram::parse(serialized));
  const Program program = Program::from_text(std::string(read.code), "a loaded program");
  CompileOptions options;
  options.deterministic = read.deterministic;
  options.replicas = read.replicas;
  options.partitions = read.partitions;
  if (!read.devices.empty()) {
    options.portable = false;
    options.devices = ListOf<DeviceId>(read.devices);
    options.processes = static_cast<int>(static_cast<std::int64_t>(read.replicas) *
                                         read.partitions / std::ssize(read.devices));
  }
  return make(program, options, read.compiler == compiler_digest(*this) ? &read.choices : nullptr);
}

Result<Executable> CpuClient::load_compiled(std::string_view serialized, const Program& program,
                                            const CompileOptions& options) {
  // Nothing is chosen by measuring, and each compilation of it meets those of other processes.
  if (options.processes > 1) return compile(program, options);
  MILLRACE_TRY(const SerializedProgram read, SerializedProgram::parse(serialized));
  if (read.compiler != compiler_digest(*this) || read.code != program.code() ||
      read.deterministic != options.deterministic || read.replicas != options.replicas ||
      read.partitions != options.partitions) {
    return fail(ErrorCode::kDataLoss,
                "what was kept of " + program.name() + " is another program or compilation");
  }
  return make(program, options, &read.choices);
}

// Choices of kernels hold for what was measured.
std::string CpuClient::compiler_identity() const {
  static const std::string identity =
      std::string("the CPU device of Millrace\n") +
      build_of(reinterpret_cast<const void*>(&SerializedProgram::parse)) + "\n" + onednn_version() +
      "\n" + std::to_string(static_cast<int>(isa_level())) + "\n" + host_processor();
  return identity;
}

Client::PutMemorySource CpuClient::put_memory(DeviceId device) {
  return [pool = Ref<MemoryPool>::share(&devices_.find(device).value()->memory())](
             const Shape& shape) -> Result<PutMemory> {
    MILLRACE_TRY(Ref<Block> block, pool->allocate(shape.size_bytes()));
    const std::span<const std::byte> bytes(block->data(), shape.size_bytes());
    return PutMemory{HostArray(shape, bytes, make_owner(std::move(block))),
                     HostBufferSemantics::kPutMemory};
  };
}

Result<PutResult> CpuClient::put(const HostView& view, HostBufferSemantics semantics,
                                 DeviceId device, int memory) {
  MILLRACE_TRY(CpuDevice* const target, devices_.find(device, memory));
  MILLRACE_TRY_STATUS(check(view));
  MILLRACE_TRY_STATUS(target->alive());
  Scope::Hold hold = devices_.scope.hold();
  if (!hold) return std::unexpected(devices_.scope.closed_error());
  auto array = make_ref<CpuArray>();
  Buffer buffer(make_ref<CpuBuffer>(*target, view.shape, array));
  if (semantics == HostBufferSemantics::kPutMemory) {
    Ref<Block> given = block_of(view.owner);
    if (!given) return fail(ErrorCode::kInvalidArgument, "a put of memory that no device gave");
    CpuArray::write(std::move(array), std::move(given));
    return PutResult{std::move(buffer), {}};
  }
  const bool aligned = reinterpret_cast<std::uintptr_t>(view.data) % kInputAlignment == 0;
  if (semantics >= HostBufferSemantics::kImmutableZeroCopy && aligned && is_dense(view)) {
    Promise<void> released;
    Future<void> source_released = released.future();
    const bool writable = semantics == HostBufferSemantics::kMutableZeroCopy;
    CpuArray::write(std::move(array),
                    Block::borrow(const_cast<void*>(view.data), view.shape.size_bytes(), writable,
                                  view.owner, std::move(released)));
    return PutResult{std::move(buffer), std::move(source_released)};
  }
  const bool during_call = semantics == HostBufferSemantics::kImmutableOnlyDuringCall;
  Future<void> released = copy_in(*target, std::move(hold), view, std::move(array), during_call);
  return PutResult{std::move(buffer), std::move(released)};
}

Result<CpuDevice*> CpuClient::find_open(DeviceId device) {
  MILLRACE_TRY(CpuDevice* const target, devices_.find(device));
  MILLRACE_TRY_STATUS(target->alive());
  if (devices_.scope.closing()) return std::unexpected(devices_.scope.closed_error());
  return target;
}

Result<LateArray> CpuClient::make_late(const Shape& shape, DeviceId device) {
  MILLRACE_TRY(CpuDevice* const target, find_open(device));
  MILLRACE_TRY(Ref<Block> block, target->memory().allocate(shape.size_bytes()));
  return late_array(shape, *target, std::move(block));
}

Result<LateArray> CpuClient::make_alias(const Shape& shape, DeviceId device) {
  MILLRACE_TRY(CpuDevice* const target, find_open(device));
  return late_array(shape, *target, nullptr);
}

Result<Buffer> CpuClient::copy(const Buffer& source, DeviceId device, int memory) {
  MILLRACE_TRY(CpuDevice* const target, devices_.find(device, memory));
  if (&source.body()->client() != this) {
    return fail(ErrorCode::kInvalidArgument, "a copy of " + source.shape().to_string() +
                                                 " from another client: fetch and put it");
  }
  Ref<CpuArray> from = static_cast<const CpuBuffer&>(*source.body()).array();
  if (!from) {
    return fail(ErrorCode::kFailedPrecondition, "a copy of " + source.shape().to_string() +
                                                    ", which was donated or removed before");
  }
  MILLRACE_TRY_STATUS(target->alive());
  Scope::Hold hold = devices_.scope.hold();
  if (!hold) return std::unexpected(devices_.scope.closed_error());
  auto array = make_ref<CpuArray>();
  Buffer buffer(make_ref<CpuBuffer>(*target, source.shape(), array));
  copy_across(*target, std::move(hold), std::move(from), std::move(array));
  return buffer;
}

Result<MemoryStats> CpuClient::memory_stats(DeviceId device) const {
  MILLRACE_TRY(const CpuDevice* const found, devices_.find(device));
  return found->memory().stats();
}

Status CpuClient::clear_memory_stats(DeviceId device) {
  MILLRACE_TRY(CpuDevice* const found, devices_.find(device));
  found->memory().clear_peak();
  return {};
}

std::optional<Duration> CpuClient::busy_time(DeviceId device) const {
  const Result<CpuDevice*> found = devices_.find(device);
  return found ? std::optional((*found)->busy()) : std::nullopt;
}

Future<void> CpuClient::failed(DeviceId device) const {
  const Result<CpuDevice*> found = devices_.find(device);
  return found ? (*found)->failed() : Future<void>();
}

Status CpuClient::kill(DeviceId device, const Error& cause) {
  MILLRACE_TRY(CpuDevice* const target, devices_.find(device));
  // What the device was doing fails with the same fact as what its actor refuses later.
  const Error failure =
      cause.with_detail(DeviceFailure{device, cause, devices_.options.clock->now()});
  target->kill(failure);
  devices_.process_launches.interrupt();
  devices_.gathering.give_up(*target,
                             failure.with_context("CPU device " + std::to_string(index(device)) +
                                                  " of a launch has failed"));
  return {};
}

Status CpuClient::restart(DeviceId device) {
  MILLRACE_TRY(CpuDevice* const target, devices_.find(device));
  if (devices_.scope.closing()) return std::unexpected(devices_.scope.closed_error());
  return target->restart();
}

Future<void> CpuClient::close() {
  for (const auto& device : devices_.all) device->end_life();
  Future<void> closed = devices_.scope.close();
  devices_.gathering.give_up_all(
      Error(ErrorCode::kUnavailable,
            "the CPU client was closed before all devices of a launch had been called"));
  return closed;
}

}  // namespace millrace::devices::cpu
