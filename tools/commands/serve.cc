// `millrace serve`: models behind the Open Inference Protocol v2, on one event loop. What is HTTP
// is in tools/serve; batches, weights and versions are in transfer/batcher.h and tools/api/model.h:
// this is how they are put together, to be read as an example of embedding them.
#include <event2/event.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/cores.h"
#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/free_by.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/base/read_file.h"
#include "millrace/core/base/short_wait.h"
#include "millrace/core/loop/event_bridge.h"
#include "millrace/tools/api/model.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/load/load_target.h"
#include "millrace/tools/serve/http_listener.h"
#include "millrace/tools/serve/inference_server.h"
#include "millrace/transfer/batcher.h"

namespace millrace::commands {

namespace {

using Json = nlohmann::ordered_json;

// After the grace period the rest of the process ends, too.
constexpr std::chrono::seconds kAfterGrace(3);
// How often a drain looks whether all is sent.
constexpr std::chrono::milliseconds kLook(5);
// So long nothing must have come before the drain ends: what a client has sent before it could
// know of the end is answered, with 503. Clients that never cease have so long.
constexpr std::chrono::milliseconds kQuiet(200), kLongestNoise(2000);

Duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// "NAME=PATH" of an option.
Result<std::pair<std::string, std::string>> split_pair(const std::string& text, const char* what) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return usage_error("'" + text + "' is no " + what);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<std::vector<ModelSource>> sources_of(const ServeFlags& flags) {
  std::vector<ModelSource> sources;
  for (const std::string& text : flags.models) {
    MILLRACE_TRY(const auto pair, split_pair(text, "NAME=FOLDER"));
    if (std::ranges::find(sources, pair.first, &ModelSource::name) != sources.end())
      return usage_error("two models have the name '" + pair.first + "'");
    sources.push_back({.folder = pair.second, .name = pair.first, .sizes = flags.batch_sizes});
  }
  for (const std::string& text : flags.checkpoints) {
    MILLRACE_TRY(const auto pair, split_pair(text, "NAME=DIR"));
    const auto source = std::ranges::find(sources, pair.first, &ModelSource::name);
    if (source == sources.end())
      return usage_error("--checkpoint names '" + pair.first + "', which is no model here");
    source->weights = pair.second;
  }
  return sources;
}

// "ADDRESS:PORT" or "[ADDRESS]:PORT".
Status parse_listen(const std::string& text, serve::HttpOptions& http) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return usage_error("--listen '" + text + "' is no ADDRESS:PORT");
  http.address = text.substr(0, colon);
  if (http.address.starts_with('[') && http.address.ends_with(']'))
    http.address = http.address.substr(1, http.address.size() - 2);
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + colon + 1, end, http.port);
  if (error != std::errc() || stopped != end || http.port < 0 || http.port > 65535)
    return usage_error("--listen '" + text + "' has no port from 0 to 65535");
  return {};
}

