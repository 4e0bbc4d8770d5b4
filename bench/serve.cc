// `millrace serve` as its clients see it: a server in a process of its own on loopback, on all
// cores but one for its loop, and the load of `millrace load` in this one.
//   serve.batching_device      rows per second of two dense layers in launches of 64; the peer: in
//                              launches of 1
//   serve.batching_end_to_end  requests of one row per second of 64 clients; the peer: the smaller
//                              of that device's rows per second and the same server's requests with
//                              a model that computes nothing
//   serve.batching_p99         of these requests; the limit is a deadline of 50 ms
//   serve.two_models           p99 of the demo's network beside a large model that is saturated, at
//                              equal weights; the peer: its p99 alone, and two launches of the
//                              large
//   serve.reload               p99 while the model is reloaded; the peer: while it is not
//   serve.restart              from kill -9 to ready
// Read next: serve_job.h, serve_models.h. Other figures: serve_stall.cc, serve_overload.cc,
// serve_peers.cc.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "bench/figure.h"
#include "bench/serve_job.h"
#include "bench/serve_models.h"
#include "millrace/core/async/blocking.h"
#include "millrace/tools/api/execute.h"
#include "millrace/tools/api/model.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/transfer/batch_options.h"

namespace millrace::bench {
namespace {

constexpr double kSeconds = 0.5;  // of a load
constexpr int kClients = 64;
constexpr double kDeadlineMs = 50;
constexpr std::int64_t kBatch = 64;

// ---- batching

// The dense model on a device of this process, with as many threads as the server's.
class Dense {
 public:
  explicit Dense(const ServeModels& models) : runtime_(make_runtime()) {
    Result<Model> loaded = wait_blocking(Model::load(runtime_, {.folder = models.file("dense")}));
    if (!loaded) give_up("the dense model", loaded.error().to_string());
    batches_ = loaded->batches();
  }

  // One launch after the other, in which so many rows are.
  double rows_per_second(std::int64_t rows) const {
    const devices::Device& device = runtime_.device(0);
    const devices::Executable& program = batches_->program(0, rows).executable;
    ListOf<devices::Argument> arguments;
    arguments.resize(program.input_shapes().size());
    for (const transfer::BatchConstant& constant : batches_->constants(0))
      arguments[constant.position] = constant.buffer;
    const transfer::BatchTensor& input = batches_->inputs()[0];
    const devices::Shape shape = transfer::batch_shape(input.row, rows, 0);
    const auto images = std::make_shared<std::vector<std::byte>>(shape.size_bytes());
    arguments[input.position] =
        device.put({.data = images->data(), .shape = shape, .owner = images});
    // As many are under way as a batcher has, so that the device waits for no wake-up of ours.
    std::deque<Future<devices::HostArray>> under_way;
    const auto launch = [&] {
      under_way.push_back(fetch(device, device.execute(program, arguments), 0));
    };
    for (int i = 0; i < transfer::BatcherOptions().batches_per_device; ++i) launch();
    std::int64_t launches = 0;
    double seconds = 0;
    for (; seconds < kSeconds / 2; ++launches) {
      seconds += seconds_of([&] {
        if (!wait_blocking(under_way.front())) give_up("the dense model", "it does not run");
        under_way.pop_front();
        launch();
      });
    }
    for (const auto& last : under_way) static_cast<void>(wait_blocking(last));
    return static_cast<double>(launches * rows) / seconds;
  }

