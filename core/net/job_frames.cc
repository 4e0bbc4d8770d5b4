#include "millrace/core/net/job_frames.h"

#include <string.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace millrace::net {
namespace {

constexpr std::uint64_t kMostPid = std::numeric_limits<std::int32_t>::max();
constexpr int kReasonBits = 8;

std::unexpected<Error> malformed(const char* what) {
  return fail(ErrorCode::kInvalidArgument,
              "reading a frame of the job: " + std::string(what) + " has what no such frame has");
}

// The text, or what of it fits.
std::string_view cut(std::string_view text, std::size_t most) { return text.substr(0, most); }

// None of these frames has a sequence.
bool is_plain(const Frame& frame, FrameKind kind, std::size_t words) {
  return frame.header.kind == kind && frame.header.sequence == 0 &&
         has_only_words(frame.header, words);
}

// A payload that begins with a host's name, whose length a word has.
struct HostAndRest {
  std::string host;
  std::span<const std::byte> rest;
};
Result<HostAndRest> split(std::span<const std::byte> payload, std::uint64_t host_bytes,
                          std::size_t most_rest) {
  if (host_bytes > payload.size() || host_bytes > kMostHostBytes ||
      payload.size() - host_bytes > most_rest)
    return malformed("a text");
  return HostAndRest{text_of(payload.first(host_bytes)), payload.subspan(host_bytes)};
}

std::string reason_text(const JobFailure& failure) {
  switch (failure.reason) {
    case FailureReason::kExit:
      return " ended with exit code " + std::to_string(failure.number);
    case FailureReason::kSignal: {
      const char* const name = ::sigabbrev_np(failure.number);
      return " was killed by " + (name != nullptr ? "SIG" + std::string(name)
                                                  : "signal " + std::to_string(failure.number));
    }
    case FailureReason::kSilent:
      return " was silent, and killed";
    case FailureReason::kNotStarted:
      return " could not be started";
    case FailureReason::kLost:
      return " left without a goodbye";
    case FailureReason::kAskedToEnd:
      break;
  }
  return "";
}

}  // namespace

std::string to_string(const JobFailure& failure) {
  std::string text = to_string(failure.member) + reason_text(failure);
  if (!failure.words.empty()) text += "; last it said: " + failure.words;
  return text;
}

Error to_error(const JobFailure& failure) {
  if (failure.reason == FailureReason::kAskedToEnd)
    return Error(ErrorCode::kAborted, "the job was asked to end").with_detail(failure);
  return Error(ErrorCode::kAborted, "the job has failed: " + to_string(failure))
      .with_detail(failure);
}

Frame encode(const JoinRequest& request) {
  Frame frame{{.kind = FrameKind::kJobJoin}, {}};
  const std::string_view host = cut(request.member.host, kMostHostBytes);
  frame.header.words = {request.member.rank, request.ranks,
                        static_cast<std::uint64_t>(request.member.pid), host.size()};
  frame.payload.assign(request.incarnation.begin(), request.incarnation.end());
  append(frame.payload, host);
  append(frame.payload, cut(request.job, kMostJobBytes));
  return frame;
}

Result<JoinRequest> decode_join(const Frame& frame) {
  constexpr std::uint64_t kMostRank = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t kIncarnation = sizeof(Incarnation);
  const auto& words = frame.header.words;
  if (!is_plain(frame, FrameKind::kJobJoin, 4) || words[0] > kMostRank || words[1] > kMostRank ||
      words[2] > kMostPid || frame.payload.size() < kIncarnation)
    return malformed("a join");
  const std::span<const std::byte> payload = frame.payload;
  MILLRACE_TRY(HostAndRest texts, split(payload.subspan(kIncarnation), words[3], kMostJobBytes));
  JoinRequest request{.member = {.rank = static_cast<std::uint32_t>(words[0]),
                                 .host = std::move(texts.host),
                                 .pid = static_cast<std::int32_t>(words[2])},
                      .ranks = static_cast<std::uint32_t>(words[1]),
                      .job = text_of(texts.rest)};
  std::ranges::copy(payload.first(kIncarnation), request.incarnation.begin());
  return request;
}

Frame encode(const Welcome& welcome) {
  const auto word = [](Duration time) {
    return static_cast<std::uint64_t>(std::max<Duration::rep>(time.count(), 0));
  };
  Frame frame{{.kind = FrameKind::kJobWelcome}, {}};
  frame.header.words = {word(welcome.heartbeat), welcome.elastic ? 1U : 0U,
                        word(welcome.silent_after)};
  return frame;
}

