// serve.peer_<peer>_<clients>: requests of one row of the demo's network per second, by so many
// clients of the load of `millrace load`, and serve.peer_<peer>_<clients>_p99: of their latencies.
//   plain   a synchronous server in C++, a thread for each connection, without batches, by the same
//           Runtime (plain_server.cc)
//   jax     JAX's jit behind aiohttp and its thread pool (peers_serve.py)
//   onnx    ONNX Runtime behind the same
// serve.witness_<peer>: requests per second of 16 processes of stock tritonclient
// (peers_serve_clients.py), which knows nothing of either side.
// All servers run at the same time, and in each round the load goes from one to the other.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/figure.h"
#include "bench/http_client.h"
#include "bench/serve_job.h"
#include "bench/serve_models.h"
#include "millrace/tools/load/load_target.h"

namespace millrace::bench {
namespace {

constexpr double kSeconds = 0.4;  // of a load
constexpr int kClients[] = {1, 16, 64};
constexpr int kWitnesses = 16;

struct Peer {
  std::string name;
  std::string words;
  std::unique_ptr<ServeJob> server;
};

std::vector<Peer> start_peers(const ServeModels& models, const PythonPeers& python) {
  std::vector<Peer> peers;
  peers.push_back({"plain", "a plain server in C++",
                   std::make_unique<ServeJob>(
                       Words{program_folder() + "/plain_server", ServeModels::demo_folder(),
                             models.demo_weights(), std::to_string(device_threads())})});
  if (python.python.empty()) return peers;
  const Words script = {python.python, source_folder() + "/bench/peers_serve.py"};
  peers.push_back({"jax", "JAX behind aiohttp",
                   std::make_unique<ServeJob>(script + Words{"jax", models.demo_weights()})});
  peers.push_back(
      {"onnx", "ONNX Runtime behind aiohttp", std::make_unique<ServeJob>(script + Words{"onnx"})});
  return peers;
}

// The ten numbers that it answers to the same row.
std::vector<float> answer_of(int port) {
  HttpClient client(port);
  const auto described = client.ask(http_get("/v2/models/demo"));
  const auto body = load::make_body(described ? described->body : "", 1, std::nullopt, 1);
  if (!body) give_up("a server's model", body.error().to_string());
  const auto answer = client.ask(http_infer("demo", body->bytes, body->json_bytes));
  std::vector<float> numbers(10);
  if (!answer || answer->body.size() != answer->json_bytes + numbers.size() * sizeof(float))
    give_up("a server's answer", answer ? answer->body : "the connection ended");
  std::memcpy(numbers.data(), answer->body.data() + answer->json_bytes,
              numbers.size() * sizeof(float));
  return numbers;
}

void check_agreement(const ServeJob& ours, const std::vector<Peer>& peers) {
  const std::vector<float> expected = answer_of(ours.port());
  for (const Peer& peer : peers) {
    const std::vector<float> answer = answer_of(peer.server->port());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!agree(expected[i], answer[i], 1e-3)) give_up(peer.words, "it answers something else");
    }
  }
}

// ---- the load of `millrace load`

bool wants_any(const Session& session, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (session.wants(name)) return true;
  }
  return false;
}

std::string name_of(const std::string& peer, int clients) {
  return "serve.peer_" + peer + "_" + std::to_string(clients);
}

void measure_clients(Session& session, const ServeJob& ours, const std::vector<Peer>& peers,
                     int clients) {
  std::vector<std::string> names;
  for (const Peer& peer : peers) {
    names.push_back(name_of(peer.name, clients));
    names.push_back(names.back() + "_p99");
  }
  if (!wants_any(session, names)) return;
  std::vector<std::vector<Round>> rates(peers.size()), slowest(peers.size());
  for (int i = 0; i <= session.rounds(); ++i) {
    const Seen seen = closed_loop(ours.port(), "demo", clients, kSeconds);
    for (std::size_t p = 0; p < peers.size(); ++p) {
      const Seen other = closed_loop(peers[p].server->port(), "demo", clients, kSeconds);
      if (i == 0) continue;  // a warm-up
      rates[p].push_back({seen.per_second, other.per_second});
      slowest[p].push_back({seen.p99_ms, other.p99_ms});
    }
  }
  for (std::size_t p = 0; p < peers.size(); ++p) {
    const std::string name = name_of(peers[p].name, clients);
    session.report(
        {.name = name, .unit = "requests/s", .peer = peers[p].words, .goal = Goal::kAtLeast},
        rates[p]);
    session.report({.name = name + "_p99", .unit = "ms", .peer = peers[p].words}, slowest[p]);
  }
}

// ---- tritonclient

void measure_witness(Session& session, const ServeJob& ours, const std::vector<Peer>& peers,
                     const PythonPeers& python) {
  std::vector<std::string> names;
  for (const Peer& peer : peers) names.push_back("serve.witness_" + peer.name);
  if (!wants_any(session, names)) return;
  Child witness({python.python, source_folder() + "/bench/peers_serve_clients.py",
                 std::to_string(kWitnesses), std::to_string(kSeconds)});
  if (witness.read_line() != "ready") {
    for (const std::string& name : names)
      session.skip(name, "no tritonclient here: tools/peers --triton");
    return;
  }
  std::vector<std::vector<Round>> rates(peers.size());
  for (int i = 0; i <= session.rounds(); ++i) {
    const double seen = witness.ask(std::to_string(ours.port()));
    for (std::size_t p = 0; p < peers.size(); ++p) {
      const double other = witness.ask(std::to_string(peers[p].server->port()));
      if (i > 0) rates[p].push_back({seen, other});
    }
  }
  for (std::size_t p = 0; p < peers.size(); ++p) {
    session.report(
        {.name = names[p], .unit = "requests/s", .peer = peers[p].words, .goal = Goal::kAtLeast},
        rates[p]);
  }
}

void measure(Session& session) {
  const PythonPeers python = python_peers();
  std::vector<std::string> of_python, all;
  for (const char* const peer : {"plain", "jax", "onnx"}) {
    for (const int clients : kClients) {
      auto& names = peer == std::string("plain") ? all : of_python;
      names.push_back(name_of(peer, clients));
      names.push_back(names.back() + "_p99");
    }
    of_python.push_back(std::string("serve.witness_") + peer);
  }
  if (python.python.empty()) {
    for (const std::string& name : of_python) session.skip(name, python.why_not);
  } else {
    all.insert(all.end(), of_python.begin(), of_python.end());
  }
  if (!wants_any(session, all)) return;
  const ServeModels models;
  const ServeJob ours(serve_command(models.demo()));
  const std::vector<Peer> peers = start_peers(models, python);
  check_agreement(ours, peers);
  for (const int clients : kClients) measure_clients(session, ours, peers, clients);
  if (!python.python.empty()) measure_witness(session, ours, peers, python);
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
