// Drives a PJRT plugin through our own client, a bit of everything, and tells a line for each step:
// its name, a tab, and "ok", "wrong" (numbers that are not the right ones) or the error. Whatever
// the plugin does, it ends with 0 and a last line for the close.
// Sources stay until the end, so that a plugin which reads them too late only reads.
// usage: drive_plugin PLUGIN SECONDS [KIND]   how long each step, and the close, may wait; a kind
// of
//   device that is open beside it, and is asked last
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/async/combinators.h"
#include "millrace/millrace.h"
#include "tests/support/plus_one.h"

namespace millrace {
namespace {

using namespace devices;  // NOLINT(google-build-using-namespace): most of it

constexpr const char* kDonating = R"(module @donating {
  func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1 = stablehlo.add %x, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
})";
// Enough to be still under way when the call returns.
constexpr const char* kLarge = R"(module @large {
  func.func public @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<65536xf32>
    %1 = stablehlo.add %x, %0 : tensor<65536xf32>
    return %1 : tensor<65536xf32>
  }
})";
constexpr const char* kBoth = R"(module @both {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";

const Shape kFour(DType::kF32, {4});
const Shape kMany(DType::kF32, {65536});

// Thread-safety: confined, but for the threads that it starts.
class Driver {
 public:
  Driver(const Runtime& runtime, Duration patience) : runtime_(runtime), patience_(patience) {}

  void run() {
    const BridgedThreadScope loop;  // the plugin may be stuck: drivers call it, not this thread
    describe();
    const Result<Executable> plus_one = compile("compile", testing::kPlusOne);
    tell("compile.refused", wait(runtime_.compile(Program::from_text("no program"))));
    transfer();
    if (plus_one) {
      execute(*plus_one);
      failed_input(*plus_one);
      serialize(*plus_one);
      threads(*plus_one);
      elsewhere(*plus_one);
    }
    if (const auto large = compile("compile.large", kLarge)) execute_large(*large);
    if (const auto donating = compile("compile.donating", kDonating)) donate(*donating);
    spanning();
    for (const std::string& kind : runtime_.options().more_devices) {
      const Device& other = runtime_.devices(kind).front();
      const Future<Buffer> buffer = other.put(std::vector<float>{1, 2}, {2});
      tell("beside", wait(other.fetch(buffer)));
    }
  }

  // Prints, after the close, how many of the futures that were late are still pending.
  void tell_waiting() const {
    std::size_t waiting = 0;
    for (const Ref<AsyncValue>& late : late_) {
      if (!late->complete()) ++waiting;
    }
    tell("waiting", std::to_string(waiting) + " of " + std::to_string(late_.size()));
  }

  static void tell(const std::string& step, const std::string& what) {
    std::string line = what;
    for (char& c : line) {
      if (c == '\n' || c == '\t') c = ' ';
    }
    std::printf("%s\t%s\n", step.c_str(), line.c_str());
  }
  template <class T>
  static void tell(const std::string& step, const Result<T>& result) {
    tell(step, result ? "ok" : result.error().to_string());
  }

 private:
  std::span<const Device> its() const { return runtime_.devices(runtime_.device_kind()); }
  const Device& device(std::size_t i = 0) const { return runtime_.device(i); }
  TimePoint soon() const { return runtime_.environment().clock->now() + patience_; }
  CallOptions call() const { return {.stop = {}, .deadline = soon()}; }
  template <class T>
  Result<T> wait(const Future<T>& future) const {
    const Future<T> in_time = with_deadline(future, soon(), *runtime_.environment().timers);
    const Future<void> end = in_time.then(inline_executor(), [](const Result<T>&) {});
    while (!wait_until(end, std::chrono::hours(1))) {
    }
    const Result<T> result = in_time.result();
    if (!future.ready()) {
      const std::scoped_lock lock(mutex_);
      late_.emplace_back(future.cell());
    }
    return result;
  }
  Result<Executable> compile(const std::string& step, const char* text,
                             CompileOptions options = {}) const {
    Result<Executable> compiled = wait(runtime_.compile(Program::from_text(text, step), options));
    tell(step, compiled);
    return compiled;
  }
  std::shared_ptr<const std::vector<float>> keep(std::vector<float> values) const {
    auto kept = std::make_shared<const std::vector<float>>(std::move(values));
    const std::scoped_lock lock(mutex_);
    sources_.push_back(kept);
    return kept;
  }
  Result<Buffer> put(std::span<const float> values, const Shape& shape, std::size_t i = 0) const {
    const auto kept = keep(std::vector<float>(values.begin(), values.end()));
    const HostView there{.data = kept->data(), .shape = shape, .owner = kept};
    return wait(device(i).put(there));
  }
  // Tells how the array came back, which should start with `first`.
  void fetch(const std::string& step, const Buffer& buffer, float first) const {
    const Result<HostArray> array =
        wait(device(static_cast<std::size_t>(index(buffer.device()))).fetch(buffer, call()));
    if (!array) return tell(step, array);
    tell(step, !array->as<float>().empty() && array->as<float>()[0] == first ? "ok" : "wrong");
  }

