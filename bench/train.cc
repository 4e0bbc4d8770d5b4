// train.mnist_step_1 and _2: a training step of the demo's network at batch 128, in milliseconds,
// on one device with so many threads, all in: loader, step graph, gradients and update, as
// `millrace train` runs them. The peer is the better of JAX and PyTorch on the CPU in this round,
// which get the same batch again and again (peers_mnist.py). Each is a process of its own, bound to
// as many cores. train.mnist_step_xla: the same steps on a device of XLA's own CPU plugin, with two
// threads; the peer is JAX, which has the same compiler and the same kernels.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"
#include "bench/pjrt_bare.h"
#include "bench/waiting_source.h"

namespace millrace::bench {
namespace {

constexpr int kSteps = 30;  // of a round, each

int step_part(const std::string& threads) {
  static const int count = std::stoi(threads);
  pin_to_cores(count);
  static const Runtime runtime = make_training_runtime(count);
  answer_each_line([] { return median_step_ms(runtime, Duration(), kSteps); });
  return 0;
}
const Part mnist_step("mnist_step", &step_part);

int plugin_part(const std::string& threads) {
  static const int count = std::stoi(threads);
  pin_to_cores(count);
  static const Runtime runtime = make_training_runtime(count, plugin_text());
  answer_each_line([] { return median_step_ms(runtime, Duration(), kSteps); });
  return 0;
}
const Part plugin_step("plugin_step", &plugin_part);

std::vector<std::string> python_command(const PythonPeers& peers, const char* peer, int threads) {
  return {peers.python, source_folder() + "/bench/peers_mnist.py",
          "--worker",   peer,
          "--threads",  std::to_string(threads),
          "--repeat",   std::to_string(kSteps),
          "--serve"};
}

void measure_threads(Session& session, int threads) {
  const std::string name = "train.mnist_step_" + std::to_string(threads);
  if (!session.wants(name)) return;
  const PythonPeers peers = python_peers();
  if (peers.python.empty()) return session.skip(name, peers.why_not);
  Child ours(Part::command("mnist_step", std::to_string(threads)));
  Child jax(python_command(peers, "jax", threads)), torch(python_command(peers, "torch", threads));
  std::vector<double> jax_ms, torch_ms;
  session.measure(
      {.name = name,
       .unit = "ms",
       .peer = "the better of JAX and PyTorch",
       .goal = Goal::kAtMost,
       .limit = 0.8},
      [&] { return ours.ask("steps"); },
      [&] {
        jax_ms.push_back(jax.ask("steps"));
        torch_ms.push_back(torch.ask("steps"));
        return std::min(jax_ms.back(), torch_ms.back());
      });
  session.remark("JAX " + std::to_string(quantile(jax_ms, 0.5)) + " ms, PyTorch " +
                 std::to_string(quantile(torch_ms, 0.5)) + " ms");
}

void measure_plugin(Session& session) {
  const char* const name = "train.mnist_step_xla";
  if (!session.wants(name)) return;
  const PythonPeers peers = python_peers();
  if (peers.python.empty()) return session.skip(name, peers.why_not);
  if (plugin_path().empty()) return session.skip(name, kNoPlugin);
  Child ours(Part::command("plugin_step", "2"));
  Child jax(python_command(peers, "jax", 2));
  session.measure(
      {.name = name,
       .unit = "ms",
       .peer = "JAX on its own CPU client",
       .goal = Goal::kAtMost,
       .limit = 1},
      [&] { return ours.ask("steps"); }, [&] { return jax.ask("steps"); });
}

void measure(Session& session) {
  measure_threads(session, 1);
  measure_threads(session, 2);
  measure_plugin(session);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
