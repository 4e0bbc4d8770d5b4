// What processes of one job on one host cost, as `millrace launch` starts them, one device each:
//   processes.all_reduce_...   f32 over so many processes, call by call; the peer is OpenMPI's
//                              MPI_Allreduce: 4 B over its TCP, the others by its shared memory
//   processes.barrier_16, cast_16  of 16 processes; the peers are its Barrier, and its Bcast and
//                              Reduce, over TCP
//   processes.ask              a question of 8 bytes to an actor of the other process, and its
//                              answer; the peer is a round trip of as many bytes on a Unix socket
//   processes.launch_16        16 processes start, meet and end; the peer is mpirun of as many with
//                              Init, Barrier and Finalize
//   processes.mnist_step_2_... a training step of the demo's network at batch 128 in two processes;
//                              the peers: one process with two devices, PyTorch's DDP on gloo
//   processes.dead_rank        from the kill of a process to the last of two: the future of the
//                              other one has failed, and launch has named the rank
// A round starts the processes anew, of ours and of the peer. What ours do is in processes_rank.cc,
// what OpenMPI's do in peers_mpi.c.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/bare_socket.h"
#include "bench/child.h"
#include "bench/figure.h"
#include "millrace/core/net/frame.h"

namespace millrace::bench {
namespace {

using Command = std::vector<std::string>;

constexpr int kSteps = 200;     // of a training
constexpr int kAsks = 3000;     // of a round
constexpr int kBarriers = 301;  // of a round, and casts
constexpr int kKills = 3;       // of a round
constexpr std::size_t kAskBytes = net::kHeaderBytes + 8;

Command operator+(Command a, const Command& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Command launch(int processes, const Command& options = {}) {
  return Command{program_folder() + "/millrace", "launch", "-n", std::to_string(processes)} +
         options + Command{"--"};
}
Command rank(const std::string& words) { return Part::command("rank", words); }

// ---- OpenMPI

std::string mpi_program() { return program_folder() + "/peers_mpi"; }
constexpr const char* kNoMpi =
    "OpenMPI was not here when this was built: install openmpi-bin and libopenmpi-dev";

// transport: "tcp", "vader" (its shared memory); none: what it chooses.
Command mpi(int processes, const std::string& transport, const Command& words) {
  Command command = {"mpirun", "-n", std::to_string(processes)};
  if (::geteuid() == 0) command.emplace_back("--allow-run-as-root");
  if (static_cast<unsigned>(processes) > std::thread::hardware_concurrency())
    command.emplace_back("--oversubscribe");
  if (!transport.empty())
    command = command + Command{"--mca", "btl", transport + ",self", "--mca", "pml", "ob1"};
  command.push_back(mpi_program());
  return command + words;
}
bool has_mpi() { return ::access(mpi_program().c_str(), X_OK) == 0; }

// ---- what programs say

// The number on the only line of its stdout.
double number_of(const Command& command) {
  Child child(command);
  const auto line = child.read_line();
  char* end = nullptr;
  const double number = line ? std::strtod(line->c_str(), &end) : 0;
  if (!line || end == line->c_str()) give_up(command[0], line ? "it said " + *line : "it failed");
  return number;
}

// The number of a member of a JSON object in the line.
std::optional<double> member_of(const std::string& line, const std::string& name) {
  const std::string begin = "\"" + name + "\":";
  const auto at = line.find(begin);
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(line.c_str() + at + begin.size(), nullptr);
}

double step_ms(const Command& train) {
  Child child(train);
  std::optional<double> median;
  while (const auto line = child.read_line()) {
    if (const auto found = member_of(*line, "step_ms_median")) median = found;
  }
  if (!median) give_up("millrace train", "it gave no report");
  return *median;
}
Command train(int devices) {
  return {program_folder() + "/millrace",
          "train",
          "--model",
          source_folder() + "/tools/models/mnist",
          "--fake-data",
          "--devices",
          std::to_string(devices),
          "--batch-size",
          "128",
          "--max-steps",
          std::to_string(kSteps),
          "--json"};
}

double kill_ms() {
  // launch says on stderr what it has seen: each time the same.
  Child child(Command{"sh", "-c", R"(exec "$0" "$@" 2> /dev/null)"} + launch(2, {"--json"}) +
              rank("die"));
  double end_at = 0, heard = 0, named = 0;
  while (const auto line = child.read_line()) {
    if (line->starts_with("ends ")) end_at = std::strtod(line->c_str() + 5, nullptr);
    if (line->starts_with("heard ")) heard = std::strtod(line->c_str() + 6, nullptr);
    const bool end = line->find("\"event\":\"rank_end\"") != std::string::npos;
    if (end && member_of(*line, "rank") == 1) named = member_of(*line, "time").value_or(0);
  }
  if (end_at == 0 || heard == 0 || named == 0)
    give_up("a job that loses a rank", "it did not say when");
  return 1e3 * (std::max(heard, named) - end_at);
}

// ---- the figures

// ours and the peer: words for processes_rank.cc and peers_mpi.c, which say microseconds.
struct Call {
  std::string name;
  int processes;
  std::string words;
  Command peer;
  std::string transport;
  double limit;
};

void measure_call(Session& session, const Call& call) {
  const std::string name = "processes." + call.name;
  if (!session.wants(name)) return;
  if (!has_mpi()) return session.skip(name, kNoMpi);
  const bool is_tcp = call.transport == "tcp";
  session.measure(
      {.name = name,
       .unit = "us",
       .peer = is_tcp ? "OpenMPI over TCP" : "OpenMPI through shared memory",
       .limit = call.limit},
      [&] { return Measured(number_of(launch(call.processes) + rank(call.words))); },
      [&] { return Measured(number_of(mpi(call.processes, call.transport, call.peer))); });
}

Call all_reduce(const char* name, int processes, std::size_t bytes, int runs, const char* transport,
                double limit) {
  const std::string size = std::to_string(bytes), times = std::to_string(runs);
  return {std::string("all_reduce_") + name, processes, "all_reduce " + size + " " + times,
          {"all_reduce", size, times},       transport, limit};
}
Call of_numbers(const std::string& name, int processes) {
  const std::string times = std::to_string(kBarriers);
  return {name + "_" + std::to_string(processes),
          processes,
          name + " " + times,
          {name, times},
          "tcp",
          1};
}

void measure_training(Session& session) {
  session.measure(
      {.name = "processes.mnist_step_2_process",
       .unit = "ms",
       .peer = "one process with two devices",
       .limit = 1.1},
      [] { return Measured(step_ms(launch(2) + train(1))); },
      [] { return Measured(step_ms(train(2))); });
  const char* const name = "processes.mnist_step_2_ddp";
  if (!session.wants(name)) return;
  const PythonPeers peers = python_peers();
  if (peers.python.empty()) return session.skip(name, peers.why_not);
  Child ddp({peers.python, source_folder() + "/bench/peers_mnist.py", "--worker", "torch-ddp",
             "--threads", "1", "--repeat", std::to_string(kSteps), "--serve"});
  session.measure(
      {.name = name, .unit = "ms", .peer = "PyTorch's DDP on gloo", .limit = 0.8},
      [] { return Measured(step_ms(launch(2) + train(1))); }, [&] { return ddp.ask("steps"); });
}

void measure(Session& session) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  measure_call(session, all_reduce("4B_2", 2, 4, 2001, "tcp", 1));
  measure_call(session, all_reduce("1MiB_2", 2, kMiB, 201, "vader", 1));
  measure_call(session, all_reduce("64MiB_2", 2, 64 * kMiB, 11, "vader", 0.8));
  measure_call(session, all_reduce("64MiB_4", 4, 64 * kMiB, 11, "vader", 0.8));
  measure_call(session, of_numbers("barrier", 16));
  measure_call(session, of_numbers("cast", 16));
  session.measure(
      {.name = "processes.ask",
       .unit = "us",
       .peer = "blocking writes and reads of a Unix socket",
       .limit = 1.3},
      [] { return Measured(number_of(launch(2) + rank("ask " + std::to_string(kAsks)))); },
      [] { return Measured(socket_round_trip_us(kAskBytes, kAsks)); });
  const char* const launched = "processes.launch_16";
  if (session.wants(launched) && !has_mpi()) {
    session.skip(launched, kNoMpi);
  } else {
    session.measure(
        {.name = launched,
         .unit = "ms",
         .peer = "mpirun with Init, Barrier and Finalize",
         .limit = 0.5},
        [] { return Measured(1e3 * seconds_of_program(launch(16) + rank("meet"))); },
        [] { return Measured(1e3 * seconds_of_program(mpi(16, "", {"meet"}))); });
  }
  measure_training(session);
  session.measure({.name = "processes.dead_rank", .unit = "ms", .peer = "the limit", .limit = 1},
                  [] {
                    std::vector<double> times;
                    for (int i = 0; i < kKills; ++i) times.push_back(kill_ms());
                    return Round{quantile(times, 0.5), 20};
                  });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
