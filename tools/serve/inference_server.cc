#include "millrace/tools/serve/inference_server.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>

#include "millrace/core/base/pool.h"
#include "millrace/core/observe/metrics_text.h"
#include "millrace/tools/serve/http_status.h"
#include "millrace/tools/serve/model_json.h"
#include "millrace/tools/serve/status_page.h"
#include "millrace/tools/serve/unpack_body.h"

namespace millrace::serve {

using transfer::RowOutputs;
using Kind = Route::Kind;

namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kBytes = "application/octet-stream";
constexpr const char* kNpy = "application/x-npy";
constexpr const char* kHeaderLength = "Inference-Header-Content-Length";
// What is longer than the first to read or to write, or than the second to put together, is handled
// on another thread than the loop's.
constexpr std::size_t kLargeBytes = std::size_t{16} << 10, kLargeBody = std::size_t{1} << 20;
// So many bodies wait to be read there; more are refused.
constexpr std::size_t kMostReading = 32;

Result<std::optional<std::size_t>> header_length(const HttpExchange& exchange) {
  const std::optional<std::string_view> text = exchange.header(kHeaderLength);
  if (!text) return std::nullopt;
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), length);
  if (error == std::errc() && end == text->data() + text->size()) return length;
  return millrace::fail(ErrorCode::kInvalidArgument,
                        std::string(kHeaderLength) + " is no number of bytes");
}

// The header Request-Deadline-Ms, which goes over the parameter.
Result<std::optional<double>> deadline_ms(const HttpExchange& exchange,
                                          const InferRequest& request) {
  const std::optional<std::string_view> text = exchange.header("Request-Deadline-Ms");
  if (!text) return request.deadline_ms;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value > 0) return value;
  return millrace::fail(ErrorCode::kInvalidArgument,
                        "Request-Deadline-Ms is no number of milliseconds");
}

// There may be more labels, in front of these too.
bool is_of(const devices::Device& device, const Labels& labels) {
  const auto has = [&labels](const char* name, const std::string& value) {
    return std::ranges::find(labels, Labels::value_type(name, value)) != labels.end();
  };
  return has("device", std::to_string(devices::index(device.id()))) &&
         has("kind", device.info().kind);
}

std::size_t bytes_of(const RowOutputs& rows) {
  std::size_t bytes = 0;
  for (const transfer::RowOutput& row : rows) bytes += row.array.bytes().size();
  return bytes;
}

}  // namespace

// One inference from its arrival to its answer.
struct InferenceServer::Inference final : RefCounted {
  Inference(Ref<HttpExchange> of, std::string name)
      : exchange(std::move(of)), model(std::move(name)) {}
  const Ref<HttpExchange> exchange;
  const std::string model;
  bool npy = false;
  InferRequest request;

  Result<InferAnswer> make_answer(const RowOutputs& rows) const {
    return npy ? make_npy_answer(rows) : make_infer_answer(model, request, rows);
  }
};

InferenceServer::InferenceServer(ServerOptions options)
    : options_(std::move(options)),
      trace_(options_.trace),
      begun_(steady_clock().now()),
      next_id_(std::uint64_t{std::random_device()()} << 32) {}

std::string InferenceServer::why_not_ready() const {
  if (draining_until_) return "the server is stopping";
  if (!ready_) return "the server is starting";
  if (options_.batcher.devices_alive() == 0) return "no device is left";
  return {};
}

bool InferenceServer::ready() const { return why_not_ready().empty(); }

std::string InferenceServer::ready_body() const {
  const std::string why_not = why_not_ready();
  return ready_json(why_not.empty(), why_not, options_.batcher.device_failures());
}

ServerStatus InferenceServer::status() const {
  ServerStatus status{.state = ready() ? "ready" : why_not_ready(),
                      .uptime = steady_clock().now() - begun_,
                      .requests = handled_,
                      .in_flight = in_flight_};
  const std::vector<std::optional<Error>> failures = options_.batcher.device_failures();
  const MetricsSnapshot metrics = options_.metrics ? options_.metrics() : MetricsSnapshot();
  for (std::size_t d = 0; d < options_.devices.size(); ++d) {
    const devices::Device& device = options_.devices[d];
    DeviceStatus one{
        .number = d, .kind = device.info().kind, .failure = failures[d], .stats = device.stats()};
    for (const auto& gauge : metrics.gauges) {
      if (gauge.name == "millrace_device_memory_bytes" && is_of(device, gauge.labels))
        one.memory_bytes = gauge.value;
    }
    status.devices.push_back(std::move(one));
  }
  for (const std::string& name : options_.batcher.models())
    status.models.push_back({options_.batcher.model(name), options_.batcher.stats(name).value()});
  return status;
}

// What the client calls it; else a number that no other request of this server has.
std::string InferenceServer::request_id_of(const HttpExchange& exchange) {
  if (const auto given = exchange.header("X-Request-Id"); given && !given->empty())
    return std::string(*given);
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(next_id_++));
  return text;
}

