// train(): the whole of a data-parallel training as one coroutine: compile, initialise, broadcast,
// epochs of replayed steps, evaluation, and an orderly end whatever happens. It takes its time,
// threads, devices and data as parameters, so the command runs it on real devices and the tests run
// it in simulation. Read next: step_graph.h (one step), report.h (what is told at the end),
// ../commands/train.cc (the command).
#pragma once

#include "millrace/core/async/coroutine.h"
#include "millrace/tools/train/training_options.h"

namespace millrace::train {

// Fails with the first error of any part, after everything it started has ended: loader and group
// closed, no step and no checkpoint in flight. A checkpoint that cannot be written ends it, too; a
// device that fails does not, within the limit of restarts (recovery.h).
// kCancelled on stop, kDeadlineExceeded at the deadline, both within the time that the devices need
// to let go of what they have begun. listener may be nullptr.
Task<TrainingReport> train(TrainingParts parts, TrainingOptions options,
                           TrainingListener* listener);

}  // namespace millrace::train
