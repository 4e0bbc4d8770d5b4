#include "tests/core/user_loop.h"

#include <event2/event.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <uv.h>

#include <asio.hpp>
#include <utility>

#include "millrace/core/loop/asio_bridge.h"
#include "millrace/core/loop/completion_fd.h"
#include "millrace/core/loop/event_bridge.h"
#include "millrace/core/loop/uv_bridge.h"

namespace millrace::testing {
namespace {

class UvLoop final : public UserLoop {
 public:
  UvLoop() {
    uv_loop_init(&loop_);
    loop_.data = &mark_;
    uv_idle_init(&loop_, &hold_);
  }
  ~UvLoop() override {
    uv_close(reinterpret_cast<uv_handle_t*>(&hold_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(loop_.data, &mark_);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  std::shared_ptr<LoopBridge> make_bridge(const BridgeOptions& options) override {
    return std::make_shared<UvBridge>(UvBridge::create(&loop_, options).value());
  }
  void run() override { uv_run(&loop_, UV_RUN_DEFAULT); }
  void turn() override { uv_run(&loop_, UV_RUN_NOWAIT); }
  // Not an idle handle that runs, which would keep the loop from sleeping: a timer far away.
  void hold(bool on) override {
    if (on == (timer_ != nullptr)) return;
    if (on) {
      timer_ = new uv_timer_t;
      uv_timer_init(&loop_, timer_);
      uv_timer_start(timer_, [](uv_timer_t*) {}, 3600 * 1000, 0);
    } else {
      uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(timer_, nullptr)),
               [](uv_handle_t* t) { delete reinterpret_cast<uv_timer_t*>(t); });
    }
  }
  void call(std::function<void()> f) override {
    f_ = std::move(f);
    hold_.data = this;
    uv_idle_start(&hold_, [](uv_idle_t* idle) {
      uv_idle_stop(idle);
      static_cast<UvLoop*>(idle->data)->f_();
    });
  }
  void revive() override { EXPECT_EQ(uv_loop_fork(&loop_), 0); }

 private:
  uv_loop_t loop_;
  uv_idle_t hold_;
  uv_timer_t* timer_ = nullptr;
  std::function<void()> f_;
  int mark_ = 0;
};

// Made without evthread_use_pthreads(), as nothing in these tests calls it.
class EventBaseLoop final : public UserLoop {
 public:
  EventBaseLoop() : base_(event_base_new()) {
    hold_ = event_new(base_, -1, 0, [](evutil_socket_t, short, void*) {}, nullptr);
  }
  ~EventBaseLoop() override {
    event_free(hold_);
    event_base_free(base_);
  }
  std::shared_ptr<LoopBridge> make_bridge(const BridgeOptions& options) override {
    return std::make_shared<EventBridge>(EventBridge::create(base_, options).value());
  }
  void run() override { event_base_dispatch(base_); }
  void turn() override { event_base_loop(base_, EVLOOP_ONCE | EVLOOP_NONBLOCK); }
  void hold(bool on) override {
    const timeval hour{.tv_sec = 3600, .tv_usec = 0};
    if (on) {
      event_add(hold_, &hour);
    } else {
      event_del(hold_);
    }
  }
  void call(std::function<void()> f) override {
    f_ = std::move(f);
    const timeval now{};
    event_base_once(
        base_, -1, EV_TIMEOUT,
        [](evutil_socket_t, short, void* self) { static_cast<EventBaseLoop*>(self)->f_(); }, this,
        &now);
  }
  void revive() override { EXPECT_EQ(event_reinit(base_), 0); }

 private:
  event_base* base_;
  event* hold_;
  std::function<void()> f_;
};

class AsioLoop final : public UserLoop {
 public:
  std::shared_ptr<LoopBridge> make_bridge(const BridgeOptions& options) override {
    return std::make_shared<AsioBridge>(context_, options);
  }
  void run() override {
    context_.restart();
    context_.run();
  }
  void turn() override {
    // As many handlers as are there now: poll() would go on while they bring new ones.
    context_.restart();
    bool last = false;
    asio::post(context_, [&last] { last = true; });
    while (!last && context_.poll_one() != 0) {
    }
  }
  void hold(bool on) override {
    if (on) {
      hold_.emplace(context_.get_executor());
    } else {
      hold_.reset();
    }
  }
  void call(std::function<void()> f) override { asio::post(context_, std::move(f)); }
  void revive() override { context_.notify_fork(asio::io_context::fork_child); }

 private:
  asio::io_context context_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> hold_;
};

// Ends when no bridge waits, nothing is readable and no hold is left.
class PollLoop final : public UserLoop {
 public:
  std::shared_ptr<LoopBridge> make_bridge(const BridgeOptions& options) override {
    auto bridge = std::make_shared<CompletionFd>(CompletionFd::create(options).value());
    bridges_.push_back(bridge);
    return bridge;
  }
  void run() override {
    while (step(held_ || waits())) {
    }
  }
  void turn() override { step(false); }
  void hold(bool on) override { held_ = on; }
  void call(std::function<void()> f) override { f_ = std::move(f); }
  void revive() override {}  // has nothing but descriptors

 private:
  bool waits() const {
    for (const auto& weak : bridges_) {
      const auto bridge = weak.lock();
      if (bridge && bridge->stats().waiting != 0) return true;
    }
    return false;
  }
  bool step(bool wait) {
    if (f_) {
      std::exchange(f_, nullptr)();
      return true;
    }
    std::vector<pollfd> polled;
    std::vector<std::weak_ptr<CompletionFd>> alive;
    for (const auto& weak : bridges_) {
      const auto bridge = weak.lock();
      if (!bridge) continue;
      alive.push_back(weak);
      polled.push_back({.fd = bridge->completion_fd(), .events = POLLIN, .revents = 0});
    }
    bridges_ = alive;
    if (polled.empty() || ::poll(polled.data(), polled.size(), wait ? -1 : 0) <= 0) return false;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      // A plain pointer, as a program has: a callback may destroy the bridge.
      const CompletionFd* const bridge = alive[i].lock().get();
      if (bridge != nullptr && polled[i].revents != 0) static_cast<void>(bridge->drain());
    }
    return true;
  }

  std::vector<std::weak_ptr<CompletionFd>> bridges_;
  std::function<void()> f_;
  bool held_ = false;
};

}  // namespace

void PrintTo(const LoopKind& kind, std::ostream* out) { *out << kind.name; }

const std::vector<LoopKind>& loop_kinds() {
  static const std::vector<LoopKind> kinds = {
      {"Uv", [] { return std::unique_ptr<UserLoop>(new UvLoop); }},
      {"Event", [] { return std::unique_ptr<UserLoop>(new EventBaseLoop); }},
      {"Asio", [] { return std::unique_ptr<UserLoop>(new AsioLoop); }, true, false},
      {"Poll", [] { return std::unique_ptr<UserLoop>(new PollLoop); }, false},
  };
  return kinds;
}

}  // namespace millrace::testing
