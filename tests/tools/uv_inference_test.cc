// The example of a server in one's own libuv loop, with clients that vanish and a stop: a process
// and sockets, because those are what it is about.
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
    std::vector<float> values(size / 4);
    if (::recv(socket_, values.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) return {};
    return values;
  }

 private:
  const int socket_;
};

TEST(UvInferenceTest, AnswersItsClientsThoughOthersVanishAndStopsWithNothingLeft) {
  Process server({build_folder() + "/bin/uv_inference"});
  int port = 0;
  ASSERT_TRUE(server.wait_for([&](const Outcome& outcome) {
    if (outcome.out.find('\n') == std::string::npos) return false;
    port = std::stoi(outcome.out.substr(outcome.out.find(' ')));
    return true;
  }));
  const FrameClient client(port);
  client.send({1, 2, 3, 4});
  EXPECT_EQ(client.receive(), (std::vector<float>{2, 4, 6, 8}));
  for (int i = 0; i < 50; ++i) FrameClient(port).send({1, 2, 3, 4});  // gone at once
  for (int i = 1; i < 20; ++i) client.send(std::vector<float>(8, static_cast<float>(i)));
  for (int i = 1; i < 20; ++i) EXPECT_EQ(client.receive().size(), 8U);
  ASSERT_TRUE(server.wait_until_caught(SIGTERM));
  server.send(SIGTERM);
  const Outcome& outcome = server.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

}  // namespace
}  // namespace millrace::testing
