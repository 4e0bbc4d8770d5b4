// What a link between two processes costs, over a Unix socket and through shared memory
// (net.shm_...), between a loop on each of two cores:
//   ping_pong_64B  a frame of 64 bytes there and one back; the peer writes and reads as many bytes
//                  of a Unix socket, blocking, on two threads
//   stream_64MiB   64 frames of 1 MiB, from the first send until the last is there; the peer writes
//                  and reads as much in pieces of 1 MiB
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/bare_socket.h"
#include "bench/figure.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/host_transport.h"
#include "millrace/core/net/mesh.h"

namespace millrace::bench {
namespace {

using net::Bytes;
using net::Frame;
using net::FrameKind;

constexpr int kRoundTrips = 3000;
constexpr std::size_t kPiece = std::size_t{1} << 20, kPieces = 64;
constexpr FrameKind kPing = FrameKind::kFirstOfUsers, kPiecesKind = FrameKind{33};

// ---- ours: two meshes, each on a loop of its own

class Linked {
 public:
  explicit Linked(const std::string& scheme) {
    if (::mkdtemp(folder_.data()) == nullptr) give_up("making a folder for sockets", folder_);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      loops_[rank] = std::make_unique<EventLoopThread>(create_uv_event_loop().value(), "net");
      EventLoop& loop = loops_[rank]->loop();
      post(loop, [rank] { pin_to_core(static_cast<int>(rank)); });
      transports_[rank] = net::make_host_transport(loop);
    }
    store_ = std::make_unique<LocalKeyValueStore>(loops_[0]->loop().timers());
    std::vector<Future<void>> started;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      net::MeshOptions options{.rank = rank, .size = 2, .job = "bench", .host = "here"};
      options.incarnation[0] = static_cast<std::byte>(rank);
      meshes_[rank] = net::Mesh::make(*transports_[rank], *store_, options).value();
      started.push_back(meshes_[rank]->start(scheme + path(rank)));
    }
    wait_blocking(when_all(started)).value();
    set_sinks();
  }
  ~Linked() {
    const Future<void> closed[] = {meshes_[0]->close(), meshes_[1]->close()};
    wait_blocking(when_all(closed)).value();
    for (const auto& loop : loops_) wait_blocking(loop->close()).value();
    ::rmdir(folder_.c_str());
  }

  double round_trip_us() {
    Promise<void> done;
    const Future<void> all = done.future();
    const double seconds = seconds_of([&] {
      post(loops_[0]->loop(), [&] {
        done_ = std::move(done);
        left_ = kRoundTrips;
        ping();
      });
      wait_blocking(all).value();
    });
    return 1e6 * seconds / kRoundTrips;
  }
  double stream_ms() {
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < kPieces; ++i)
      frames.push_back({{.kind = kPiecesKind}, Bytes(kPiece, std::byte{1})});
    Promise<void> done;
    const Future<void> all = done.future();
    post(loops_[1]->loop(), [&] {
      left_of_stream_ = kPieces;
      stream_done_ = std::move(done);
    });
    return 1e3 * seconds_of([&] {
             // 32 of them at a time, which is what may be queued for a rank.
             std::vector<Future<void>> sent;
             for (Frame& frame : frames) {
               if (sent.size() >= 24) wait_blocking(sent[sent.size() - 24]).value();
               sent.push_back(meshes_[0]->send(1, std::move(frame)));
             }
             wait_blocking(all).value();
           });
  }

 private:
  std::string path(std::uint32_t rank) const { return folder_ + "/" + std::to_string(rank); }
  void ping() { meshes_[0]->send(1, {{.kind = kPing}, {}}).ignore(); }
  void set_sinks() {
    meshes_[1]->set_sink({kPing}, [this](std::uint32_t, Frame frame) -> Future<void> {
      meshes_[1]->send(0, std::move(frame)).ignore();
      return {};
    });
    meshes_[0]->set_sink({kPing}, [this](std::uint32_t, const Frame&) -> Future<void> {
      --left_ == 0 ? done_.set_value() : ping();
      return {};
    });
    meshes_[1]->set_sink({kPiecesKind}, [this](std::uint32_t, const Frame&) -> Future<void> {
      if (--left_of_stream_ == 0) stream_done_.set_value();
      return {};
    });
  }

  std::string folder_ = "/tmp/millrace_bench_XXXXXX";
  std::array<std::unique_ptr<EventLoopThread>, 2> loops_;
  std::array<std::unique_ptr<net::Transport>, 2> transports_;
  std::unique_ptr<LocalKeyValueStore> store_;
  std::array<Ref<net::Mesh>, 2> meshes_;
  int left_ = 0;
  Promise<void> done_;
  std::size_t left_of_stream_ = 0;
  Promise<void> stream_done_;
};

// ---- the peer: blocking calls on a pair of sockets

using Bare = std::array<int, 2>;

void write_all(int socket, const std::byte* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t taken = ::send(socket, from, bytes, MSG_NOSIGNAL);
    if (taken <= 0) give_up("writing to a socket", "it ended");
    from += taken;
    bytes -= static_cast<std::size_t>(taken);
  }
}

void read_all(int socket, std::byte* into, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, into, bytes, 0);
    if (got <= 0) give_up("reading from a socket", "it ended");
    into += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

// Seconds that here takes on one end, on core 0, while there runs on the other, on core 1.
double bare_seconds(const std::function<void(int)>& here, const std::function<void(int)>& there) {
  Bare ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    give_up("making a pair of sockets", "socketpair");
  std::thread other([&] {
    pin_to_core(1);
    there(ends[1]);
  });
  double seconds = 0;
  std::thread one([&] {
    pin_to_core(0);
    seconds = seconds_of([&] { here(ends[0]); });
  });
  one.join();
  other.join();
  for (const int end : ends) ::close(end);
  return seconds;
}

double bare_stream_ms() {
  const Bytes from(kPiece, std::byte{1});
  Bytes into(kPiece);
  return 1e3 * bare_seconds(
                   [&](int socket) {
                     for (std::size_t i = 0; i < kPieces; ++i)
                       write_all(socket, from.data(), from.size());
                     read_all(socket, into.data(), 1);
                   },
                   [&](int socket) {
                     for (std::size_t i = 0; i < kPieces; ++i)
                       read_all(socket, into.data(), into.size());
                     write_all(socket, into.data(), 1);
                   });
}

// The limits of both figures, of our time by that of a bare Unix socket.
struct Limits {
  double round_trip;
  double stream;
};

void measure_over(Session& session, const std::string& scheme, const std::string& prefix,
                  const Limits& limits) {
  Linked linked(scheme);
  session.measure(
      {.name = prefix + "ping_pong_64B",
       .unit = "us",
       .peer = "blocking writes and reads of a Unix socket",
       .limit = limits.round_trip},
      [&] { return Measured(linked.round_trip_us()); },
      [] { return Measured(socket_round_trip_us(net::kHeaderBytes, kRoundTrips)); });
  session.measure(
      {.name = prefix + "stream_64MiB",
       .unit = "ms",
       .peer = "blocking writes and reads of a Unix socket",
       .limit = limits.stream},
      [&] { return Measured(linked.stream_ms()); }, [] { return Measured(bare_stream_ms()); });
}

void measure(Session& session) {
  measure_over(session, "unix:", "net.", {1.3, 1.5});
  measure_over(session, "shm:", "net.shm_", {1.3, 1});
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
