// Client: what a backend implements: the embedded CPU device, any PJRT plugin, the scripted sim.
// One client has several devices and memories. Calls return handles at once where the backend can.
// A call may block where a plugin blocks: so the operation that has a device's seat makes the calls
// of that device (device_actor.h), and threads that may block make the others. The interface has
// the shape of the PJRT C API, so that a plugin fits behind it without loss.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/parallel_for.h"
#include "millrace/core/base/braced.h"
#include "millrace/core/base/check.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/program.h"
#include "millrace/devices/shape.h"

namespace millrace::devices {

class Client;
class ProcessLaunch;  // collective_backend.h

using Attribute = std::variant<std::string, bool, std::int64_t, std::vector<std::int64_t>, double>;
using Attributes = std::map<std::string, Attribute>;

// How long the close of a client takes that was given close_timeout: half of it again, for what it
// kills then.
constexpr Duration longest_close(Duration close_timeout) { return close_timeout * 3 / 2; }

struct MemoryInfo {
  int id = 0;
  std::string kind = {};  // "device", "pinned_host", ...
  std::vector<DeviceId> devices =
      {};  // that can address it; the first memory of a device is its default
};

struct DeviceInfo {
  DeviceId id{};
  int process = 0;
  std::string kind = {};           // "cpu", "NVIDIA H200", ...
  std::vector<int> memories = {};  // ids; the first is the default
  Attributes attributes = {};
};

// The threads of a device that computes on the host. Borrowed. executor runs programs and copies,
// parallel splits a program's kernels; the runtime gives each device its own or shares them.
struct DeviceThreads {
  Executor* executor = nullptr;
  Parallel* parallel = nullptr;
};

// Bytes of a device's default memory; nullopt where the backend does not report them.
struct MemoryStats {
  std::int64_t bytes_in_use = 0;
  std::optional<std::int64_t> peak_bytes_in_use = {};
  std::optional<std::int64_t> bytes_limit = {};
};

// What a backend may assume about the host bytes of a put (values of PJRT_HostBufferSemantics).
enum class HostBufferSemantics : int {
  kImmutableOnlyDuringCall = 0,          // copied before the call returns
  kImmutableUntilTransferCompletes = 1,  // stable until source_released
  kImmutableZeroCopy = 2,  // may be used in place; stable until source_released, which then
                           // comes when the buffer is freed
  kMutableZeroCopy = 3,    // as 2, and the device may write into it
  kPutMemory = 4,  // no value of PJRT's: memory that put_memory() gave, which the device keeps;
                   // source_released is empty
};

// Host bytes to be put on a device. byte_strides is empty for dense row-major data.
struct HostView {
  const void* data = nullptr;
  Shape shape = {};
  std::span<const std::int64_t> byte_strides = {};
  Braced<Owner> owner = {};  // kept for as long as the device may read them, where given
};

// What backends need to know about these bytes. Pure.
// kInvalidArgument for a missing pointer, an element type without bytes, or strides of another
// rank.
Status check(const HostView& view);
// True if the elements lie one after the other in row-major order (strides of dimensions of size
// one or of empty arrays do not matter).
bool is_dense(const HostView& view);
// Writes the elements, dense and row-major, to destination (view.shape.size_bytes() of them).
void copy_dense(const HostView& view, std::byte* destination);

struct PutResult {
  Buffer buffer = {};
  Future<void> source_released =
      {};  // a value: the host bytes may be reused or freed; an error: never
};

// One launch: arguments[d] are the inputs of the d-th device of the launch, in the program's order.
struct LaunchArguments {
  std::span<const DeviceId> devices = {};
  std::span<const std::span<const Buffer>> arguments = {};
  // Inputs that the program donates but this caller keeps (indices into the inputs); the backend
  // copies.
  std::span<const int> non_donatable = {};
  // Checked where the backend can, until done; what has begun may run on. Outputs that it cuts off
  // fail with stopped_error (launch_check.h).
  std::stop_token stop = {};
  TimePoint deadline = kNoDeadline;  // why stop was requested, once it has come
  std::uint64_t flow = 0;  // of the event that the backend records, if it does (TraceEvent::flow)
  bool awaited = false;    // ExecuteOptions
  // What reserve_launch() gave; the launch ends it if it was taken, the caller else.
  std::shared_ptr<ProcessLaunch> with_others = {};
};

// Per device of the launch: outputs exist as handles. ready() of each completes when it is written,
// which may be long before done: the device has finished the program and reads its inputs no more.
struct LaunchResult {
  Buffers outputs = {};
  Future<void> done = {};
};

// A compiled program. Thread-safety: thread-safe.
class ExecutableBody : public RefCounted {
 public:
  virtual const std::string& name() const = 0;
  virtual Client& client() const = 0;  // that has compiled it
  virtual std::span<const Shape> input_shapes() const = 0;
  virtual std::span<const Shape> output_shapes() const = 0;
  // For each input: true if the program donates it (its memory may become an output; it is removed
  // after).
  virtual std::span<const bool> donated_inputs() const = 0;
  virtual int devices_per_launch() const = 0;        // replicas * partitions
  virtual std::int64_t temporary_bytes() const = 0;  // scratch of one execution; 0 where unknown
  // Enqueues one execution; results[d] belongs to devices[d]. Fails at once, with nothing donated,
  // on wrong counts, shapes or devices, or a removed input; an input whose ready() fails makes all
  // outputs fail with that error.
  virtual Status launch(const LaunchArguments& call, std::span<LaunchResult> results) = 0;
  // The place among the launches of all processes of one that is launched later, where the program
  // spans processes (CompileOptions::processes); else nullptr. Launches have it in the order in
  // which they are called for, however late their arguments are.
  virtual std::shared_ptr<ProcessLaunch> reserve_launch() { return nullptr; }
  virtual Result<std::string> serialize() const = 0;
  // What the backend estimates of one execution, by names of its own ("flops", "bytes accessed").
  // kUnimplemented where it does not. May block.
  virtual Result<Attributes> cost_analysis() const;

