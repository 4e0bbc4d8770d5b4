// JobHostThread: a job that processes or runtimes of a test join.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/job_host.h"
#include "millrace/core/net/socket_transport.h"

namespace millrace::testing {

// The host of a job on a loop of its own, over real sockets.
class JobHostThread {
 public:
  JobHostThread(const std::string& address, net::JobHostOptions options, net::JobHooks hooks = {}) {
    run([&] {
      transport_ = net::make_socket_transport(thread_.loop());
      host_ =
          net::JobHost::open(*transport_, address, std::move(options), std::move(hooks)).value();
      address_ = host_->address();
    });
  }
  ~JobHostThread() {
    EXPECT_TRUE(wait_blocking(make_ready().then(thread_.loop(), [this](Result<void>) {
                  return host_->close();
                })).has_value());
    run([&] {
      host_ = {};
      transport_.reset();
    });
  }
  template <class F>
  void run(F work) {
    EXPECT_TRUE(wait_blocking(make_ready().then(thread_.loop(), [&work](Result<void>) {
                  work();
                })).has_value());
  }
  net::JobHost& host() { return *host_; }
  const std::string& address() const { return address_; }

 private:
  EventLoopThread thread_{create_uv_event_loop().value(), "host"};
  std::unique_ptr<net::Transport> transport_;
  Ref<net::JobHost> host_;
  std::string address_;
};

}  // namespace millrace::testing