 private:
  static Runtime make_runtime() {
    RuntimeOptions options;
    options.device = "cpu";
    options.devices = 1;
    options.threads = device_threads();
    Result<Runtime> made = Runtime::create(options);
    if (!made) give_up("a runtime", made.error().to_string());
    return *std::move(made);
  }
  const Runtime runtime_;
  std::shared_ptr<const transfer::BatchModel> batches_;
};

void measure_batching(Session& session, const ServeModels& models) {
  const Figure device{.name = "serve.batching_device",
                      .unit = "rows/s",
                      .peer = "launches of one row",
                      .goal = Goal::kAtLeast,
                      .limit = 3};
  const Figure rate{.name = "serve.batching_end_to_end",
                    .unit = "requests/s",
                    .peer = "the device alone, or a model that computes nothing",
                    .goal = Goal::kAtLeast,
                    .limit = 0.8};
  const Figure slow{.name = "serve.batching_p99", .unit = "ms", .peer = "a deadline of 50 ms"};
  const bool wants_rate = session.wants(rate.name) || session.wants(slow.name);
  if (!session.wants(device.name) && !wants_rate) return;
  const Dense dense(models);
  session.measure(
      device, [&] { return Measured(dense.rows_per_second(kBatch)); },
      [&] { return Measured(dense.rows_per_second(1)); });
  std::vector<Round> rates, latencies;
  for (int i = 0; wants_rate && i <= session.rounds(); ++i) {
    const double alone = dense.rows_per_second(kBatch);
    const Seen nothing = [&] {
      const ServeJob server(serve_command(models.nothing()));
      return closed_loop(server.port(), "nothing", kClients, kSeconds);
    }();
    const ServeJob server(serve_command(models.dense()));
    const Seen seen = closed_loop(server.port(), "dense", kClients, kSeconds);
    if (i == 0) continue;  // a warm-up
    rates.push_back({seen.per_second, std::min(alone, nothing.per_second)});
    latencies.push_back({Measured(seen.p99_ms), kDeadlineMs});
  }
  session.report(rate, rates);
  session.report(slow, latencies);
}

// ---- two models

void measure_two_models(Session& session, const ServeModels& models) {
  const char* const name = "serve.two_models";
  if (!session.wants(name)) return;
  const ServeJob server(serve_command(models.large() + models.demo()));
  const auto small_p99 = [&] { return closed_loop(server.port(), "demo", 1, kSeconds).p99_ms; };
  session.measure(
      {.name = name, .unit = "ms", .peer = "its p99 alone, and two launches of the large one"},
      [&] {
        const double alone = small_p99();
        const double launch = closed_loop(server.port(), "large", 1, kSeconds, kLargeBatch).p50_ms;
        std::jthread large(
            [&] { closed_loop(server.port(), "large", 2 * kLargeBatch, 2 * kSeconds); });
        std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds / 2));
        return Round{small_p99(), alone + 2 * launch};
      });
}

// ---- reload, restart

void measure_reload(Session& session, const ServeModels& models) {
  const char* const name = "serve.reload";
  if (!session.wants(name)) return;
  constexpr double kRate = 200, kLength = 2 * kSeconds;
  ServeJob server(serve_command(models.demo() + Words{"--reload-seconds", "0.05"}));
  const auto p99 = [&] {
    return Measured(open_loop(server.port(), "demo", kRate, kLength).p99_ms);
  };
  session.measure(
      {.name = name, .unit = "ms", .peer = "p99 without a reload", .limit = 2},
      [&] {
        std::jthread change([&] {
          std::this_thread::sleep_for(std::chrono::duration<double>(kLength / 4));
          models.write_demo_weights();
        });
        const Measured seen = p99();
        server.wait_for("reloaded");
        return seen;
      },
      p99);
}

void measure_restart(Session& session, const ServeModels& models) {
  session.measure({.name = "serve.restart", .unit = "ms", .peer = "the limit"}, [&] {
    ServeJob killed(serve_command(models.demo()));
    static_cast<void>(closed_loop(killed.port(), "demo", kClients, kSeconds / 5));
    killed.end(SIGKILL);
    std::optional<ServeJob> again;
    const double seconds =
        seconds_of([&] { again.emplace(serve_command(models.demo(), killed.port())); });
    static_cast<void>(closed_loop(again->port(), "demo", 1, 0.001));  // it answers
    return Round{1e3 * seconds, 1000};
  });
}

void measure(Session& session) {
  const ServeModels models;
  measure_batching(session, models);
  measure_two_models(session, models);
  measure_reload(session, models);
  measure_restart(session, models);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
