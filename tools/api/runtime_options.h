// RuntimeOptions: what a Runtime is made of, and the environment variables that say so. Read next:
// runtime.h.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/braced.h"
#include "millrace/core/base/error.h"
#include "millrace/core/net/job_options.h"
#include "millrace/devices/cache/compilation_cache.h"
#include "millrace/devices/cpu/backends.h"
#include "millrace/devices/device.h"
#include "millrace/devices/pjrt/plugin_list.h"
#include "millrace/devices/registry.h"
#include "millrace/tools/api/runtime_threads.h"

namespace millrace {

// Value type; the defaults are good for one process that has the machine for itself.
struct RuntimeOptions {
  // Beyond these a number is a slip of the hand, not a wish.
  static constexpr int kMostDevices = 1024;
  static int most_threads();  // 16 for each core: beyond it a program makes no way

  Braced<std::string> device = {};  // PJRT_DEVICE, a kind of device; empty: the runtime picks
  // Where device was named, in errors, unless PJRT_DEVICE says the same.
  Braced<std::string> device_said_by = "RuntimeOptions::device";
  // Kinds that are opened besides it, named alike ("cpu"): their devices, all of each, come behind
  // its own. One that is open already is not opened again.
  Braced<std::vector<std::string>> more_devices = {};
  // GPU_NUM_DEVICES, of a device that is no CPU. How many, of a plugin the first ones; left out: as
  // the backend's variable says (CPU_NUM_DEVICES), else all. Runtime::create: kInvalidArgument
  // where a plugin has fewer.
  std::optional<int> devices = {};
  // MILLRACE_THREADS. So many threads run programs, shared out over the devices, at least one each;
  // as many more run actors, continuations and the decoding of the loader. 0: one per core; at
  // most most_threads().
  int threads = 0;
  int blocking_threads = 4;  // for files, compilation and plugin calls
  // Threads and a loop that it shares with other runtimes, in the place of those of its own, whose
  // two numbers above are not read then (tools/api/runtime_threads.h). nullptr: it makes its own.
  Braced<std::shared_ptr<RuntimeThreads>> shared_threads = {};
  devices::DeviceLimits limits = {};  // of each device
  // How long close() waits for what a plugin has begun; then it is given up, and close() reports
  // which calls have not ended. A function of the plugin that has not even returned is waited for a
  // quarter of that longer; then its threads and what they use are left behind. Whatever it does,
  // close() and the destructor together wait twice this time for a plugin at most.
  Duration close_timeout = std::chrono::seconds(60);
  bool trace = false;  // records a timeline (Runtime::trace)
  // PJRT plugins besides those of the environment and of manifests (devices/pjrt/plugin_list.h).
  Braced<std::vector<devices::pjrt::PluginEntry>> plugins = {};
  // MILLRACE_TRACE. Writes the timeline to this file, too, until close(): ui.perfetto.dev opens it.
  // "%p" in it stands for the number of the process. Without it, the processes of a job make one
  // file together (tools/trace/trace_parts.h). Empty: no file.
  Braced<std::string> trace_file = {};
  // For plugins whose devices span the processes of a job: where this one stands, as its launcher
  // says by variables (core/base/process_place.h), and a store that all share and that outlives the
  // runtime; nullptr: that of the job below.
  devices::ProcessPlace process = {};
  KeyValueStore* store = nullptr;
  // MILLRACE_STORE. The job that the runtime joins as it is made, and leaves as it closes.
  Braced<std::optional<net::JobOptions>> job = {};
  // MILLRACE_COMPILATION_CACHE. What was compiled is kept in its folder, for the next process: a
  // plugin's programs, and which kernels the embedded CPU device chose by measuring.
  Braced<std::optional<devices::CompilationCacheOptions>> compilation_cache = {};
  devices::Variables variables =
      {};  // for backends that have variables of their own; empty: none is set

  // An unset or empty variable leaves the default. kInvalidArgument names the variable and its
  // value.
  static Result<RuntimeOptions> from_env(
      devices::Variables variables = devices::process_variables());
  // kInvalidArgument names the first number that no runtime can have. Runtime::create asks it.
  Status check() const;
};

// What options.threads stands for: at least 1.
int compute_threads(const RuntimeOptions& options);

// The embedded CPU device and every plugin that is known, and what is wrong with some of them:
// manifests that cannot be read, names that are taken. An error only for RuntimeOptions::plugins.
struct KnownBackends {
  devices::ClientRegistry registry = devices::cpu::backends();
  std::map<std::string, devices::pjrt::PluginEntry> plugins = {};  // by their names in the registry
  std::vector<Error> problems = {};  // each with the detail PluginSource
};
Result<KnownBackends> find_backends(const RuntimeOptions& options);

}  // namespace millrace
