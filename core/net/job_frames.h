// Frames between the processes of a job and its host, and what they carry: who joins, and the job's
// failure. A pure codec; a decoder takes a stranger's bytes. Read next: member_table.h, job.h.
//
//   kJobJoin      words: rank, number of ranks, pid, length of the host's name
//                 payload: incarnation, host, name of the job
//   kJobWelcome   words: nanoseconds between two kJobAlive (0: none are asked for); 1 if the job
//                 goes on after failures (world.h); nanoseconds until who gives no sign of life is
//                 silent (0: never)
//   kJobRefusal   words: ErrorCode, 1 + rank of the holder (0: there is none), its pid, length of
//                 its host's name; payload: that host, the message
//   kJobAlive     a sign of life: job_status.h
//   kJobFailure   (and kJobLost: the job goes on) words: rank, pid, reason and number, length of
//   the host's name
//                 payload: host, last words
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/handshake.h"
#include "millrace/core/net/job_member.h"

namespace millrace::net {

// Longer texts are cut when they are encoded.
inline constexpr std::size_t kMostWordBytes = std::size_t{4} << 10;
inline constexpr std::size_t kMostJoinPayload =
    sizeof(Incarnation) + kMostHostBytes + kMostJobBytes;

struct JoinRequest {
  JobMember member = {};
  Incarnation incarnation = {};
  std::uint32_t ranks = 1;
  std::string job = {};
  bool operator==(const JoinRequest&) const = default;
};

enum class FailureReason : std::uint8_t {
  kExit,        // number: the exit code
  kSignal,      // number: the signal that ended it
  kSilent,      // it gave no sign of life, and was killed
  kNotStarted,  // the system had no process for it
  kLost,        // its connection ended without a goodbye
  kAskedToEnd,  // the job was, by a signal or its deadline: no rank has failed
};

// Detail of the error by which the members of a job hear of its first failure.
struct JobFailure {
  JobMember member = {};
  FailureReason reason = FailureReason::kExit;
  std::int32_t number = 0;
  std::string words = {};  // the last ones of that process
  bool operator==(const JobFailure&) const = default;
};

struct Welcome {
  Duration heartbeat{0};  // 0: no signs of life are asked for
  bool elastic = false;
  Duration silent_after{0};  // 0: never
  bool operator==(const Welcome&) const = default;
};

// kAborted: "the job has failed: rank 2 (host alpha, pid 4711) ended with exit code 3; ..."
Error to_error(const JobFailure& failure);
// "rank 2 (host alpha, pid 4711) ended with exit code 3; last it said: ..."
std::string to_string(const JobFailure& failure);

Frame encode(const JoinRequest& request);
Frame encode(const Welcome& welcome);
// error: with a JobMember as detail, where there is a holder.
Frame encode_refusal(const Error& error);
// kind: kJobFailure or kJobLost.
Frame encode(const JobFailure& failure, FrameKind kind = FrameKind::kJobFailure);

// kInvalidArgument for what no encoder has made.
Result<JoinRequest> decode_join(const Frame& frame);
Result<Welcome> decode_welcome(const Frame& frame);
Result<Error> decode_refusal(const Frame& frame);
Result<JobFailure> decode_failure(const Frame& frame);

// Drawn by this process once; one that was forked has the same, and another pid.
const Incarnation& own_incarnation();

}  // namespace millrace::net
