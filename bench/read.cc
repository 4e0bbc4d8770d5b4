// read.text: a program of 27 MB, ResNet-18's training step a hundred times over, read into our IR
// on one core, in MB/s; the peer is the rate that a program of tens of MB wants. read.text_mlir:
// the same beside MLIR's own parser, in milliseconds. read.literals: 15 MB of numbers, so too.
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "bench/child.h"
#include "bench/figure.h"
#include "millrace/devices/stablehlo/text/read_text.h"

namespace millrace::bench {
namespace {

constexpr double kWantedRate = 20;  // MB/s
constexpr int kCopies = 100;
constexpr int kNumbers = 1'000'000;

std::string whole_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) give_up("read", path + " cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Main, and copies of it under other names.
std::string large_program() {
  const std::string text = whole_file(source_folder() + "/tools/models/resnet18/step.mlir");
  const std::string begin = "func.func public @main", end = "\n  }\n";
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find(end, from) + end.size();
  const std::string body = text.substr(from + begin.size(), to - from - begin.size());
  std::string large = text.substr(0, to);
  for (int i = 1; i < kCopies; ++i) large += "  func.func private @copy" + std::to_string(i) + body;
  return large + text.substr(to);
}

std::string literals() {
  std::minstd_rand random(1);
  std::string numbers;
  char one[32];
  for (int i = 0; i < kNumbers; ++i) {
    std::snprintf(one, sizeof one, "%s%.7e", i == 0 ? "" : ", ",
                  static_cast<double>(random()) / 2147483648.0 - 0.5);
    numbers += one;
  }
  const std::string type = "tensor<" + std::to_string(kNumbers) + "xf32>";
  return "func.func @main() -> " + type + " {\n  %0 = stablehlo.constant dense<[" + numbers +
         "]> : " + type + "\n  return %0 : " + type + "\n}\n";
}

double seconds_to_read(const std::string& text) {
  return seconds_of([&text] {
    const auto module = devices::stablehlo::text::read_text(text);
    if (!module) give_up("read", module.error().to_string());
  });
}

void beside_mlir(Session& session, const std::string& name, const std::string& text) {
  if (!session.wants(name)) return;
  const PythonPeers peers = python_peers();
  if (peers.python.empty()) return session.skip(name, peers.why_not);
  Child mlir({peers.python, source_folder() + "/bench/peers_read.py"});
  const std::string path = program_folder() + "/" + name + ".mlir";
  std::ofstream(path) << text;
  session.measure(
      {.name = name, .unit = "ms", .peer = "MLIR's parser", .goal = Goal::kAtMost, .limit = 1},
      [&] { return 1e3 * seconds_to_read(text); }, [&] { return mlir.ask(path); });
}

void measure(Session& session) {
  const std::string text = large_program();
  session.measure(
      {.name = "read.text",
       .unit = "MB/s",
       .peer = "what is wanted",
       .goal = Goal::kAtLeast,
       .limit = 1},
      [&] { return static_cast<double>(text.size()) / 1e6 / seconds_to_read(text); },
      [] { return kWantedRate; });
  beside_mlir(session, "read.text_mlir", text);
  beside_mlir(session, "read.literals", literals());
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
