// The numbers of a Runtime, as metrics. Read next: core/observe/metrics_text.h.
#include <string>

#include "millrace/tools/api/runtime_core.h"
#include "millrace/tools/api/version.h"

namespace millrace {
namespace {

class Adder {
 public:
  Adder(MetricsSnapshot& snapshot, const Labels& labels) : snapshot_(snapshot), labels_(labels) {}

  void counter(const char* name, std::uint64_t value, const char* help) {
    snapshot_.counters.push_back({name, labels_, value});
    snapshot_.help[name] = help;
  }
  template <class Integer>
  void gauge(const char* name, Integer value, const char* help) {
    snapshot_.gauges.push_back({name, labels_, static_cast<std::int64_t>(value)});
    snapshot_.help[name] = help;
  }

 private:
  MetricsSnapshot& snapshot_;
  const Labels labels_;
};

// backend: empty where there is one.
void add_device(const devices::Device& device, const std::string& backend,
                const std::optional<devices::MemoryStats>& memory, MetricsSnapshot& snapshot) {
  const devices::DeviceStats stats = device.stats();
  Labels labels = {{"device", std::to_string(devices::index(device.id()))},
                   {"kind", device.info().kind}};
  if (!backend.empty()) labels.insert(labels.begin(), {"backend", backend});
  Adder add(snapshot, labels);
  add.counter("millrace_device_launches_total", stats.launches, "Programs that have run.");
  add.counter("millrace_device_puts_total", stats.puts, "Arrays put on the device by the host.");
  add.counter("millrace_device_copies_total", stats.copies, "Arrays copied to the device.");
  add.counter("millrace_device_fetches_total", stats.fetches, "Arrays fetched by the host.");
  add.counter("millrace_device_busy_nanoseconds_total",
              static_cast<std::uint64_t>(stats.busy.count()), "Time spent running programs.");
  add.gauge("millrace_device_launches_in_flight", stats.launches_in_flight,
            "Programs handed to the device that have not ended.");
  add.gauge("millrace_device_bytes_in_flight", stats.bytes_in_flight,
            "Memory of launches and transfers that are not done.");
  add.gauge("millrace_device_peak_bytes_in_flight", stats.peak_bytes_in_flight,
            "The most that millrace_device_bytes_in_flight has been.");
  add.gauge("millrace_device_queue_depth", stats.queued, "Calls not yet handed to the device.");
  add.gauge("millrace_device_abandoned_bytes", stats.abandoned_bytes,
            "Memory held by work that runs on although its caller was cancelled.");
  if (!memory) return;
  add.gauge("millrace_device_memory_bytes", memory->bytes_in_use, "Memory of the device in use.");
  if (memory->peak_bytes_in_use) {
    add.gauge("millrace_device_peak_memory_bytes", *memory->peak_bytes_in_use,
              "The most memory of the device that was in use.");
  }
}

}  // namespace

Runtime::Core::Core(RuntimeOptions given) : options(std::move(given)) {
  metrics.help("millrace_overdue_handlers_total",
               "Handlers and hooks of actors that did not end within their limit.");
  metrics.help("millrace_compile_nanoseconds", "Time of each compilation.");
  metrics.help("millrace_compile_failures_total", "Compilations that ended with an error.");
}

std::vector<std::optional<devices::MemoryStats>> Runtime::Core::memory(const Runtime& runtime) {
  std::vector<std::optional<devices::MemoryStats>> stats;
  MutexLock lock(memory_mutex);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Memory& known = memory_known[i];
    const devices::Client& client = devices[i].client();
    if (!client.calls_may_block()) {
      const Result<devices::MemoryStats> now = client.memory_stats(devices[i].id());
      known.last = now ? std::optional(*now) : std::nullopt;
    } else {
      if (known.asked.valid() && known.asked.ready() && known.asked.result())
        known.last = *known.asked.result();
      if (known.last && (!known.asked.valid() || known.asked.ready()))
        known.asked = runtime.memory_stats(devices[i]);
      if (known.asked.valid()) known.asked.ignore();
    }
    stats.push_back(known.last);
  }
  return stats;
}

MetricsSnapshot Runtime::metrics_snapshot() const {
  MetricsSnapshot snapshot = core().metrics.snapshot();
  if (core().cache) {
    const devices::CompilationCacheStats stats = core().cache->stats();
    Adder add(snapshot, {});
    add.counter("millrace_compilation_cache_hits_total", stats.hits,
                "Compilations that an earlier one has saved.");
    add.counter("millrace_compilation_cache_misses_total", stats.misses,
                "Compilations of what was not kept.");
    add.counter("millrace_compilation_cache_damaged_total", stats.damaged,
                "Of the misses: what was kept could not be used.");
  }
  const auto memory = core().memory(*this);
  const bool several = core().kinds.size() > 1;
  for (std::size_t i = 0; i < memory.size(); ++i)
    add_device(core().devices[i], several ? core().kind_of(core().devices[i])->name : "", memory[i],
               snapshot);
  Adder(snapshot, {{"compiler", std::string(compiler())}, {"version", std::string(version())}})
      .gauge("millrace_build_info", 1, "What was built, in its labels.");
  snapshot.sort();
  return snapshot;
}

}  // namespace millrace
