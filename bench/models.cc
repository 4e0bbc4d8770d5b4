// models.<name>_1 and _2: a training step of ResNet-18 (224x224, batch 8) and of a small decoder
// (batch 8, 128 tokens), in milliseconds, on one CPU device with so many threads; the peer is JAX
// on its own CPU client with as many cores, which got the same networks and the same batch.
// models.<name>_compile: until the step is compiled, on one core. models.<name>_memory: the most
// that a process takes which makes the tensors and runs a few steps.
#include <sys/resource.h>

#include <string>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"
#include "bench/step_model.h"

namespace millrace::bench {
namespace {

constexpr int kSteps = 2;  // of a round, each

// "resnet18/2": the model and the number of threads, which are bound to as many cores.
StepModel& model_of(const std::string& argument) {
  const std::size_t slash = argument.find('/');
  const int threads = std::stoi(argument.substr(slash + 1));
  pin_to_cores(threads);
  static StepModel model(source_folder() + "/tools/models/" + argument.substr(0, slash), threads);
  return model;
}

StepModel* asked = nullptr;

int step_part(const std::string& argument) {
  asked = &model_of(argument);
  answer_each_line([] {
    return 1e3 / kSteps * seconds_of([] {
             for (int i = 0; i < kSteps; ++i) asked->step();
           });
  });
  return 0;
}
const Part step("step", &step_part);

int compile_part(const std::string& argument) {
  asked = &model_of(argument);
  answer_each_line([] { return asked->compile_ms(); });
  return 0;
}
const Part compile("compile", &compile_part);

int memory_part(const std::string& argument) {
  for (int i = 0; i < kSteps; ++i) model_of(argument).step();
  answer_each_line([] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
  });
  return 0;
}
const Part memory("memory", &memory_part);

struct What {
  const char* part;
  int threads;
  const char* suffix;
  const char* unit;
  double limit;
};
constexpr What kWhat[] = {{"step", 1, "_1", "ms", 2},
                          {"step", 2, "_2", "ms", 2},
                          {"compile", 1, "_compile", "ms", 0.1},
                          {"memory", 2, "_memory", "MiB", 1}};

void measure(Session& session) {
  const PythonPeers peers = python_peers();
  for (const char* const model : {"resnet18", "decoder"}) {
    for (const What& what : kWhat) {
      const std::string name = std::string("models.") + model + what.suffix;
      if (!session.wants(name)) continue;
      if (peers.python.empty()) {
        session.skip(name, peers.why_not);
        continue;
      }
      const std::string threads = std::to_string(what.threads);
      const std::string script = source_folder() + "/bench/peers_models.py";
      Child ours(Part::command(what.part, std::string(model) + "/" + threads));
      Child jax({peers.python, script, model, what.part, "--threads", threads});
      session.measure(
          {.name = name,
           .unit = what.unit,
           .peer = "JAX on its own CPU client",
           .goal = Goal::kAtMost,
           .limit = what.limit},
          [&] { return ours.ask(what.part); }, [&] { return jax.ask(what.part); });
    }
  }
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
