#include "millrace/core/loop/event_loop_thread.h"

#include "millrace/core/base/check.h"
#include "millrace/core/base/start_thread.h"

namespace millrace {

EventLoopThread::EventLoopThread(std::unique_ptr<EventLoop> loop, const std::string& name)
    : loop_(std::move(loop)), thread_(start_thread(name, [this] {
        loop_->run();
        loop_->close();
        promise_.set_value();
      })) {}

EventLoopThread::~EventLoopThread() {
  MILLRACE_CHECK(!on_own_thread(), "an event loop's thread is not destroyed on itself");
  static_cast<void>(close());
  thread_.join();
}

Future<void> EventLoopThread::close() {
  loop_->stop();
  return closed_;
}

}  // namespace millrace
