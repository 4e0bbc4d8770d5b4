#include "millrace/tools/failure_rows/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/base/descriptor.h"
#include "millrace/core/net/frame.h"

namespace millrace::failures {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostHeld = std::size_t{64} << 10;  // of a direction: then it is not read
constexpr std::size_t kHelloRankAt = 64;      // handshake.cc: behind the nonce and the job's digest
constexpr std::size_t kConnectorBytes = 248;  // what it says in a handshake
constexpr std::string_view kAddress = "tcp:127.0.0.1:";

sockaddr_in at_port(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A listening socket, and its port.
std::pair<Descriptor, int> open_door() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = at_port(0);
  socklen_t size = sizeof address;
  MILLRACE_CHECK(socket && ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::listen(socket.get(), 4096) == 0 &&
                     ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0,
                 "the proxy has no socket to listen at");
  return {std::move(socket), ntohs(address.sin_port)};
}

void write_now(const Descriptor& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Bytes on their way, each piece with when it is due.
struct Way {
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  std::deque<Piece> pieces = {};
  std::size_t held = 0;
  Clock::time_point last = {};
  bool ended = false;   // the end has come, and goes on once all has gone
  bool passed = false;  // it has gone on
};

struct Stream {
  Descriptor near, far;     // who has dialled, and whom
  std::optional<int> from;  // its rank, once it has said hello
  int to = kHost;
  Way there = {}, back = {};
  net::FrameParser parser{std::size_t{64} << 20};  // of what goes to the host
  std::string said = {};                           // until its rank is known
  bool over = false;
};

}  // namespace

class Proxy::Thread {
 public:
  Thread() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    auto [socket, port] = open_door();
    door_ = port;
    doors_.push_back({std::move(socket), port, kHost, 0});
    thread_ = std::thread([this] { run(); });
  }
  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake();
    thread_.join();
  }

  template <class F>
  auto locked(F f) {
    const std::lock_guard lock(mutex_);
    wake();
    return f(*this);
  }

  struct Door {
    Descriptor socket;
    int port;
    int rank;
    int target;  // the port behind it; 0: not known yet
  };

  void wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  }

  int door_ = 0;
  std::list<Door> doors_;
  std::list<Stream> streams_;
  std::map<std::pair<int, int>, WireFaults> faults_;
  WireFaults others_;
  std::string first_words_;

 private:
  const WireFaults& faults(int from, int to) const {
    const auto found = faults_.find({from, to});
    return found == faults_.end() ? others_ : found->second;
  }
  // Who says it, and to whom. A stranger's: none.
  std::pair<int, int> ends_of(const Stream& stream, bool there) const {
    const int from = stream.from.value_or(-2);
    return there ? std::pair(from, stream.to) : std::pair(stream.to, from);
  }

  void run() {
    for (;;) {
      std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
      int timeout = 1000;
      {
        const std::lock_guard lock(mutex_);
        if (ends_) return;
        timeout = step();
        for (const Door& door : doors_)
          if (door.target != 0) polled.push_back({door.socket.get(), POLLIN, 0});
        for (const Stream& stream : streams_) {
          add(polled, stream, true);
          add(polled, stream, false);
        }
      }
      ::poll(polled.data(), polled.size(), timeout);
      std::uint64_t count = 0;
      static_cast<void>(!::read(wake_.get(), &count, sizeof count));
    }
  }
  void add(std::vector<pollfd>& polled, const Stream& stream, bool there) const {
    const Way& way = there ? stream.there : stream.back;
    const auto [from, to] = ends_of(stream, there);
    if (faults(from, to).hole) return;
    if (!way.ended && way.held < kMostHeld)
      polled.push_back({(there ? stream.near : stream.far).get(), POLLIN, 0});
    if (!way.pieces.empty() && way.pieces.front().due <= Clock::now())
      polled.push_back({(there ? stream.far : stream.near).get(), POLLOUT, 0});
  }

  // All that can be done now; for how many milliseconds there is nothing to do.
  int step() {
    for (Door& door : doors_) accept(door);
    auto next = Clock::now() + std::chrono::seconds(1);
    for (Stream& stream : streams_) {
      for (const bool there : {true, false}) {
        if (stream.over) continue;
        const auto [from, to] = ends_of(stream, there);
        if (faults(from, to).hole) continue;
        take(stream, there);
        give(stream, there);
        const Way& way = there ? stream.there : stream.back;
        if (!way.pieces.empty() && way.pieces.front().due > Clock::now())
          next = std::min(next, way.pieces.front().due);
      }
      if (stream.there.passed && stream.back.passed) stream.over = true;
    }
    std::erase_if(streams_, [](const Stream& stream) { return stream.over; });
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(next - Clock::now()).count();
    return static_cast<int>(std::max<long>(0, (left + 999) / 1000));
  }

  void accept(Door& door) {
    while (door.target != 0) {
      Descriptor near(::accept4(door.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!near) return;
      Descriptor far(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_in address = at_port(door.target);
      if (::connect(far.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        continue;  // near ends with it
      ::fcntl(far.get(), F_SETFL, O_NONBLOCK);
      write_now(near);
      write_now(far);
      streams_.emplace_back();
      streams_.back().near = std::move(near);
      streams_.back().far = std::move(far);
      streams_.back().to = door.rank;
    }
  }

  void take(Stream& stream, bool there) {
    Way& way = there ? stream.there : stream.back;
    const Descriptor& socket = there ? stream.near : stream.far;
    char buffer[32 << 10];
    while (!way.ended && way.held < kMostHeld) {
      const ssize_t got = ::recv(socket.get(), buffer, sizeof buffer, 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got < 0) {
        stream.over = true;
        return;
      }
      if (got == 0) {
        way.ended = true;
        return;
      }
      std::string bytes(buffer, static_cast<std::size_t>(got));
      if (there) learn(stream, bytes);
      if (there && stream.to == kHost) bytes = rewrite(stream, bytes);
      push(stream, there, std::move(bytes));
    }
  }

  void push(Stream& stream, bool there, std::string bytes) {
    if (bytes.empty()) return;
    Way& way = there ? stream.there : stream.back;
    const auto [from, to] = ends_of(stream, there);
    const WireFaults& wire = faults(from, to);
    const auto seconds = [](double s) {
      return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
    };
    auto due = std::max(Clock::now(), way.last);
    if (wire.bytes_per_second > 0)
      due += seconds(static_cast<double>(bytes.size()) / wire.bytes_per_second);
    if (std::uniform_real_distribution<>(0, 1)(random_) < wire.stalls)
      due += seconds(wire.stall_seconds);
    way.last = due;
    way.held += bytes.size();
    way.pieces.push_back({due, std::move(bytes)});
  }

  void give(Stream& stream, bool there) {
    Way& way = there ? stream.there : stream.back;
    const Descriptor& socket = there ? stream.far : stream.near;
    while (!way.pieces.empty() && way.pieces.front().due <= Clock::now()) {
      std::string& bytes = way.pieces.front().bytes;
      const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (sent < 0) {
        stream.over = true;
        return;
      }
      way.held -= static_cast<std::size_t>(sent);
      bytes.erase(0, static_cast<std::size_t>(sent));
      if (!bytes.empty()) return;
      way.pieces.pop_front();
    }
    if (way.pieces.empty() && way.ended && !way.passed) {
      way.passed = true;
      ::shutdown(socket.get(), SHUT_WR);
    }
  }

  // The first frame, a hello, has the rank.
  void learn(Stream& stream, const std::string& bytes) {
    if (stream.said.size() >= kConnectorBytes) return;
    stream.said += bytes;
    const std::size_t at = net::kHeaderBytes + kHelloRankAt;
    if (stream.said.size() < at + 4) return;
    stream.from = static_cast<int>(net::load_number<std::uint32_t>(
        reinterpret_cast<const std::byte*>(stream.said.data() + at)));
    const bool all = stream.said.size() >= kConnectorBytes;
    if (all && stream.to == kHost && first_words_.empty())
      first_words_ = stream.said.substr(0, kConnectorBytes);
  }

  // What a rank says to the host, with a door of ours in place of where it listens.
  std::string rewrite(Stream& stream, const std::string& bytes) {
    std::string out;
    std::span<const std::byte> left(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    for (;;) {
      auto next = stream.parser.next(left);
      if (!next) {
        stream.over = true;
        return {};
      }
      if (!*next) return out;
      net::Frame& frame = **next;
      std::string payload(reinterpret_cast<const char*>(frame.payload.data()),
                          frame.payload.size());
      if (frame.header.kind == net::FrameKind::kStorePut) put_door(stream, payload);
      const net::HeaderBytes header = net::encode_header(frame.header, payload.size());
      out.append(reinterpret_cast<const char*>(header.data()), header.size());
      out += payload;
    }
  }
  void put_door(const Stream& stream, std::string& payload) {
    const std::size_t at = payload.find(kAddress);
    if (!payload.starts_with("millrace mesh") || at == std::string::npos || !stream.from) return;
    const std::size_t digits = at + kAddress.size();
    const std::size_t end = payload.find('\n', digits);
    auto [socket, port] = open_door();
    // Ports that the system picks have five digits, all of them.
    MILLRACE_CHECK(end != std::string::npos && std::to_string(port).size() == end - digits,
                   "the proxy has no port as long as the one of the rank");
    doors_.push_back(
        {std::move(socket), port, *stream.from, std::stoi(payload.substr(digits, end - digits))});
    payload.replace(digits, end - digits, std::to_string(port));
  }

  Descriptor wake_;
  std::mt19937_64 random_{7};
  std::mutex mutex_;
  bool ends_ = false;
  std::thread thread_;
};

Proxy::Proxy() : thread_(std::make_unique<Thread>()) {}
Proxy::~Proxy() = default;

int Proxy::door() const { return thread_->door_; }

void Proxy::set_host(int port) {
  thread_->locked([port](Thread& thread) {
    thread.doors_.front().target = port;
    return 0;
  });
}

void Proxy::set(int from, int to, const WireFaults& faults) {
  thread_->locked([&](Thread& thread) {
    thread.faults_[{from, to}] = faults;
    return 0;
  });
}

void Proxy::set_all(const WireFaults& faults) {
  thread_->locked([&](Thread& thread) {
    thread.others_ = faults;
    return 0;
  });
}

void Proxy::reset(int one, int other) {
  thread_->locked([&](Thread& thread) {
    for (Stream& stream : thread.streams_) {
      const std::pair ends(stream.from.value_or(-2), stream.to);
      if (ends != std::pair(one, other) && ends != std::pair(other, one)) continue;
      const linger at_once = {1, 0};
      for (const Descriptor* const socket : {&stream.near, &stream.far})
        ::setsockopt(socket->get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      stream.over = true;
    }
    return 0;
  });
}

std::vector<int> Proxy::rank_ports() const {
  return thread_->locked([](Thread& thread) {
    std::vector<int> ports;
    for (const auto& door : thread.doors_)
      if (door.rank != kHost) ports.push_back(door.target);
    return ports;
  });
}

std::string Proxy::first_words() const {
  return thread_->locked([](Thread& thread) { return thread.first_words_; });
}

}  // namespace millrace::failures