bool InferenceServer::admits(const Ref<HttpExchange>& exchange, const Route& route) {
  if (options_.token.empty() || route.kind == Kind::kLive || route.kind == Kind::kReady ||
      route.kind == Kind::kPage)
    return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = exchange->header("Authorization").value_or("");
  if (given.starts_with(kBearer) && same_secret(given.substr(kBearer.size()), options_.token))
    return true;
  fail(exchange,
       Error(ErrorCode::kUnauthenticated, "a request needs the header Authorization: Bearer TOKEN"),
       {{"WWW-Authenticate", "Bearer"}});
  return false;
}

void InferenceServer::handle(const Ref<HttpExchange>& exchange) {
  ++handled_;
  if (const char* const fault = exchange->framing_fault()) {
    return fail(exchange, Error(ErrorCode::kInvalidArgument, fault), {{"Connection", "close"}});
  }
  const Route route = route_of(exchange->method(), exchange->path());
  if (!admits(exchange, route)) return;
  switch (route.kind) {
    case Kind::kServer:
      return send_json(exchange, server_json());
    case Kind::kLive:
      return send_json(exchange, R"({"live":true})");
    case Kind::kReady:
      return send_json(exchange, ready_body(), ready() ? 200 : 503);
    case Kind::kPage:
      return send(exchange, 200, "text/html; charset=utf-8", {.head = std::string(status_page())},
                  {{"Content-Security-Policy", kPagePolicy},
                   {"X-Content-Type-Options", "nosniff"},
                   {"Referrer-Policy", "no-referrer"}});
    case Kind::kStatus:
      return send_json(exchange, status_json(status()));
    case Kind::kModels:
      return send_json(exchange, models_json(options_.batcher.models(), ready()));
    case Kind::kModel:
    case Kind::kModelReady:
    case Kind::kModelStats:
      return model_resource(exchange, route);
    case Kind::kInfer:
      return infer(exchange, route.model);
    case Kind::kMetrics:
      return send(
          exchange, 200, "text/plain; version=0.0.4",
          {.head = prometheus_text(options_.metrics ? options_.metrics() : MetricsSnapshot())});
    case Kind::kWrongMethod:
      return send(exchange, 405, kJson,
                  {.head = error_body(exchange->path() + " does not take this method")},
                  {{"Allow", std::string(route.allowed)}});
    case Kind::kWrongVersion:
      return fail(exchange, Error(ErrorCode::kNotFound,
                                  "model '" + route.model + "' has the version 1 alone"));
    case Kind::kUnknown:
      break;
  }
  fail(exchange, Error(ErrorCode::kNotFound, "there is nothing at this path; see /v2"));
}

void InferenceServer::model_resource(const Ref<HttpExchange>& exchange, const Route& route) {
  const std::shared_ptr<const transfer::BatchModel> model = options_.batcher.model(route.model);
  // What the extension of statistics has for all models, unless one is called so.
  if (!model && route.kind == Kind::kModel && route.model == "stats")
    return send_json(exchange, stats_json(status().models));
  if (!model) {
    return fail(exchange, Error(ErrorCode::kNotFound, "there is no model '" + route.model + "'"));
  }
  if (route.kind == Kind::kModel) return send_json(exchange, model_json(*model));
  if (route.kind == Kind::kModelStats)
    return send_json(exchange, stats_json({{model, options_.batcher.stats(route.model).value()}}));
  send_json(exchange, ready_body(), ready() ? 200 : 503);
}

void InferenceServer::infer(const Ref<HttpExchange>& exchange, const std::string& name) {
  if (draining_until_ || !ready_)
    return fail(exchange, Error(ErrorCode::kUnavailable, why_not_ready()));
  const std::shared_ptr<const transfer::BatchModel> model = options_.batcher.model(name);
  if (!model)
    return fail(exchange, Error(ErrorCode::kNotFound, "there is no model '" + name + "'"));
  const Result<std::optional<std::size_t>> json_bytes = header_length(*exchange);
  if (!json_bytes) return fail(exchange, json_bytes.error());

  auto inference = make_ref<Inference>(exchange, name);
  inference->npy = exchange->header("Content-Type").value_or("").starts_with(kNpy);
  ++in_flight_;
  const SentBody sent = exchange->take_body();
  const std::string encoding(exchange->header("Content-Encoding").value_or(""));
  auto parse = [sent, encoding, json_bytes = *json_bytes, npy = inference->npy, model,
                most = options_.most_body_bytes]() -> Result<InferRequest> {
    MILLRACE_TRY(const Body body, unpack_body(sent.read(), encoding, most));
    if (!npy) {
      MILLRACE_TRY(InferRequest request, parse_infer_request(body, json_bytes));
      MILLRACE_TRY_STATUS(check_outputs(request, *model));
      return request;
    }
    if (model->inputs().size() == 1) return parse_npy_request(body, model->inputs()[0].name);
    return millrace::fail(ErrorCode::kInvalidArgument,
                          "model '" + model->name() + "' has " +
                              std::to_string(model->inputs().size()) +
                              " inputs, and an .npy body is one; ask by JSON");
  };
  // Binary tensors behind JSON are not read; an .npy body, which has none, is read whole.
  const std::size_t read = inference->npy ? sent.size() : json_bytes->value_or(sent.size());
  if (encoding.empty() && read <= kLargeBytes && sent.size() <= kLargeBody)
    return run(inference, parse());
  if (reading_ >= kMostReading) {
    return end(inference, millrace::fail(ErrorCode::kResourceExhausted,
                                         std::to_string(reading_) +
                                             " large bodies wait to be read; try again later"));
  }
  ++reading_;
  const CallOptions limits{.stop = exchange->gone(),
                           .deadline = exchange->begun() + options_.deadline};
  make_ready()
      .then(*options_.large,
            [parse, limits](const Status&) -> Result<InferRequest> {
              MILLRACE_TRY_STATUS(check_in_time(limits, steady_clock(), "reading the request"));
              return parse();
            })
      .then(*options_.loop,
            [this, inference](Result<InferRequest> request) {
              --reading_;
              run(inference, std::move(request));
              close_batcher_if_read();
            })
      .ignore();
}

