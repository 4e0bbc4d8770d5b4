#include "millrace/core/loop/loop_inbox.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/core/loop/event_fd.h"

namespace millrace {
namespace {

// Posted work that runs before descriptors and timers get their turn again.
constexpr int kDrainLimit = 1024;

}  // namespace

std::unexpected<Error> no_loop(const std::string& why) {
  return fail(
      ErrorCode::kResourceExhausted,
      "making an event loop: " + why + "; close descriptors, or allow more of them (ulimit -n)");
}

Status check_descriptors_left(int count) {
  std::vector<int> opened;
  int error = 0;
  for (int i = 0; i < count && error == 0; ++i) {
    const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);  // needs no path that this user may see
    if (descriptor < 0) {
      error = errno;
    } else {
      opened.push_back(descriptor);
    }
  }
  for (const int descriptor : opened) ::close(descriptor);
  if (error != 0) return no_loop(std::strerror(error));
  return {};
}

bool LoopInbox::post(Work* work) noexcept {
  {
    MutexLock lock(mutex_);
    if (!closed_) {
      posted_.push(work);
      work = nullptr;
    }
  }
  if (work == nullptr) return needs_wake();
  work->drop();
  return false;
}

Work* LoopInbox::take() {
  MutexLock lock(mutex_);
  return posted_.pop();
}

bool LoopInbox::empty() {
  MutexLock lock(mutex_);
  return posted_.empty();
}

bool LoopInbox::drain(std::size_t& ran) {
  int left = kDrainLimit;
  for (; left > 0; --left) {
    Work* work = take();
    if (work == nullptr) break;
    ++ran;
    work->run();
  }
  // Down first, then look again: what is posted in between either sees it down or is seen here.
  awake_.store(false);
  return (left == 0 || !empty()) && needs_wake();
}

void LoopInbox::close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  while (Work* work = take()) work->drop();
}

void WakeGate::shut() noexcept {
  shut_.store(true);
  while (inside_.load() != 0) std::this_thread::yield();
}

DeadlineFd::DeadlineFd()
    : descriptor_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}

DeadlineFd::~DeadlineFd() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DeadlineFd::arm(std::optional<TimePoint> deadline, const Clock& clock) {
  if (deadline == armed_for_) return;
  itimerspec spec{};
  if (deadline) {
    const Duration left = std::max<Duration>(*deadline - clock.now(), std::chrono::nanoseconds(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    spec.it_value.tv_sec = seconds.count();
    spec.it_value.tv_nsec = (left - seconds).count();
  }
  MILLRACE_CHECK(timerfd_settime(descriptor_, 0, &spec, nullptr) == 0, "timerfd_settime");
  armed_for_ = deadline;
}

void DeadlineFd::consume() {
  EventFd::consume(descriptor_);
  armed_for_.reset();
}

}  // namespace millrace
