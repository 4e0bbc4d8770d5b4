#include "millrace/core/net/store_server.h"

#include <utility>

namespace millrace::net {
namespace {

constexpr std::size_t kMostUnsent = std::size_t{1} << 20;  // one frame may exceed it
constexpr std::size_t kMostDue = 256;                      // answers, before requests wait

Frame frame_of(const StoreTable::Answer& answer) {
  StoreAnswer made{.number = answer.number, .what = StoreDone{}};
  if (const auto* const value = std::get_if<StoreTable::Value>(&answer.what)) {
    made.what = **value;
  } else if (const auto* const error = std::get_if<Error>(&answer.what)) {
    made.what = *error;
  }
  return encode(std::move(made));
}

}  // namespace

StoreServer::Member StoreServer::admit(const Ref<Connection>& connection) {
  const Member member = next_++;
  seats_.emplace(member, Seat{.connection = connection});
  connection->end()
      .then(home_, [self = Ref<StoreServer>::share(this),
                    member](const Result<ConnectionEnd>&) { self->end(member); })
      .ignore();
  return member;
}

Future<void> StoreServer::take(Member member, Frame frame) {
  MILLRACE_TRY(StoreRequest request, decode_store_request(std::move(frame)));
  MILLRACE_TRY(StoreTable::Answers answers, table_.take(member, std::move(request)));
  give(std::move(answers));
  const auto seat = seats_.find(member);
  if (seat == seats_.end() || seat->second.due.size() < kMostDue) return {};
  return seat->second.room.emplace().future();
}

void StoreServer::put(std::string key, std::string_view value) {
  auto answers = table_.take(
      0, {.kind = FrameKind::kStorePut, .key = std::move(key), .value = bytes_of(value)});
  if (answers) give(*std::move(answers));
}

void StoreServer::give(StoreTable::Answers answers) {
  for (StoreTable::Answer& answer : answers) {
    const Member to = answer.to;
    const auto seat = seats_.find(to);
    if (seat == seats_.end()) continue;
    seat->second.due.push_back(std::move(answer));
    send_due(to);
  }
}

void StoreServer::send_due(Member member) {
  const auto found = seats_.find(member);
  if (found == seats_.end()) return;
  Seat& seat = found->second;
  while (!seat.due.empty() && seat.unsent < kMostUnsent) {
    Frame frame = frame_of(seat.due.front());
    seat.due.pop_front();
    const std::size_t bytes = kHeaderBytes + frame.payload.size();
    seat.unsent += bytes;
    seat.connection->send(std::move(frame))
        .then(home_, [self = Ref<StoreServer>::share(this), member,
                      bytes](const Result<void>& status) { self->sent(member, bytes, status); })
        .ignore();
  }
  if (seat.room && seat.due.size() < kMostDue) std::exchange(seat.room, std::nullopt)->set_value();
}

void StoreServer::sent(Member member, std::size_t bytes, const Status& status) {
  const auto found = seats_.find(member);
  if (found == seats_.end()) return;
  found->second.unsent -= bytes;
  // A get without an answer would wait for ever: its member has to see the end.
  if (!status) return found->second.connection->abandon("an answer of the store was not sent");
  send_due(member);
}

void StoreServer::end(Member member) {
  table_.end(member);
  seats_.erase(member);
}

}  // namespace millrace::net
