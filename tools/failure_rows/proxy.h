// Proxy: TCP between the ranks of a job and their host, in the middle of all of it, which loses,
// delays and ends what rows of the matrix ask for. The ranks reach the host by its door; what they
// say to the host of where they listen is changed on its way, so that they reach each other by
// doors of the proxy, too. Any program of a job can be put behind it. Read next: row.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace millrace::failures {

inline constexpr int kHost = -1;

// One direction between two ranks, or a rank and the host.
struct WireFaults {
  bool hole = false;            // nothing goes through, nor an end of the stream
  double bytes_per_second = 0;  // 0: no limit
  double stalls = 0;            // share of pieces that come late, as what TCP has to repeat
  double stall_seconds = 0.2;
};

// It runs on a thread of its own until it goes. Thread-safety: thread-safe.
class Proxy {
 public:
  Proxy();
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // The host's, for MILLRACE_STORE. Until set_host() who comes waits.
  int door() const;
  void set_host(int port);
  void set(int from, int to, const WireFaults& faults);
  void set_all(const WireFaults& faults);
  // Ends all streams between the two by a reset, at both ends.
  void reset(int one, int other);
  // The ports at which ranks listen.
  std::vector<int> rank_ports() const;
  // What the first rank that came has said to the host in its handshake.
  std::string first_words() const;

 private:
  class Thread;
  const std::unique_ptr<Thread> thread_;
};

}  // namespace millrace::failures
