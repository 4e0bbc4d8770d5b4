// RemoteJob: some processes of a job in a simulation, each with an actor system that the others
// reach.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "millrace/actors/remote/remote_actors.h"
#include "tests/core/net/mesh_job.h"

namespace millrace::actors::testing {

struct RemoteJob {
  struct Process {
    Process(Ref<net::Mesh> given, const Environment& environment)
        : mesh(std::move(given)), system(environment), remote(mesh, system, environment) {}
    Ref<net::Mesh> mesh;
    ActorSystem system;
    RemoteActors remote;
  };

  RemoteJob(millrace::testing::Simulation& sim, std::uint32_t size,
            const millrace::testing::SimFaults& faults = {.stalls = 0})
      : sim(sim), meshes(sim, size, faults) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      auto& added = meshes.add(meshes.options(rank));
      processes.push_back(std::make_unique<Process>(added.mesh, sim.environment()));
      EXPECT_TRUE(sim.run(meshes.start(added)).has_value());
    }
  }
  // In an order of the seed's.
  void close_all() {
    std::vector<Future<void>> closed;
    for (const std::size_t rank : shuffled()) closed.push_back(remote(rank).close());
    for (const std::size_t rank : shuffled()) {
      if (sim.chance(0.5)) sim.run_for(std::chrono::microseconds(sim.below(3000)));
      closed.push_back(mesh(rank).close());
      closed.push_back(system(rank).close());
    }
    for (const Future<void>& one : closed) EXPECT_TRUE(sim.run(one).has_value());
    EXPECT_TRUE(meshes.network.empty());
  }
  std::vector<std::size_t> shuffled() {
    std::vector<std::size_t> ranks(processes.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::ranges::shuffle(ranks, sim.random());
    return ranks;
  }

  ActorSystem& system(std::size_t rank) { return processes.at(rank)->system; }
  RemoteActors& remote(std::size_t rank) { return processes.at(rank)->remote; }
  net::Mesh& mesh(std::size_t rank) { return *processes.at(rank)->mesh; }
  template <class T>
  Result<T> run(const Future<T>& future) {
    return sim.run(future);
  }
  // An actor on that rank, of a class that the others may find.
  template <class A, class... Args>
  ActorRef<A> spawn(std::size_t rank, const std::string& name, const ActorOptions& options = {},
                    Args&&... args) {
    remote(rank).serve<A>();
    return system(rank).spawn<A>(name, options, std::forward<Args>(args)...).value();
  }
  template <class A>
  RemoteRef<A> find(std::size_t from, std::uint32_t rank, const std::string& name) {
    return sim.run(remote(from).find<A>(rank, name)).value();
  }

  millrace::testing::Simulation& sim;
  net::testing::MeshJob meshes;
  std::vector<std::unique_ptr<Process>> processes;
};

// ---- an actor with something of everything

struct Put {
  std::string key = {};
  std::int64_t value = 0;
  static constexpr auto fields() { return field_list("key", &Put::key, "value", &Put::value); }
};
struct Get {
  std::string key = {};
  static constexpr auto fields() { return field_list("key", &Get::key); }
};
struct Append {
  std::uint64_t number = 0;
  std::vector<std::byte> load = {};
  static constexpr auto fields() {
    return field_list("number", &Append::number, "load", &Append::load);
  }
  std::size_t bytes() const { return sizeof(Append) + load.size(); }
};
struct Numbers {};
// Keeps the actor until the test says so.
struct Block {};
// Keeps the reply.
struct Keep {};
// Another actor of the process keeps it.
struct PassOn {};
struct Fail {
  std::string why = {};
  static constexpr auto fields() { return field_list("why", &Fail::why); }
};
struct Sum {
  static void reduce(std::int64_t& into, std::int64_t&& next) { into += next; }
};
struct Names {
  static void reduce(std::vector<std::string>& into, std::vector<std::string>&& next) {
    into.insert(into.end(), next.begin(), next.end());
  }
};

struct Kept {
  Reply<int> reply;
};
class Keeper final : public Actor {
 public:
  void on(Kept&& kept) { kept_.push_back(std::move(kept.reply)); }
  void on(const Down& /*down*/) {}

 private:
  std::vector<Reply<int>> kept_;
};

class Store final : public Actor {
 public:
  using Remote = RemoteMessages<Put, Get, Append, Numbers, Block, Keep, PassOn, Fail, Sum, Names>;

  explicit Store(std::int64_t number = 0, ActorRef<Keeper> keeper = {}, Future<void> block = {})
      : number_(number), keeper_(std::move(keeper)), block_(std::move(block)) {}

  void on(Put&& put) { values_[put.key] = put.value; }
  std::optional<std::int64_t> on(const Get& get) const {
    const auto found = values_.find(get.key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  void on(const Append& append) { numbers_.push_back(append.number); }
  std::vector<std::uint64_t> on(const Numbers&) const { return numbers_; }
  Future<void> on(const Block&) const { return block_; }
  void on(const Keep&, Reply<int> reply) { kept_.push_back(std::move(reply)); }
  void on(const PassOn&, Reply<int> reply) { keeper_.tell(Kept{std::move(reply)}).ignore(); }
  Result<void> on(const Fail& fail) {
    if (!fail.why.empty()) return millrace::fail(ErrorCode::kOutOfRange, fail.why);
    context().fail(Error(ErrorCode::kDataLoss, "out of luck"));
    return {};
  }
  Result<std::int64_t> on(const Sum&) const {
    if (number_ < 0) return millrace::fail(ErrorCode::kOutOfRange, "no number");
    return number_;
  }
  std::vector<std::string> on(const Names&) const { return {std::to_string(number_)}; }
  bool wants_kept() const { return !kept_.empty() && kept_.back().wanted(); }

 private:
  const std::int64_t number_;
  const ActorRef<Keeper> keeper_;
  const Future<void> block_;
  std::map<std::string, std::int64_t> values_;
  std::vector<std::uint64_t> numbers_;
  std::vector<Reply<int>> kept_;
};

// Remembers the ends that it hears of.
class Observer final : public Actor {
 public:
  explicit Observer(std::vector<Down>* heard) : heard_(heard) {}
  void on(const Down& down) { heard_->push_back(down); }

 private:
  std::vector<Down>* const heard_;
};

}  // namespace millrace::actors::testing
