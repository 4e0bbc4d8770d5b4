// Sixteen meshes of a job on real sockets and shared memory, over four loops in threads of their
// own. Nothing sleeps, and no test depends on how long.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/host_transport.h"
#include "millrace/core/net/mesh.h"
#include "tests/support/temp_folder.h"

namespace millrace::net {
namespace {

constexpr std::uint32_t kRanks = 16;
constexpr std::uint32_t kLoops = 4;
constexpr std::uint64_t kFrames = 20;
constexpr FrameKind kKind = FrameKind::kFirstOfUsers;

class MeshSocketTest : public ::testing::TestWithParam<const char*> {
 protected:
  MeshSocketTest() {
    for (std::uint32_t i = 0; i < kLoops; ++i) {
      loops.push_back(std::make_unique<EventLoopThread>(create_uv_event_loop().value(),
                                                        "mesh" + std::to_string(i)));
      transports.push_back(make_host_transport(loops.back()->loop()));
    }
    store = std::make_unique<LocalKeyValueStore>(loops[0]->loop().timers());
    draw_random(secret);
  }
  ~MeshSocketTest() override {
    for (const auto& loop : loops) wait_blocking(loop->close()).value();
  }
  bool tcp() const { return std::string(GetParam()) == "tcp"; }
  std::string address(std::uint32_t rank) const {
    return tcp() ? "tcp:127.0.0.1:0"
                 : std::string(GetParam()) + ":" + folder.file(std::to_string(rank));
  }
  void make_all() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      MeshOptions options{.rank = rank,
                          .size = kRanks,
                          .job = "job",
                          .host = "here",
                          .pid = static_cast<std::int32_t>(::getpid())};
      draw_random(options.incarnation);
      if (tcp()) options.secret = secret;
      meshes.push_back(Mesh::make(*transports[rank % kLoops], *store, options).value());
    }
  }
  void wait_all(const std::vector<Future<void>>& all) {
    const Result<void> done = wait_blocking(when_all(all));
    EXPECT_TRUE(done.has_value()) << done.error().to_string();
  }
  void close_all() {
    std::vector<Future<void>> closed;
    for (const auto& mesh : meshes) closed.push_back(mesh->close());
    wait_all(closed);
  }

  millrace::testing::TempFolder folder;
  Secret secret = {};
  std::vector<std::unique_ptr<EventLoopThread>> loops;
  std::vector<std::unique_ptr<Transport>> transports;
  std::unique_ptr<LocalKeyValueStore> store;
  std::vector<Ref<Mesh>> meshes;
};

INSTANTIATE_TEST_SUITE_P(Transports, MeshSocketTest, ::testing::Values("unix", "shm", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(MeshSocketTest, EachOfSixteenTalksWithEachAndAllEnd) {
  make_all();
  struct Received {
    std::array<std::uint64_t, kRanks> next = {};  // by sender; on one loop
    Promise<void> all = {};
    std::uint64_t count = 0;
  };
  std::vector<Received> received(kRanks);
  std::vector<Future<void>> futures;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    Received& mine = received[rank];
    futures.push_back(mine.all.future());
    meshes[rank]->set_sink({kKind},
                           [&mine](std::uint32_t from, const Frame& frame) -> Future<void> {
                             EXPECT_EQ(frame.header.sequence, mine.next[from]++);  // ME-1
                             EXPECT_EQ(frame.payload.size(), frame.header.sequence * 3000);
                             if (++mine.count == kRanks * kFrames) mine.all.set_value();
                             return {};
                           });
    futures.push_back(meshes[rank]->start(address(rank)));
  }
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    for (std::uint32_t from = 0; from < kRanks; ++from) {
      for (std::uint32_t to = 0; to < kRanks; ++to)
        futures.push_back(
            meshes[from]->send(to, {{.kind = kKind, .sequence = i}, Bytes(i * 3000)}));
    }
  }
  wait_all(futures);
  std::vector<Future<PeerLoss>> lost;
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) lost.push_back(meshes[0]->peer_lost(rank));
  close_all();
  for (const auto& one : lost) EXPECT_FALSE(wait_blocking(one).has_value());  // ME-5
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    EXPECT_NE(::access(folder.file(std::to_string(rank)).c_str(), F_OK), 0);
}

TEST_P(MeshSocketTest, AnEpochThatAllEnterHasLinksOfItsOwn) {
  make_all();
  std::atomic<int> came{0};
  std::vector<Promise<void>> arrivals(kRanks);
  std::vector<Future<void>> futures;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    futures.push_back(arrivals[rank].future());
    meshes[rank]->set_sink({kKind, 1},
                           [&, rank](std::uint32_t, const Frame& frame) -> Future<void> {
                             EXPECT_EQ(frame.header.epoch, 1u);  // ME-4
                             ++came;
                             arrivals[rank].set_value();
                             return {};
                           });
    futures.push_back(meshes[rank]->start(address(rank)));
  }
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    futures.push_back(meshes[rank]->send((rank + 1) % kRanks, {{.kind = kKind}, {}}));
  std::vector<Future<void>> started;
  for (std::size_t i = kRanks * 2; i < futures.size(); ++i) started.push_back(futures[i]);
  wait_all(started);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    futures.push_back(meshes[rank]->set_epoch(1));
    futures.push_back(meshes[rank]->send((rank + 1) % kRanks, {{.kind = kKind, .channel = 1}, {}}));
  }
  wait_all(futures);
  EXPECT_EQ(came.load(), static_cast<int>(kRanks));
  close_all();
}

}  // namespace
}  // namespace millrace::net
