#include "bench/bare_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "bench/figure.h"

namespace millrace::bench {
namespace {

void move_all(int socket, std::vector<std::byte>& bytes, bool write) {
  for (std::size_t moved = 0; moved < bytes.size();) {
    const ssize_t more = write ? ::send(socket, &bytes[moved], bytes.size() - moved, MSG_NOSIGNAL)
                               : ::recv(socket, &bytes[moved], bytes.size() - moved, 0);
    if (more <= 0) give_up("a round trip on a socket", "it ended");
    moved += static_cast<std::size_t>(more);
  }
}

}  // namespace

double socket_round_trip_us(std::size_t bytes, int round_trips) {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    give_up("making a pair of sockets", "socketpair");
  double seconds = 0;
  const auto repeat = [&](int core) {
    pin_to_core(core);
    std::vector<std::byte> moved(bytes);
    for (int i = 0; i < round_trips; ++i) {
      move_all(ends[static_cast<std::size_t>(core)], moved, core == 0);
      move_all(ends[static_cast<std::size_t>(core)], moved, core != 0);
    }
  };
  std::thread other([&] { repeat(1); });
  std::thread one([&] { seconds = seconds_of([&] { repeat(0); }); });
  one.join();
  other.join();
  for (const int end : ends) ::close(end);
  return 1e6 * seconds / round_trips;
}

}  // namespace millrace::bench
