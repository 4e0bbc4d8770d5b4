// StepWatch: watches the nodes of the recorded step. It measures how long steps waited for their
// data, and it stops the run at the first failure: without that, the other ranks' all-reduces would
// wait for one whose gradients will never come.
#pragma once

#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/graph.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/base/mutex.h"

namespace millrace::train {

// Owned by the training; outlives the graph. Thread-safety: thread-safe.
class StepWatch final : public GraphObserver {
 public:
  static constexpr int kMostInFlight = 128;  // steps

  // Stop requests are made on executor, not inside the graph.
  StepWatch(const Clock& clock, Executor& executor, std::size_t devices)
      : clock_(clock), executor_(executor), devices_(devices) {}

  void node_started(std::uint64_t, std::uint32_t, std::string_view) noexcept override {}
  void node_finished(std::uint64_t run, std::uint32_t slot, std::string_view name,
                     const Error* error) noexcept override;

  // Requested by the first node that fails, or by stop().
  std::stop_token token() const { return stop_.get_token(); }
  void stop() { stop_.request_stop(); }
  // The first failure of a node that is not itself the consequence of a stop.
  std::optional<Error> first_error() const;
  // Per device: sum of the times from "the parameters of a step are there" to "its batch is there".
  std::vector<Duration> data_waits() const;

 private:
  struct Device {
    std::optional<std::uint64_t> run;  // the newest whose parameters are there
    TimePoint params_at{};             // since then
    Duration waited{};
  };

  const Clock& clock_;
  Executor& executor_;
  std::stop_source stop_;
  mutable Mutex mutex_;
  std::vector<Device> devices_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Error> error_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::train
