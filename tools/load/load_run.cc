#include "millrace/tools/load/load_run.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/future.h"
#include "millrace/core/base/free_by.h"
#include "millrace/core/loop/event_bridge.h"

namespace millrace::load {
namespace {

using Connection = std::unique_ptr<evhttp_connection, FreeBy<&evhttp_connection_free>>;
using Timer = std::unique_ptr<event, FreeBy<&event_free>>;

timeval timeval_of(Duration time) {
  const auto micros = std::max<std::int64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count(), 0);
  return {.tv_sec = micros / 1'000'000, .tv_usec = micros % 1'000'000};
}

Outcome outcome_of(int status) {
  if (status == 200) return Outcome::kAnswered;
  return status == 429 || status == 503 ? Outcome::kRefused : Outcome::kError;
}

std::string text_of(evbuffer* buffer) {
  const std::size_t size = evbuffer_get_length(buffer);
  const auto* const bytes = reinterpret_cast<const char*>(evbuffer_pullup(buffer, -1));
  return size == 0 ? std::string() : std::string(bytes, size);
}

// The run on its loop. Confined to the thread of its caller.
class Run {
 public:
  Run(const LoadSetting& setting, const std::stop_token& stop)
      : setting_(setting), stop_(stop), base_(make_base()) {}

  Result<LoadReport> run();

 private:
  struct Client {
    Run* run = nullptr;
    Connection connection = {};
    TimePoint since{};  // of the request that is under way
    bool busy = false;
  };

  static event_base* make_base() {
    const std::unique_ptr<event_config, FreeBy<&event_config_free>> config(event_config_new());
    event_config_set_flag(config.get(), EVENT_BASE_FLAG_PRECISE_TIMER);
    return event_base_new_with_config(config.get());
  }
  Connection connect() const {
    Connection made(evhttp_connection_base_new(base_.get(), nullptr, setting_.target.host.c_str(),
                                               static_cast<std::uint16_t>(setting_.target.port)));
    const timeval timeout = timeval_of(setting_.timeout);
    if (made) evhttp_connection_set_timeout_tv(made.get(), &timeout);
    return made;
  }
  std::string where() const { return host_and_port(setting_.target); }
  void add_headers(evhttp_request* request) const {
    evkeyvalq* const headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Host", where().c_str());
    if (!setting_.token.empty())
      evhttp_add_header(headers, "Authorization", ("Bearer " + setting_.token).c_str());
  }
  Result<std::string> get(const std::string& path);
  Status prepare();
  void on_stop();
  void send_due();
  bool send(Client& client, TimePoint since);
  void on_answer(Client& client, evhttp_request* answer);
  void end_if_done();

