// `millrace serve` as clients meet it: a process, real sockets and signals, because those are what
// is tested; the client is a raw socket, so that it can be wrong in any way.
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/commands/loopback.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/serve/certificates.h"
#include "tests/tools/serve/raw_client.h"
#include "tests/tools/serve/scaler_model.h"

namespace millrace::testing {
namespace {

using Json = nlohmann::json;

constexpr const char* kInfer = "/v2/models/m/infer";
constexpr const char* kRow =
    R"({"id":"7","inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[[10,100]]}]})";

class ServeTest : public ::testing::Test {
 protected:
  ServeTest() {
    write_model(folder_);
    write_weights(folder_.file("weights.safetensors"), "scale", {2, 3});
  }
  std::vector<std::string> words(std::vector<std::string> more) const {
    std::vector<std::string> all = {build_folder() + "/bin/millrace",
                                    "serve",
                                    "m=" + folder_.path(),
                                    "--listen",
                                    "127.0.0.1:0",
                                    "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  bool start(const std::vector<std::string>& more = {}) {
    process_ = std::make_unique<Process>(words(more));
    const auto says = [](const char* event) {
      return [event](const Outcome& outcome) {
        return outcome.out.find(std::string("\"event\":\"") + event) != std::string::npos;
      };
    };
    if (!process_->wait_for(says("ready"))) {
      ADD_FAILURE() << process_->wait().err;
      return false;
    }
    return process_->wait_for([&](const Outcome& outcome) {
      port_ = Json::parse(outcome.out.substr(0, outcome.out.find('\n'))).at("port").get<int>();
      return true;
    });
  }
  const Outcome& stop() {
    process_->send(SIGTERM);
    return process_->wait();
  }

  TempFolder folder_;
  std::unique_ptr<Process> process_;
  int port_ = 0;
};

TEST_F(ServeTest, ItAnswersTheProtocolAndEndsWithZeroBySigterm) {
  ASSERT_TRUE(start());
  Client client(port_);
  EXPECT_EQ(client.get("/v2/health/live").status, 200);
  EXPECT_EQ(client.get("/v2/health/ready").status, 200);
  EXPECT_EQ(Json::parse(client.get("/v2").body)["name"], "millrace");
  EXPECT_EQ(Json::parse(client.get("/v2/models").body)["models"][0]["name"], "m");
  const Json model = Json::parse(client.get("/v2/models/m").body);
  EXPECT_EQ(model["inputs"][0], Json::parse(R"({"name":"x","datatype":"FP32","shape":[-1,2]})"));
  EXPECT_EQ(client.get("/v2/models/m/ready").status, 200);

  const Reply reply = client.post(kInfer, kRow, "X-Request-Id: abc\r\ntraceparent: 00-1-2-3\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body,
            R"({"model_name":"m","id":"7","outputs":[{"name":"y","datatype":"FP32","shape":[1,2],)"
            R"("data":[20,300]}]})");
  EXPECT_EQ(reply.header("X-Request-Id"), "abc");
  EXPECT_EQ(reply.header("traceparent"), "00-1-2-3");

  const auto look = [&] {
    return Json::parse(client.get("/v2/models/m/stats").body)["model_stats"][0];
  };
  Json stats = look();
  while (stats["inference_stats"]["success"]["count"] == 0) stats = look();  // once answered
  EXPECT_EQ(stats["inference_stats"]["success"]["count"], 1);
  EXPECT_EQ(stats["inference_count"], 1);
  EXPECT_NE(client.get("/metrics").body.find("millrace_requests_total{code=\"ok\",model=\"m\"} 1"),
            std::string::npos);
  const Reply head = [&] {
    client.send("HEAD /v2 HTTP/1.1\r\nHost: x\r\n\r\n");
    return client.get("/v2/health/live");  // in step: no body came
  }();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(stop().code, 0) << process_->wait().err;
}

// The page holds no number: it is the same for all, and asks for /status by itself.
TEST_F(ServeTest, TheStatusSaysWhatModelsAndDevicesDoAndItsPageIsThereWithoutAToken) {
  write_text(folder_, "token", "0123456789abcdef\n");
  ASSERT_TRUE(start({"--token-file", folder_.file("token")}));
  Client client(port_);
  const Reply page = client.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.header("Content-Security-Policy").find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(client.get("/status").status, 401);
  const std::string token = "Authorization: Bearer 0123456789abcdef\r\n";
  EXPECT_EQ(client.post(kInfer, kRow, token).status, 200);
  const auto look = [&] { return Json::parse(client.get("/status", token).body); };
  Json status = look();
  while (status["models"][0]["request_ns"].empty()) status = look();  // it is counted once answered
  EXPECT_EQ(status["state"], "ready");
  EXPECT_EQ(status["devices"][0]["state"], "works");
  const Json& model = status["models"][0];
  EXPECT_EQ(model["model"], "m");
  EXPECT_EQ(model["batch_sizes"], Json::parse("[[1,4]]"));
  EXPECT_EQ(model["succeeded"], 1);
  EXPECT_EQ(model["most_queued"], 1024);
  EXPECT_EQ(model["batch_rows"], Json::parse("[[1,1]]"));
  EXPECT_EQ(model["request_ns"].size(), 1U);
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, EveryLineOfTheAccessLogHasARequestIdAndSampledTracesAreInTheTimeline) {
  const std::string timeline = folder_.file("timeline");
  ASSERT_TRUE(start({"--access-log", "--trace", timeline}));
  Client client(port_);
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const std::string parent = "traceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n";
  const Reply first = client.post(kInfer, kRow, parent);
  const Reply second = client.get("/v2/models/none");
  const Reply third = client.get("/v2", "X-Request-Id: mine\r\n");
  EXPECT_EQ(first.header("X-Request-Id").size(), 16U);
  EXPECT_NE(first.header("X-Request-Id"), second.header("X-Request-Id"));
  EXPECT_EQ(third.header("X-Request-Id"), "mine");
  const Outcome& outcome = stop();
  EXPECT_EQ(outcome.code, 0);
  for (const std::string& id :
       {first.header("X-Request-Id"), second.header("X-Request-Id"), std::string("mine")}) {
    EXPECT_NE(outcome.err.find("\"request_id\":\"" + id + "\""), std::string::npos) << outcome.err;
  }
  const Outcome lanes = run_millrace({"trace", timeline, "--all-lanes"});
  EXPECT_NE(lanes.out.find("infer m trace " + trace), std::string::npos) << lanes.out;
}

TEST_F(ServeTest, PromtoolFindsNothingWrongWithTheMetrics) {
  Process looked({"/bin/sh", "-c", "command -v promtool"});
  if (looked.wait().code != 0) GTEST_SKIP() << "no promtool here (Debian's package prometheus)";
  ASSERT_TRUE(start());
  Client client(port_);
  EXPECT_EQ(client.post(kInfer, kRow).status, 200);
  write_text(folder_, "metrics", client.get("/metrics").body);
  Process promtool({"/bin/sh", "-c", "promtool check metrics < " + folder_.file("metrics")});
  const Outcome& outcome = promtool.wait();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, BinaryTensorsAndNpyBodiesGoBothWays) {
  ASSERT_TRUE(start());
  Client client(port_);
  const float x[] = {1, 2, 3, 4};
  const std::string bytes(reinterpret_cast<const char*>(x), sizeof x);
  const std::string json =
      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[2,2],"parameters":{"binary_data_size":16}}],)"
      R"("parameters":{"binary_data_output":true}})";
  const Reply reply =
      client.post(kInfer, json + bytes,
                  "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const std::size_t length = std::stoul(reply.header("Inference-Header-Content-Length"));
  EXPECT_EQ(
      Json::parse(reply.body.substr(0, length))["outputs"][0]["parameters"]["binary_data_size"],
      16);
  const float y[] = {2, 6, 6, 12};
  EXPECT_EQ(reply.body.substr(length), std::string(reinterpret_cast<const char*>(y), sizeof y));

  std::string npy("\x93NUMPY\x01\x00\x76\x00", 10);
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  dict.resize(117, ' ');
  const Reply array =
      client.post(kInfer, npy + dict + "\n" + bytes, "Content-Type: application/x-npy\r\n");
  ASSERT_EQ(array.status, 200) << array.body;
  EXPECT_EQ(array.body.substr(array.body.size() - sizeof y),
            std::string(reinterpret_cast<const char*>(y), sizeof y));
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, WhatIsWrongHasItsStatusAndItsReason) {
  ASSERT_TRUE(start({"--body-mib", "1"}));
  struct Row {
    const char* path;
    std::string body;
    int status;
    const char* says;
  };
  const std::string wrong_shape =
      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,2,3]}]})";
  for (const Row& row : std::vector<Row>{
           {kInfer, "{", 400, "no JSON"},
           {kInfer, R"({"inputs":[]})", 400, "input 'x' is missing"},
           {kInfer, R"({"inputs":[{"name":"x","datatype":"BYTES","shape":[1],"data":["a"]}]})", 400,
            "datatype BYTES: texts"},
           {kInfer, wrong_shape, 400, "input 'x' is tensor<1x3xf32>"},
           {"/v2/models/none/infer", kRow, 404, "no model 'none'"},
           {"/v2/models/m/versions/3/infer", kRow, 404, "version 1"},
           {"/v2", "", 405, "method"},
           {"/etc/passwd", "", 404, "/v2"},
           {kInfer, std::string(std::size_t{2} << 20, ' '), 413, ""}}) {
    Client client(port_);
    const Reply reply = client.post(row.path, row.body);
    EXPECT_EQ(reply.status, row.status) << row.path << reply.body;
    EXPECT_NE(reply.body.find(row.says), std::string::npos) << reply.body;
  }
  // What is no HTTP at all ends its connection and nothing else.
  for (const std::string& junk :
       {std::string("\x16\x03\x01\x02\x00\x01", 6), std::string("\r\n\r\n"),
        std::string("GET\r\n\r\n"), std::string("POST / HTTP/9.9\r\n\r\n"),
        "GET /" + std::string(100000, 'a') + " HTTP/1.1\r\n\r\n"}) {
    Client client(port_);
    client.send(junk + "\r\n\r\n");
    const Reply reply = client.receive();
    EXPECT_TRUE(reply.status == 0 || reply.status >= 400) << junk.substr(0, 20);
  }
  Client client(port_);
  EXPECT_EQ(client.post(kInfer, kRow).status, 200);
  EXPECT_EQ(stop().code, 0);
}

