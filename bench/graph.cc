// graph.chain and graph.wavefront: empty nodes of a recorded graph, in ns per node and in nodes per
// second. The peer is oneTBB's flow graph on a pool of the same size. Both graphs are built before
// the clock runs, both run their nodes as work of a pool of two threads; nodes carry no value, only
// their order.
#include "millrace/core/async/graph.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>
#include <memory>
#include <vector>

#include "bench/figure.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"

namespace millrace::bench {
namespace {

namespace flow = oneapi::tbb::flow;

constexpr int kThreads = 2;
constexpr int kChain = 1000000;
constexpr int kSide = 1000;

Graph chain(Executor& executor) {
  GraphBuilder builder;
  Slot<void> last = builder.node("", executor, [] {});
  for (int i = 1; i < kChain; ++i) last = builder.node("", executor, [] {}, last);
  return builder.build().value();
}

// Node (i, j) comes after (i - 1, j) and (i, j - 1).
Graph wavefront(Executor& executor) {
  GraphBuilder builder;
  std::vector<Slot<void>> above;
  for (int i = 0; i < kSide; ++i) {
    std::vector<Slot<void>> row;
    for (int j = 0; j < kSide; ++j) {
      if (i == 0 && j == 0) {
        row.push_back(builder.node("", executor, [] {}));
      } else if (i == 0) {
        row.push_back(builder.node("", executor, [] {}, row.back()));
      } else if (j == 0) {
        row.push_back(builder.node("", executor, [] {}, above[0]));
      } else {
        row.push_back(
            builder.node("", executor, [] {}, above[static_cast<std::size_t>(j)], row.back()));
      }
    }
    above = std::move(row);
  }
  return builder.build().value();
}

double seconds_of_run(const Graph& graph) {
  return seconds_of([&] {
    const Ref<GraphRun> run = graph.start();
    if (!wait_blocking(run->done())) give_up("graph", "a run failed");
  });
}

// oneTBB's, with nodes() continue nodes whose edges the caller makes.
class Peer {
 public:
  using Node = flow::continue_node<flow::continue_msg>;

  Peer() : arena_(kThreads) {
    arena_.execute([&] { graph_ = std::make_unique<flow::graph>(); });
  }
  Node& add() {
    return nodes_.emplace_back(*graph_, flow::unlimited, [](const flow::continue_msg&) {});
  }
  Node& node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  double seconds_of_run() {
    return seconds_of([&] {
      arena_.execute([&] {
        nodes_.front().try_put(flow::continue_msg());
        graph_->wait_for_all();
      });
    });
  }

 private:
  oneapi::tbb::task_arena arena_;
  std::unique_ptr<flow::graph> graph_;
  std::deque<Node> nodes_;
};

void measure_chain(Session& session) {
  if (!session.wants("graph.chain")) return;
  const auto pool = make_executor(ExecutorBackend::kTbb, kThreads, "bench");
  const Graph graph = chain(*pool);
  Peer peer;
  peer.add();
  for (int i = 1; i < kChain; ++i) flow::make_edge(peer.node(i - 1), peer.add());
  session.measure(
      {.name = "graph.chain",
       .unit = "ns",
       .peer = "oneTBB flow graph",
       .goal = Goal::kAtMost,
       .limit = 1},
      [&] { return seconds_of_run(graph) * 1e9 / kChain; },
      [&] { return peer.seconds_of_run() * 1e9 / kChain; });
}

void measure_wavefront(Session& session) {
  if (!session.wants("graph.wavefront")) return;
  const auto pool = make_executor(ExecutorBackend::kTbb, kThreads, "bench");
  const Graph graph = wavefront(*pool);
  Peer peer;
  for (int i = 0; i < kSide * kSide; ++i) {
    Peer::Node& node = peer.add();
    if (i >= kSide) flow::make_edge(peer.node(i - kSide), node);
    if (i % kSide != 0) flow::make_edge(peer.node(i - 1), node);
  }
  constexpr double kNodes = kSide * kSide;
  session.measure(
      {.name = "graph.wavefront",
       .unit = "M/s",
       .peer = "oneTBB flow graph",
       .goal = Goal::kAtLeast,
       .limit = 1.3},
      [&] { return kNodes / seconds_of_run(graph) / 1e6; },
      [&] { return kNodes / peer.seconds_of_run() / 1e6; });
}

const Registration chain_registration(&measure_chain);
const Registration wavefront_registration(&measure_wavefront);

}  // namespace
}  // namespace millrace::bench
