// serve.stall: a program that has the server on its own libevent loop, from its parts as
// commands/serve.cc has it: how late a timer of 1 ms on that loop is (p99.9) while 64 clients keep
// the server busy. The peer: the same timer on a loop that has nothing else, on a thread of the
// same process at the same time, and 1 ms.
#include <event2/event.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"
#include "bench/serve_job.h"
#include "bench/serve_models.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/base/free_by.h"
#include "millrace/core/loop/event_bridge.h"
#include "millrace/tools/api/model.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/serve/http_listener.h"
#include "millrace/tools/serve/inference_server.h"
#include "millrace/transfer/batcher.h"

namespace millrace::bench {
namespace {

constexpr double kAllowedMs = 1;
constexpr int kClients = 64;

// A loop with a timer of 1 ms, on a thread of its own from start() to stop().
class TimedLoop {
 public:
  TimedLoop()
      : timer_(event_new(
            base_.get(), -1, 0,
            [](evutil_socket_t, short, void* self) { static_cast<TimedLoop*>(self)->on_timer(); },
            this)) {}

  event_base* base() const { return base_.get(); }
  void start() {
    arm();
    thread_ = std::thread([this] { event_base_dispatch(base_.get()); });
  }
  void stop() {
    ends_ = true;
    thread_.join();
  }
  // From here on it counts.
  void count() { counts_ = true; }
  // When it has stopped.
  double p999_ms() const { return quantile(late_ms_, 0.999); }

 private:
  void arm() {
    const timeval time{.tv_sec = 0, .tv_usec = 1000};
    due_ = steady_clock().now() + std::chrono::milliseconds(1);
    event_add(timer_.get(), &time);
  }
  void on_timer() {
    const Duration late = steady_clock().now() - due_;
    if (counts_) late_ms_.push_back(std::chrono::duration<double, std::milli>(late).count());
    if (ends_) {
      event_base_loopbreak(base_.get());
      return;
    }
    arm();
  }

  const std::unique_ptr<event_base, FreeBy<&event_base_free>> base_{event_base_new()};
  const std::unique_ptr<event, FreeBy<&event_free>> timer_;
  TimePoint due_{};
  std::vector<double> late_ms_;
  std::atomic<bool> counts_ = false, ends_ = false;
  std::thread thread_;
};

// The server of the demo's network on the loop of its maker, who runs it.
class EmbeddedServer {
 public:
  EmbeddedServer(const Runtime& runtime, const Model& model, event_base* base)
      : bridge_(EventBridge::create(base).value()),
        batcher_(
            transfer::Batcher::create(runtime.actors(), {.devices = {runtime.device(0)}}).value()),
        server_({.batcher = batcher_,
                 .devices = {runtime.device(0)},
                 .loop = &bridge_->executor(),
                 .large = &runtime.compute()}) {
    if (const Status added = batcher_.add(model.batches()); !added)
      give_up("a server of one's own", added.error().to_string());
    listener_ = serve::HttpListener::create(base, {}, [this](const Ref<serve::HttpExchange>& e) {
                  server_.handle(e);
                }).value();
    server_.set_ready();
  }
  ~EmbeddedServer() {
    listener_.reset();
    bridge_.reset();
    static_cast<void>(wait_blocking(batcher_.close()));
  }
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  int port() const { return listener_->port(); }

 private:
  std::optional<EventBridge> bridge_;
  const transfer::Batcher batcher_;
  serve::InferenceServer server_;
  std::unique_ptr<serve::HttpListener> listener_;
};

void measure(Session& session) {
  const char* const name = "serve.stall";
  if (!session.wants(name)) return;
  const ServeModels models;
  RuntimeOptions options;
  options.device = "cpu";
  options.devices = 1;
  options.threads = device_threads();
  const Result<Runtime> runtime = Runtime::create(options);
  if (!runtime) give_up(name, runtime.error().to_string());
  const Result<Model> model = wait_blocking(Model::load(
      *runtime,
      {.folder = ServeModels::demo_folder(), .name = "demo", .weights = models.demo_weights()}));
  if (!model) give_up(name, model.error().to_string());
  session.measure({.name = name, .unit = "ms", .peer = "a bare loop's, and 1 ms"}, [&] {
    TimedLoop ours, bare;
    const EmbeddedServer server(*runtime, *model, ours.base());
    ours.start();
    bare.start();
    const auto load = [&](const char* seconds) {
      seconds_of_program({program_folder() + "/millrace", "load",
                          "http://127.0.0.1:" + std::to_string(server.port()), "--clients",
                          std::to_string(kClients), "--seconds", seconds, "--json"});
    };
    load("0.1");
    ours.count();
    bare.count();
    load("2");
    ours.stop();
    bare.stop();
    return Round{ours.p999_ms(), bare.p999_ms() + kAllowedMs};
  });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
