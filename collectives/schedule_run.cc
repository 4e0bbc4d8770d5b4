#include "millrace/collectives/schedule_run.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::collectives {
namespace {

template <class Byte>
std::span<Byte> part_of(std::span<Byte> array, const Slice& slice) {
  MILLRACE_CHECK(slice.begin <= array.size() && slice.bytes <= array.size() - slice.begin,
                 "a schedule stays within its arrays");
  return array.subspan(slice.begin, slice.bytes);
}

void copy(std::span<std::byte> to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

ScheduleRun::ScheduleRun(Schedule schedule, ScheduleArrays arrays, const Folding& folding)
    : schedule_(std::move(schedule)), arrays_(std::move(arrays)), folding_(folding) {}

std::span<const std::byte> ScheduleRun::readable(const Slice& slice) const {
  const auto index = static_cast<std::size_t>(slice.index);
  if (slice.place == Slice::Place::kInput) return part_of(arrays_.inputs[index], slice);
  if (slice.place == Slice::Place::kOutput)
    return part_of(std::span<const std::byte>(arrays_.outputs[index]), slice);
  return part_of(std::span<const std::byte>(scratch_), slice);
}

std::span<std::byte> ScheduleRun::writable(const Slice& slice) {
  MILLRACE_CHECK(slice.place != Slice::Place::kInput, "a schedule writes to no input");
  if (slice.place == Slice::Place::kOutput)
    return part_of(arrays_.outputs[static_cast<std::size_t>(slice.index)], slice);
  return part_of(std::span(scratch_), slice);
}

ScheduleRun::Next ScheduleRun::advance() {
  if (next_ == 0) scratch_.resize(schedule_.scratch_bytes);
  for (; next_ < schedule_.steps.size(); ++next_) {
    switch (step().kind) {
      case Step::Kind::kSend:
        return Next::kSend;
      case Step::Kind::kReceive:
        return Next::kReceive;
      case Step::Kind::kFold:
        fold(step());
        break;
      case Step::Kind::kCopy: {
        const auto slices = schedule_.slices_of(step());
        copy(writable(slices[0]), readable(slices[1]));
        break;
      }
    }
  }
  return Next::kDone;
}

void ScheduleRun::fold(const Step& step) {
  const auto slices = schedule_.slices_of(step);
  PooledVector<const std::byte*> sources;
  sources.reserve(slices.size() - 1);
  for (const Slice& slice : slices.subspan(1)) sources.push_back(readable(slice).data());
  const ReduceOp op = step.last ? folding_.op : partial(folding_.op);
  reduce(op, folding_.dtype, sources, writable(slices[0]), nullptr, folding_.ranks);
}

net::Bytes ScheduleRun::message() {
  const auto slices = schedule_.slices_of(step());
  net::Bytes message;
  std::size_t bytes = 0;
  for (const Slice& slice : slices) bytes += slice.bytes;
  message.reserve(bytes);
  for (const Slice& slice : slices) {
    const auto part = readable(slice);
    message.insert(message.end(), part.begin(), part.end());
  }
  ++next_;
  return message;
}

Status ScheduleRun::take(std::span<const std::byte> message) {
  const auto slices = schedule_.slices_of(step());
  std::size_t bytes = 0;
  for (const Slice& slice : slices) bytes += slice.bytes;
  if (bytes != message.size()) {
    return fail(ErrorCode::kInvalidArgument, "a message of " + std::to_string(message.size()) +
                                                 " bytes came where " + std::to_string(bytes) +
                                                 " were to come");
  }
  for (const Slice& slice : slices) {
    copy(writable(slice), message.first(slice.bytes));
    message = message.subspan(slice.bytes);
  }
  ++next_;
  return {};
}

}  // namespace millrace::collectives
