#include "millrace/core/net/job_status.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/core/base/process_place.h"
#include "millrace/core/net/job_member.h"
#include "millrace/core/net/store_frames.h"
#include "millrace/core/net/wire_bytes.h"

namespace millrace::net {
namespace {

constexpr std::uint64_t kMostNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMostAge = std::numeric_limits<Duration::rep>::max();
// A name, two numbers, and the length of the name.
constexpr std::size_t kMostGroupBytes = kMostGroupNameBytes + 2 * 10 + 1;
// A phase, a pid, and the number of groups.
constexpr std::size_t kMostRankBytes = 1 + 5 + 1;

void write(WireWriter& out, const std::vector<GroupCount>& groups, std::size_t count) {
  out.number(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.text(std::string_view(groups[i].name).substr(0, kMostGroupNameBytes));
    out.number(groups[i].begun);
    out.number(groups[i].done);
  }
}

std::vector<GroupCount> read_groups(WireReader& in) {
  std::vector<GroupCount> groups(in.count(kMostGroups));
  for (GroupCount& group : groups) {
    group.name = in.text(kMostGroupNameBytes);
    group.begun = in.number(kMostNumber);
    group.done = in.number(kMostNumber);
  }
  return groups;
}

bool is_plain(const Frame& frame, FrameKind kind, std::size_t words) {
  return frame.header.kind == kind && frame.header.sequence == 0 &&
         has_only_words(frame.header, words);
}

std::unexpected<Error> malformed(const char* what) {
  return fail(ErrorCode::kInvalidArgument,
              "reading a frame of the job: " + std::string(what) + " has what no such frame has");
}

}  // namespace

const char* name_of(RankPhase phase) {
  switch (phase) {
    case RankPhase::kStarting:
      return "starting";
    case RankPhase::kJoined:
      return "joined";
    case RankPhase::kSuspect:
      return "suspect";
    case RankPhase::kEnded:
      break;
  }
  return "ended";
}

Frame encode_ask() { return {{.kind = FrameKind::kJobAsk}, {}}; }
bool is_ask(const Frame& frame) {
  return is_plain(frame, FrameKind::kJobAsk, 0) && frame.payload.empty();
}

Frame encode(const JobStatus& status) {
  WireWriter out;
  out.text(std::string_view(status.job).substr(0, kMostJobBytes));
  out.number(static_cast<std::uint64_t>(status.host_pid));
  out.number(static_cast<std::uint64_t>(status.age.count()));
  out.number(status.turned_away);
  out.number(status.ranks.size());
  std::size_t left = status.ranks.size() * kMostRankBytes;
  for (const RankStatus& rank : status.ranks) {
    left -= kMostRankBytes;
    const std::size_t room = kMostStorePayload - out.size() - left - kMostRankBytes;
    out.byte(std::to_underlying(rank.phase));
    out.number(static_cast<std::uint64_t>(rank.pid));
    write(out, rank.groups, std::min({rank.groups.size(), kMostGroups, room / kMostGroupBytes}));
  }
  return {{.kind = FrameKind::kJobStatus}, out.take()};
}

Result<JobStatus> decode_status(const Frame& frame) {
  if (!is_plain(frame, FrameKind::kJobStatus, 0)) return malformed("a status");
  WireReader in(frame.payload);
  JobStatus status{.job = in.text(kMostJobBytes)};
  status.host_pid = static_cast<std::int32_t>(in.number(kMostPid));
  status.age = Duration(static_cast<Duration::rep>(in.number(kMostAge)));
  status.turned_away = in.number(kMostNumber);
  status.ranks.resize(in.count(kMostProcesses));
  for (RankStatus& rank : status.ranks) {
    const std::uint8_t phase = in.byte();
    if (phase > std::to_underlying(RankPhase::kEnded)) in.refuse("it has no such phase");
    rank.phase = static_cast<RankPhase>(phase);
    rank.pid = static_cast<std::int32_t>(in.number(kMostPid));
    rank.groups = read_groups(in);
    if (in.failed()) break;
  }
  MILLRACE_TRY_STATUS(in.end("the status of a job"));
  return status;
}

Frame encode_alive(const std::optional<std::vector<GroupCount>>& groups) {
  Frame frame{{.kind = FrameKind::kJobAlive}, {}};
  if (!groups) return frame;
  frame.header.words[0] = 1;
  WireWriter out;
  write(out, *groups, std::min(groups->size(), kMostGroups));
  frame.payload = out.take();
  return frame;
}

Result<std::optional<std::vector<GroupCount>>> decode_alive(const Frame& frame) {
  if (!is_plain(frame, FrameKind::kJobAlive, 1) || frame.header.words[0] > 1)
    return malformed("a sign of life");
  if (frame.header.words[0] == 0) {
    if (!frame.payload.empty()) return malformed("a sign of life");
    return std::nullopt;
  }
  WireReader in(frame.payload);
  std::vector<GroupCount> groups = read_groups(in);
  MILLRACE_TRY_STATUS(in.end("the groups of a rank"));
  return groups;
}

}  // namespace millrace::net
