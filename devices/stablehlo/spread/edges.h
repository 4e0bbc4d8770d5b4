// Edges: numbers for what processes give each other: every value that one gives another, and the
// answers that keep the giver from running ahead (DV-2). Read next: divide.h.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/spread/homes.h"

namespace millrace::devices::stablehlo::spread {

// Thread-safety: immutable.
class Edges {
 public:
  // A message of one byte: the taker has what it was given.
  struct Answer {
    int edge = 0;
    int from = 0, to = 0;
  };

  // main: of the program that homes is about.
  Edges(const ir::Block& main, const Homes& homes);

  // What the process is given of v.
  int of(const ir::Value& v, int process) const { return edges_.at({&v, process}); }
  // At the end of a round of the loop, which is split; of the program.
  const std::vector<Answer>& round_of(const ir::Op& loop) const { return rounds_.at(&loop); }
  const std::vector<Answer>& main_round() const { return rounds_.at(nullptr); }

 private:
  using Pair = std::pair<int, int>;  // from, to
  struct Round {
    std::set<Pair> gifts;    // perhaps, in branches
    std::set<Pair> certain;  // in every round
  };
  void add(const ir::Block& block, const Homes& homes, Round& round, bool certain);
  void add(const ir::Value& v, const Homes& homes, Round& round, bool certain);
  void finish(const ir::Op* loop, const Round& round);

  int next_ = 0;
  std::map<std::pair<const ir::Value*, int>, int> edges_;
  std::map<const ir::Op*, std::vector<Answer>> rounds_;
};

}  // namespace millrace::devices::stablehlo::spread
