// Real sockets, shared memory and real time; nothing sleeps, and no test depends on how long.
#include "millrace/core/net/host_transport.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/net/entrance.h"
#include "tests/support/temp_folder.h"

namespace {
std::atomic<bool> listen_fails{false};
}

// In place of the system's.
extern "C" int listen(int socket, int backlog) noexcept {
  if (!listen_fails) return static_cast<int>(::syscall(SYS_listen, socket, backlog));
  errno = ENOBUFS;
  return -1;
}

namespace millrace::net {
namespace {

class HostTransportTest : public ::testing::TestWithParam<std::string> {
 protected:
  template <class T>
  Result<T> run_until(const Future<T>& future) {
    auto end = future.then(*loop, [this](const Result<T>&) { loop->stop(); });
    loop->run();
    return future.take();
  }
  Ref<Entrance> open(const std::string& address, EntranceOptions options) {
    return Entrance::open(*transport, address, std::move(options),
                          [this](const Ref<Connection>& connection) -> FrameSink {
                            member = connection;
                            return [connection = connection.get()](Frame frame) {
                              return connection->send(std::move(frame));
                            };
                          })
        .value();
  }
  // Comes in, sends 4 MiB, and gets it back.
  void talk(const std::string& address, EnterOptions options) {
    Promise<void> back;
    const Future<void> came = back.future();
    options.member.max_payload = 8 << 20;
    const auto come = run_until(
        enter(*transport, address, std::move(options), [&](const Ref<Connection>&) -> FrameSink {
          return [&](const Frame& frame) -> Future<void> {
            EXPECT_EQ(frame.payload.size(), 4u << 20);
            back.set_value();
            return {};
          };
        }));
    ASSERT_TRUE(come.has_value()) << come.error().message();
    (*come)->send({{.kind = FrameKind::kFirstOfUsers}, Bytes(4 << 20)}).ignore();
    EXPECT_TRUE(run_until(came).has_value());
    EXPECT_TRUE(run_until((*come)->close("")).has_value());
    EXPECT_EQ(run_until(member->end()).value().cause, EndCause::kClosedThere);
  }

  bool tcp() const { return GetParam() == "tcp"; }
  std::string path() const { return folder.file("door"); }
  std::string address() const { return tcp() ? "tcp:127.0.0.1:0" : GetParam() + ":" + path(); }

  std::unique_ptr<EventLoop> loop = create_uv_event_loop().value();
  std::unique_ptr<Transport> transport = make_host_transport(*loop);
  testing::TempFolder folder;
  Ref<Connection> member;
};

const auto name = [](const auto& info) { return info.param; };
INSTANTIATE_TEST_SUITE_P(Schemes, HostTransportTest, ::testing::Values("unix", "shm", "tcp"), name);
class HostTransportPathTest : public HostTransportTest {};
INSTANTIATE_TEST_SUITE_P(Schemes, HostTransportPathTest, ::testing::Values("unix", "shm"), name);

TEST_P(HostTransportPathTest, APathKnowsWhoComesAndLeavesNoFile) {
  auto entrance = open(address(), {.member = {.max_payload = 8 << 20}});
  talk(address(), {});
  EXPECT_EQ(member->peer().uid, ::geteuid());
  EXPECT_EQ(member->peer().pid, ::getpid());
  EXPECT_EQ(transport->listen(address(), {}).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(run_until(entrance->close()).has_value());
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
  EXPECT_EQ(run_until(enter(*transport, address(), {}, {})).error().code(),
            ErrorCode::kUnavailable);
}

TEST_P(HostTransportTest, ASecretIsNeededWhereThereIsOne) {
  Secret secret = {}, other = {};
  draw_random(secret);
  auto entrance = open(address(), {.secret = secret, .member = {.max_payload = 8 << 20}});
  talk(entrance->address(), {.secret = secret});
  const auto refused = run_until(enter(*transport, entrance->address(), {.secret = other}, {}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnauthenticated);
  EXPECT_TRUE(run_until(entrance->close()).has_value());
}

TEST_P(HostTransportPathTest, AFolderThatOthersMayEnterIsRefused) {
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(transport->listen(address(), {}).error().code(), ErrorCode::kPermissionDenied);
}

TEST_P(HostTransportPathTest, APathThatCouldNotListenLeavesNoFile) {
  listen_fails = true;
  const auto refused = transport->listen(address(), {});
  listen_fails = false;
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
  EXPECT_TRUE(transport->listen(address(), {}).has_value());
}

TEST_P(HostTransportTest, OtherAddressesAreRefused) {
  for (const std::string text :
       {"", "tcp:0.0.0.0:1", "tcp:127.0.0.1:", "tcp:127.0.0.1:65536", "tcp:127.0.0.1:1x",
        "tcp:localhost:1", "unix:door", "shm:door", "shm:", "http://127.0.0.1"}) {
    EXPECT_EQ(transport->listen(text, {}).error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(transport->connect(text).result().error().code(), ErrorCode::kInvalidArgument);
  }
  const std::string longest = GetParam() + ":/" + std::string(200, 'x');
  EXPECT_EQ(transport->listen(longest, {}).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::net