  const LoadSetting& setting_;
  const std::stop_token stop_;
  const std::unique_ptr<event_base, FreeBy<&event_base_free>> base_;
  std::string path_;
  LoadBody body_;
  std::string json_bytes_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::optional<LoadPlan> plan_;
  std::optional<LoadReport> report_;
  Timer arrivals_, seconds_;
};

Result<std::string> Run::get(const std::string& path) {
  struct Answer {
    int status = 0;
    std::string body;
    event_base* base;
  } answer{.base = base_.get()};
  const Connection connection = connect();
  evhttp_request* const request = evhttp_request_new(
      [](evhttp_request* done, void* into) {
        auto& to = *static_cast<Answer*>(into);
        if (done != nullptr) {
          to.status = evhttp_request_get_response_code(done);
          to.body = text_of(evhttp_request_get_input_buffer(done));
        }
        event_base_loopbreak(to.base);
      },
      &answer);
  if (!connection || request == nullptr)
    return fail(ErrorCode::kResourceExhausted, "there is no memory for a request");
  add_headers(request);
  if (evhttp_make_request(connection.get(), request, EVHTTP_REQ_GET, path.c_str()) != 0)
    return fail(ErrorCode::kUnavailable, "cannot ask " + where() + " for " + path);
  event_base_dispatch(base_.get());
  if (stop_.stop_requested())
    return fail(ErrorCode::kCancelled, where() + path + " had not answered yet");
  if (answer.status == 200) return answer.body;
  if (answer.status == 0) {
    return fail(ErrorCode::kUnavailable,
                "no server answers at " + where() + "; is `millrace serve` running there?");
  }
  return fail(ErrorCode::kUnavailable, where() + path + " answers " +
                                           std::to_string(answer.status) + ": " +
                                           error_line(answer.body));
}

Status Run::prepare() {
  std::string model = setting_.target.model;
  if (model.empty()) {
    MILLRACE_TRY(const std::string models, get("/v2/models"));
    MILLRACE_TRY(const std::string only, only_model(models));
    const std::unique_ptr<char, FreeBy<&std::free>> encoded(
        evhttp_uriencode(only.data(), static_cast<ev_ssize_t>(only.size()), 0));
    model = encoded.get();
  }
  path_ = "/v2/models/" + model;
  MILLRACE_TRY(const std::string metadata, get(path_));
  MILLRACE_TRY(body_, make_body(metadata, setting_.rows, setting_.length, setting_.plan.seed));
  path_ += "/infer";
  json_bytes_ = std::to_string(body_.json_bytes);
  for (int i = 0; i < setting_.connections; ++i) {
    auto client = std::make_unique<Client>();
    client->run = this;
    client->connection = connect();
    if (!client->connection)
      return fail(ErrorCode::kResourceExhausted, "there is no memory for a connection");
    clients_.push_back(std::move(client));
  }
  return {};
}

bool Run::send(Client& client, TimePoint since) {
  evhttp_request* const request = evhttp_request_new(
      [](evhttp_request* done, void* of) {
        auto& answered = *static_cast<Client*>(of);
        answered.run->on_answer(answered, done);
      },
      &client);
  if (request == nullptr) return false;
  add_headers(request);
  evkeyvalq* const headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", "application/octet-stream");
  evhttp_add_header(headers, "Inference-Header-Content-Length", json_bytes_.c_str());
  evbuffer_add_reference(evhttp_request_get_output_buffer(request), body_.bytes.data(),
                         body_.bytes.size(), nullptr, nullptr);
  if (const int socket =
          bufferevent_getfd(evhttp_connection_get_bufferevent(client.connection.get()));
      socket >= 0) {
    const int on = 1;  // else the end of a large body waits for the server's acknowledgement
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  client.busy = true;
  client.since = since;
  return evhttp_make_request(client.connection.get(), request, EVHTTP_REQ_POST, path_.c_str()) == 0;
}

// Every idle connection gets a request that is due, and the timer the next one.
void Run::send_due() {
  const TimePoint now = steady_clock().now();
  if (stop_.stop_requested()) plan_->stop(now);
  if (now >= plan_->end() + setting_.timeout) {  // the server is too far behind
    while (const std::optional<TimePoint> since = plan_->take(now))
      report_->add(now, Outcome::kError, now - *since);
  }
  for (const auto& client : clients_) {
    if (client->busy) continue;
    const std::optional<TimePoint> since = plan_->take(now);
    if (!since) break;
    if (!send(*client, *since) && client->busy) {  // its callback was not called
      client->busy = false;
      report_->add(now, Outcome::kError, now - *since);
    }
  }
  const bool idle = std::ranges::any_of(clients_, [](const auto& c) { return !c->busy; });
  if (const std::optional<TimePoint> next = plan_->next_arrival(); next && idle) {
    const timeval wait = timeval_of(*next - steady_clock().now());
    event_add(arrivals_.get(), &wait);
  }
  end_if_done();
}

// answer: nullptr, or without a status, where none came.
void Run::on_answer(Client& client, evhttp_request* answer) {
  const TimePoint now = steady_clock().now();
  const int status = answer == nullptr ? 0 : evhttp_request_get_response_code(answer);
  const Outcome outcome = outcome_of(status);
  client.busy = false;
  report_->add(now, outcome, now - client.since);
  if (outcome == Outcome::kError && status != 0 && !report_->first_failed())
    report_->add_failed_answer(status, text_of(evhttp_request_get_input_buffer(answer)));
  if (status != 200 && setting_.plan.rate == 0) {  // what refuses at once is not asked without end
    const timeval pause = {.tv_sec = 0, .tv_usec = 1000};
    event_add(arrivals_.get(), &pause);
    return;
  }
  event_active(arrivals_.get(), EV_TIMEOUT, 0);  // not within the callback of the connection
}

void Run::end_if_done() {
  const bool busy = std::ranges::any_of(clients_, [](const auto& c) { return c->busy; });
  const TimePoint now = steady_clock().now();
  if (!busy && plan_->ended(now)) event_base_loopbreak(base_.get());
}

// On the loop: what get() waits for comes too late, or the plan ends.
void Run::on_stop() {
  if (!plan_) {
    event_base_loopbreak(base_.get());
  } else {
    send_due();
  }
}

Result<LoadReport> Run::run() {
  if (!base_) return fail(ErrorCode::kResourceExhausted, "there is no memory for an event loop");
  MILLRACE_TRY(EventBridge bridge, EventBridge::create(base_.get()));
  Executor& loop = bridge.executor();
  const std::stop_callback stopped(stop_, [this, &loop] { post(loop, [this] { on_stop(); }); });
  MILLRACE_TRY_STATUS(prepare());
  const TimePoint begin = steady_clock().now();
  plan_.emplace(setting_.plan, begin);
  report_.emplace(begin, setting_.plan.length);
  arrivals_.reset(event_new(
      base_.get(), -1, 0,
      [](evutil_socket_t, short, void* self) { static_cast<Run*>(self)->send_due(); }, this));
  seconds_.reset(event_new(
      base_.get(), -1, EV_PERSIST,
      [](evutil_socket_t, short, void* of) {
        auto* const self = static_cast<Run*>(of);
        if (self->setting_.progress) self->setting_.progress(*self->report_, steady_clock().now());
        self->send_due();  // sees the end of the run, too
      },
      this));
  const timeval second{.tv_sec = 1, .tv_usec = 0};
  event_add(seconds_.get(), &second);
  event_active(arrivals_.get(), EV_TIMEOUT, 0);
  event_base_dispatch(base_.get());
  report_->finish(steady_clock().now());
  clients_.clear();
  arrivals_.reset();
  seconds_.reset();
  return *std::move(report_);
}

}  // namespace

Result<LoadReport> run_load(const LoadSetting& setting, const std::stop_token& stop) {
  return Run(setting, stop).run();
}

}  // namespace millrace::load