// A loop that hands epoll all changes at once before it waits: a request has six.
event_base* new_event_base() {
  const std::unique_ptr<event_config, FreeBy<&event_config_free>> config(event_config_new());
  if (config) event_config_set_flag(config.get(), EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
  return event_base_new_with_config(config.get());
}

// event_base_dispatch, but the thread looks for a short time before it sleeps: its wake-up would
// take longer than a batch of a small model. Ended by event_base_loopbreak on this thread.
void dispatch(event_base* base) {
  const auto look = [base] {
    event_base_get_max_events(base, EVENT_BASE_COUNT_ACTIVE, 1);  // from 0 again
    event_base_loop(base, EVLOOP_NONBLOCK);
    return event_base_get_max_events(base, EVENT_BASE_COUNT_ACTIVE, 0) > 0;
  };
  ShortWait wait;
  do {
    if (!wait.wait_for(look) && event_base_loop(base, EVLOOP_ONCE) != 0) return;  // nothing to hear
  } while (!event_base_got_break(base));
}

// The server while it runs. Confined to the loop's thread, which is that of the command.
class Serving {
 public:
  Serving(const Runtime& runtime, const ServeFlags& flags, Console& console, const Limits& limits)
      : runtime_(runtime), flags_(flags), console_(console), limits_(limits) {}

  Result<ExitCode> run(std::vector<ModelSource> sources, const serve::HttpOptions& http,
                       std::string token);

 private:
  // A model, and what its files were when it was loaded.
  struct Loaded {
    ModelSource source;
    std::string fingerprint;
    std::optional<Model> model = {};  // the version that is served
  };

  Status start(const serve::HttpOptions& http, std::string token);
  Task<Model> load_one(Loaded& loaded);
  Task<void> load(std::vector<ModelSource> sources);
  Task<void> reload_changed();
  Task<void> reload(Loaded& loaded);
  void watch_files();
  void drain();
  void look_whether_sent();
  void say(const char* event, const std::string& words, Json facts = Json::object()) const;
  std::function<void(const serve::Access&)> access_log();

  const Runtime& runtime_;
  const ServeFlags& flags_;
  Console& console_;
  const Limits& limits_;
  // In the order in which they go, from the last: what they refer to lives longer.
  std::unique_ptr<event_base, FreeBy<&event_base_free>> base_{new_event_base()};
  std::optional<EventBridge> bridge_;
  std::optional<transfer::Batcher> batcher_;
  std::optional<serve::InferenceServer> server_;
  std::unique_ptr<serve::HttpListener> listener_;
  std::unique_ptr<event, FreeBy<&event_free>> look_;   // of a drain, whether all is sent
  std::unique_ptr<event, FreeBy<&event_free>> files_;  // whether they have changed
  std::deque<Loaded> loaded_;
  std::optional<Error> failure_;
  std::optional<TimePoint> drain_until_;
  TimePoint drain_begun_{};
  TimePoint busy_{};  // the last look of the drain that saw a request
  std::uint64_t handled_ = 0;
  bool cut_off_ = false;
  std::uint64_t lost_lines_ = 0;  // of the access log
};

void Serving::say(const char* event, const std::string& words, Json facts) const {
  if (!flags_.json) return console_.words("millrace serve: " + words + "\n");
  Json line = {{"event", event}};
  line.update(facts);
  static_cast<void>(console_.data(json_text(line) + "\n"));
}

std::function<void(const serve::Access&)> Serving::access_log() {
  if (!flags_.access_log) return {};
  return [this](const serve::Access& access) {
    Json line = {{"event", "access"},
                 {"method", access.method},
                 {"path", access.path},
                 {"status", access.status},
                 {"ms", std::chrono::duration<double, std::milli>(access.took).count()}};
    line["request_id"] = access.request_id;
    if (!access.traceparent.empty()) line["traceparent"] = access.traceparent;
    if (lost_lines_ > 0) line["lines_lost_before"] = lost_lines_;
    // The loop never waits for what reads the log.
    lost_lines_ = console_.words_at_once(json_text(line) + "\n") ? 0 : lost_lines_ + 1;
  };
}

Status Serving::start(const serve::HttpOptions& http, std::string token) {
  if (!base_) return fail(ErrorCode::kResourceExhausted, "there is no memory for an event loop");
  MILLRACE_TRY(EventBridge bridge, EventBridge::create(base_.get()));
  bridge_.emplace(std::move(bridge));
  const std::span<const devices::Device> devices = runtime_.devices();
  MILLRACE_TRY(
      transfer::Batcher batcher,
      transfer::Batcher::create(runtime_.actors(), {.devices = {devices.begin(), devices.end()},
                                                    .metrics = &runtime_.metrics()}));
  batcher_.emplace(std::move(batcher));
  server_.emplace(serve::ServerOptions{.batcher = *batcher_,
                                       .devices = {devices.begin(), devices.end()},
                                       .loop = &bridge_->executor(),
                                       .large = runtime_.environment().blocking,
                                       .token = std::move(token),
                                       .deadline = seconds_of(flags_.request_seconds),
                                       .most_body_bytes = flags_.body_mib << 20,
                                       .metrics = [this] { return runtime_.metrics_snapshot(); },
                                       .trace = runtime_.trace(),
                                       .log = access_log()});
  MILLRACE_TRY(listener_, serve::HttpListener::create(
                              base_.get(), http, [this](const Ref<serve::HttpExchange>& exchange) {
                                server_->handle(exchange);
                              }));
  return {};
}

// Loaded, and warm.
Task<Model> Serving::load_one(Loaded& loaded) {
  Future<Model> loading = loaded.model
                              ? loaded.model->reload(runtime_, loaded.source, limits_.call())
                              : Model::load(runtime_, loaded.source, limits_.call());
  const Result<Model> model = co_await std::move(loading);
  if (!model) co_return model.error().with_context("model '" + loaded.source.name + "'");
  const Status warm = co_await model->warm_up(limits_.call());
  if (!warm) co_return warm.error().with_context("warming up model '" + loaded.source.name + "'");
  co_return *model;
}

Task<void> Serving::load(std::vector<ModelSource> sources) {
  for (ModelSource& source : sources) {
    const Result<std::string> fingerprint = Model::fingerprint(source);
    Loaded& loaded = loaded_.emplace_back();
    loaded.source = std::move(source);
    loaded.fingerprint = fingerprint.value_or("");
    Task<Model> loading = load_one(loaded);
    const Result<Model> model = co_await std::move(loading);
    if (!model) co_await end_with(model.error());
    const transfer::BatchQueueOptions queue{.most_delay = seconds_of(flags_.delay_ms / 1000),
                                            .most_requests = flags_.queue_requests,
                                            .most_bytes = flags_.queue_mib << 20};
    const Status added = batcher_->add(model->batches(), queue);
    if (!added) co_await end_with(added.error());
    loaded.model = *model;
  }
}

// A new version beside the old one, then in its place.
Task<void> Serving::reload(Loaded& loaded) {
  Task<Model> loading = load_one(loaded);
  const Result<Model> model = co_await std::move(loading);
  if (!model) co_await end_with(model.error());
  Future<void> replacing = batcher_->replace(model->batches());
  const Status replaced = co_await std::move(replacing);
  if (!replaced) co_await end_with(replaced.error());
  loaded.model = *model;
}

Task<void> Serving::reload_changed() {
  for (Loaded& loaded : loaded_) {
    Future<std::string> looking = make_ready().then(
        *runtime_.environment().blocking,
        [source = loaded.source](const Status&) { return Model::fingerprint(source); });
    const Result<std::string> now = co_await std::move(looking);
    if (!now || *now == loaded.fingerprint || drain_until_) continue;
    loaded.fingerprint = *now;  // also of a version that is refused: it is not tried again
    Task<void> reloading = reload(loaded);
    const Status reloaded = co_await std::move(reloading);
    if (reloaded) {
      say("reloaded", "model '" + loaded.source.name + "' is reloaded",
          {{"model", loaded.source.name}});
    } else if (!drain_until_) {
      console_.warning("the files of model '" + loaded.source.name +
                       "' have changed, and cannot be served; the version before stays: " +
                       reloaded.error().message());
    }
  }
}

// Looks at the files of all models, and again so much later after it has ended.
void Serving::watch_files() {
  if (flags_.reload_seconds <= 0 || drain_until_) return;
  if (!files_) {
    files_.reset(event_new(
        base_.get(), -1, 0,
        [](evutil_socket_t, short, void* argument) {
          auto* const self = static_cast<Serving*>(argument);
          spawn(self->bridge_->executor(), self->reload_changed())
              .then(*self->bridge_, [self](const Status&) { self->watch_files(); })
              .ignore();
        },
        this));
  }
  const auto time =
      std::chrono::duration_cast<std::chrono::microseconds>(seconds_of(flags_.reload_seconds));
  const timeval next{.tv_sec = time.count() / 1'000'000, .tv_usec = time.count() % 1'000'000};
  event_add(files_.get(), &next);
}

void Serving::drain() {
  if (drain_until_) return;
  drain_until_ = steady_clock().now() + seconds_of(flags_.grace_seconds);
  drain_begun_ = busy_ = steady_clock().now();
  server_->begin_drain(*drain_until_);
  look_.reset(event_new(
      base_.get(), -1, EV_PERSIST,
      [](evutil_socket_t, short, void* self) { static_cast<Serving*>(self)->look_whether_sent(); },
      this));
  const timeval time{.tv_sec = 0, .tv_usec = std::chrono::microseconds(kLook).count()};
  event_add(look_.get(), &time);
}

void Serving::look_whether_sent() {
  const TimePoint now = steady_clock().now();
  const bool open = listener_->open_exchanges() > 0 || server_->in_flight() > 0;
  if (open || server_->handled() != handled_) busy_ = now;
  handled_ = server_->handled();
  const bool quiet = now - busy_ >= kQuiet || now - drain_begun_ >= kLongestNoise;
  if ((open || !quiet) && now < *drain_until_) return;
  cut_off_ = open;
  event_base_loopbreak(base_.get());
}

Result<ExitCode> Serving::run(std::vector<ModelSource> sources, const serve::HttpOptions& http,
                              std::string token) {
  MILLRACE_TRY_STATUS(start(http, std::move(token)));
  const std::string where =
      (http.address.find(':') == std::string::npos ? http.address : "[" + http.address + "]") +
      ":" + std::to_string(listener_->port());
  const std::string scheme = http.tls ? "https" : "http";
  say("listening", "listening at " + scheme + "://" + where,
      {{"address", http.address}, {"port", listener_->port()}, {"scheme", scheme}});
  spawn(bridge_->executor(), load(std::move(sources)))
      .then(*bridge_,
            [this](const Status& loaded) {
              if (loaded) {
                server_->set_ready();
                say("ready", "ready");
                return watch_files();
              }
              if (drain_until_) return;  // it was stopped
              failure_ = loaded.error();
              event_base_loopbreak(base_.get());
            })
      .ignore();
  Executor& loop = bridge_->executor();
  {
    const std::stop_callback stopped(limits_.call().stop,
                                     [this, &loop] { post(loop, [this] { drain(); }); });
    dispatch(base_.get());
  }
  look_.reset();
  files_.reset();
  listener_.reset();
  bridge_.reset();  // what waits there is dropped
  static_cast<void>(wait_blocking(batcher_->close()));
  if (failure_) return std::unexpected(limits_.at_end(*failure_));
  if (cut_off_) console_.warning("the grace period has ended before every request was answered");
  return cut_off_ ? exit_code_of_signal(Limits::signal()) : ExitCode::kOk;
}

}  // namespace

