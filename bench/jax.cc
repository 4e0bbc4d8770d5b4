// jax.*: what stock JAX takes from Python on the CPU device as a plugin, beside JAX on its own CPU
// backend. The same script (peers_jax.py) is both sides, each a process of its own; it says how the
// threads of both are limited. What a side computes is compared before it is measured. Also
// program.*: programs for several devices, by which both sides reduce.
#include <memory>
#include <string>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"

namespace millrace::bench {
namespace {

struct What {
  const char* name;  // of the figure
  const char* unit;
  double limit;
  const char* ask;      // what the script is asked for
  const char* program;  // whose result is compared
  int threads;          // 0: as many as there are cores
  int devices = 1;
};

// A loss after two steps from the same tensors. Convolutions of both add in their own order.
constexpr double kTolerance = 2e-3;

constexpr double kStep = 1.05, kFirst = 0.2;
constexpr What kWhat[] = {
    {"jax.dispatch", "us", 1, "dispatch", "calls", 0},
    {"jax.chain", "us", 1, "chain", "calls", 0},
    {"jax.put_4B", "us", 1, "put_4B", "calls", 0},
    {"jax.put_64MiB", "ms", 1, "put_64MiB", "calls", 0},
    {"jax.fetch_4B", "us", 1, "fetch_4B", "calls", 0},
    {"jax.fetch_64MiB", "us", 1, "fetch_64MiB", "calls", 0},
    {"jax.elementwise", "us", 1, "elementwise", "functions", 0},
    {"jax.reductions", "us", 1, "reductions", "functions", 0},
    {"jax.sorting", "us", 1, "sorting", "functions", 0},
    {"jax.indexing", "us", 1, "indexing", "functions", 0},
    {"jax.random", "us", 1, "random", "functions", 0},
    {"jax.mnist_1", "ms", kStep, "step", "mnist", 1},
    {"jax.mnist_2", "ms", kStep, "step", "mnist", 2},
    {"jax.mnist_first", "ms", kFirst, "first", "mnist", 2},
    {"jax.resnet18_1", "ms", kStep, "step", "resnet18", 1},
    {"jax.resnet18_2", "ms", kStep, "step", "resnet18", 2},
    {"jax.resnet18_first", "ms", kFirst, "first", "resnet18", 2},
    {"jax.transformer_1", "ms", kStep, "step", "transformer", 1},
    {"jax.transformer_2", "ms", kStep, "step", "transformer", 2},
    {"jax.transformer_first", "ms", kFirst, "first", "transformer", 2},
    {"jax.sharded_transformer", "ms", 1, "step", "sharded_transformer", 2, 2},
    {"jax.pmap_dispatch", "us", 1, "pmap_dispatch", "several", 0, 8},
    {"program.all_reduce_4B", "us", 1, "all_reduce_4B", "several", 0, 2},
    {"program.all_reduce_64MiB", "ms", 1, "all_reduce_64MiB", "several", 0, 2}};

class Script {
 public:
  Script(std::string python, std::string plugin)
      : python_(std::move(python)), plugin_(std::move(plugin)) {}
  std::vector<std::string> command(bool ours, const std::string& program, int threads = 0,
                                   int devices = 1) const {
    std::vector<std::string> words = {python_,
                                      source_folder() + "/bench/peers_jax.py",
                                      program,
                                      "--threads",
                                      std::to_string(threads),
                                      "--devices",
                                      std::to_string(devices)};
    if (ours) words.insert(words.end(), {"--plugin", plugin_});
    return words;
  }

 private:
  const std::string python_, plugin_;
};

// Both sides of a program.
struct Sides {
  Sides(const Script& script, const What& what)
      : ours(script.command(true, what.program, what.threads, what.devices)),
        peer(script.command(false, what.program, what.threads, what.devices)) {}
  void compare(const std::string& figure) {
    const double mine = ours.ask("result"), other = peer.ask("result");
    if (!agree(mine, other, kTolerance)) {
      give_up(figure, "the results are not the same: " + std::to_string(mine) + " on ours, " +
                          std::to_string(other) + " on JAX's own");
    }
  }
  Child ours, peer;
};

Measured answer(Child& child, const char* ask) {
  const double median = child.ask(ask);
  return {median, child.ask("p99")};
}

void measure(Session& session) {
  const PythonPeers peers = python_peers();
  const std::string plugin = own_plugin_path();
  const auto missing = [&] { return plugin.empty() ? kNoOwnPlugin : peers.why_not; };
  const Script script(peers.python, plugin);
  const auto figure = [](const std::string& name, const char* unit, double limit) {
    return Figure{.name = name,
                  .unit = unit,
                  .peer = "JAX on its own CPU backend",
                  .goal = Goal::kAtMost,
                  .limit = limit};
  };
  const bool is_there = !plugin.empty() && !peers.python.empty();
  std::unique_ptr<Sides> sides;
  const What* of = nullptr;  // whose sides they are
  for (const What& what : kWhat) {
    const std::string name = what.name;
    if (!session.wants(name)) continue;
    if (!is_there) {
      session.skip(name, missing());
      continue;
    }
    if (of == nullptr || std::string(of->program) != what.program || of->threads != what.threads ||
        of->devices != what.devices) {
      sides.reset();  // they leave their cores to the next
      sides = std::make_unique<Sides>(script, what);
      of = &what;
      sides->compare(name);
    }
    session.measure(
        figure(name, what.unit, what.limit), [&] { return answer(sides->ours, what.ask); },
        [&] { return answer(sides->peer, what.ask); });
  }
  sides.reset();
  if (!is_there) {
    session.skip("jax.start", missing());
    return;
  }
  const auto start_ms = [&](bool ours) {
    return 1e3 * seconds_of_program(script.command(ours, "start"));
  };
  session.measure(
      figure("jax.start", "ms", 1), [&] { return start_ms(true); },
      [&] { return start_ms(false); });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
