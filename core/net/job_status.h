// JobStatus: what the host of a job reports to those who look on, and how ranks report to it how
// far they are. A pure codec; a decoder takes a stranger's bytes. Read next: group_progress.h;
// job_observer.h, who asks.
//
//   kJobAsk     from one who looks on, in place of kJobJoin; nothing else
//   kJobStatus  the answer; payload: all of it
//   kJobAlive   words[0]: 0: no news; 1: the payload has the numbers of all groups of the rank
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"
#include "millrace/core/net/frame.h"
#include "millrace/core/net/group_progress.h"

namespace millrace::net {

enum class RankPhase : std::uint8_t {
  kStarting,  // it has not joined yet
  kJoined,
  kSuspect,  // gives no sign of life
  kEnded,    // it has left, or is lost
};
const char* name_of(RankPhase phase);  // "starting", "joined", "suspect", "ended"

struct RankStatus {
  RankPhase phase = RankPhase::kStarting;
  std::int32_t pid = 0;  // 0: not known
  std::vector<GroupCount> groups = {};
  bool operator==(const RankStatus&) const = default;
};

struct JobStatus {
  std::string job = {};
  std::int32_t host_pid = 0;
  Duration age{0};
  std::uint64_t turned_away = 0;       // that came to its door and did not join
  std::vector<RankStatus> ranks = {};  // by rank
  bool operator==(const JobStatus&) const = default;
};

Frame encode_ask();
bool is_ask(const Frame& frame);

// Groups that have no place in a frame are left out, the last ones first.
Frame encode(const JobStatus& status);
// kInvalidArgument for what no encoder has made.
Result<JobStatus> decode_status(const Frame& frame);

// nullopt: no news.
Frame encode_alive(const std::optional<std::vector<GroupCount>>& groups);
Result<std::optional<std::vector<GroupCount>>> decode_alive(const Frame& frame);

}  // namespace millrace::net
