// Checkpointer: decides when a training saves what it carries from step to step, and does so while
// the steps continue: to files, to host memory, or to both. The states of a checkpoint:
//
//   due      the training is about to begin step s. It hands over the handles of what s starts
//            from, and has the update of s leave those arrays as they are (StepTicket::keep_inputs)
//            instead of writing over them: for as long as they are read, the devices hold
//            parameters and momenta twice.
//   taken    the s steps before are still running.
//   writing  they have ended well: a coroutine of its own waits for the arrays of every rank,
//            fetches those of rank 0 (after a step they are the same everywhere), releases the
//            handles, and has the blocking executor write the files under a name that is not
//            that of a checkpoint. Then the ranks meet; when all are there, it is committed: the
//            files get their name (checkpoint_folder.h), the oldest checkpoint goes, and what was
//            fetched is kept for a recovery within this process (recovery.cc).
//
// One is in flight at a time: what comes due meanwhile is not dropped but waits, and is taken at
// the first step that begins after the one before is published. The training itself never waits,
// except at its end. Where ranks of the group are elsewhere, one training has the folder, and the
// others take their checkpoints in step with it: all must take the same ones, so there the training
// waits for the one before when the next is due. What a step needs to begin again is small: the
// number of the step gives the epoch, the loader's position (its order is a pure function of seed
// and epoch, transfer/permutation.h) and the random words; the manifest has the sums of the ranks
// besides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/environment.h"
#include "millrace/tools/train/checkpoint_folder.h"
#include "millrace/tools/train/model.h"
#include "millrace/tools/train/step_graph.h"
#include "millrace/tools/train/step_plan.h"

namespace millrace::train {

struct CheckpointOptions {
  std::string folder;
  std::uint64_t every = 0;  // steps; 0: those of an epoch. The end of the run is saved, too
  bool resume = false;      // resume from the newest one, if there is one
  std::size_t keep = 2;
};

// A checkpoint that is published.
struct CheckpointReport {
  std::uint64_t step = 0;  // the steps that it is after
  std::string path;
  std::uint64_t bytes = 0;  // of its arrays
  Duration time{};          // from the end of its last step on
};

// "param/w", "momentum/w", "state/mean": the name in the file of an array of Model::carried().
std::string checkpoint_array_name(const TensorSpec& array);

// A state of the training on which all ranks have agreed, in host memory: a copy, or the pages of a
// checkpoint's file. Immutable once shared.
struct Committed {
  CheckpointManifest manifest;  // of the files, where there are any; else only step and ranks
  std::vector<devices::HostArray> arrays;  // those of Model::carried()
};

// Opens the folder and reads the checkpoint to resume from. kFailedPrecondition if the newest
// checkpoint is of another run, or if there is one and the run was not asked to resume; kNotFound
// or kDataLoss if it lacks one of the arrays, or has it in another shape. Blocking.
struct OpenedCheckpoints {
  std::shared_ptr<CheckpointFolder> folder;
  std::shared_ptr<const Committed> newest;  // none: the run begins
  std::string path;                         // of the newest
};
Result<OpenedCheckpoints> open_checkpoints(const CheckpointOptions& options, const RunIdentity& run,
                                           std::span<const TensorSpec> arrays);

// Completes when the bytes of every array of every replica are written; gives those of the first.
Task<std::vector<devices::Buffer>> written_arrays(std::vector<Replica> replicas, CallOptions call,
                                                  TimerQueue* timers);

// What every checkpoint of a run needs. environment is borrowed.
struct CheckpointParts {
  Environment environment;
  // None: to memory only, or in step with the training that has it.
  std::shared_ptr<CheckpointFolder> folder;
  bool keep_committed = false;  // in memory
  std::vector<collectives::ProcessGroup> ranks;
  std::vector<std::string> names;  // of the arrays of Model::carried(), as in the file
  RunIdentity run;
  StepPlan plan{{}, 1, 1, 1, {}};
  std::uint64_t commit_every = 0;  // steps between two to memory, beside those to files; 0: none
  // Does a rank wait to join? All ranks agree on it. Left out: none ever does.
  std::function<bool()> has_newcomers = {};
  CallOptions call;
  Duration rendezvous_limit = kRendezvousLimit;  // kNoRendezvousLimit: that of call alone
};

// What one checkpoint has come to.
struct Written {
  CheckpointReport report;
  std::shared_ptr<const Committed> committed;
  bool in_files = false;
  bool newcomers = false;
};

// Owned by the training, which awaits finish() before it releases it. Thread-safety: confined.
class Checkpointer {
 public:
  // file_step: the steps that the newest one in files is after; fewer than first_step where the run
  // goes on from host memory.
  Checkpointer(CheckpointParts parts, const CheckpointOptions& options, std::uint64_t first_step,
               std::uint64_t file_step);

  // One is due at this step, and the one before has not ended: take_if_due() would take none.
  bool is_late(std::uint64_t step) const { return step >= due() && state_ != State::kIdle; }
  // The training is about to begin step, from these replicas. True if they are taken: then no step
  // may write over them.
  bool take_if_due(std::uint64_t step, std::span<const Replica> replicas);
  // The run ends after step: takes them in any case, unless the last one was taken there. One must
  // not be in flight.
  void take_last(std::uint64_t step, std::span<const Replica> replicas);
  // True if one is taken after exactly so many steps, and not begun.
  bool waits_for(std::uint64_t steps) const { return state_ == State::kTaken && steps == step_; }
  // Those steps have ended well, with these sums of the ranks: begins the writing, on the
  // environment's executors.
  void begin(std::vector<RankState> ranks);
  // What has been published since the last call, or the error that it ended with; never waits.
  // Checkpoints in memory only are not reported.
  Result<std::optional<CheckpointReport>> poll();
  // The last one that poll() knows to be committed; nothing before, or unless it is kept.
  const std::shared_ptr<const Committed>& committed() const { return committed_; }
  // At the last one that poll() knows of, a rank waited to join.
  bool found_newcomers() const { return newcomers_; }
  // Completes when none is in flight; then poll().
  Future<void> finish() const;

 private:
  enum class State : std::uint8_t {
    kIdle,     // -> kTaken
    kTaken,    // the steps before are still running -> kWriting
    kWriting,  // -> kIdle
  };
  void take(std::uint64_t step, std::span<const Replica> replicas);
  // The first multiples after the last ones.
  std::uint64_t file_due() const { return (file_step_ / every_ + 1) * every_; }
  std::uint64_t due() const {
    const std::uint64_t commit = parts_->commit_every;
    return commit == 0 ? file_due() : std::min(file_due(), (step_ / commit + 1) * commit);
  }

  const std::shared_ptr<const CheckpointParts> parts_;
  const std::uint64_t every_;
  const std::size_t keep_;
  State state_ = State::kIdle;
  std::uint64_t step_;       // of the last one taken, or the one that the run began with
  std::uint64_t file_step_;  // of those, the last one to files
  std::vector<Replica> replicas_;
  std::shared_ptr<const Committed> committed_;
  bool newcomers_ = false;
  Future<Written> writing_;
};

}  // namespace millrace::train