Result<Welcome> decode_welcome(const Frame& frame) {
  constexpr auto kMost = static_cast<std::uint64_t>(Duration(std::chrono::hours(1000)).count());
  const auto& words = frame.header.words;
  if (!is_plain(frame, FrameKind::kJobWelcome, 3) || !frame.payload.empty() || words[0] > kMost ||
      words[1] > 1 || words[2] > kMost)
    return malformed("a welcome");
  return Welcome{.heartbeat = Duration(static_cast<Duration::rep>(words[0])),
                 .elastic = words[1] == 1,
                 .silent_after = Duration(static_cast<Duration::rep>(words[2]))};
}

Frame encode_refusal(const Error& error) {
  Frame frame{{.kind = FrameKind::kJobRefusal}, {}};
  frame.header.words[0] = static_cast<std::uint64_t>(error.code());
  if (const auto* const holder = error.detail<JobMember>()) {
    const std::string_view host = cut(holder->host, kMostHostBytes);
    frame.header.words[1] = std::uint64_t{1} + holder->rank;
    frame.header.words[2] = static_cast<std::uint64_t>(holder->pid);
    frame.header.words[3] = host.size();
    append(frame.payload, host);
  }
  append(frame.payload, cut(error.message(), kMostWordBytes));
  return frame;
}

Result<Error> decode_refusal(const Frame& frame) {
  const auto& words = frame.header.words;
  constexpr std::uint64_t kMostRank = std::numeric_limits<std::uint32_t>::max();
  const bool has_holder = words[1] != 0;
  if (!is_plain(frame, FrameKind::kJobRefusal, has_holder ? 4 : 1) ||
      words[0] < static_cast<std::uint64_t>(ErrorCode::kCancelled) ||
      words[0] > static_cast<std::uint64_t>(ErrorCode::kUnauthenticated) ||
      words[1] > kMostRank + 1 || words[2] > kMostPid)
    return malformed("a refusal");
  MILLRACE_TRY(HostAndRest texts, split(frame.payload, words[3], kMostWordBytes));
  const Error error(static_cast<ErrorCode>(words[0]), text_of(texts.rest));
  if (!has_holder) return error;
  return error.with_detail(JobMember{.rank = static_cast<std::uint32_t>(words[1] - 1),
                                     .host = std::move(texts.host),
                                     .pid = static_cast<std::int32_t>(words[2])});
}

Frame encode(const JobFailure& failure, FrameKind kind) {
  Frame frame{{.kind = kind}, {}};
  const std::string_view host = cut(failure.member.host, kMostHostBytes);
  const std::uint64_t number = static_cast<std::uint32_t>(failure.number);
  frame.header.words = {failure.member.rank, static_cast<std::uint64_t>(failure.member.pid),
                        std::to_underlying(failure.reason) | number << kReasonBits, host.size()};
  append(frame.payload, host);
  append(frame.payload, cut(failure.words, kMostWordBytes));
  return frame;
}

Result<JobFailure> decode_failure(const Frame& frame) {
  const auto& words = frame.header.words;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t reason = words[2] & ((1 << kReasonBits) - 1),
                      number = words[2] >> kReasonBits;
  const bool is_failure =
      is_plain(frame, FrameKind::kJobFailure, 4) || is_plain(frame, FrameKind::kJobLost, 4);
  if (!is_failure || words[0] > kMost || words[1] > kMostPid ||
      reason > std::to_underlying(FailureReason::kAskedToEnd) || number > kMost)
    return malformed("a failure");
  MILLRACE_TRY(HostAndRest texts, split(frame.payload, words[3], kMostWordBytes));
  return JobFailure{.member = {.rank = static_cast<std::uint32_t>(words[0]),
                               .host = std::move(texts.host),
                               .pid = static_cast<std::int32_t>(words[1])},
                    .reason = static_cast<FailureReason>(reason),
                    .number = static_cast<std::int32_t>(static_cast<std::uint32_t>(number)),
                    .words = text_of(texts.rest)};
}

const Incarnation& own_incarnation() {
  static const Incarnation drawn = [] {
    Incarnation made;
    draw_random(made);
    return made;
  }();
  return drawn;
}

}  // namespace millrace::net
