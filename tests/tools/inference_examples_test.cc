// The examples of a server in one's own loop, with clients that vanish, a request that fails, and a
// stop with requests in flight: processes and sockets, because those are what they are about.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/tools/commands/loopback.h"
#include "tests/tools/commands/process.h"

namespace millrace::testing {
namespace {

class FrameClient {
 public:
  explicit FrameClient(int port) : socket_(connect_to_loopback(port)) {}
  FrameClient(const FrameClient&) = delete;
  FrameClient& operator=(const FrameClient&) = delete;
  ~FrameClient() { ::close(socket_); }

  void send(const std::vector<float>& values) const {
    const auto size = static_cast<std::uint32_t>(values.size() * 4);
    std::string frame(4 + size, '\0');
    std::memcpy(frame.data(), &size, 4);
    std::memcpy(frame.data() + 4, values.data(), size);
    EXPECT_EQ(::send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(frame.size()));
  }
  std::vector<float> receive() const {
    std::uint32_t size = 0;
    if (::recv(socket_, &size, 4, MSG_WAITALL) != 4) return {};
    if (size == 0) return {};  // an error
    std::vector<float> values(size / 4);
    if (::recv(socket_, values.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) return {};
    return values;
  }

 private:
  const int socket_;
};

// Each is a program of its own, and all of them speak the same protocol.
class InferenceExampleTest : public ::testing::TestWithParam<const char*> {
 protected:
  InferenceExampleTest() : server_({build_folder() + "/bin/" + GetParam()}) {
    EXPECT_TRUE(server_.wait_for([&](const Outcome& outcome) {
      if (outcome.out.find('\n') == std::string::npos) return false;
      port_ = std::stoi(outcome.out.substr(outcome.out.find(' ')));
      return true;
    }));
  }
  Process server_;
  int port_ = 0;
};

TEST_P(InferenceExampleTest, AnswersItsClientsThoughOthersVanishAndStopsWithNothingLeft) {
  const FrameClient client(port_);
  client.send({1, 2, 3, 4});
  EXPECT_EQ(client.receive(), (std::vector<float>{2, 4, 6, 8}));
  for (int i = 0; i < 50; ++i) FrameClient(port_).send({1, 2, 3, 4});  // gone at once
  for (int i = 1; i < 20; ++i) client.send(std::vector<float>(8, static_cast<float>(i)));
  for (int i = 1; i < 20; ++i) EXPECT_EQ(client.receive().size(), 8U);
  ASSERT_TRUE(server_.wait_until_caught(SIGTERM));
  server_.send(SIGTERM);
  const Outcome& outcome = server_.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// Batches end in any order, and the protocol has no numbers: answers come as the requests came.
TEST_P(InferenceExampleTest, AnswersComeInTheOrderOfTheRequests) {
  const FrameClient client(port_);
  const std::size_t rows[] = {1, 64, 2, 65, 8};  // 65: an error at once
  for (int round = 0; round < 20; ++round) {
    const auto values = [&](std::size_t i) {
      return std::vector<float>(4 * rows[i],
                                static_cast<float>(round * 10) + static_cast<float>(i));
    };
    for (std::size_t i = 0; i < std::size(rows); ++i) client.send(values(i));
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      std::vector<float> expected = values(i);
      for (float& value : expected) value += value;
      EXPECT_EQ(client.receive(), rows[i] > 64 ? std::vector<float>() : expected);
    }
  }
}

// Rows that are more than the largest batch are an error, and the connection goes on.
TEST_P(InferenceExampleTest, AnErrorIsAnAnswerToo) {
  const FrameClient client(port_);
  client.send(std::vector<float>(std::size_t{65} * 4, 1));
  EXPECT_TRUE(client.receive().empty());
  client.send({1, 2, 3, 4});
  EXPECT_EQ(client.receive(), (std::vector<float>{2, 4, 6, 8}));
}

// What it has read is answered whole, and what it has not is not begun.
TEST_P(InferenceExampleTest, AStopWithRequestsInFlightEndsAtTheEndOfAnAnswer) {
  ASSERT_TRUE(server_.wait_until_caught(SIGTERM));
  const FrameClient client(port_);
  for (int i = 0; i < 40; ++i) client.send(std::vector<float>(8, 1));
  EXPECT_EQ(client.receive().size(), 8U);  // it reads
  server_.send(SIGTERM);
  for (std::vector<float> got; !(got = client.receive()).empty();)
    EXPECT_EQ(got, std::vector<float>(8, 2));
  EXPECT_EQ(server_.wait().code, 0);
}

INSTANTIATE_TEST_SUITE_P(Loops, InferenceExampleTest,
                         ::testing::Values("uv_inference", "asio_inference"),
                         [](const auto& loop) { return std::string(loop.param); });

}  // namespace
}  // namespace millrace::testing
