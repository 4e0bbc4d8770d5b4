// `millrace load` against `millrace serve`: processes and sockets, because those are what is
// tested.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/core/base/descriptor.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/serve/raw_client.h"
#include "tests/tools/serve/scaler_model.h"

namespace millrace::testing {
namespace {

using Json = nlohmann::json;

// A server that takes connections and answers nothing.
class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), any, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), any, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  const std::string& url() const { return url_; }
  // The head of the next request, whose connection stays open.
  std::string take() {
    client_ = Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n") && ::recv(client_.get(), &byte, 1, 0) == 1) head += byte;
    return head;
  }

 private:
  const Descriptor listener_;
  Descriptor client_;
  std::string url_;
};

class LoadTest : public ::testing::Test {
 protected:
  void serve(const std::vector<std::string>& more = {}) {
    write_model(folder_);
    write_weights(folder_.file("weights.safetensors"), "scale", {2, 3});
    std::vector<std::string> words = {"serve", "m=" + folder_.path(), "--listen", "127.0.0.1:0",
                                      "--json"};
    words.insert(words.end(), more.begin(), more.end());
    server_ = std::make_unique<Process>(millrace_command(words));
    ASSERT_TRUE(server_->wait_for(
        [](const Outcome& outcome) { return outcome.out.find("\"ready\"") != std::string::npos; }));
    server_->wait_for([&](const Outcome& outcome) {
      url_ = "http://127.0.0.1:" +
             std::to_string(
                 Json::parse(outcome.out.substr(0, outcome.out.find('\n')))["port"].get<int>());
      return true;
    });
  }
  int port() const { return std::stoi(url_.substr(url_.find(':', 7) + 1)); }
  static Json last_line(const std::string& text) {
    const std::size_t end = text.find_last_not_of('\n');
    const std::size_t begin = text.rfind('\n', end);
    return Json::parse(text.substr(begin == std::string::npos ? 0 : begin + 1));
  }

  TempFolder folder_;
  std::unique_ptr<Process> server_;
  std::string url_;
};

