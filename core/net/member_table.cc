#include "millrace/core/net/member_table.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::net {
namespace {

constexpr int kTicks = 20;  // until a rank is silent

}  // namespace

MemberTable::MemberTable(std::uint32_t ranks, Duration silent_after, TimePoint now)
    : seats_(ranks),
      silent_after_(silent_after),
      tick_(silent_after.count() <= 0 ? Duration(0) : std::max(silent_after / kTicks, Duration(1))),
      looked_(now) {}

bool MemberTable::may_move(MemberState from, MemberState to) {
  using enum MemberState;
  const auto one_of = [to](std::initializer_list<MemberState> list) {
    return std::ranges::find(list, to) != list.end();
  };
  switch (from) {
    case kAbsent:
      return one_of({kJoined});
    case kJoined:
      return one_of({kSuspect, kLost, kAbsent});
    case kSuspect:
      return one_of({kJoined, kLost, kSilent, kAbsent});
    case kLost:
      return one_of({kSilent, kJoined, kAbsent});
    case kSilent:
      return one_of({kAbsent});
  }
  return false;
}

void MemberTable::move(Seat& seat, MemberState to) {
  MILLRACE_CHECK(may_move(seat.state, to), "a member takes no such step");
  seat.state = to;
}

const MemberTable::Seat& MemberTable::at(std::uint32_t rank) const {
  MILLRACE_CHECK(rank < seats_.size(), "there is no such rank");
  return seats_[rank];
}

MemberTable::Seat& MemberTable::at(std::uint32_t rank) {
  return const_cast<Seat&>(std::as_const(*this).at(rank));
}

const JobMember& MemberTable::member(std::uint32_t rank) const {
  MILLRACE_CHECK(at(rank).state != MemberState::kAbsent, "no process has that rank");
  return at(rank).member;
}

Status MemberTable::join(const JoinRequest& request, TimePoint now) {
  const std::string what = "joining the job as " + to_string(request.member);
  if (request.ranks != seats_.size() || request.member.rank >= seats_.size()) {
    return fail(ErrorCode::kInvalidArgument, what + " of " + std::to_string(request.ranks) +
                                                 ": the job has " + std::to_string(seats_.size()) +
                                                 " ranks");
  }
  Seat& seat = at(request.member.rank);
  const bool is_held = seat.state != MemberState::kAbsent && seat.state != MemberState::kLost;
  if (is_held && seat.state != MemberState::kSilent && seat.incarnation == request.incarnation &&
      seat.member.pid == request.member.pid) {
    ++seat.connections;
    return {};
  }
  if (is_held) {
    return std::unexpected(
        Error(ErrorCode::kAlreadyExists,
              what + ": " + to_string(seat.member) +
                  " has that rank; one process of each rank joins, and joins once")
            .with_detail(seat.member));
  }
  move(seat, MemberState::kJoined);
  seat.member = request.member;
  seat.incarnation = request.incarnation;
  seat.connections = 1;
  seat.heard = now;
  return {};
}

void MemberTable::heard(std::uint32_t rank, TimePoint now) {
  Seat& seat = at(rank);
  seat.heard = std::max(seat.heard, now);
  if (seat.state == MemberState::kSuspect) move(seat, MemberState::kJoined);
}

bool MemberTable::left(std::uint32_t rank, const Incarnation& incarnation, bool goodbye) {
  Seat& seat = at(rank);
  const bool is_in = seat.state == MemberState::kJoined || seat.state == MemberState::kSuspect;
  if (!is_in || seat.incarnation != incarnation) return false;
  --seat.connections;
  if (!goodbye) {
    move(seat, MemberState::kLost);
  } else if (seat.connections == 0) {
    move(seat, MemberState::kAbsent);
  }
  return !goodbye;
}

void MemberTable::ended(std::uint32_t rank) {
  Seat& seat = at(rank);
  if (seat.state != MemberState::kAbsent) move(seat, MemberState::kAbsent);
}

MemberTable::Found MemberTable::look(TimePoint now) {
  Found found;
  if (tick_.count() == 0) return found;
  // A host that was held up has heard nothing meanwhile: what was said waits in its sockets.
  const Duration late = now - looked_ - tick_;
  looked_ = now;
  for (std::uint32_t rank = 0; rank < seats_.size(); ++rank) {
    Seat& seat = seats_[rank];
    if (late > tick_) seat.heard += late;
    const Duration silent = now - seat.heard;
    if (seat.state == MemberState::kJoined && silent >= silent_after_ / 2) {
      move(seat, MemberState::kSuspect);
      found.suspect.push_back(rank);
    }
    const bool counts = seat.state == MemberState::kSuspect || seat.state == MemberState::kLost;
    if (counts && silent >= silent_after_) {
      move(seat, MemberState::kSilent);
      found.silent.push_back(rank);
    }
  }
  return found;
}

}  // namespace millrace::net
