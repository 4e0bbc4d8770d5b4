// How a mesh ends where its store does not answer. What a mesh does else: mesh_test.cc.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>

#include "tests/core/net/mesh_job.h"

namespace millrace::net {
namespace {

using millrace::testing::Simulation;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::MeshJob;

// A store whose host is gone: what is put is never there.
struct SilentStore final : KeyValueStore {
  Future<std::string> get(std::string_view /*key*/, CallOptions /*call*/) override {
    return answers.then(inline_executor(), [](const Result<void>&) { return std::string(); });
  }
  Future<std::string> try_get(std::string_view key) override { return get(key, {}); }
  Future<void> put(std::string_view /*key*/, std::string_view /*value*/) override {
    return answers;
  }
  Promise<void> promise;
  const Future<void> answers = promise.future();
};

TEST(MeshLifeTest, ClosingWaitsForNoStoreThatDoesNotAnswer) {
  for (const bool enters : {false, true}) {
    Simulation sim(1);
    MeshJob job(sim, 2);
    SilentStore silent;
    const auto transport = job.network.make_transport(::geteuid(), 100);
    const Ref<Mesh> mesh = Mesh::make(*transport, silent, job.options(0)).value();
    const Future<void> started = mesh->start("sim:0");
    const Future<void> entered = enters ? mesh->set_epoch(1) : make_ready();
    sim.run_for(milliseconds(sim.below(100)));
    const Future<void> closed = mesh->close();
    sim.run_for(seconds(10));
    EXPECT_TRUE(closed.ready());
    EXPECT_TRUE(job.network.empty());  // ME-7
    silent.promise.set_value();
    EXPECT_TRUE(job.run(closed).has_value());
    EXPECT_EQ(job.run(started).error().code(), ErrorCode::kUnavailable);
    EXPECT_EQ(job.run(entered).has_value(), !enters);
  }
}

}  // namespace
}  // namespace millrace::net
