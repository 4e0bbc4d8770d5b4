// The server in one process with its devices, so that a test can have them fail: real sockets and a
// real loop, because those are what answers.
#include "millrace/tools/serve/inference_server.h"

#include <event2/event.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/loop/event_bridge.h"
#include "millrace/tools/api/model.h"
#include "millrace/tools/api/runtime.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/serve/raw_client.h"
#include "tests/tools/serve/scaler_model.h"

namespace millrace::serve {
namespace {

using Json = nlohmann::json;
using testing::Client;
using testing::Reply;

constexpr const char* kInfer = "/v2/models/m/infer";
constexpr const char* kRow =
    R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[[10,100]]}]})";

// Runs nothing before resume(), which then runs what waits.
class PausedExecutor final : public Executor {
 public:
  void submit(Work* work) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      if (!free_) return held_.push_back(work);
    }
    work->run();
  }
  void resume() {
    std::vector<Work*> works;
    {
      const std::lock_guard lock(mutex_);
      free_ = true;
      works.swap(held_);
    }
    for (Work* const work : works) work->run();
  }

 private:
  std::mutex mutex_;
  std::vector<Work*> held_;
  bool free_ = false;
};

// Runs all at once, and knows how many pieces there were.
class CountingExecutor final : public Executor {
 public:
  void submit(Work* work) noexcept override {
    ++submitted;
    work->run();
  }
  std::atomic<int> submitted = 0;
};

