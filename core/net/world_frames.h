// Frames between the host of a job and its ranks about the worlds of the job (world.h). A pure
// codec; a decoder takes a stranger's bytes. Read next: world_table.h, which makes worlds; job.h.
//
//   kJobWorldAsk  from a rank that has left its world, or has none yet: it wants the next one
//   kJobWorld     the answer. words: epoch, 1 if its ranks are others than those of the one before
//                 (a process that was started anew counts); payload: the ranks
//   kJobNoWorld   the other answer: there is none any more; words[0]: 1: the work is done;
//                 payload: why
//   kJobWaits     to the ranks of a world: another one waits to be in the next
//   kJobLost      to all that have joined: a process has ended, and the job goes on. As kJobFailure
#pragma once

#include <cstdint>

#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/world.h"

namespace millrace::net {

Frame encode(const World& world);
// CHECKed: one of the kinds without words, kJobWorldAsk or kJobWaits.
Frame encode_plain(FrameKind kind);
Frame encode_no_world(const Error& why);

// kInvalidArgument for what no encoder has made, and for a rank that is not below ranks.
Result<World> decode_world(const Frame& frame, std::uint32_t ranks);
Result<Error> decode_no_world(const Frame& frame);
bool is_plain(const Frame& frame, FrameKind kind);

}  // namespace millrace::net
