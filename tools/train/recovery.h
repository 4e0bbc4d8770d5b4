// Recovery: a training whose devices fail goes on from the last step that is committed, to the same
// losses. A run is one attempt after the other:
//
//   attempt -> ended well: the run has
//           -> failed, and devices have: each is restarted (Device::restart), as often as the limit
//              allows; the next attempt begins from what is committed, or anew if nothing is
//           -> failed otherwise: so has the run
//
// An attempt closes everything that it has made (loader, group, steps in flight), so nothing of a
// device that is gone reaches the next one. What is committed lies in host memory: it is copied
// every so many steps by the same machine that writes checkpoints (checkpoint.h), and with
// --checkpoint it is what was published, kept. Copies on the devices would be cheaper by one
// transfer, but are lost with them. RunState is owned by train(), used by one attempt at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/devices/device.h"
#include "millrace/tools/train/checkpoint.h"
#include "millrace/tools/train/cpu_usage.h"

namespace millrace::train {

// What the figures of the whole run begin with.
struct RunBegin {
  TimePoint started{};
  CpuUsage cpu;
  std::vector<devices::DeviceStats> devices;
};

// What one attempt leaves to the next.
struct RunState {
  std::uint64_t recoveries = 0;
  bool told = false;                         // the listener knows of the start
  RunIdentity identity;                      // known once the folder is open
  std::shared_ptr<CheckpointFolder> folder;  // none: no checkpoints
  std::string resumed_from;                  // the checkpoint that the run itself went on from
  std::uint64_t first_step = 0;              // of the run
  std::shared_ptr<const Committed> committed;
  std::map<std::string, devices::Executable> programs;  // compiled, by file
  std::optional<RunBegin> begin;                        // of the first step
  std::vector<Duration> step_times;                     // of every step that has ended
  std::vector<double> losses;  // of the run's steps; those after committed are computed again
};

// Told when a run goes on.
struct RecoveryReport {
  std::vector<devices::DeviceId> devices;  // that had failed, and were restarted
  Error error;                             // that the attempt ended with
  std::uint64_t step = 0;                  // it goes on after so many
  std::uint64_t steps_lost = 0;            // that had ended, and are done again
  std::uint64_t recoveries = 0;            // of the run, this one included
};

}  // namespace millrace::train
