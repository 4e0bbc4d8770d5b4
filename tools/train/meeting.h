// meet(): the ranks of a training agree where they are, by a rendezvous: at the end of an epoch, at
// the end of the run, and before a checkpoint gets its name.
#pragma once

#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/tools/train/checkpoint_manifest.h"

namespace millrace::train {

// Every rank says what it has done, at the meeting of this tag; gives the shares of all together.
// The rendezvous' error names a rank that is missing, kInternal ranks that are elsewhere.
Task<EpochShare> meet(std::vector<collectives::ProcessGroup> ranks, std::string tag,
                      std::vector<RankState> states, EpochShare RankState::* share,
                      CallOptions call);

// The call with this deadline, unless its own is sooner.
CallOptions sooner(CallOptions call, TimePoint deadline);

}  // namespace millrace::train