Result<std::string> read_token(const std::string& file) {
  if (file.empty()) return std::string();
  MILLRACE_TRY(std::string token, read_file(file));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (token.size() >= 16) return token;
  return usage_error("the token in " + file + " has " + std::to_string(token.size()) +
                     " bytes; one of 16 or more is hard to guess");
}

Result<ExitCode> serve_command(const ServeFlags& flags, Console& console) {
  std::signal(SIGPIPE, SIG_IGN);  // else a client that goes before its answer ends the server
  MILLRACE_TRY(std::vector<ModelSource> sources, sources_of(flags));
  serve::HttpOptions http;
  http.most_connections = flags.connections;
  http.most_body_bytes = flags.body_mib << 20;
  http.most_arriving_bytes = 4 * http.most_body_bytes;
  http.request_time = seconds_of(flags.request_seconds);
  MILLRACE_TRY_STATUS(parse_listen(flags.listen, http));
  // Each connection has one, and the rest of the process, files of models included, needs some.
  constexpr std::size_t kOtherDescriptors = 256;
  if (Status allowed = allow_descriptors(http.most_connections + kOtherDescriptors); !allowed) {
    return usage_error("--connections " + std::to_string(http.most_connections) + ": " +
                       allowed.error().message() + "; allow fewer connections");
  }
  MILLRACE_TRY(const std::string token, read_token(flags.token_file));
  if (!load::is_loopback(http.address) && (!flags.is_public || token.empty())) {
    return usage_error("--listen " + flags.listen +
                       " can be reached from elsewhere: that needs --public and a --token-file");
  }
  if (flags.tls_certificate.empty() != flags.tls_key.empty())
    return usage_error("--tls-certificate and --tls-key go together");
  if (!flags.tls_key.empty()) {
    MILLRACE_TRY(http.tls, serve::load_tls(flags.tls_certificate, flags.tls_key, wall_time()));
  }
  MILLRACE_TRY(RuntimeOptions options, runtime_options(flags));
  // A core is the loop's: devices that are never idle hold up no answer.
  if (options.threads == 0) options.threads = std::max(1, usable_cores() - 1);
  Limits::Options limit_options;
  limit_options.grace = seconds_of(flags.grace_seconds) + kAfterGrace;
  limit_options.progress = [] { return std::string("while it served"); };
  limit_options.json = flags.json;
  MILLRACE_TRY(const std::unique_ptr<Limits> limits, Limits::create(console, limit_options));
  return with_runtime(options, *limits, console, [&](const Runtime& runtime) {
    return Serving(runtime, flags, console, *limits).run(std::move(sources), http, token);
  });
}

