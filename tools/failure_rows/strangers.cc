// What comes to the doors of a job that is none of it, and what the system refuses.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/printed.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/handshake.h"
#include "millrace/tools/failure_rows/row.h"

namespace millrace::failures {
namespace {

Descriptor connect_to(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket &&
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Descriptor();
  return socket;
}

// What the other end says until it ends the stream; nullopt: it has not within these seconds.
std::optional<std::string> read_to_end(const Descriptor& socket, double seconds) {
  std::string all;
  for (const double until = unix_seconds() + seconds;;) {
    pollfd polled = {socket.get(), POLLIN, 0};
    const double left = until - unix_seconds();
    if (left <= 0 || ::poll(&polled, 1, static_cast<int>(left * 1e3)) <= 0) return std::nullopt;
    char buffer[4096];
    const ssize_t got = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (got <= 0) return all;
    all.append(buffer, static_cast<std::size_t>(got));
  }
}

std::string header(net::FrameKind kind, std::size_t payload) {
  const net::HeaderBytes bytes = net::encode_header({.kind = kind}, payload);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Garbage {
  const char* name;
  std::string bytes;
};

std::vector<Garbage> all_garbage() {
  std::string noise(300, '\0');
  net::draw_random(std::as_writable_bytes(std::span(noise)));
  return {{"HTTP", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
          {"noise", noise},
          {"half a header", header(net::FrameKind::kHello, 84).substr(0, 30)},
          {"a frame of 3 GiB", header(net::FrameKind::kHello, std::size_t{3} << 30)},
          {"a frame of members", header(net::FrameKind::kStorePut, 0)},
          {"nothing", ""}};
}

int host_port(const Launched& job) {
  const Line* const start = job.event("launch_start");
  if (start == nullptr) return 0;
  const std::string store = start->text("store");
  return std::stoi(store.substr(store.rfind(':') + 1));
}

}  // namespace

Seen send_garbage() {
  constexpr double kPatience = 7;  // a stranger has five seconds
  Seen seen;
  Proxy proxy;
  Launched job({.ranks = 2,
                .script = "exec $RANKS meet reduce:200 sleep:8 reduce:200:8192",
                .proxy = &proxy});
  const auto linked = [&] { return job.did(0, "reduce:200") && job.did(1, "reduce:200"); };
  if (!seen.expect(job.wait(linked), "both reduce" + job.words())) return seen;
  std::vector<int> ports = proxy.rank_ports();
  seen.expect(ports.size() == 2, "both listen");
  ports.push_back(host_port(job));
  const std::vector<Garbage> all = all_garbage();
  std::vector<std::pair<std::string, Descriptor>> strangers;
  for (const int port : ports) {
    for (const Garbage& garbage : all) {
      Descriptor socket = connect_to(port);
      static_cast<void>(
          !::send(socket.get(), garbage.bytes.data(), garbage.bytes.size(), MSG_NOSIGNAL));
      strangers.emplace_back(garbage.name, std::move(socket));
    }
  }
  const double until = unix_seconds() + kPatience;
  std::size_t closed = 0;
  for (const auto& [name, socket] : strangers) {
    if (read_to_end(socket, until - unix_seconds())) {
      ++closed;
    } else {
      seen.expect(false, "closed: " + name);
    }
  }
  seen.expect(closed == strangers.size(),
              printed("%zu of %zu strangers are closed", closed, strangers.size()));
  seen.expect(job.end() == 0, "the job goes on" + job.words());
  seen.expect_did(job, 2, "reduce:200:8192");
  return seen;
}

Seen use_another_secret() {
  Seen seen;
  Proxy proxy;
  Launched job({.ranks = 2,
                .script =
                    "if [ $RANK = 0 ]; then umask 077; S=$(mktemp); head -c 32 /dev/urandom > $S; "
                    "MILLRACE_SECRET_FILE=$S $RANKS sleep:0; rm $S; "
                    "MILLRACE_JOB=other $RANKS sleep:0; fi; exec $RANKS meet reduce:10 sleep:1",
                .proxy = &proxy});
  const auto done = [&] { return job.did(0, "reduce:10") && job.did(1, "reduce:10"); };
  if (!seen.expect(job.wait(done), "both reduce")) return seen;
  const double begin = unix_seconds();
  const Descriptor socket = connect_to(host_port(job));
  const std::string words = proxy.first_words();
  static_cast<void>(!::send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL));
  const auto said = read_to_end(socket, 2);
  seen.note_ms((unix_seconds() - begin) * 1e3);
  // A challenge with a nonce of its own, and the refusal.
  const auto kind = [&](std::size_t at) { return at < said->size() ? (*said)[at] : '\0'; };
  constexpr std::size_t kKindAt = 5, kChallenge = net::kHeaderBytes + 64;
  seen.expect(said && kind(kKindAt) == static_cast<char>(net::FrameKind::kChallenge) &&
                  kind(kChallenge + kKindAt) == static_cast<char>(net::FrameKind::kRefusal),
              "what is repeated is refused");
  seen.expect(job.end() == 0, "the job goes on");
  std::size_t refused = 0;
  for (std::size_t at = job.words().find("UNAUTHENTICATED"); at != std::string::npos;
       at = job.words().find("UNAUTHENTICATED", at + 1))
    ++refused;
  seen.expect(refused == 2, "both others: " + job.words());
  return seen;
}

Seen storm() {
  constexpr int kStrangers = 1000;
  Seen seen;
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kStrangers + 200);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  Launched job({.ranks = 16,
                .options = {"--store", "tcp"},
                .script = "sleep 0.5; exec $RANKS meet:30 reduce:3"});
  if (!seen.expect(job.wait([&] { return job.event("launch_start") != nullptr; }), "it begins"))
    return seen;
  std::vector<Descriptor> strangers;
  for (int i = 0; i < kStrangers; ++i) strangers.push_back(connect_to(host_port(job)));
  seen.expect(std::ranges::all_of(strangers, [](const Descriptor& one) { return bool(one); }),
              printed("%d strangers have come", kStrangers));
  seen.expect(job.end() == 0, "all ranks get in: " + job.words());
  seen.expect_did(job, 16, "reduce:3");
  for (int rank = 0; rank < 16; ++rank) {
    if (const Line* const line = job.did(rank, "meet:30"))
      seen.note_ms(std::max<double>(seen.ms(), line->number("ms")));
  }
  seen.expect(seen.ms() < 10e3, printed("within %.1f s", seen.ms() / 1e3));
  return seen;
}

Seen run_out_of_descriptors() {
  Seen seen;
  for (const std::string limit : {"6", "10", "14"}) {
    const double begin = unix_seconds();
    Launched job({.ranks = 2,
                  .script = "if [ $RANK = 1 ]; then ulimit -n " + limit +
                            "; fi; exec $RANKS meet reduce:1"});
    const int code = job.end(15);
    seen.note_ms(std::max(seen.ms(), (unix_seconds() - begin) * 1e3));
    seen.expect(code > 0 && code < 128, limit + ": it ends");
    const bool named = job.words().find("RESOURCE_EXHAUSTED") != std::string::npos ||
                       job.words().find("too many open files") != std::string::npos ||
                       job.words().find("Too many open files") != std::string::npos;
    seen.expect(named, limit + " descriptors: " + job.words());
  }
  return seen;
}

}  // namespace millrace::failures
