#include "millrace/core/loop/completion_fd.h"

#include <memory>
#include <utility>

#include "millrace/core/loop/event_fd.h"

namespace millrace {

class CompletionFd::Port final : public LoopPort {
 public:
  explicit Port(EventFd event) : event_(std::move(event)) {}
  void wake() noexcept override { event_.signal(); }
  void keep_alive(bool /*on*/) noexcept override {}
  void detach(Ref<CompletionQueue> queue) noexcept override { queue->detached(); }
  void leave_in_child() noexcept override {}

 private:
  const EventFd event_;
};

Result<CompletionFd> CompletionFd::create(const BridgeOptions& options) {
  MILLRACE_TRY(EventFd event, EventFd::create());
  const int descriptor = event.descriptor();
  auto queue = make_ref<CompletionQueue>(std::make_unique<Port>(std::move(event)), options);
  return CompletionFd(std::move(queue), descriptor, options.limits);
}

Result<std::size_t> CompletionFd::drain(std::size_t max, Duration budget) const {
  // The count of the descriptor is shared with the parent: not even read.
  if (queue()->forked()) return std::unexpected(queue()->fork_error());
  EventFd::consume(descriptor_);
  return queue()->drain({.max = max, .budget = budget});
}

}  // namespace millrace