void InferenceServer::begin_drain(TimePoint until) {
  draining_until_ = until;
  close_batcher_if_read();
}

void InferenceServer::close_batcher_if_read() {
  if (draining_until_ && reading_ == 0) options_.batcher.close(*draining_until_).ignore();
}

void InferenceServer::run(const Ref<Inference>& inference, Result<InferRequest> request) {
  if (!request) return end(inference, std::unexpected(request.error()));
  inference->request = *std::move(request);
  const Result<std::optional<double>> asked = deadline_ms(*inference->exchange, inference->request);
  if (!asked) return end(inference, std::unexpected(asked.error()));
  Duration allowed = options_.deadline;
  if (*asked) {
    const double most = std::chrono::duration<double, std::milli>(options_.deadline).count();
    allowed = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double, std::milli>(std::min(**asked, most)));
  }
  transfer::RequestOptions options;
  options.priority = inference->request.priority;
  options.call.stop = inference->exchange->gone();
  options.call.deadline = inference->exchange->begun() + allowed;
  const ListOf<transfer::RowInput> inputs(inference->request.inputs);
  inference->request.inputs.clear();  // the batcher keeps them
  options_.batcher.run(inference->model, inputs, options)
      .then(*options_.loop,
            [this, inference](const Result<RowOutputs>& rows) { answer_rows(inference, rows); })
      .ignore();
}

void InferenceServer::answer_rows(const Ref<Inference>& inference, const Result<RowOutputs>& rows) {
  if (!rows) return end(inference, std::unexpected(rows.error()));
  if (inference->npy || bytes_of(*rows) + inference->request.id.size() <= kLargeBytes)
    return end(inference, inference->make_answer(*rows));
  make_ready()
      .then(*options_.large,
            [inference, rows = *rows](const Status&) { return inference->make_answer(rows); })
      .then(*options_.loop,
            [this, inference](Result<InferAnswer> answer) { end(inference, std::move(answer)); })
      .ignore();
}

void InferenceServer::end(const Ref<Inference>& inference, Result<InferAnswer> answer) {
  const Ref<HttpExchange>& exchange = inference->exchange;
  trace_.record(inference->model, exchange->header("traceparent").value_or(""),
                answer ? 200 : http_status_of(answer.error()), exchange->begun(),
                steady_clock().now());
  if (!answer) {
    fail(exchange, answer.error());
  } else if (answer->header_bytes) {
    const HttpHeaders length = {{kHeaderLength, std::to_string(*answer->header_bytes)}};
    send(exchange, 200, kBytes, *std::move(answer), length);
  } else {
    send(exchange, 200, inference->npy ? kNpy : kJson, *std::move(answer));
  }
  --in_flight_;
}

void InferenceServer::fail(const Ref<HttpExchange>& exchange, const Error& error,
                           HttpHeaders headers) {
  if (const std::optional<int> after = retry_after_seconds(error))
    headers.emplace_back("Retry-After", std::to_string(*after));
  send(exchange, http_status_of(error), kJson, {.head = error_body(error.message())},
       std::move(headers));
}

void InferenceServer::send_json(const Ref<HttpExchange>& exchange, std::string json, int status) {
  send(exchange, status, kJson, {.head = std::move(json)});
}

void InferenceServer::send(const Ref<HttpExchange>& exchange, int status, const char* type,
                           InferAnswer answer, HttpHeaders headers) {
  headers.emplace_back("Content-Type", type);
  const std::string request_id = request_id_of(*exchange);
  const std::string traceparent(exchange->header("traceparent").value_or(""));
  headers.emplace_back("X-Request-Id", request_id);
  if (!traceparent.empty()) headers.emplace_back("traceparent", traceparent);
  if (draining_until_) headers.emplace_back("Connection", "close");
  std::function<void()> ended;
  if (options_.log) {
    ended = [this, begun = exchange->begun(),
             access = Access{.method = exchange->method(),
                             .path = exchange->path(),
                             .request_id = request_id,
                             .traceparent = traceparent,
                             .status = status}]() mutable {
      access.took = steady_clock().now() - begun;
      options_.log(access);
    };
  }
  exchange->answer(status, headers, std::move(answer), std::move(ended));
}

}  // namespace millrace::serve
