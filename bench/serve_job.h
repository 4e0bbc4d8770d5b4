// A server in a process of its own, `millrace serve` or a peer of it, and the load that the figures
// of serve put on it: that of `millrace load`, the same for all of them.
#pragma once

#include <string>
#include <vector>

#include "bench/child.h"

namespace millrace::bench {

using Words = std::vector<std::string>;
Words operator+(Words a, const Words& b);

// The threads that the device gets: all cores but the one of the server's loop.
int device_threads();
// `millrace serve` with these words, on loopback. port 0: any.
Words serve_command(const Words& words, int port = 0);

// Thread-safety: confined.
class ServeJob {
 public:
  // Starts it and waits until it has said {"event":"listening","port":N} and {"event":"ready"} on
  // its stdout; gives up (figure.h) where it ends before. errors: a file for its stderr.
  explicit ServeJob(const Words& command, const std::string& errors = {});
  ~ServeJob();  // ends it by SIGTERM
  ServeJob(const ServeJob&) = delete;
  ServeJob& operator=(const ServeJob&) = delete;

  int port() const { return port_; }
  // Reads its stdout until it says {"event":event,...}: that line.
  std::string wait_for(const std::string& event);
  double resident_mib() const;
  int end(int signal);  // its exit code; once

 private:
  Child child_;
  int port_ = 0;
  bool ended_ = false;
};

// What a load has seen. Latencies are those of the requests that were answered.
struct Seen {
  double per_second = 0;  // answered
  double p50_ms = 0;
  double p99_ms = 0;
};
// So many clients, each with one request at a time.
Seen closed_loop(int port, const std::string& model, int clients, double seconds, int rows = 1);
// So many requests per second at random times, over enough connections.
Seen open_loop(int port, const std::string& model, double rate, double seconds);

}  // namespace millrace::bench
