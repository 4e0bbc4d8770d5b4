#include "millrace/core/net/remote_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/entrance.h"
#include "millrace/core/net/socket_transport.h"
#include "millrace/core/net/store_server.h"
#include "tests/support/sim_transport.h"
#include "tests/support/temp_folder.h"

namespace millrace::net {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::for_each_seed;
using testing::SimNetwork;
using testing::Simulation;

constexpr const char* kAddress = "sim:store";
const ConnectionOptions kMember{.max_payload = kMostStorePayload};

// A server at an address of the transport, confined to its home.
struct Served {
  Served(Transport& transport, std::string_view address, const StoreLimits& limits = {})
      : server(make_ref<StoreServer>(transport.home(), limits)) {
    entrance =
        Entrance::open(transport, address, {.member = kMember},
                       [this](const Ref<Connection>& connection) -> FrameSink {
                         connections.push_back(connection);
                         return [server = server, member = server->admit(connection)](Frame frame) {
                           return server->take(member, std::move(frame));
                         };
                       })
            .value();
  }
  Ref<StoreServer> server;
  Ref<Entrance> entrance;
  std::vector<Ref<Connection>> connections;
};

// A process that uses it.
struct User {
  User(Ref<Connection> made, std::shared_ptr<RemoteStore> its)
      : connection(std::move(made)), store(std::move(its)) {}
  Ref<Connection> connection;
  std::shared_ptr<RemoteStore> store;
};

Future<std::shared_ptr<User>> enter_store(Transport& transport, std::string_view address) {
  auto store = std::make_shared<std::shared_ptr<RemoteStore>>();
  return enter(transport, address, {.member = kMember},
               [store, &transport](const Ref<Connection>& connection) -> FrameSink {
                 *store = std::make_shared<RemoteStore>(connection, transport.timers());
                 connection->end()
                     .then(transport.home(),
                           [store = *store, peer = connection->peer()](
                               const Result<ConnectionEnd>& end) { store->end(end->error(peer)); })
                     .ignore();
                 return [store = *store](Frame frame) -> Future<void> {
                   const Status taken = store->take(std::move(frame));
                   if (!taken) return taken.error();
                   return {};
                 };
               })
      .then(transport.home(), [store](Result<Ref<Connection>> connection) {
        return std::make_shared<User>(connection.value(), *store);
      });
}

struct Job {
  explicit Job(Simulation& sim, const StoreLimits& limits = {}, std::size_t users = 2)
      : sim(sim),
        network(sim, {.stalls = 0, .most_room = std::size_t{1} << 20}),
        here(network.make_transport(::geteuid(), 1)),
        there(network.make_transport(::geteuid(), 2)),
        served(*here, kAddress, limits) {
    for (std::size_t i = 0; i < users; ++i)
      all.push_back(sim.run(enter_store(*there, kAddress)).value());
  }
  ~Job() {
    for (const auto& user : all) sim.run(user->connection->close("")).value();
    sim.run(served.entrance->close()).value();
    sim.run_for(2s);
  }
  RemoteStore& store(std::size_t user) { return *all[user]->store; }