// Its stderr is a pipe that nothing empties until the end.
TEST_F(ServeTest, TheAccessLogHoldsUpNoAnswer) {
  ASSERT_TRUE(start({"--access-log"}));
  Client client(port_);
  constexpr int kRequests = 200;
  const std::string path = "/" + std::string(2000, 'x');
  for (int i = 0; i < kRequests; ++i) ASSERT_EQ(client.get(path).status, 404) << i;
  const Outcome& outcome = stop();
  EXPECT_EQ(outcome.code, 0);
  const auto lines = std::ranges::count(outcome.err, '\n');
  EXPECT_GT(lines, 0);
  EXPECT_LT(lines, kRequests);
}

TEST_F(ServeTest, ARequestThatIsArrivingWhenItStopsIsAnswered) {
  ASSERT_TRUE(start());
  const std::string row = kRow;
  Client slow(port_), probe(port_);
  slow.send("POST " + std::string(kInfer) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
            std::to_string(row.size()) + "\r\n\r\n" + row.substr(0, 10));
  ASSERT_EQ(probe.get("/v2/health/live").status, 200);
  process_->send(SIGTERM);
  while (Client(port_).get("/v2/health/ready").status == 200) {
  }
  EXPECT_FALSE(slow.hears_within(1000));  // longer than a server with nothing to do would stay
  slow.send(row.substr(10));
  EXPECT_EQ(slow.receive().status, 503);
  EXPECT_EQ(process_->wait().code, 0);
}