  // Device memory that one execution takes on each device: outputs and temporaries.
  std::size_t launch_bytes() const;

 private:
  mutable std::atomic<std::size_t> launch_bytes_{
      0};  // one more than the sum, 0 before it was asked for
};

// Value handle on a compiled program; may be empty: then nothing else may be asked, CHECKed.
class Executable {
 public:
  Executable() = default;
  explicit Executable(Ref<ExecutableBody> body) : body_(std::move(body)) {}
  explicit operator bool() const { return static_cast<bool>(body_); }
  const std::string& name() const { return there().name(); }
  std::span<const Shape> input_shapes() const { return there().input_shapes(); }
  std::span<const Shape> output_shapes() const { return there().output_shapes(); }
  std::span<const bool> donated_inputs() const { return there().donated_inputs(); }
  const Ref<ExecutableBody>& body() const { return body_; }

 private:
  ExecutableBody& there() const {
    MILLRACE_CHECK(body_, "an Executable that is empty was used");
    return *body_;
  }

  Ref<ExecutableBody> body_;
};

// Thread-safety: thread-safe. Outlives its buffers and executables.
class Client {
 public:
  virtual ~Client() = default;

  virtual std::string_view platform_name() const = 0;  // "cpu", "cuda", "sim"
  virtual std::string_view platform_version() const = 0;
  virtual std::span<const DeviceInfo> devices() const = 0;
  virtual std::span<const MemoryInfo> memories() const = 0;
  // The versions and the topology of the platform as a whole.
  virtual const Attributes& attributes() const;
  // True: calls may block on the device; a driver thread then makes those that a caller may not.
  virtual bool calls_may_block() const = 0;