  Simulation& sim;
  SimNetwork network;
  std::unique_ptr<Transport> here, there;
  Served served;
  std::vector<std::shared_ptr<User>> all;
};

TEST(RemoteStoreTest, GetWaitsForAPutOfAnotherProcess) {
  for_each_seed(100, [](Simulation& sim) {
    Job job(sim);
    const Future<std::string> got = job.store(0).get("key");
    sim.run_for(10s);
    EXPECT_FALSE(got.ready());
    EXPECT_EQ(sim.run(job.store(1).try_get("key")).error().code(), ErrorCode::kNotFound);
    EXPECT_TRUE(sim.run(job.store(1).put("key", "value")).has_value());
    EXPECT_EQ(sim.run(got).value(), "value");
    EXPECT_EQ(sim.run(job.store(1).try_get("key")).value(), "value");
    EXPECT_EQ(sim.run(job.store(0).put("key", "other")).error().code(), ErrorCode::kAlreadyExists);
  });
}

TEST(RemoteStoreTest, WhatTheServersProcessPutsGoesToWhoWaitsAndReplacesNothing) {
  for_each_seed(50, [](Simulation& sim) {
    Job job(sim);
    const Future<std::string> got = job.store(0).get("late");
    ASSERT_TRUE(sim.run(job.store(1).put("early", "theirs")).has_value());
    sim.run_for(1s);
    job.served.server->put("late", "ours");
    job.served.server->put("early", "ours");
    EXPECT_EQ(sim.run(got).value(), "ours");
    EXPECT_EQ(sim.run(job.store(0).get("early")).value(), "theirs");
  });
}

TEST(RemoteStoreTest, DeadlineNamesTheKeyAndStopsAreWithdrawnAtTheServer) {  // RS-2
  for_each_seed(100, [](Simulation& sim) {
    Job job(sim);
    std::stop_source stop;
    const auto late = job.store(0).get("late", {.deadline = sim.now() + 5s});
    const auto stopped = job.store(0).get("stopped", {.stop = stop.get_token()});
    sim.run_for(1s);
    EXPECT_EQ(job.served.server->table().waiting(), 2u);
    stop.request_stop();
    EXPECT_EQ(sim.run(stopped).error().code(), ErrorCode::kCancelled);
    const Error error = sim.run(late).error();
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("'late'"));
    sim.run_for(1s);
    EXPECT_EQ(job.served.server->table().keys(), 0u);
    EXPECT_EQ(job.store(0).get("x", {.deadline = sim.now()}).result().error().code(),
              ErrorCode::kDeadlineExceeded);
  });
}

TEST(RemoteStoreTest, EndOfTheServerCompletesWhatWaitsAndNamesItsAddress) {  // RS-1
  for_each_seed(100, [](Simulation& sim) {
    Job job(sim);
    const auto got = job.store(0).get("key");
    sim.run_for(1s);
    job.network.cut_all();
    const Error error = sim.run(got).error();
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_THAT(error.message(), ::testing::HasSubstr(kAddress));
    EXPECT_EQ(sim.run(job.store(0).put("key", "")).error().code(), ErrorCode::kUnavailable);
  });
}