TEST_F(ServeTest, ConnectionsForWhichThereAreNoDescriptorsAreRefusedAtTheStart) {
  std::vector<std::string> limited = {"/bin/sh", "-c", "ulimit -n 200; exec \"$0\" \"$@\""};
  const std::vector<std::string> serve = words({"--connections", "100"});
  limited.insert(limited.end(), serve.begin(), serve.end());
  Process process(limited);
  const Outcome& outcome = process.wait();
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE((outcome.out + outcome.err).find("--connections 100: 356 open descriptors"),
            std::string::npos)
      << outcome.out << outcome.err;
}

TEST_F(ServeTest, AFullQueueIsAnsweredAtOnceWith429AndADrainAnswersWhatWasAccepted) {
  ASSERT_TRUE(start({"--queue", "1", "--delay-ms", "10000"}));
  Client first(port_);
  first.begin_post(kInfer, kRow);  // waits for others to share its batch
  Client probe(port_);
  while (Json::parse(probe.get("/v2/models/m/stats").body)["model_stats"][0]["queued"] == 0) {
  }
  Client second(port_);
  const Reply refused = second.post(kInfer, kRow);
  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(refused.header("Retry-After"), "");
  process_->send(SIGTERM);
  EXPECT_EQ(first.receive().status, 200);
  EXPECT_EQ(process_->wait().code, 0);
}

