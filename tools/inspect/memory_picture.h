// What lies where in the arena of a run, and when: the places that a plan gives to its temporaries,
// and a picture of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/program.h"

namespace millrace::inspect {

// Time counts what the plan does, one after the other, the inside of loops once.
struct MemoryPlace {
  std::size_t offset = 0, bytes = 0;  // within the arena
  std::size_t first = 0, last = 0;    // times of the first write and of the last use
  bool scratch = false;               // of one step alone
};

struct MemoryStep {
  std::string name;
  std::size_t end = 0;  // its time; of a loop or branch, the last one of its inside
};

struct MemoryMap {
  std::string program;
  std::vector<MemoryStep> steps;    // in their order
  std::vector<MemoryPlace> places;  // by first, then by offset; none is empty
  std::size_t arena = 0;            // bytes
  std::size_t end = 0;              // all times are before it

  // Bytes of the places that are in use, at each time.
  std::vector<std::size_t> in_use() const;
  const std::string& step_at(std::size_t time) const;  // the name; there is a step
};

// Blocks: plans the program. As program_facts() and, for a program that the CPU device does not
// run, the error of its plan.
Result<MemoryMap> memory_map(const devices::Program& program,
                             std::span<const devices::Shape> shapes = {});

// An SVG document: a rectangle for each place that is large enough to see, the others as one.
std::string draw(const MemoryMap& map);

}  // namespace millrace::inspect