// A server of one model on so many devices, whose loop has a thread of its own.
class Rig {
 public:
  // large: left out: the runtime's.
  explicit Rig(int devices, Executor* large = nullptr) : runtime_(make_runtime(devices)) {
    testing::write_model(folder_);
    testing::write_weights(folder_.file("weights.safetensors"), "scale", {2, 3});
    const auto all = runtime_.devices();
    batcher_.emplace(
        transfer::Batcher::create(runtime_.actors(), {.devices = {all.begin(), all.end()}})
            .value());
    const Model model =
        wait_blocking(Model::load(runtime_, {.folder = folder_.path(), .name = "m"})).value();
    bridge_.emplace(EventBridge::create(base_.get()).value());
    EXPECT_TRUE(batcher_->add(model.batches(), {.most_delay = {}}));
    server_.emplace(ServerOptions{.batcher = *batcher_,
                                  .devices = {all.begin(), all.end()},
                                  .loop = &bridge_->executor(),
                                  .large = large != nullptr ? large : &runtime_.compute(),
                                  .metrics = [this] { return metrics(); }});
    listener_ = HttpListener::create(base_.get(), {}, [this](const Ref<HttpExchange>& exchange) {
                  server_->handle(exchange);
                }).value();
    server_->set_ready();
    thread_ = std::thread([this] { event_base_dispatch(base_.get()); });
  }
  ~Rig() {
    post(bridge_->executor(), [this] {
      listener_.reset();
      event_base_loopbreak(base_.get());
    });
    thread_.join();
    bridge_.reset();
    EXPECT_TRUE(wait_blocking(batcher_->close()));
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  const devices::Device& device(std::size_t index) const { return runtime_.device(index); }
  int port() const { return listener_->port(); }
  // f(server) on its loop.
  template <class F>
  auto on_loop(F f) {
    std::promise<decltype(f(*server_))> result;
    post(bridge_->executor(), [&] { result.set_value(f(*server_)); });
    return result.get_future().get();
  }

 private:
  // Beside the runtime's: a memory of no device, and that of device 0 where there are backends.
  MetricsSnapshot metrics() const {
    MetricsSnapshot all = runtime_.metrics_snapshot();
    const std::string kind = device(0).info().kind, name = "millrace_device_memory_bytes";
    all.gauges.push_back({name, {}, 5});
    all.gauges.push_back({name, {{"backend", "b"}, {"device", "0"}, {"kind", kind}}, 7});
    return all;
  }
  struct FreeBase {
    void operator()(event_base* base) const { event_base_free(base); }
  };
  static Runtime make_runtime(int devices) {
    RuntimeOptions options;
    options.device = "cpu";
    options.devices = devices;
    options.threads = 1;
    return Runtime::create(options).value();
  }

  const testing::TempFolder folder_;
  const Runtime runtime_;
  const std::unique_ptr<event_base, FreeBase> base_{event_base_new()};
  std::optional<EventBridge> bridge_;
  std::optional<transfer::Batcher> batcher_;
  std::optional<InferenceServer> server_;
  std::unique_ptr<HttpListener> listener_;
  std::thread thread_;
};

// Health says it as soon as the batcher has heard of it.
Json ready_once(Client& client, std::size_t failed) {
  for (;;) {
    const Json ready = Json::parse(client.get("/v2/health/ready").body);
    if (ready.value("devices_failed", Json::array()).size() == failed) return ready;
  }
}

TEST(InferenceServerTest, ARequestThatOthersMayReadInAnotherWayEndsItsConnection) {
  Rig rig(1);
  const std::string inner = "GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string size = std::to_string(inner.size());
  for (const std::string& framing :
       {"Content-Length: 2\r\nContent-Length: " + size, "Content-Length : " + size,
        "Content-Length: +" + size, std::string("Transfer-Encoding: xchunked"),
        std::string("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"),
        "Transfer-Encoding: chunked\r\nContent-Length: " + size}) {
    Client client(rig.port());
    client.send("GET /v2 HTTP/1.1\r\nHost: x\r\n" + framing + "\r\n\r\n" + inner);
    EXPECT_GE(client.receive().status, 400) << framing;
    EXPECT_EQ(client.receive().status, 0) << framing;
  }
  for (const std::string& framing : {"Content-Length: " + size, "Content-Length: 0" + size,
                                     std::string("Transfer-Encoding: chunked")}) {
    Client client(rig.port());
    client.send("HEAD /v2 HTTP/1.1\r\nHost: x\r\n" + framing + "\r\n\r\n" + inner);
    EXPECT_GE(client.receive().status, 400) << framing;
    EXPECT_EQ(client.receive().status, 0) << framing;
  }
}

TEST(InferenceServerTest, TheBodyOfAGetIsNoRequest) {
  Rig rig(1);
  Client client(rig.port());
  const std::string inner = "GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string size = std::to_string(inner.size());
  EXPECT_EQ(
      client.get("/v2", "Content-Length: " + size + "\r\n\r\n" + inner.substr(0, inner.size() - 2))
          .status,
      200);
  EXPECT_EQ(client.get("/v2/health/live").body, R"({"live":true})");
  client.send("HEAD /v2 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
}

TEST(InferenceServerTest, LargeBodiesThatWaitToBeReadAreLimitedAndOthersPass) {
  PausedExecutor large;
  Rig rig(1, &large);
  constexpr int kMost = 32;  // InferenceServer's
  const std::string body = kRow + std::string(20000, ' ');
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kMost; ++i) {
    clients.push_back(std::make_unique<Client>(rig.port()));
    clients.back()->begin_post(kInfer, body);
  }
  Client small(rig.port()), late(rig.port());
  // Refused once all of them are there.
  Reply refused;
  while (refused.status != 429) {
    Client next(rig.port());
    next.begin_post(kInfer, body);
    if (next.hears_within(1000)) refused = next.receive();
  }
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_EQ(small.post(kInfer, kRow).status, 200);
  large.resume();
  for (const auto& client : clients) {
    const int status = client->receive().status;
    EXPECT_TRUE(status == 200 || status == 429) << status;
  }
  EXPECT_EQ(late.post(kInfer, body).status, 200);
}

// The loop, on which the others wait, neither reads nor writes what is long.
TEST(InferenceServerTest, WhatAClientMakesLongIsReadAndWrittenElsewhere) {
  CountingExecutor large;
  Rig rig(1, &large);
  Client client(rig.port());
  const std::string id(20000, 'i');
  std::string row = kRow;
  row.replace(row.rfind('}'), 1, R"(,"id":")" + id + R"("})");
  const Reply answer = client.post(kInfer, row);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_NE(answer.body.find(id), std::string::npos);
  EXPECT_EQ(large.submitted, 2) << "one reads, one writes";
  const std::string head =
      R"({"inputs":[{"name":"x","datatype":"BOOL","shape":[1100000],"parameters":{"binary_data_size":1100000}}]})";
  const Reply refused =
      client.post(kInfer, head + std::string(1'100'000, '\2'),
                  "Inference-Header-Content-Length: " + std::to_string(head.size()) + "\r\n");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(large.submitted, 3) << "what is long behind a short head, too";

  const std::string npy(20000, 'n');
  EXPECT_EQ(client
                .post(kInfer, npy,
                      "Content-Type: application/x-npy\r\n"
                      "Inference-Header-Content-Length: 1\r\n")
                .status,
            400);
  EXPECT_EQ(large.submitted, 4) << "the header says nothing of such a body";
}

TEST(InferenceServerTest, TheStatusHasTheMemoryThatIsLabelledWithTheDevice) {
  Rig rig(1);
  const ServerStatus status = rig.on_loop([](const InferenceServer& one) { return one.status(); });
  EXPECT_EQ(status.devices.at(0).memory_bytes, 7);
}

TEST(InferenceServerTest, ABodyThatIsReadWhileADrainBeginsIsAnswered) {
  PausedExecutor large;
  Rig rig(1, &large);
  Client client(rig.port()), late(rig.port());
  client.begin_post(kInfer, kRow + std::string(20000, ' '));
  while (rig.on_loop([](const InferenceServer& server) { return server.in_flight(); }) == 0) {
  }
  rig.on_loop([](InferenceServer& server) {
    server.begin_drain(steady_clock().now() + std::chrono::seconds(30));
    return true;
  });
  EXPECT_EQ(late.post(kInfer, kRow).status, 503);
  large.resume();
  EXPECT_EQ(client.receive().status, 200);
}

TEST(InferenceServerTest, TheStatisticsOfAllModelsHaveAPathOfTheirOwn) {
  Rig rig(1);
  Client client(rig.port());
  ASSERT_EQ(client.post(kInfer, kRow).status, 200);
  const Json stats = Json::parse(client.get("/v2/models/stats").body)["model_stats"];
  ASSERT_EQ(stats.size(), 1U);
  EXPECT_EQ(stats[0]["name"], "m");
  EXPECT_EQ(stats[0]["inference_count"], 1);
}

TEST(InferenceServerTest, AnOutputThatTheModelHasNotIsRefusedBeforeItRuns) {
  Rig rig(1);
  Client client(rig.port());
  std::string row = kRow;
  row.replace(row.rfind('}'), 1, R"(,"outputs":[{"name":"nothing"}]})");
  const Reply reply = client.post(kInfer, row);
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.body.find("output 'nothing' is none of model 'm'"), std::string::npos);
  const Json stats = Json::parse(client.get("/v2/models/m/stats").body)["model_stats"];
  EXPECT_EQ(stats[0]["execution_count"], 0);
}

