#include "millrace/collectives/schedule_run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/core/net/spare_bytes.h"

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

// A message whose memory is a spare one when its last part is not needed any more.
std::shared_ptr<net::Bytes> keep(net::Bytes message) {
  struct Kept {
    net::Bytes bytes;
    explicit Kept(net::Bytes taken) : bytes(std::move(taken)) {}
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    ~Kept() { net::give_spare_bytes(std::move(bytes)); }
  };
  const auto kept = std::allocate_shared<Kept>(PoolAllocator<Kept>(), std::move(message));
  return {kept, &kept->bytes};
}

}  // namespace

ScheduleRun::ScheduleRun(Schedule schedule, ScheduleArrays arrays, const Folding& folding)
    : schedule_(std::move(schedule)),
      arrays_(std::move(arrays)),
      folding_(folding),
      scratch_(schedule_.scratch_bytes) {}

std::span<const std::byte> ScheduleRun::readable(const Slice& slice) {
  const auto index = static_cast<std::size_t>(slice.index);
  if (slice.place == Slice::Place::kInput) return part_of(arrays_.inputs[index], slice);
  if (slice.place == Slice::Place::kMessage) return part_of(message_, slice);
  if (slice.place == Slice::Place::kOutput)
    return part_of(std::span<const std::byte>(arrays_.outputs[index]), slice);
  return scratch_.read(slice.begin, slice.bytes);
}

std::span<std::byte> ScheduleRun::writable(const Slice& slice) {
  MILLRACE_CHECK(slice.place != Slice::Place::kInput && slice.place != Slice::Place::kMessage,
                 "a schedule writes to no input and no message");
  if (slice.place == Slice::Place::kOutput)
    return part_of(arrays_.outputs[static_cast<std::size_t>(slice.index)], slice);
  return scratch_.write(slice.begin, slice.bytes);
}

ScheduleRun::Next ScheduleRun::advance() {
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
        const auto to = writable(slices[0]);  // both may be in the scratch: it comes first
        copy(to, readable(slices[1]));
        break;
      }
    }
  }
  scratch_.clear();
  return Next::kDone;
}

void ScheduleRun::fold(const Step& step) {
  const auto slices = schedule_.slices_of(step);
  // What is written may be one of the sources: a message in the scratch is copied in first.
  const std::span<std::byte> target = writable(slices[0]);
  PooledVector<const std::byte*> sources;
  sources.reserve(slices.size() - 1);
  for (const Slice& slice : slices.subspan(1)) sources.push_back(readable(slice).data());
  const ReduceOp op = step.last ? folding_.op : partial(folding_.op);
  reduce(op, folding_.dtype, sources, target, nullptr, folding_.ranks);
}

std::span<const std::byte> ScheduleRun::whole_message(std::size_t least) {
  const auto slices = schedule_.slices_of(step());
  if (slices.size() != 1 || slices[0].bytes < least) return {};
  ++next_;
  return readable(slices[0]);
}

net::Bytes ScheduleRun::message() {
  const auto slices = schedule_.slices_of(step());
  std::size_t bytes = 0;
  for (const Slice& slice : slices) bytes += slice.bytes;
  net::Bytes message = net::take_spare_bytes(bytes);
  for (const Slice& slice : slices) {
    const auto part = readable(slice);
    message.insert(message.end(), part.begin(), part.end());
  }
  ++next_;
  return message;
}

Status ScheduleRun::take(net::Frame& message) {
  const auto slices = schedule_.slices_of(step());
  std::size_t bytes = 0;
  for (const Slice& slice : slices) bytes += slice.bytes;
  if (bytes != message.bytes().size()) {
    return fail(ErrorCode::kInvalidArgument,
                "a message of " + std::to_string(message.bytes().size()) + " bytes came where " +
                    std::to_string(bytes) + " were to come");
  }
  ++next_;
  if (!slices.empty() && slices[0].place == Slice::Place::kMessage) {
    MILLRACE_CHECK(next_ < schedule_.steps.size() && step().kind == Step::Kind::kFold,
                   "a message that is not kept is folded at once");
    message_ = message.bytes();
    fold(step());
    message_ = {};
    ++next_;
    return {};
  }
  std::shared_ptr<net::Bytes> kept;
  if (std::ranges::find(slices, Slice::Place::kScratch, &Slice::place) != slices.end()) {
    message.keep();
    kept = keep(std::move(message.payload));
  }
  std::span<const std::byte> rest = kept ? std::span<const std::byte>(*kept) : message.bytes();
  for (const Slice& slice : slices) {
    const auto part = rest.first(slice.bytes);
    if (slice.place == Slice::Place::kScratch) {
      scratch_.put(slice.begin, kept, part);
    } else {
      copy(writable(slice), part);
    }
    rest = rest.subspan(slice.bytes);
  }
  return {};
}

}  // namespace millrace::collectives