TEST_F(ServeTest, AClientThatGoesTakesItsRequestWithItAndADeadlineIs504) {
  ASSERT_TRUE(start({"--delay-ms", "10000"}));
  Client probe(port_);
  const auto queued = [&] {
    return Json::parse(probe.get("/v2/models/m/stats").body)["model_stats"][0]["queued"].get<int>();
  };
  {
    Client goes(port_);
    goes.begin_post(kInfer, kRow);
    while (queued() == 0) {
    }
  }
  while (queued() != 0) {
  }
  Client client(port_);
  const Reply late = client.post(kInfer, kRow, "Request-Deadline-Ms: 1\r\n");
  EXPECT_TRUE(late.status == 504 || late.status == 200)
      << late.body;  // it runs at once, or too late
  EXPECT_EQ(stop().code, 0);
}

// With a reset: what is written to such a connection would end a process by SIGPIPE.
TEST_F(ServeTest, ClientsThatResetTheirConnectionLeaveItServingOthers) {
  ASSERT_TRUE(start({"--delay-ms", "1"}));
  for (int i = 0; i < 200; ++i) {
    Client goes(port_);
    for (int ahead = 0; ahead < 3; ++ahead) goes.begin_post(kInfer, kRow);
    goes.reset_at_end();
  }
  Client client(port_);
  EXPECT_EQ(client.post(kInfer, kRow).status, 200);
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, ARequestThatDoesNotArriveInTimeIsClosed) {
  ASSERT_TRUE(start({"--request-seconds", "0.2"}));
  for (const char* part :
       {"", "GET /v2 HT", "POST /v2/models/m/infer HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"}) {
    Client client(port_);
    client.send(part);
    while (!client.closed()) {
    }
  }
  EXPECT_EQ(stop().code, 0);
}

