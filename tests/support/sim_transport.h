// SimNetwork: streams in memory, on a Simulation's time. Bytes come in pieces and with delays that
// the seed draws, in their order; a write takes what fits; links are cut on request, or by chance;
// what goes from one process to another may be held, so that neither hears of an end.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/net/frame.h"
#include "millrace/core/net/transport.h"
#include "tests/support/simulation.h"

namespace millrace::testing {

struct SimFaults {
  Duration most_delay = std::chrono::milliseconds(2);  // of a piece
  double stalls = 0.01;                                // pieces that come up to a second late
  std::size_t most_room = 4096;                        // bytes that are under way in a direction
  double cuts = 0;                                     // writes that find the link cut
};

// Outlives what its transports make. Thread-safety: confined.
class SimNetwork {
 public:
  explicit SimNetwork(Simulation& sim, const SimFaults& faults = {}) : sim_(sim), faults_(faults) {}

  // For one process; the others see its uid and pid. Addresses are any text.
  std::unique_ptr<net::Transport> make_transport(uid_t uid, pid_t pid);
  // Cuts every link that is there: what was under way is lost.
  void cut_all();
  // Those between the two. pid: of their transports.
  void cut(pid_t one, pid_t other);
  // All of that process, which listens no more and connects to nothing.
  void kill(pid_t pid);
  // From now on nothing that one sends to the other arrives, nor that it has ended; what they begin
  // to connect does not come about.
  void hold(pid_t from, pid_t to) { held_.insert({from, to}); }
  // All that was held arrives after all.
  void release();
  void set_faults(const SimFaults& faults) { faults_ = faults; }
  std::size_t links() const { return links_.size(); }  // of which an end is there
  // Whether no link and no listener is left.
  bool empty() const { return links_.empty() && listeners_.empty(); }

 private:
  friend class SimTransport;
  friend class SimStream;
  friend class SimListener;
  class Link;
  struct Pipe;

  Duration delay();
  bool holds(pid_t from, pid_t to) const { return held_.contains({from, to}); }

  Simulation& sim_;
  SimFaults faults_;
  std::map<std::string, class SimListener*, std::less<>> listeners_;
  std::list<Link*> links_;  // of which an end is there
  std::set<std::pair<pid_t, pid_t>> held_;
  std::set<pid_t> killed_;
};

}  // namespace millrace::testing
