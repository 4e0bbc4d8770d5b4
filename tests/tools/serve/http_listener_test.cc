// Real sockets and a real loop: what is tested is when bytes have been taken by the system.
#include "millrace/tools/serve/http_listener.h"

#include <event2/event.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/free_by.h"
#include "millrace/core/loop/event_bridge.h"
#include "tests/tools/serve/raw_client.h"

namespace millrace::serve {
namespace {

using testing::Client;

// Answers each path with as many bytes as it says, and keeps the order in which answers have ended.
// The path /none is not answered before its client has gone.
class Rig {
 public:
  explicit Rig(const HttpOptions& options = {})
      : bridge_(EventBridge::create(base_.get()).value()),
        listener_(
            HttpListener::create(base_.get(), options,
                                 [this](const Ref<HttpExchange>& exchange) { answer(exchange); })
                .value()),
        port_(listener_->port()),
        thread_([this] { event_base_dispatch(base_.get()); }) {}
  ~Rig() { stop(); }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  int port() const { return port_; }
  // With the listener, and all connections.
  void stop() {
    if (!thread_.joinable()) return;
    post(bridge_.executor(), [this] {
      listener_.reset();
      event_base_loopbreak(base_.get());
    });
    thread_.join();
  }
  // That the client of /none has gone.
  const Future<void>& gone() const { return gone_; }
  // Read when it has stopped.
  const std::vector<std::string>& ended() const { return ended_; }

 private:
  void answer(const Ref<HttpExchange>& exchange) {
    const std::string path = exchange->path();
    if (path == "/none") {
      waiting_.emplace(exchange->gone(), [this, exchange] { goes_.set_value(); });
      return;
    }
    exchange->answer(200, {}, {.head = std::string(std::stoul(path.substr(1)), 'x')},
                     [this, path] { ended_.push_back(path); });
  }

  const std::unique_ptr<event_base, FreeBy<&event_base_free>> base_{event_base_new()};
  EventBridge bridge_;
  std::unique_ptr<HttpListener> listener_;
  const int port_;
  std::vector<std::string> ended_;
  Promise<void> goes_;
  const Future<void> gone_ = goes_.future();
  std::optional<std::stop_callback<std::function<void()>>> waiting_;
  std::thread thread_;
};

// More than the buffers of two sockets hold.
constexpr const char* kLarge = "/67108864";

TEST(HttpListenerTest, AnAnswerEndsWhenItsLastByteIsWritten) {
  Rig rig;
  Client slow(rig.port()), quick(rig.port());
  slow.send(std::string("GET ") + kLarge + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(quick.get("/1").body, "x");
  EXPECT_EQ(slow.receive().body.size(), 67108864U);
  EXPECT_EQ(quick.get("/2").body, "xx");
  rig.stop();
  EXPECT_EQ(rig.ended(), (std::vector<std::string>{"/1", kLarge, "/2"}));
}

TEST(HttpListenerTest, AnAnswerThatIsNotTakenEndsWithItsConnection) {
  Rig rig;
  Client never(rig.port()), quick(rig.port());
  never.send(std::string("GET ") + kLarge + " HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_FALSE(never.closed());  // its first bytes have come
  EXPECT_EQ(quick.get("/1").body, "x");
  rig.stop();
  EXPECT_EQ(rig.ended(), (std::vector<std::string>{"/1", kLarge}));
}

TEST(HttpListenerTest, TheEndOfAClientIsSeenInEachRequestOfAConnection) {
  Rig rig;
  {
    Client goes(rig.port());
    EXPECT_EQ(goes.get("/1").body, "x");
    EXPECT_EQ(goes.get("/2").body, "xx");
    goes.send("GET /none HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  EXPECT_TRUE(wait_blocking(rig.gone()));
}

// What the buffers of two sockets hold is taken, and no more.
TEST(HttpListenerTest, WhatComesWhileAnAnswerIsSentWaitsInTheSystem) {
  Rig rig;
  Client never(rig.port());
  never.send(std::string("GET ") + kLarge + " HTTP/1.1\r\nHost: x\r\n\r\n");
  constexpr std::size_t kMost = std::size_t{64} << 20;
  EXPECT_LT(never.push(kMost, 500), kMost);
}

TEST(HttpListenerTest, AHeaderLineWithoutEndTakesNoMoreThanItsLimit) {
  Rig rig({.most_body_bytes = 1 << 20});
  Client endless(rig.port());
  endless.send("POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  constexpr std::size_t kMost = std::size_t{64} << 20;
  EXPECT_LT(endless.push(kMost, 500), kMost);
}

// evhttp looks through the whole line whenever a byte comes: the loop would do nothing else.
TEST(HttpListenerTest, ALineOfAChunkWithoutEndTakesNoMoreThanALineOfTheHead) {
  const Rig rig;
  Client endless(rig.port()), behind(rig.port());
  const std::string head = "POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  constexpr std::size_t kMost = std::size_t{32} << 20;
  endless.send(head);
  EXPECT_LT(endless.push(kMost, 500), kMost);
  behind.send("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n" + head);
  EXPECT_EQ(behind.receive().body, "xx");
  EXPECT_LT(behind.push(kMost, 500), kMost);
}

TEST(HttpListenerTest, ChunksOfAnySizeAreTaken) {
  const Rig rig;
  Client client(rig.port());
  std::string request = "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* size : {"100000", "1", "20"})
    request +=
        std::string(size) + "\r\n" + std::string(std::stoul(size, nullptr, 16), 'a') + "\r\n";
  request += "0\r\n\r\n";
  client.send(request + request);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.receive().body, "xxx");
}

TEST(HttpListenerTest, BodiesThatAreTooMuchTogetherEndTheirConnection) {
  Rig rig({.most_arriving_bytes = 1 << 20});
  Client large(rig.port()), small(rig.port());
  small.send("GET /1 HTTP/1.1\r\nHo");
  large.send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n");
  EXPECT_LT(large.push(std::size_t{64} << 20, 500), std::size_t{64} << 20);
  EXPECT_TRUE(large.closed() || large.receive().status == 503);
  small.send("st: x\r\n\r\n");
  EXPECT_EQ(small.receive().body, "x");
}

TEST(HttpListenerTest, AnAnswerHasItsDate) {
  Rig rig;
  Client client(rig.port());
  for (int i = 0; i < 2; ++i) {
    const std::string date = client.get("/1").header("Date");
    tm parts{};
    const char* const end = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    ASSERT_TRUE(end != nullptr && *end == '\0') << date;
    EXPECT_LE(std::abs(std::difftime(::timegm(&parts), std::time(nullptr))), 60);
  }
}

}  // namespace
}  // namespace millrace::serve
