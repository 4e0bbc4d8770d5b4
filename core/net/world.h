// World: the ranks of a job that work together from an epoch on. A job that goes on after a failure
// (`millrace launch --restarts`, `--min`) has one after the other. Read next: job.h, which asks for
// the next; world_table.h, when there is one.
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::net {

struct World {
  static constexpr std::uint32_t kFirstOfSeveral = 1;

  std::uint32_t epoch = 0;  // of an only world; the first of several has kFirstOfSeveral
  std::vector<std::uint32_t> ranks = {};  // ascending
  bool changed = true;                    // others than before, or other processes
  bool operator==(const World&) const = default;
};

// Detail of the error of next_world() where the others have done their work: nothing is left for
// this process.
struct WorkDone {};

}  // namespace millrace::net
