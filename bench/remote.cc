// What an actor of another process costs, over Unix sockets, between loops on two cores:
//   remote.ask  a question of 8 bytes and its answer; the peer writes and reads as many bytes as
//   the
//               two frames have, blocking, on two threads
// and, as a remark, a cast to 16 ranks; processes.cc measures both between processes.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/answerer.h"
#include "bench/bare_socket.h"
#include "bench/figure.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/socket_transport.h"

namespace millrace::bench {
namespace {

constexpr int kRoundTrips = 3000;
constexpr int kCasts = 300;
constexpr std::size_t kBytes = net::kHeaderBytes + 8;

// ---- ours: meshes on two loops

class Job {
 public:
  explicit Job(std::uint32_t size) : processes_(size) {
    if (::mkdtemp(folder_.data()) == nullptr) give_up("making a folder for sockets", folder_);
    for (int i = 0; i < 2; ++i) {
      loops_[i] = std::make_unique<EventLoopThread>(create_uv_event_loop().value(), "remote");
      post(loops_[i]->loop(), [i] { pin_to_core(i); });
      transports_[i] = net::make_socket_transport(loops_[i]->loop());
    }
    store_ = std::make_unique<LocalKeyValueStore>(loops_[0]->loop().timers());
    std::vector<Future<void>> started;
    for (std::uint32_t rank = 0; rank < size; ++rank) started.push_back(start(rank, size));
    wait_blocking(when_all(started)).value();
  }
  ~Job() {
    std::vector<Future<void>> closed;
    for (Process& process : processes_) {
      closed.push_back(process.remote->close());
      closed.push_back(process.mesh->close());
      closed.push_back(process.system->close());
    }
    wait_blocking(when_all(closed)).value();
    processes_.clear();
    for (const auto& loop : loops_) wait_blocking(loop->close()).value();
    ::rmdir(folder_.c_str());
  }

  double ask_us() {
    const auto answerer =
        wait_blocking(processes_[0].remote->find<Answerer>(1, "answerer")).value();
    return each_us(kRoundTrips, [answerer] { return answerer.ask(Question{7}); });
  }
  double cast_us() {
    return each_us(
        kCasts, [this] { return processes_[0].remote->cast<Answerer>("answerer", Question{1}); });
  }

 private:
  struct Process {
    std::unique_ptr<actors::ActorSystem> system;
    Ref<net::Mesh> mesh;
    std::unique_ptr<actors::RemoteActors> remote;
  };

  Future<void> start(std::uint32_t rank, std::uint32_t size) {
    EventLoop& loop = loops_[rank % 2]->loop();
    const Environment environment{
        .clock = &steady_clock(), .timers = &loop.timers(), .compute = &loop, .blocking = &loop};
    net::MeshOptions options{.rank = rank, .size = size, .job = "bench", .host = "here"};
    options.incarnation[0] = static_cast<std::byte>(rank);
    Process& process = processes_[rank];
    process.system = std::make_unique<actors::ActorSystem>(environment);
    process.mesh = net::Mesh::make(*transports_[rank % 2], *store_, options).value();
    process.remote =
        std::make_unique<actors::RemoteActors>(process.mesh, *process.system, environment);
    process.remote->serve<Answerer>();
    process.system->spawn<Answerer>("answerer", {.inline_when_idle = true}).value();
    return process.mesh->start("unix:" + folder_ + "/" + std::to_string(rank));
  }

  // One call after the other, each begun where the answer of the one before is read.
  double each_us(int calls, const std::function<Future<std::uint64_t>()>& call) {
    struct Chain {
      std::function<Future<std::uint64_t>()> call;
      int left;
      Promise<void> done;
      void next() {
        call()
            .then(inline_executor(),
                  [this](const Result<std::uint64_t>& answer) {
                    if (!answer) give_up("asking", answer.error().to_string());
                    --left == 0 ? done.set_value() : next();
                  })
            .ignore();
      }
    } chain{call, calls, {}};
    const Future<void> all = chain.done.future();
    return 1e6 * seconds_of([&] {
             post(loops_[0]->loop(), [&] { chain.next(); });
             wait_blocking(all).value();
           }) /
           calls;
  }

  std::string folder_ = "/tmp/millrace_bench_XXXXXX";
  std::array<std::unique_ptr<EventLoopThread>, 2> loops_;
  std::array<std::unique_ptr<net::Transport>, 2> transports_;
  std::unique_ptr<LocalKeyValueStore> store_;
  std::vector<Process> processes_;
};

void measure(Session& session) {
  {
    Job two(2);
    session.measure(
        {.name = "remote.ask",
         .unit = "us",
         .peer = "blocking writes and reads of a Unix socket",
         .limit = 1.3},
        [&] { return Measured(two.ask_us()); },
        [] { return Measured(socket_round_trip_us(kBytes, kRoundTrips)); });
  }
  if (!session.wants("remote.cast_16")) return;
  Job sixteen(16);
  std::vector<double> rounds;
  for (int i = 0; i < session.rounds(); ++i) rounds.push_back(sixteen.cast_us());
  session.remark("remote.cast_16: " + std::to_string(quantile(rounds, 0.5)) +
                 " us, 16 meshes on two loops of one process");
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
