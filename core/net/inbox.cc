#include "millrace/core/net/inbox.h"

#include <iterator>

#include "millrace/core/base/check.h"

namespace millrace::net {
namespace {

std::size_t size_of(const Frame& frame) { return kHeaderBytes + frame.bytes().size(); }

}  // namespace

void Inbox::move(State to) {
  MILLRACE_CHECK(to > state_, "an inbox takes no such step");
  state_ = to;
}

Future<void> Inbox::take(Frame frame) {
  if (state_ == State::kClosed) {
    ++dropped_;
    return {};
  }
  if (state_ == State::kDraining && held_ + size_of(frame) > limit_) {
    ++dropped_;
    return {};
  }
  const Key key{frame.header.kind, frame.header.channel};
  auto lane = lanes_.find(key);
  if (lane == lanes_.end()) {
    const SinkTable::Found sink = sinks_.find(key.first, key.second);
    if (sink == nullptr && state_ == State::kDraining) {
      ++dropped_;
      return {};
    }
    if (sink != nullptr) {
      give(*sink, lanes_.end(), std::move(frame));
      return {};
    }
    lane = lanes_.emplace(key, Lane{}).first;
  }
  hold(lane->second, std::move(frame));
  if (held_ <= limit_) return {};
  return room_.emplace().future();
}

void Inbox::hold(Lane& lane, Frame frame) {
  frame.keep();
  held_ += size_of(frame);
  lane.waiting.push_back(std::move(frame));
}

Frame Inbox::take_first(Lane& lane) {
  Frame frame = std::move(lane.waiting.front());
  lane.waiting.pop_front();
  held_ -= size_of(frame);
  return frame;
}

// False: the sink takes its time, its lane is busy; or the inbox has closed. lane: end(): there is
// none yet.
bool Inbox::give(const SinkTable::Entry& to, Lanes::iterator lane, Frame frame) {
  const Key key{frame.header.kind, frame.header.channel};
  if (to.payloads == Payloads::kOwn) frame.keep();
  const Future<void> taken = to.sink(from_, std::move(frame));
  if (!taken.valid()) return true;
  if (taken.ready()) {
    if (!taken.result()) fail(taken.result().error());
    return state_ != State::kClosed;
  }
  if (lane == lanes_.end()) lane = lanes_.emplace(key, Lane{}).first;
  lane->second.busy = true;
  taken
      .then(home_, [self = Ref<Inbox>::share(this),
                    key](const Result<void>& result) { self->take_result(key, result); })
      .ignore();
  return false;
}

void Inbox::take_result(const Key& key, const Result<void>& result) {
  if (state_ == State::kClosed) return;
  if (!result) return fail(result.error());
  const auto lane = lanes_.find(key);
  lane->second.busy = false;
  run(lane);
  make_room();
}

// Gives what waits in a lane that is not busy to its sink, while there is one.
void Inbox::run(Lanes::iterator lane) {
  const Key key = lane->first;
  while (!lane->second.waiting.empty()) {
    const SinkTable::Found sink = sinks_.find(key.first, key.second);
    if (sink == nullptr) {
      if (state_ == State::kOpen) return;
      drop_waiting(lane->second);
      break;
    }
    if (!give(*sink, lane, take_first(lane->second))) return;
  }
  lanes_.erase(lane);
}

void Inbox::look_again() {
  for (auto lane = lanes_.begin(); state_ != State::kClosed && lane != lanes_.end();) {
    const auto next = std::next(lane);
    if (!lane->second.busy) run(lane);
    lane = next;
  }
  make_room();
}

void Inbox::drain() {
  if (state_ == State::kOpen) move(State::kDraining);
  look_again();
  if (room_) std::exchange(room_, std::nullopt)->set_value();
}

void Inbox::close() {
  if (state_ == State::kClosed) return;
  move(State::kClosed);
  for (auto& [key, lane] : lanes_) drop_waiting(lane);
  lanes_.clear();
  refuse_ = nullptr;
  make_room();
}

void Inbox::fail(const Error& error) {
  const auto refuse = std::move(refuse_);
  close();
  refuse(error);
}

void Inbox::drop_waiting(Lane& lane) {
  for (const Frame& frame : lane.waiting) held_ -= size_of(frame);
  dropped_ += lane.waiting.size();
  lane.waiting.clear();
}

void Inbox::make_room() {
  if (room_ && held_ <= limit_) std::exchange(room_, std::nullopt)->set_value();
}

}  // namespace millrace::net
