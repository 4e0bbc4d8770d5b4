// train(): one training from its begin to its end, over the failures of its devices. How:
// recovery.cc.
#pragma once

#include "millrace/core/async/coroutine.h"
#include "millrace/tools/train/training.h"

namespace millrace::train {

// Fails with the first error of any part, after everything it started has ended: loader and group
// closed, no step and no checkpoint in flight. A checkpoint that cannot be written ends it, too; a
// device that fails does not, within the limit of restarts.
// kCancelled on stop, kDeadlineExceeded at the deadline, both within the time that the devices need
// to end what they have begun. listener may be nullptr.
Task<TrainingReport> train(TrainingParts parts, TrainingOptions options,
                           TrainingListener* listener);

}  // namespace millrace::train