TEST(InferenceServerTest, TheRequestsOfADeviceThatFailsGoToAnotherAndReadinessTells) {
  const Rig rig(2);
  Client client(rig.port());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.post(kInfer, kRow).status, 200);
  ASSERT_TRUE(rig.device(0).kill(Error(ErrorCode::kInternal, "burnt by the test")));
  for (int i = 0; i < 20; ++i) {
    const Reply reply = client.post(kInfer, kRow);
    EXPECT_EQ(reply.status, 200) << reply.body;
  }
  const Json ready = ready_once(client, 1);
  EXPECT_EQ(ready["ready"], true);
  EXPECT_EQ(ready["devices_failed"][0]["device"], 0);
  EXPECT_NE(ready["devices_failed"][0]["reason"].get<std::string>().find("burnt by the test"),
            std::string::npos);
  const Json status = Json::parse(client.get("/status").body);
  EXPECT_EQ(status["state"], "ready");
  EXPECT_EQ(status["devices"][0]["state"], "failed");
  EXPECT_EQ(status["devices"][1]["state"], "works");
}

TEST(InferenceServerTest, WithoutADeviceEveryRequestIs503WithTheReasonAndItIsNotReady) {
  const Rig rig(1);
  Client client(rig.port());
  EXPECT_EQ(client.post(kInfer, kRow).status, 200);
  ASSERT_TRUE(rig.device(0).kill(Error(ErrorCode::kInternal, "burnt by the test")));
  const Json ready = ready_once(client, 1);
  EXPECT_EQ(ready["ready"], false);
  EXPECT_EQ(ready["reason"], "no device is left");
  const Reply reply = client.post(kInfer, kRow);
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("burnt by the test"), std::string::npos) << reply.body;
  EXPECT_NE(reply.header("Retry-After"), "");
  EXPECT_EQ(client.get("/v2/health/ready").status, 503);
  EXPECT_EQ(client.get("/v2/models/m/ready").status, 503);
  EXPECT_EQ(client.get("/v2/health/live").status, 200);
}

}  // namespace
}  // namespace millrace::serve
