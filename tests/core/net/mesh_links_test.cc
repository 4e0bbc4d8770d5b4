// Links of a mesh that come too late. What a mesh does else: mesh_test.cc.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "tests/core/net/mesh_job.h"

namespace millrace::net {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using std::chrono::seconds;
using testing::MeshJob;
using testing::numbered;

// Its streams are there in the moment of the deadline, behind what else happens in it.
struct TardyTransport final : Transport {
  explicit TardyTransport(std::unique_ptr<Transport> made) : inner(std::move(made)) {}
  Executor& home() override { return inner->home(); }
  TimerQueue& timers() override { return inner->timers(); }
  Result<std::unique_ptr<StreamListener>> listen(std::string_view address, Accept accept) override {
    return inner->listen(address, std::move(accept));
  }
  Future<std::unique_ptr<ByteStream>> connect(std::string_view address, CallOptions call) override {
    return inner->connect(address, call)
        .then(home(), [this, call](Result<std::unique_ptr<ByteStream>> stream) {
          return sleep_until(call.deadline, timers())
              .then(home(), [stream = std::move(stream)](const Result<void>&) mutable {
                return std::move(stream);
              });
        });
  }
  std::unique_ptr<Transport> inner;
};

TEST(MeshLinksTest, AStreamThatComesWithTheDeadlineIsNoLink) {
  for_each_seed(20, [](Simulation& sim) {  // ME-2
    MeshJob job(sim, 2);
    auto tardy = std::make_unique<TardyTransport>(job.network.make_transport(::geteuid(), 100));
    job.processes.push_back(std::make_unique<MeshJob::Process>(std::move(tardy)));
    MeshJob::Process& late = *job.processes[0];
    MeshOptions options = job.options(0);
    options.patience = seconds(2);  // the other end waits longer for a hello
    late.mesh = Mesh::make(*late.transport, job.store, std::move(options)).value();
    job.keep(job.add(job.options(1)));
    for (const auto& process : job.processes) EXPECT_TRUE(job.run(job.start(*process)).has_value());
    const Future<void> sent = job.mesh(0).send(1, numbered(0));
    sim.run_for(seconds(4));
    ASSERT_TRUE(sent.ready());
    EXPECT_EQ(job.run(sent).error().code(), ErrorCode::kDeadlineExceeded);
    EXPECT_TRUE(job.came(1).empty());
    job.close_all();
  });
}

}  // namespace
}  // namespace millrace::net
