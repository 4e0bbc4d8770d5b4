#include "millrace/actors/remote/remote_frames.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/actors/remote/message_schema.h"
#include "millrace/actors/remote/wire_type.h"
#include "millrace/core/net/peer_loss.h"
#include "millrace/core/net/wire_bytes.h"

namespace millrace::actors {
namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMost64 = std::numeric_limits<std::uint64_t>::max();
constexpr auto kMostPid = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
constexpr int kLastCode = std::to_underlying(ErrorCode::kUnauthenticated);
constexpr auto kLastReason = std::to_underlying(ExitReason::kUnreachable);

void write_error(net::WireWriter& writer, const Error& error) {
  writer.byte(static_cast<std::uint8_t>(error.code()));
  writer.text(std::string_view(error.message()).substr(0, kMostErrorBytes));
  const net::JobMember* const member = net::named_in(error);
  writer.byte(member != nullptr ? 1 : 0);
  if (member != nullptr) {
    writer.number(member->rank);
    writer.text(member->host);
    writer.number(static_cast<std::uint32_t>(member->pid));
  }
  const auto* gone = error.detail<ActorGone>();
  writer.byte(gone != nullptr ? 1 : 0);
  if (gone == nullptr) return;
  writer.number(gone->id);
  writer.text(std::string_view(gone->name).substr(0, kMostNameBytes));
  writer.byte(std::to_underlying(gone->reason));
}

ExitReason take_reason(net::WireReader& reader) {
  return static_cast<ExitReason>(reader.number(kLastReason));
}

Error take_error(net::WireReader& reader) {
  const auto code = static_cast<int>(reader.number(kLastCode));
  if (code == 0) reader.refuse("it has no code");
  std::string words = reader.text(kMostErrorBytes);
  Error error(static_cast<ErrorCode>(std::max(1, code)), std::move(words));
  if (reader.number(1) != 0) {
    net::JobMember member;
    member.rank = static_cast<std::uint32_t>(reader.number(kMost32));
    member.host = reader.text(net::kMostHostBytes);
    member.pid = static_cast<std::int32_t>(reader.number(kMostPid));
    error = error.with_detail(std::move(member));
  }
  if (reader.number(1) == 0) return error;
  ActorGone gone;
  gone.id = reader.number(kMost64);
  gone.name = reader.text(kMostNameBytes);
  gone.reason = take_reason(reader);
  return error.with_detail(std::move(gone));
}

}  // namespace

ActorId cast_channel(std::string_view name) { return fingerprint_of(name) | kOfCast; }

net::Bytes encode(const FindRequest& request) {
  net::WireWriter writer;
  writer.text(request.name);
  writer.text(request.type);
  writer.number(request.schemas.size());
  for (const std::string& schema : request.schemas) writer.text(schema);
  return writer.take();
}

Result<FindRequest> read_find(std::span<const std::byte> bytes) {
  net::WireReader reader(bytes);
  FindRequest request;
  request.name = reader.text(kMostNameBytes);
  request.type = reader.text(kMostTypeBytes);
  const std::size_t count = reader.count(kMostMessages);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i)
    request.schemas.push_back(reader.text(kMostSchemaBytes));
  MILLRACE_TRY_STATUS(reader.end("a search for an actor"));
  return request;
}

net::Bytes encode(const FindAnswer& answer) {
  net::WireWriter writer;
  writer.number(answer.id);
  writer.number(answer.other.size());
  for (const auto& [place, schema] : answer.other) {
    writer.number(place);
    writer.text(schema);
  }
  return writer.take();
}

Result<FindAnswer> read_find_answer(std::span<const std::byte> bytes) {
  net::WireReader reader(bytes);
  FindAnswer answer;
  answer.id = reader.number(kMost64);
  const std::size_t count = reader.count(kMostMessages);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    const auto place = static_cast<std::size_t>(reader.number(kMostMessages - 1));
    answer.other.emplace_back(place, reader.text(kMostSchemaBytes));
  }
  MILLRACE_TRY_STATUS(reader.end("where an actor is"));
  return answer;
}

net::Bytes encode(const Error& error) {
  net::WireWriter writer;
  write_error(writer, error);
  return writer.take();
}

std::optional<Error> read_error(std::span<const std::byte> bytes) {
  net::WireReader reader(bytes);
  Error error = take_error(reader);
  if (!reader.end("an error")) return std::nullopt;
  return error;
}

net::Bytes encode(const Exit& exit) {
  net::WireWriter writer;
  writer.byte(std::to_underlying(exit.reason));
  writer.byte(exit.error ? 1 : 0);
  if (exit.error) write_error(writer, *exit.error);
  return writer.take();
}

Result<Exit> read_exit(std::span<const std::byte> bytes) {
  net::WireReader reader(bytes);
  Exit exit;
  exit.reason = take_reason(reader);
  if (reader.number(1) != 0) exit.error = take_error(reader);
  if (exit.failure() && !exit.error) reader.refuse("a failure has an error");
  MILLRACE_TRY_STATUS(reader.end("the end of an actor"));
  return exit;
}

net::Bytes encode(const CastRequest& request) {
  net::WireWriter writer;
  writer.text(request.name);
  writer.text(request.type);
  writer.text(request.schema);
  writer.number(request.ranks.runs().size());
  for (const RankRun& run : request.ranks.runs()) {
    writer.number(run.first);
    writer.number(run.count);
  }
  WireType<net::Bytes>::write(writer, request.message);
  return writer.take();
}

Result<CastRequest> read_cast(std::span<const std::byte> bytes, std::uint32_t size) {
  net::WireReader reader(bytes);
  CastRequest request;
  request.name = reader.text(kMostNameBytes);
  request.type = reader.text(kMostTypeBytes);
  request.schema = reader.text(kMostSchemaBytes);
  const std::size_t count = reader.count(size);
  std::vector<RankRun> runs;
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    const auto first = static_cast<std::uint32_t>(reader.number(kMost32));
    runs.push_back({first, static_cast<std::uint32_t>(reader.number(kMost32))});
  }
  WireType<net::Bytes>::read(reader, request.message);
  auto ranks = CastRanks::of_runs(std::move(runs), size);
  if (!ranks || ranks->size() == 0) reader.refuse("its ranks are none of the job");
  MILLRACE_TRY_STATUS(reader.end("a cast"));
  request.ranks = *std::move(ranks);
  return request;
}

}  // namespace millrace::actors