void add_serve_options(CLI::App& command, ServeFlags& flags) {
  command.add_option("MODEL", flags.models, "the name of a model and its folder; may be repeated")
      ->type_name("NAME=FOLDER")
      ->required();
  command
      .add_option("--checkpoint", flags.checkpoints,
                  "the weights of a model: a checkpoint, a folder of them (the newest), or a "
                  "safetensors file; may be repeated")
      ->type_name("NAME=DIR")
      ->allow_extra_args(false);
  command.add_option("--listen", flags.listen, "where requests come in; port 0: any")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command
      .add_option("--tls-certificate", flags.tls_certificate,
                  "speak TLS: the server's certificate, and those up to its root (PEM)")
      ->type_name("FILE");
  command.add_option("--tls-key", flags.tls_key, "the key of the certificate (PEM)")
      ->type_name("FILE");
  command.add_flag("--public", flags.is_public,
                   "listen at an address that others reach, too; needs --token-file");
  command
      .add_option("--token-file", flags.token_file,
                  "requests need the header Authorization: Bearer TOKEN, as it is in this file")
      ->type_name("FILE");
  command.add_option("--batch-sizes", flags.batch_sizes, "of those exported; default: all")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  command
      .add_option("--delay-ms", flags.delay_ms,
                  "so long a request waits for others to share a batch while a device is free")
      ->check(CLI::Range(0.0, 10000.0))
      ->capture_default_str();
  command
      .add_option("--queue", flags.queue_requests,
                  "requests of a model that wait; more are refused with 429")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20))
      ->capture_default_str();
  command.add_option("--queue-mib", flags.queue_mib, "the same in MiB of their inputs")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20))
      ->capture_default_str();
  command.add_option("--body-mib", flags.body_mib, "the largest body of a request")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 10))
      ->capture_default_str();
  command.add_option("--connections", flags.connections, "that are open at once; more wait")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 16))
      ->capture_default_str();
  command
      .add_option("--request-seconds", flags.request_seconds,
                  "in which a request must have arrived, and then be answered")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  command
      .add_option("--reload-seconds", flags.reload_seconds,
                  "how often to look whether files of a model have changed, which is then "
                  "reloaded; 0: never")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command
      .add_option("--grace", flags.grace_seconds,
                  "after SIGTERM or SIGINT: so many seconds to answer what was accepted")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_flag("--access-log", flags.access_log, "a line of JSON on stderr per request");
}

}  // namespace millrace::commands
