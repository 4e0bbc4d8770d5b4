// Four processes' worth of actors on real Unix sockets, over two loops and a pool in threads of
// their own: what the simulation cannot show. Nothing sleeps, and no test depends on how long.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/actors/remote/remote_actors.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/socket_transport.h"
#include "tests/support/temp_folder.h"

namespace millrace::actors {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kMessages = 300;

struct Add {
  std::uint32_t sender = 0;
  std::uint64_t number = 0;
  std::vector<std::byte> load = {};
  static constexpr auto fields() {
    return field_list("sender", &Add::sender, "number", &Add::number, "load", &Add::load);
  }
  std::size_t bytes() const { return sizeof(Add) + load.size(); }
};
struct Total {
  static void reduce(std::uint64_t& into, std::uint64_t&& next) { into += next; }
};
class Adder final : public Actor {
 public:
  using Remote = RemoteMessages<Add, Total>;
  std::uint64_t on(const Add& add) {
    EXPECT_GT(add.number, last_.at(add.sender)) << "AK-1";
    last_.at(add.sender) = add.number;
    return ++count_;
  }
  std::uint64_t on(const Total&) const { return count_; }

 private:
  std::array<std::uint64_t, 2 * kRanks> last_ = {};
  std::uint64_t count_ = 0;
};

class RemoteSocketStressTest : public ::testing::Test {
 protected:
  struct Process {
    std::unique_ptr<ActorSystem> system;
    Ref<net::Mesh> mesh;
    std::unique_ptr<RemoteActors> remote;
  };
  RemoteSocketStressTest() {
    for (int i = 0; i < 2; ++i) {
      loops.push_back(std::make_unique<EventLoopThread>(create_uv_event_loop().value(), "remote"));
      transports.push_back(net::make_socket_transport(loops.back()->loop()));
    }
    store = std::make_unique<LocalKeyValueStore>(loops[0]->loop().timers());
    pool = make_executor(ExecutorBackend::kThreads, 3, "actors");
    std::vector<Future<void>> started;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      net::MeshOptions options{
          .rank = rank, .size = kRanks, .job = "job", .host = "here", .pid = ::getpid()};
      net::draw_random(options.incarnation);
      const Environment environment{.clock = &steady_clock(),
                                    .timers = &loops[rank % 2]->loop().timers(),
                                    .compute = pool.get(),
                                    .blocking = pool.get()};
      Process& added = processes[rank];
      added.system = std::make_unique<ActorSystem>(environment);
      added.mesh = net::Mesh::make(*transports[rank % 2], *store, options).value();
      added.remote = std::make_unique<RemoteActors>(added.mesh, *added.system, environment);
      added.remote->serve<Adder>();
      const ActorOptions small{.mailbox_bytes = 5000, .inline_when_idle = rank % 2 == 0};
      added.system->spawn<Adder>("adder", small).value();
      started.push_back(added.mesh->start("unix:" + folder.file(std::to_string(rank))));
    }
    wait_blocking(when_all(started)).value();
  }
  ~RemoteSocketStressTest() override {
    std::vector<Future<void>> closed;
    for (Process& process : processes) {
      closed.push_back(process.remote->close());
      closed.push_back(process.mesh->close());
      closed.push_back(process.system->close());
    }
    EXPECT_TRUE(wait_blocking(when_all(closed)).has_value());
    for (Process& process : processes) process.remote.reset();
    for (const auto& loop : loops) wait_blocking(loop->close()).value();
  }

  millrace::testing::TempFolder folder;
  std::vector<std::unique_ptr<EventLoopThread>> loops;
  std::vector<std::unique_ptr<net::Transport>> transports;
  std::unique_ptr<LocalKeyValueStore> store;
  std::unique_ptr<PoolExecutor> pool;
  std::array<Process, kRanks> processes;
};

TEST_F(RemoteSocketStressTest, EachTellsAndAsksEachAndACastHasAllOfIt) {
  std::vector<std::thread> senders;
  for (std::uint32_t from = 0; from < 2 * kRanks; ++from) {  // two of a process
    senders.emplace_back([&, from] {
      for (std::uint32_t to = 0; to < kRanks; ++to) {
        const auto adder =
            wait_blocking(processes[from % kRanks].remote->find<Adder>(to, "adder")).value();
        std::vector<Future<void>> sent;
        for (std::uint64_t i = 1; i <= kMessages; ++i) {
          const Add add{from, i, std::vector<std::byte>(i * 7)};
          if (i % 10 == 0) {
            EXPECT_TRUE(wait_blocking(adder.ask(add)).has_value());
          } else {
            sent.push_back(adder.tell(add));
          }
        }
        for (const auto& one : sent) EXPECT_TRUE(wait_blocking(one).has_value());
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(wait_blocking(processes[2].remote->cast<Adder>("adder", Total{})).value(),
            kMessages * 2 * kRanks * kRanks);
}

TEST_F(RemoteSocketStressTest, ACloseUnderLoadEndsAllThatWaits) {
  std::vector<std::thread> senders;
  for (std::uint32_t from = 0; from < kRanks; ++from) {
    senders.emplace_back([&, from] {
      for (std::uint64_t i = 1;; ++i) {
        const auto found = wait_blocking(processes[from].remote->find<Adder>(1, "adder"));
        if (!found) return;
        found->tell(Add{from, 2 * i, std::vector<std::byte>(500)}).ignore();
        const auto answer = wait_blocking(found->ask(Add{from, 2 * i + 1, {}}));
        if (!answer) return;
      }
    });
  }
  const auto adder = wait_blocking(processes[0].remote->find<Adder>(1, "adder")).value();
  for (std::uint64_t i = 1; i < 100; ++i)
    EXPECT_TRUE(wait_blocking(adder.ask(Add{kRanks, i, {}})).has_value());
  EXPECT_TRUE(wait_blocking(processes[1].remote->close()).has_value());
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(wait_blocking(adder.down()).value().exit.reason, ExitReason::kClosed);
}

}  // namespace
}  // namespace millrace::actors
