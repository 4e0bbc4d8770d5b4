// The example of actors/README.md, as it stands there.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "tests/actors/remote/remote_job.h"

namespace millrace {
namespace {

struct Put {
  std::string key = {};
  std::vector<double> values = {};
  static constexpr auto fields() {
    return actors::field_list("key", &Put::key, "values", &Put::values);
  }
};
struct Count {  // cast: the answers of two ranks become one
  static void reduce(std::uint64_t& into, std::uint64_t&& next) { into += next; }
};
class Store final : public actors::Actor {
 public:
  using Remote = actors::RemoteMessages<Put, Count>;
  void on(Put&& put) { rows_[put.key] = std::move(put.values); }
  std::uint64_t on(const Count&) const { return rows_.size(); }

 private:
  std::map<std::string, std::vector<double>> rows_;
};

Task<std::uint64_t> fill(actors::RemoteActors& remote) {
  remote.serve<Store>();  // others may find the Store of this process
  Result<actors::RemoteRef<Store>> store = co_await remote.find<Store>(1, "store");
  if (!store) co_return store.error();
  const Put put{"x", {1, 2}};
  Result<void> sent = co_await store->tell(put);
  if (!sent) co_return sent.error();
  co_return co_await remote.cast<Store>("store", Count{});  // of all ranks
}

TEST(RemoteExampleTest, WhatTheReadmeShowsRuns) {
  millrace::testing::for_each_seed(10, [](millrace::testing::Simulation& sim) {
    actors::testing::RemoteJob job(sim, 3);
    for (std::size_t rank = 0; rank < 3; ++rank) job.spawn<Store>(rank, "store");
    EXPECT_EQ(sim.run(spawn(sim.executor(), fill(job.remote(0)))).value_or(0), 1u);
    job.close_all();
  });
}

}  // namespace
}  // namespace millrace