TEST(RemoteStoreTest, LimitsAreErrorsOfTheCallAlone) {
  for_each_seed(20, [](Simulation& sim) {
    Job job(sim, {.keys = 2, .total_bytes = 1000, .waiting_of_member = 1});
    const auto waits = job.store(0).get("a");
    EXPECT_EQ(sim.run(job.store(0).get("b")).error().code(), ErrorCode::kResourceExhausted);
    EXPECT_EQ(sim.run(job.store(0).put("b", std::string(2000, 'x'))).error().code(),
              ErrorCode::kResourceExhausted);
    EXPECT_EQ(sim.run(job.store(0).put(std::string(kMostKeyBytes + 1, 'k'), "")).error().code(),
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(sim.run(job.store(0).put("k", std::string(kMostValueBytes + 1, 'v'))).error().code(),
              ErrorCode::kInvalidArgument);
    EXPECT_TRUE(sim.run(job.store(1).put("a", "x")).has_value());
    EXPECT_EQ(sim.run(waits).value(), "x");
  });
}

// A slow reader that asks for large values, of which the server holds few at a time. SS-1, SS-2
TEST(RemoteStoreTest, LargeValuesComeWholeAndInTurn) {
  for_each_seed(3, [](Simulation& sim) {
    Job job(sim);
    const std::string value(std::size_t{1} << 20, 'v');
    EXPECT_TRUE(sim.run(job.store(0).put("large", value)).has_value());
    std::vector<Future<std::string>> got;
    for (int i = 0; i < 20; ++i) got.push_back(job.store(1).get("large"));
    std::vector<Future<void>> small;
    for (int i = 0; i < 600; ++i) small.push_back(job.store(1).put("key", "x"));
    for (const auto& one : got) EXPECT_TRUE(sim.run(one).value() == value);
    for (const auto& one : small) EXPECT_TRUE(sim.run(one).has_value());
  });
}

// Many calls, stops, deadlines and cuts: each future completes once, and a value is the first one
// that was put.
TEST(RemoteStoreTest, EveryCallCompletesOnceWhateverIsCut) {  // RS-1, ST-1, ST-2
  for_each_seed(500, [](Simulation& sim) {
    Job job(sim, {}, 3);
    job.network.set_faults({.cuts = sim.chance(0.5) ? 0.02 : 0});
    std::map<std::string, std::string> accepted;  // values that a put has accepted, by key
    std::vector<std::pair<std::string, Future<std::string>>> gets;
    std::vector<Future<void>> puts;
    std::vector<std::pair<std::string, std::string>> put_of;
    std::stop_source stop;
    for (int i = 0; i < 60; ++i) {
      RemoteStore& store = job.store(sim.below(3));
      const std::string key = "key" + std::to_string(sim.below(10));
      if (sim.chance(0.4)) {
        put_of.emplace_back(key, "value" + std::to_string(i % 4));
        puts.push_back(store.put(key, put_of.back().second));
      } else if (sim.chance(0.2)) {
        gets.emplace_back(key, store.try_get(key));
      } else {
        CallOptions call{.deadline = sim.now() + std::chrono::milliseconds(sim.below(2000))};
        if (sim.chance(0.3)) call.stop = stop.get_token();
        gets.emplace_back(key, store.get(key, call));
      }
      if (sim.chance(0.3)) sim.run_for(std::chrono::microseconds(sim.below(3000)));
      if (i == 40) stop.request_stop();
    }
    for (std::size_t i = 0; i < puts.size(); ++i) {
      if (!sim.run(puts[i])) continue;
      const auto [first, is_new] = accepted.emplace(put_of[i]);
      if (!is_new) {
        EXPECT_EQ(first->second, put_of[i].second);
      }
    }
    for (const auto& [key, get] : gets) {
      const Result<std::string> got = sim.run(get);
      if (got && accepted.contains(key)) {
        EXPECT_EQ(*got, accepted[key]);
      }
    }
    sim.run_for(1s);
    EXPECT_EQ(job.served.server->table().waiting(), 0u);
  });
}

// Real sockets and threads: the calls come from others than the loop's.
TEST(RemoteStoreTest, ServesThreadsOverASocket) {
  const testing::TempFolder folder;
  EventLoopThread server_thread(create_uv_event_loop().value(), "server");
  EventLoopThread user_thread(create_uv_event_loop().value(), "user");
  auto server_side = make_socket_transport(server_thread.loop());
  auto user_side = make_socket_transport(user_thread.loop());
  const std::string address = "unix:" + folder.file("store");
  const auto on = [](EventLoopThread& thread, auto work) {
    return wait_blocking(make_ready().then(thread.loop(), [&](Result<void>) { return work(); }));
  };
  std::unique_ptr<Served> served;
  static_cast<void>(on(server_thread, [&] {
    served = std::make_unique<Served>(*server_side, address);
    return 0;
  }));
  const auto user = on(user_thread, [&] { return enter_store(*user_side, address); }).value();
  std::vector<Future<std::string>> got;
  for (int i = 0; i < 100; ++i) got.push_back(user->store->get(std::to_string(i)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < 100; i += 4) {
        const std::string value(i == 0 ? kMostValueBytes : 10, 'v');
        EXPECT_TRUE(wait_blocking(user->store->put(std::to_string(i), value)).has_value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(wait_blocking(got[static_cast<std::size_t>(i)]).value().size(),
              i == 0 ? kMostValueBytes : 10);
  EXPECT_TRUE(wait_blocking(user->connection->close("")).has_value());
  EXPECT_TRUE(on(server_thread, [&] { return served->entrance->close(); }).has_value());
  static_cast<void>(on(server_thread, [&] {
    served.reset();
    server_side.reset();
    return 0;
  }));
  static_cast<void>(on(user_thread, [&] {
    user_side.reset();
    return 0;
  }));
}

}  // namespace
}  // namespace millrace::net
