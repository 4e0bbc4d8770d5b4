// Homes: where the values of a program that stands for the devices of several processes are: which
// processes can compute each by themselves, which of them do, and which need it from another one.
// Pure; every process finds the same. Read next: divide.h, which makes each process's part of it.
//
//   HO-1  A process computes what its own devices would compute, and what others need of it goes to
//         them. Where no device is known that would (within a collective, or where arrays are
//         whole), what depends on arrays of one process alone is computed there, and what depends
//         on arrays that no process has all of by each that needs it.
//   HO-2  Control flow that joins arrays of several processes is run by all of them, each with its
//         part; what decides is known to all.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/spread/contents.h"
#include "millrace/devices/stablehlo/spread/one_program.h"

namespace millrace::devices::stablehlo::spread {

inline constexpr int kMostProcesses = 256;
using ProcessSet = std::bitset<kMostProcesses>;

// The lowest; the set is not empty.
int first_of(const ProcessSet& set);
ProcessSet only(int process);

// Devices are counted process by process, as many of each.
struct ProcessCounts {
  int processes = 1;
  int devices = 1;  // of each

  int of_device(int device) const { return device / devices; }
};

// Thread-safety: confined.
class Homes {
 public:
  // whole is verified, and outlives this.
  Homes(const Spread& whole, const ProcessCounts& counts);

  // Whether it gives what it gets, value by value: no process runs it.
  static bool passes_on(const ir::Op& op);
  // Control flow of HO-2.
  bool is_split(const ir::Op& op) const { return split_[index(op)]; }
  // The processes that run an operation which is not split.
  const ProcessSet& runs(const ir::Op& op) const { return runs_[index(op)]; }
  // The processes that have v without being given it: those that compute it, or where it is
  // carried.
  const ProcessSet& has(const ir::Value& v) const;
  // Those that are given it, by the first that has it.
  ProcessSet given(const ir::Value& v) const { return needed(v) & ~has(v); }
  // What the operation computes with: operands, and what its regions use of its surroundings.
  std::vector<const ir::Value*> uses(const ir::Op& op);

 private:
  static std::size_t index(const ir::Op& op) { return static_cast<std::size_t>(op.id()); }
  static std::size_t index(const ir::Value& v) { return static_cast<std::size_t>(v.id()); }

  // From the arguments on: which processes can compute each value.
  void find_homes(const ir::Block& block);
  void find_homes(const ir::Op& op);
  void find_loop(const ir::Op& op);
  void find_branches(const ir::Op& op);
  ProcessSet joined(const ProcessSet& a, const ProcessSet& b) const;
  // What the operation says of itself; nullopt: nothing.
  std::optional<ProcessSet> said(const ir::Op& op) const;
  // Whether a process does less of what it holds than another one.
  bool holds_parts(const ir::Op& op) const;

  // From the results back: which need it.
  void find_needs(const ir::Block& block);
  void find_needs(const ir::Op& op);
  const ProcessSet& needed(const ir::Value& v) const { return needed_[index(v)]; }
  void need(const ir::Value& v, const ProcessSet& by) { needed_[index(v)] |= by; }

  const Spread& whole_;
  const ProcessCounts counts_;
  Contents contents_;
  ProcessSet all_;
  std::vector<ProcessSet> home_;    // by value
  std::vector<bool> joined_;        // by value: it depends on arrays that no process has all of
  std::vector<ProcessSet> needed_;  // by value
  std::vector<ProcessSet> runs_;    // by operation
  std::vector<bool> split_;         // by operation
};

}  // namespace millrace::devices::stablehlo::spread