  void describe() const {
    tell("devices", its().size() == 2 ? "ok" : "wrong");
    tell("memory_stats", wait(runtime_.memory_stats(DeviceId{0})));
    static_cast<void>(runtime_.metrics_snapshot());
  }

  void transfer() const {
    for (int semantics = 0; semantics < 4; ++semantics) {
      const std::string step = "put." + std::to_string(semantics);
      const auto values = keep({1, 2, 3, 4});
      const HostView there{.data = values->data(), .shape = kFour, .owner = values};
      const auto placed =
          wait(device().put_borrowed(there, HostBufferSemantics{semantics}, {.call = call()}));
      tell(step, placed);
      if (!placed) continue;
      fetch(step + ".fetch", placed->buffer, 1);
      if (semantics < 2) tell(step + ".released", wait(placed->source_released));
    }
    // Kept: a plugin with a fault may read them for as long as its buffer lives.
    const auto values = keep({1, 2, 3, 4, 5, 6, 7, 8});
    const std::int64_t strides[] = {8};
    const HostView every_other{
        .data = values->data(), .shape = kFour, .byte_strides = strides, .owner = values};
    const Result<Buffer> strided = wait(device().put(every_other));
    tell("put.strides", strided);
    if (strided) fetch("put.strides.fetch", *strided, 1);
    const Result<Buffer> large = put(std::vector<float>(65536, 3.0F), kMany);
    tell("put.large", large);
    if (large) fetch("put.large.fetch", *large, 3);
    if (large) large->remove();
    map();
  }

  void map() const {
    const auto memory = std::make_shared<std::vector<float>>(1024);
    const auto bytes = std::as_writable_bytes(std::span(*memory));
    Result<Owner> mapped = wait(device().map_host_memory(bytes, memory));
    tell("map", mapped);
    if (!mapped) return;
    const Result<Owner> twice = wait(device(1).map_host_memory(bytes, memory));
    tell("map.twice", twice || twice.error().code() != ErrorCode::kAlreadyExists ? "wrong" : "ok");
    mapped = nullptr;
    // The thread that has completed a future may have its value a moment longer.
    const TimePoint limit = soon();
    Result<Owner> again = wait(device().map_host_memory(bytes, memory));
    while (!again && again.error().code() == ErrorCode::kAlreadyExists &&
           runtime_.environment().clock->now() < limit) {
      std::this_thread::yield();
      again = wait(device().map_host_memory(bytes, memory));
    }
    tell("map.again", again);
  }

  void execute(const Executable& program) const {
    const Result<Buffer> x = put(std::vector<float>{1, 2, 3, 4}, kFour);
    if (!x) return;
    const Result<Buffers> y = wait(device().execute(program, {*x}));
    tell("execute", y);
    if (!y) return;
    fetch("execute.fetch", (*y)[0], 2);
    Future<Buffers> chained = device().execute(program, {(*y)[0]});
    for (int i = 0; i < 10; ++i) chained = device().execute(program, {pick(chained, 0)});
    const Result<Buffers> last = wait(chained);
    tell("execute.chain", last);
    if (last) fetch("execute.chain.fetch", (*last)[0], 13);
    tell("execute.wrong", wait(device().execute(program, {*x, *x})));
    tell("cost", wait(runtime_.cost_analysis(program)));
  }

  void execute_large(const Executable& program) const {
    const Result<Buffer> x = put(std::vector<float>(65536, 3.0F), kMany);
    if (!x) return;
    const Result<Buffers> y = wait(device().execute(program, {*x}));
    tell("execute.large", y);
    if (y) fetch("execute.large.fetch", (*y)[0], 4);
    // A program whose outputs are dropped while it runs.
    static_cast<void>(wait(device().execute(program, {*x})));
  }

  // What was removed cannot be used.
  void failed_input(const Executable& program) const {
    const Result<Buffer> x = put(std::vector<float>{1, 2, 3, 4}, kFour);
    if (!x) return;
    x->remove();
    tell("execute.removed", wait(device().execute(program, {*x})));
    tell("fetch.removed", wait(device().fetch(*x, call())));
  }

