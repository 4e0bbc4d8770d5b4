// Placement: where the arrays of each unit lie, and which copies bring them there. place() makes it
// from the units and from what their kernels ask of memory; it makes nothing else, and nothing
// after it decides about memory. Its state on the way is storage.h. Read next: steps.h.
#pragma once

#include <cstddef>
#include <vector>

#include "millrace/devices/cpu/compile/buffers.h"
#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/compile/unit_kernel.h"
#include "millrace/devices/cpu/compile/units.h"

namespace millrace::devices::cpu::compiler {

struct UnitPlaces {
  struct Block {
    std::vector<UnitPlaces> units;
    std::vector<Copy> after;  // what brings its results where they are read
  };
  int position = 0;               // in the time that the lifetimes of buffers count
  std::vector<Copy> before = {};  // steps of their own; a while makes them itself
  std::vector<BufferId> inputs = {}, outputs = {};  // as in Needs
  BufferId scratch = -1;
  BufferId decider = -1;                  // what a while's condition gives; a case's index
  std::vector<Block> blocks = {};         // of a while or a case
  std::vector<int> outputs_written = {};  // of the program, by the unit's last step
};

// Thread-safety: immutable once it is made.
struct Placement {
  std::vector<UnitPlaces> units;   // of the root, in their order
  BufferTable buffers;             // each has its place in the arena
  std::vector<ValueId> constants;  // by Buffer::index
  std::vector<OutputAlias> aliases;
  std::size_t arena_bytes = 0;
};

// kernels: of the root's units, in their order. donors: as in Storage::aliases.
Placement place(const Graph& graph, const Owners& owners, const Units& units,
                const std::vector<UnitKernel>& kernels, const std::vector<int>& donors);

}  // namespace millrace::devices::cpu::compiler
