// A server that is asked for three times what it can do, by an open loop. Its model is the large
// one, whose device is what ends first.
//   serve.overload_refused   p99 of the time from the last byte of a request that is refused to the
//                            end of its answer, as the server's access log has it; the limit: 1 ms
//   serve.overload_accepted  p99 of those that are accepted; the peer: p99 at its capacity, where
//                            as many wait and none is refused
//   serve.overload_memory    of the server at the end of the overload; the peer: at its tenth part
//   serve.overload_drain     requests sent and lost, over all of its ends by SIGTERM
// MILLRACE_LONG=1: the memory of ten minutes, not of 20 seconds, and 100 ends, not 5.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/figure.h"
#include "bench/http_client.h"
#include "bench/serve_job.h"
#include "bench/serve_models.h"
#include "millrace/tools/load/load_target.h"

namespace millrace::bench {
namespace {

constexpr int kQueue = 32;
constexpr int kClients = kQueue;  // of the load at capacity
constexpr double kSeconds = 1;    // of a load
constexpr double kOverload = 3;
constexpr double kRefusedMs = 1;
constexpr int kDrainClients = 8;

bool is_long() { return std::getenv("MILLRACE_LONG") != nullptr; }

Words overloaded(const ServeModels& models) {
  return serve_command(models.large() + Words{"--queue", std::to_string(kQueue), "--access-log"});
}

// The milliseconds of the refused requests that the log has got since it was asked before.
class RefusedTimes {
 public:
  explicit RefusedTimes(const std::string& log) : log_(log) {}
  std::vector<double> take() {
    std::vector<double> times;
    for (std::string line; std::getline(log_, line);) {
      const std::string ms = "\"ms\":";
      const std::size_t at = line.find(ms);
      if (at != std::string::npos && line.find("\"status\":429,") != std::string::npos)
        times.push_back(std::strtod(line.c_str() + at + ms.size(), nullptr));
    }
    log_.clear();  // of its end
    return times;
  }

 private:
  std::ifstream log_;
};

void measure_latencies(Session& session, const ServeModels& models) {
  const Figure refused{.name = "serve.overload_refused", .unit = "ms", .peer = "the limit, of p99"};
  const Figure accepted{
      .name = "serve.overload_accepted", .unit = "ms", .peer = "p99 at its capacity", .limit = 2};
  if (!session.wants(refused.name) && !session.wants(accepted.name)) return;
  const std::string log = models.file("access.log");
  const ServeJob server(overloaded(models), log);
  RefusedTimes refusals(log);
  std::vector<Round> refused_rounds, accepted_rounds;
  for (int i = 0; i <= session.rounds(); ++i) {
    const Seen capacity = closed_loop(server.port(), "large", kClients, kSeconds);
    refusals.take();
    const Seen seen = open_loop(server.port(), "large", kOverload * capacity.per_second, kSeconds);
    const std::vector<double> times = refusals.take();
    // A warm-up; or its capacity was measured while the machine did something else.
    if (i == 0 || times.empty()) continue;
    refused_rounds.push_back({quantile(times, 0.99), kRefusedMs});
    accepted_rounds.push_back({seen.p99_ms, capacity.p99_ms});
  }
  if (refused_rounds.empty()) give_up(refused.name, "no request was refused");
  session.report(refused, refused_rounds);
  session.report(accepted, accepted_rounds);
}

void measure_memory(Session& session, const ServeModels& models) {
  const char* const name = "serve.overload_memory";
  if (!session.wants(name)) return;
  const double seconds = is_long() ? 600 : 20;
  const ServeJob server(serve_command(models.large() + Words{"--queue", std::to_string(kQueue)}));
  const double rate =
      kOverload * closed_loop(server.port(), "large", kClients, kSeconds).per_second;
  static_cast<void>(open_loop(server.port(), "large", rate, seconds / 10));
  const double before = server.resident_mib();
  static_cast<void>(open_loop(server.port(), "large", rate, seconds * 9 / 10));
  session.report({.name = name,
                  .unit = "MiB",
                  .peer = std::string("after a tenth of ") + (is_long() ? "ten minutes" : "20 s"),
                  .limit = 1.05},
                 {{server.resident_mib(), before}});
}

// One request after the other until the server says that it closes the connection; counts those
// that get no answer.
void ask_until_closed(HttpClient& client, const std::string& request, std::atomic<int>& answers,
                      std::atomic<int>& lost) {
  for (;;) {
    const std::optional<HttpAnswer> answer = client.ask(request);
    if (!answer || (answer->status != 200 && answer->status != 503)) {
      ++lost;
      return;
    }
    ++answers;
    if (answer->last) return;
  }
}

void measure_drain(Session& session, const ServeModels& models) {
  const char* const name = "serve.overload_drain";
  if (!session.wants(name)) return;
  const int times = is_long() ? 100 : 5;
  std::atomic<int> lost = 0;
  for (int i = 0; i < times; ++i) {
    ServeJob server(serve_command(models.demo()));
    const auto described = HttpClient(server.port()).ask(http_get("/v2/models/demo"));
    const auto body = load::make_body(described ? described->body : "", 1, std::nullopt, 1);
    if (!body) give_up(name, body.error().to_string());
    const std::string request = http_infer("demo", body->bytes, body->json_bytes);
    std::atomic<int> answers = 0;
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int c = 0; c < kDrainClients; ++c)
      clients.push_back(std::make_unique<HttpClient>(server.port()));
    {
      std::vector<std::jthread> threads;
      for (const auto& client : clients)
        threads.emplace_back([&] { ask_until_closed(*client, request, answers, lost); });
      while (answers + lost < 20 * (i % 10 + 1)) std::this_thread::yield();
      if (server.end(SIGTERM) != 0) ++lost;  // it had not answered all within its grace period
    }
  }
  session.report({.name = name,
                  .unit = "lost",
                  .peer = "one lost in " + std::to_string(times) + " ends by SIGTERM",
                  .limit = 0},
                 {{static_cast<double>(lost), 1}});
}

void measure(Session& session) {
  const ServeModels models;
  measure_latencies(session, models);
  measure_memory(session, models);
  measure_drain(session, models);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
