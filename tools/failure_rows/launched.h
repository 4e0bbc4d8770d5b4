// Launched: a `millrace launch` under way, with what its ranks and it have said so far. Read next:
// rank.cc, what the ranks are; row.h.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/tools/failure_rows/line.h"
#include "millrace/tools/failure_rows/proxy.h"

namespace millrace::failures {

double unix_seconds();
// Where this program is, and those that it runs.
std::string program(const std::string& name);

struct LaunchPlan {
  int ranks = 2;
  std::vector<std::string> options = {};
  // For /bin/sh in each rank: $RANKS is failure_rank, $MILLRACE the command, $STORE the proxy's
  // door.
  std::string script = {};
  Proxy* proxy = nullptr;
  std::map<std::string, std::string> variables = {};
};

// Kills the launch that has not ended when it goes. Thread-safety: confined.
class Launched {
 public:
  explicit Launched(const LaunchPlan& plan);
  ~Launched();
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  // Reads what comes until the condition holds; false: the launch has ended, or it is late.
  bool wait(const std::function<bool()>& condition, double seconds = 60);
  void read_for(double seconds);
  // To its end; its exit code, -1 where it is late.
  int end(double seconds = 60);

  const std::vector<Line>& lines() const { return lines_; }  // of stdout
  const std::string& words() const { return words_; }        // of stderr
  // The last line of that rank about that word; nullptr: none yet.
  const Line* did(int rank, const std::string& word) const;
  // Whether so many ranks have begun their loop of that word.
  bool begun(int ranks, const std::string& word) const;
  const Line* event(const std::string& name) const;  // the last one
  pid_t pid_of(int rank) const;                      // of its latest process
  pid_t pid() const { return pid_; }

 private:
  bool pump(double seconds);
  void take(std::string& text, const char* bytes, std::size_t size);

  Proxy* const proxy_;
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string half_line_, words_;
  std::vector<Line> lines_;
  std::optional<int> code_;
};

}  // namespace millrace::failures
