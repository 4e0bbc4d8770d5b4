// InferenceServer: the Open Inference Protocol v2 over HTTP: what each resource answers, in front
// of a Batcher. It knows no files: models are those of the batcher. One thread, that of the loop,
// runs all of it, but large bodies are read and written on another executor.
// https://github.com/kserve/open-inference-protocol
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/observe/metrics.h"
#include "millrace/tools/serve/http_listener.h"
#include "millrace/tools/serve/request_trace.h"
#include "millrace/tools/serve/route.h"
#include "millrace/tools/serve/status_json.h"
#include "millrace/transfer/batcher.h"

namespace millrace::serve {

// One line of an access log.
struct Access {
  std::string method = {};
  std::string path = {};
  std::string request_id = {};  // X-Request-Id, as the client sent it; else one is made
  std::string traceparent = {};
  int status = 0;
  Duration took{};  // from its last byte to that of the answer, or to the end of the connection
};

struct ServerOptions {
  transfer::Batcher batcher;
  std::vector<devices::Device> devices = {};  // of the batcher
  Executor* loop = nullptr;                   // a bridge of the base, which outlives the server
  // For large bodies. Not the one that batches are launched on: reading one takes as long as many.
  Executor* large = nullptr;
  std::string token = {};  // of a bearer, without which all but the health is refused; empty: none
  // The deadline of a request that says none; and the longest that one may ask for.
  Duration deadline = std::chrono::seconds(30);
  std::size_t most_body_bytes = std::size_t{64} << 20;  // when they are unpacked
  std::function<MetricsSnapshot()> metrics = {};
  TraceRecorder* trace = nullptr;
  std::function<void(const Access&)> log = {};
};

// States: starting -> ready (set_ready) -> draining. Before ready it answers health, and 503 to
// requests. Outlives its exchanges. Thread-safety: confined to the loop's thread.
class InferenceServer {
 public:
  explicit InferenceServer(ServerOptions options);

  void handle(const Ref<HttpExchange>& exchange);
  void set_ready() { ready_ = true; }
  // New requests are refused from now on, with 503; those that were accepted are answered. What is
  // not launched then fails. Once; closes the batcher when all bodies have been read.
  void begin_drain(TimePoint until);
  std::uint64_t handled() const { return handled_; }  // requests of any kind
  // Inferences that have no answer.
  std::size_t in_flight() const { return in_flight_; }
  bool ready() const;
  ServerStatus status() const;

 private:
  struct Inference;

  std::string why_not_ready() const;  // empty: it is ready
  std::string ready_body() const;
  std::string request_id_of(const HttpExchange& exchange);
  bool admits(const Ref<HttpExchange>& exchange, const Route& route);
  void infer(const Ref<HttpExchange>& exchange, const std::string& model);
  void run(const Ref<Inference>& inference, Result<InferRequest> request);
  void answer_rows(const Ref<Inference>& inference, const Result<transfer::RowOutputs>& rows);
  void end(const Ref<Inference>& inference, Result<InferAnswer> answer);
  void close_batcher_if_read();
  void model_resource(const Ref<HttpExchange>& exchange, const Route& route);
  void fail(const Ref<HttpExchange>& exchange, const Error& error, HttpHeaders headers = {});
  void send(const Ref<HttpExchange>& exchange, int status, const char* type, InferAnswer answer,
            HttpHeaders headers = {});
  void send_json(const Ref<HttpExchange>& exchange, std::string json, int status = 200);

  const ServerOptions options_;
  RequestTrace trace_;
  const TimePoint begun_;
  std::uint64_t next_id_;
  bool ready_ = false;
  std::optional<TimePoint> draining_until_;
  std::uint64_t handled_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t reading_ = 0;  // bodies, elsewhere
};

}  // namespace millrace::serve