  // Compiles (blocks: for a driver thread). Errors of the program carry line:column.
  virtual Result<Executable> compile(const Program& program, const CompileOptions& options) = 0;
  virtual Result<Executable> load(std::string_view serialized) = 0;
  // The result of compile(program, options), from the bytes of an earlier serialize(). Blocks.
  virtual Result<Executable> load_compiled(std::string_view serialized, const Program& program,
                                           const CompileOptions& options);
  // All that a compiled program depends on besides program and options: the compiler, its version,
  // its target. Where it is the same, load_compiled takes what another process has serialized.
  // Empty: compiling costs no more than loading, so nothing is worth keeping.
  virtual std::string compiler_identity() const { return {}; }
  // Memory for a copy of host bytes on their way to a device, and the semantics by which put()
  // takes it best: a backend that computes on the host gives its own, and the copy is the array.
  struct PutMemory {
    HostArray array;
    HostBufferSemantics semantics;
  };
  // kResourceExhausted. Any thread, also after the client's end: a put allocates on the way.
  using PutMemorySource = std::function<Result<PutMemory>(const Shape&)>;
  virtual PutMemorySource put_memory(DeviceId device);
  // memory: an id of MemoryInfo, or -1 for the device's default.
  virtual Result<PutResult> put(const HostView& view, HostBufferSemantics semantics,
                                DeviceId device, int memory = -1) = 0;
  // put() of an array that the device keeps in this layout, of as many dimensions.
  // kUnimplemented where the backend has no other layouts than its default one.
  virtual Result<PutResult> put_in(const HostView& view, HostBufferSemantics semantics,
                                   DeviceId device, int memory, const DeviceLayout& layout);
  // The layout of an array that is put without one. kUnimplemented where it is not reported.
  virtual Result<DeviceLayout> default_layout(const Shape& shape, DeviceId device) const;
  // A copy of source on another device or memory of this client.
  virtual Result<Buffer> copy(const Buffer& source, DeviceId device, int memory = -1) = 0;
  virtual Result<MemoryStats> memory_stats(DeviceId device) const = 0;
  // Completes with the reason when the device has failed; with a value when the client closes.
  // Empty where the backend cannot report it. After a restart, ask again.
  virtual Future<void> failed(DeviceId /*device*/) const { return {}; }
  // Declares the device failed: its open work fails with the cause (a program that runs is not
  // interrupted, but its results are lost), later calls fail with it, failed() completes. Does
  // nothing if it has failed before. kUnimplemented where the backend cannot. Any thread.
  virtual Status kill(DeviceId device, const Error& cause);
  // Makes a device that has failed a new one, empty: buffers that were on it count as removed.
  // kFailedPrecondition if it has not failed, kUnimplemented where the backend cannot. Called by
  // its actor alone (Device::restart), when nothing of the device is in flight.
  virtual Status restart(DeviceId device);
  // Lets the devices read and write these host bytes by themselves, for faster copies, until the
  // last copy of the handle goes, or until close(). The backend releases them a little later, on
  // a thread of its own, and of `owner`, which keeps them, after that; without an owner they must
  // stay until the client is closed. kAlreadyExists where some of them are mapped,
  // kUnimplemented where the backend does not offer it. Blocks.
  virtual Result<Owner> map_host_memory(std::span<std::byte> bytes, Owner owner);
  // Time that the device has spent running programs; nullopt where the backend does not measure it.
  virtual std::optional<Duration> busy_time(DeviceId /*device*/) const { return std::nullopt; }
  // Finishes or fails what is in flight; buffers may outlive this, their memory stays valid.
  virtual Future<void> close() = 0;
  // After close(): ends the backend's own client; completes when it has ended, on any thread, or
  // never, where a backend does not return. kFailedPrecondition while buffers or executables stay,
  // with the last of which it ends; call again then. The destructor does the same, and may block.
  virtual Future<void> destroy() { return make_ready(); }

  // For the last close where calls may block: names the calls that have not returned, for errors.
  std::string calls_under_way() const { return call_report()(); }
  // The same as a function, also valid after the client's end. Any thread.
  virtual std::function<std::string()> call_report() const {
    return [] { return std::string(); };
  }
  // Stops waiting for such a call: all devices are killed, close() waits for nothing more,
  // and the backend is called no more, not even to free what it holds. A client that was given up,
  // by this or by its own close(), is never destroyed: a thread that comes back still uses it. Any
  // thread.
  virtual void give_up(const Error& /*why*/) {}
  virtual bool given_up() const { return false; }
};

}  // namespace millrace::devices