  void donate(const Executable& program) const {
    const Result<Buffer> x = put(std::vector<float>{1, 2, 3, 4}, kFour);
    if (!x) return;
    const int none[] = {0};
    const ExecuteOptions keep{.non_donatable = none};
    const Result<Buffers> kept = wait(device().execute(program, {*x}, keep));
    tell("donate.kept", kept);
    if (kept) fetch("donate.kept.fetch", *x, 1);
    const Result<Buffers> y = wait(device().execute(program, {*x}));
    tell("donate", y);
    if (y) fetch("donate.fetch", (*y)[0], 2);
  }

  void serialize(const Executable& program) const {
    const Result<std::string> bytes = wait(runtime_.serialize(program));
    tell("serialize", bytes);
    if (!bytes) return;
    const Result<Executable> loaded = wait(runtime_.load(*bytes));
    tell("load", loaded);
    const Result<Buffer> x = put(std::vector<float>{1, 2, 3, 4}, kFour);
    if (!loaded || !x) return;
    const Result<Buffers> y = wait(device().execute(*loaded, {*x}));
    tell("load.execute", y);
    if (y) fetch("load.fetch", (*y)[0], 2);
    tell("load.refused", wait(runtime_.load("nonsense")));
  }

  void threads(const Executable& program) const {
    std::vector<std::thread> threads;
    std::vector<Status> ends(4);
    for (Status& end : ends) {
      threads.emplace_back([&] {
        const BridgedThreadScope loop_of_it;
        for (int i = 0; i < 20 && end; ++i) {
          const Result<Buffer> x = put(std::vector<float>{1, 2, 3, 4}, kFour);
          if (!x) {
            end = std::unexpected(x.error());
            break;
          }
          const Result<HostArray> y =
              wait(millrace::fetch(device(), device().execute(program, {*x}), 0, call()));
          if (!y) end = std::unexpected(y.error());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& end : ends) tell("threads", end);
  }

  void elsewhere(const Executable& program) const {
    if (its().size() < 2) return;
    const Result<Buffer> x = put(std::vector<float>{1, 2, 3, 4}, kFour);
    if (!x) return;
    const Result<Buffer> there = wait(device(1).copy_from(*x, call()));
    tell("copy", there);
    if (!there) return;
    fetch("copy.fetch", *there, 1);
    const Result<Buffers> y = wait(device(1).execute(program, {*there}));
    tell("copy.execute", y);
    if (y) fetch("copy.execute.fetch", (*y)[0], 2);
  }

  void spanning() const {
    if (its().size() < 2) return;
    CompileOptions options{.devices = {DeviceId{0}, DeviceId{1}}, .replicas = 2, .portable = false};
    launch_both("both", options);
    options.replicas = 1;
    options.partitions = 2;
    launch_both("parts", options);
  }

  void launch_both(const std::string& step, const CompileOptions& options) const {
    const Result<Executable> both = compile("compile." + step, kBoth, options);
    if (!both) return;
    const Result<Buffer> a = put(std::vector<float>{1, 2, 3, 4}, kFour, 0);
    const Result<Buffer> b = put(std::vector<float>{10, 2, 3, 4}, kFour, 1);
    if (!a || !b) return;
    const std::vector<Argument> first = {*a}, second = {*b};
    const std::span<const Argument> arguments[] = {first, second};
    const Result<Buffers> y = wait(launch_spanning(its(), *both, arguments));
    tell(step, y);
    if (!y) return;
    fetch(step + ".fetch0", (*y)[0], 11);
    fetch(step + ".fetch1", (*y)[1], 11);
  }

  const Runtime& runtime_;
  const Duration patience_;
  mutable std::mutex mutex_;
  mutable std::vector<Ref<AsyncValue>> late_;
  mutable std::vector<Owner> sources_;
};

int drive(const char* plugin, const char* seconds, const char* beside) {
  const auto patience =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::atof(seconds)));
  RuntimeOptions options;
  options.plugins.push_back({.name = "it", .path = plugin, .origin = devices::pjrt::kGivenPlugin});
  options.device = "it";
  if (beside != nullptr) options.more_devices = {beside};
  options.threads = 1;
  options.blocking_threads = 2;
  options.close_timeout = patience;
  Result<Runtime> runtime = Runtime::create(std::move(options));
  Driver::tell("create", runtime);
  if (!runtime) return 0;
  Driver driver(*runtime, patience);
  driver.run();
  Driver::tell("close", wait_blocking(runtime->close()));
  driver.tell_waiting();
  return 0;
}

}  // namespace
}  // namespace millrace

// Some of the plugins that it drives leak, or keep threads of ours that never return from them:
// that is their fault, and no leak of ours.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "report_thread_leaks=0"; }

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  ::alarm(500);                                       // a hang of ours is a death by signal
  return millrace::drive(argv[1], argv[2], argv[3]);  // nullptr behind the last
}