// At its limit the listener looks every 10 ms for connections that have ended: one that sends an
// answer has not.
TEST_F(ServeTest, EveryRequestIsAnsweredWhileTheListenerIsFull) {
  ASSERT_TRUE(start({"--connections", "1"}));
  Client client(port_);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(client.get("/v2/health/live").status, 200) << i;
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, BeyondTheLimitConnectionsWaitUntilOneIsClosed) {
  ASSERT_TRUE(start({"--connections", "2"}));
  auto first = std::make_unique<Client>(port_);
  Client second(port_);
  EXPECT_EQ(first->get("/v2/health/live").status, 200);
  EXPECT_EQ(second.get("/v2/health/live").status, 200);
  Client third(port_);  // in the queue of the system
  third.send("GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(second.get("/v2/health/live").status, 200);
  first.reset();
  EXPECT_EQ(third.receive().status, 200);
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, WithATokenOnlyTheHealthIsThereForAll) {
  write_text(folder_, "token", "0123456789abcdef\n");
  ASSERT_TRUE(start({"--token-file", folder_.file("token")}));
  Client client(port_);
  EXPECT_EQ(client.get("/v2/health/ready").status, 200);
  EXPECT_EQ(client.get("/v2").status, 401);
  EXPECT_EQ(client.get("/v2", "Authorization: Bearer 0123456789abcdeF\r\n").status, 401);
  EXPECT_EQ(client.get("/v2", "Authorization: Bearer 0123456789abcdef\r\n").status, 200);
  EXPECT_EQ(stop().code, 0);
}

// A client of TLS; each call is whole or fails the test.
class TlsClient {
 public:
  explicit TlsClient(int port) : socket_(connect_to_loopback(port)) {
    SSL_set_fd(connection_.get(), socket_);
    EXPECT_EQ(SSL_connect(connection_.get()), 1);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient() { ::close(socket_); }
  int version() const { return SSL_version(connection_.get()); }
  // What the server answers, up to its end of the connection, which it must tell.
  std::string ask(const std::string& request) {
    EXPECT_GT(SSL_write(connection_.get(), request.data(), static_cast<int>(request.size())), 0);
    std::string answer;
    char bytes[4096];
    int got = 0;
    while ((got = SSL_read(connection_.get(), bytes, sizeof bytes)) > 0)
      answer.append(bytes, static_cast<std::size_t>(got));
    EXPECT_EQ(SSL_get_error(connection_.get(), got), SSL_ERROR_ZERO_RETURN);
    return answer;
  }

 private:
  const int socket_;
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_{SSL_CTX_new(TLS_client_method()),
                                                              &SSL_CTX_free};
  const std::unique_ptr<SSL, void (*)(SSL*)> connection_{SSL_new(context_.get()), &SSL_free};
};

TEST_F(ServeTest, WithACertificateItSpeaksTlsAndNothingElse) {
  const MadeKey key;
  key.write_certificate(folder_.file("server.pem"), -60, 3600);
  key.write(folder_.file("server.key"));
  ASSERT_TRUE(start({"--tls-certificate", folder_.file("server.pem"), "--tls-key",
                     folder_.file("server.key"), "--connections", "2"}));
  for (int i = 0; i < 5; ++i) {  // more than may be open at once
    TlsClient client(port_);
    EXPECT_EQ(client.version(), TLS1_3_VERSION);
    const std::string body(kRow);
    const std::string answer =
        client.ask("POST " + std::string(kInfer) +
                   " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    EXPECT_NE(answer.find("[20,300]"), std::string::npos) << answer;
  }
  {
    Client plain(port_);
    plain.send("GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(plain.receive().status, 0);  // an alert of TLS is no HTTP
  }
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, ChangedWeightsAreReloadedAndWhatCannotBeServedLeavesTheOldOnes) {
  const std::string weights = folder_.file("weights.safetensors");
  ASSERT_TRUE(start({"--reload-seconds", "0.02"}));
  Client client(port_);
  const auto first = [&] {
    return Json::parse(client.post(kInfer, kRow).body)["outputs"][0]["data"][0].get<float>();
  };
  EXPECT_EQ(first(), 20);
  write_weights(weights, "scale", {5, 3});
  while (first() != 50) {  // each request is answered meanwhile, by one version or the other
  }
  write_weights(weights, "scale", {7, 3, 1});
  EXPECT_TRUE(process_->wait_for([](const Outcome& outcome) {
    return outcome.err.find("the version before stays") != std::string::npos;
  }));
  EXPECT_EQ(first(), 50);
  EXPECT_EQ(stop().code, 0);
}

TEST_F(ServeTest, WhatCannotBeServedIsRefusedAtTheStart) {
  ASSERT_TRUE(start());
  write_text(folder_, "short", "abc");
  const MadeKey key;
  key.write_certificate(folder_.file("old.pem"), -3600, -60);
  key.write(folder_.file("old.key"));
  const std::string port = std::to_string(port_);
  struct Row {
    std::vector<std::string> words;
    int code;
    const char* says;
  };
  const std::string model = "m=" + folder_.path();
  for (const Row& row : std::vector<Row>{
           {{model, "--listen", "127.0.0.1:" + port}, 1, "listening at 127.0.0.1:"},
           {{model, "--listen", "0.0.0.0:0"}, 2, "--public"},
           {{model, "--listen", "0.0.0.0:0", "--public"}, 2, "--token-file"},
           {{model, "--listen", "nothing"}, 2, "no ADDRESS:PORT"},
           {{model, "--token-file", folder_.file("short")}, 2, "16 or more"},
           {{model, "--tls-key", folder_.file("old.key")}, 2, "go together"},
           {{model, "--tls-certificate", folder_.file("old.pem"), "--tls-key",
             folder_.file("old.key")},
            1,
            "old.pem ran out at"},
           {{model, model}, 2, "two models have the name 'm'"},
           {{"m"}, 2, "NAME=FOLDER"},
           {{model, "--checkpoint", "n=x"}, 2, "no model here"},
           {{model, "--listen", "127.0.0.1:0", "--batch-sizes", "3"}, 1, "it has 1, 4"},
           {{"m=/nowhere", "--listen", "127.0.0.1:0"}, 1, "/nowhere/manifest.json"}}) {
    std::vector<std::string> words = {build_folder() + "/bin/millrace", "serve"};
    words.insert(words.end(), row.words.begin(), row.words.end());
    Process process(words);
    const Outcome& outcome = process.wait();
    EXPECT_EQ(outcome.code, row.code) << outcome.err;
    EXPECT_NE(outcome.err.find(row.says), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(stop().code, 0);
}

}  // namespace
}  // namespace millrace::testing
