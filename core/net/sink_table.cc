#include "millrace/core/net/sink_table.h"

#include "millrace/core/base/check.h"

namespace millrace::net {

void SinkTable::set(const Route& route, MeshSink sink, Payloads payloads) {
  MILLRACE_CHECK(route.kind >= FrameKind::kFirstOfUsers, "kinds below kFirstOfUsers have no sink");
  Found added = sink ? std::make_shared<const Entry>(std::move(sink), payloads) : nullptr;
  Found replaced;  // ends outside of the lock
  MutexLock lock(mutex_);
  if (!route.channel) {
    replaced = std::exchange(kinds_[std::to_underlying(route.kind) - kFirst], std::move(added));
  } else if (added != nullptr) {
    replaced = std::exchange(channels_[{route.kind, *route.channel}], std::move(added));
  } else if (auto node = channels_.extract({route.kind, *route.channel}); !node.empty()) {
    replaced = std::move(node.mapped());
  }
}

SinkTable::Found SinkTable::find(FrameKind kind, std::uint64_t channel) const {
  MutexLock lock(mutex_);
  if (!channels_.empty()) {
    const auto found = channels_.find({kind, channel});
    if (found != channels_.end()) return found->second;
  }
  return kinds_[std::to_underlying(kind) - kFirst];
}

void SinkTable::clear() {
  decltype(kinds_) kinds;
  decltype(channels_) channels;
  MutexLock lock(mutex_);
  kinds.swap(kinds_);
  channels.swap(channels_);
}

}  // namespace millrace::net