TEST_F(LoadTest, AnOpenLoopSendsItsRateAndDrawsWhatItSaw) {
  serve();
  const std::string svg = folder_.file("load.svg");
  const Outcome outcome = run_millrace(
      {"load", url_, "--rate", "200", "--seconds", "1", "--rows", "3", "--svg", svg, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = last_line(outcome.out);
  EXPECT_EQ(json["errors"], 0);
  EXPECT_EQ(json["refused"], 0);
  const auto requests = json["requests"].get<int>();
  EXPECT_GT(requests, 130);  // 200 are expected, with a deviation of 14
  EXPECT_LT(requests, 270);
  const Json& latency = json["latency_ms"];
  EXPECT_GT(latency["p50"], 0);
  EXPECT_LE(latency["p50"], latency["p90"]);
  EXPECT_LE(latency["p90"], latency["p99"]);
  EXPECT_LE(latency["p99"], latency["p999"]);
  EXPECT_LE(latency["p999"], latency["max"]);
  std::ifstream in(svg);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_NE(text.str().find(">p99<"), std::string::npos);
}

TEST_F(LoadTest, AClosedLoopIsAnsweredBehindATokenAndSaysSoInWords) {
  write_text(folder_, "token", "0123456789abcdef\n");
  serve({"--token-file", folder_.file("token")});
  const Outcome outcome = run_millrace({"load", url_ + "/v2/models/m", "--clients", "4",
                                        "--seconds", "0.3", "--token-file", folder_.file("token")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" 0 refused, 0 errors\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("p99.9"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

// Every request waits for others for so long, and no other may wait: the rest is refused.
TEST_F(LoadTest, RefusedRequestsAreCountedApart) {
  serve({"--queue", "1", "--delay-ms", "200"});
  const Outcome outcome =
      run_millrace({"load", url_, "--clients", "3", "--seconds", "1", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = last_line(outcome.out);
  EXPECT_GT(json["refused"], 0);
  EXPECT_EQ(json["errors"], 0);
  EXPECT_LT(json["refused"], json["requests"]);
}

TEST_F(LoadTest, WhatCannotBeLoadedIsRefusedWithWords) {
  serve();
  struct Row {
    std::vector<std::string> words;
    int code;
    const char* says;
  };
  for (const Row& row :
       std::vector<Row>{{{"http://192.0.2.1:80"}, 2, "--any-host"},
                        {{"nothing"}, 2, "http://"},
                        {{url_ + "/v2/models/none"}, 1, "no model 'none'"},
                        {{"http://127.0.0.1:1"}, 1, "no server answers at 127.0.0.1:1"},
                        {{url_, "--rows", "5", "--seconds", "0.1", "--json"}, 1, ""}}) {
    std::vector<std::string> words = {"load"};
    words.insert(words.end(), row.words.begin(), row.words.end());
    const Outcome outcome = run_millrace(words);
    EXPECT_EQ(outcome.code, row.code) << row.words[0] << outcome.err;
    EXPECT_NE(outcome.err.find(row.says), std::string::npos) << outcome.err;
  }
}

TEST_F(LoadTest, APictureThatCannotBeWrittenCostsNoReport) {
  serve();
  const Outcome refused =
      run_millrace({"load", url_, "--seconds", "0.1", "--svg", folder_.file("missing/load.svg")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("load.svg: No such file or directory"), std::string::npos)
      << refused.err;
  const Json before = Json::parse(Client(port()).get("/v2/models/m/stats").body);
  EXPECT_EQ(before["model_stats"][0]["inference_count"], 0) << "found before the run";

  const Outcome full = run_millrace({"load", url_, "--seconds", "0.1", "--svg", "/dev/full"});
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.err.find("writing /dev/full: No space left on device"), std::string::npos)
      << full.err;
  EXPECT_NE(full.out.find(" answered ("), std::string::npos) << full.out;
}

// The scaler takes at most four rows.
TEST_F(LoadTest, TheFirstFailedAnswerIsShown) {
  serve();
  const std::vector<std::string> words = {"load", url_, "--rows", "5", "--seconds", "0.1"};
  const Outcome said = run_millrace(words);
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_NE(said.out.find("\nthe first error: status 400: "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("no request was answered"), std::string::npos) << said.out;
  std::vector<std::string> with_json = words;
  with_json.emplace_back("--json");
  const Json first = last_line(run_millrace(with_json).out)["first_error"];
  EXPECT_EQ(first["status"], 400);
  EXPECT_NE(first["error"], "");
}

TEST_F(LoadTest, ASignalEndsItWhileTheServerIsAskedForItsModel) {
  for (const char* path : {"", "/v2/models/m"}) {
    for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
      SilentServer silent;
      Process load(millrace_command({"load", silent.url() + path, "--timeout", "3600"}));
      EXPECT_TRUE(silent.take().starts_with("GET /v2/models"));
      load.send(signal);
      const Outcome& outcome = load.wait();
      EXPECT_EQ(outcome.code, code) << outcome.err;
      EXPECT_EQ(outcome.out, "");
      EXPECT_NE(outcome.err.find("before the first request"), std::string::npos) << outcome.err;
    }
  }
}

TEST_F(LoadTest, ASignalEndsItWithTheReport) {
  serve();
  Process load(millrace_command({"load", url_, "--seconds", "300", "--json"}));
  ASSERT_TRUE(load.wait_until_caught(SIGTERM));
  Client probe(port());
  while (probe.get("/v2/models/m/stats").body.find(R"("inference_count":0)") != std::string::npos) {
  }
  load.send(SIGTERM);
  const Outcome& outcome = load.wait();
  EXPECT_EQ(outcome.code, 143) << outcome.err;
  EXPECT_EQ(last_line(outcome.out)["errors"], 0) << outcome.out;
}

}  // namespace
}  // namespace millrace::testing
