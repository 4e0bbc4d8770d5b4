// LoadReport: what a load generator has seen: how requests ended, how long they took, and how that
// changed over time. Pure. Read next: load_run.h, which fills it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/clock.h"
#include "millrace/tools/load/latency_histogram.h"

namespace millrace::load {

enum class Outcome { kAnswered, kRefused, kError };  // 200; 429 or 503; all else

// An answer of a server that is an error.
struct FailedAnswer {
  int status = 0;
  std::string error = {};  // error_line() of its body
};

// What the body of such an answer says, in a line: the member "error" of a JSON object, else its
// first line. Long ones are cut, and control characters are "\x1b".
std::string error_line(std::string_view body);

// Latencies of the requests that were answered in a part of the run.
struct LatencySlice {
  Duration begin{};  // since the begin of the run
  std::uint64_t answered = 0;
  std::uint64_t refused = 0;
  std::uint64_t errors = 0;
  Duration p50{}, p99{}, max{};
};

// Thread-safety: external.
class LoadReport {
 public:
  // A run of about this length is shown in about a hundred slices.
  LoadReport(TimePoint begin, Duration length);

  // In order of `ended`. latency: from the arrival, or where that was later in a closed loop, from
  // the sending.
  void add(TimePoint ended, Outcome outcome, Duration latency);
  // Beside add() with kError, where there is an answer; the first one is kept.
  void add_failed_answer(int status, std::string_view body);
  // Closes the last slice; nothing is added after it.
  void finish(TimePoint now);

  std::uint64_t requests() const { return answered_ + refused_ + errors_; }
  std::uint64_t answered() const { return answered_; }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t errors() const { return errors_; }
  const std::optional<FailedAnswer>& first_failed() const { return first_failed_; }
  double answered_per_second() const;  // until the last that ended, or now at finish()
  const LatencyHistogram& latencies() const { return all_; }
  const std::vector<LatencySlice>& slices() const { return slices_; }

  // {"event":"end","requests":...,"errors":...,"refused":...,"requests_per_second":...,
  //  "latency_ms":{"p50":...,"p90":...,"p99":...,"p999":...,"max":...},
  //  "first_error":{"status":...,"error":...}}; first_error is null where no answer was an error.
  std::string json() const;
  // The same in words, a few lines.
  std::string words() const;
  // One line of how it goes.
  std::string progress(TimePoint now) const;
  // Latency over time, on a scale of powers of ten.
  std::string svg(const std::string& title) const;

 private:
  void close_slice();

  const TimePoint begin_;
  const Duration slice_length_;
  TimePoint last_;
  LatencyHistogram all_;
  LatencyHistogram slice_;
  LatencySlice current_;
  std::vector<LatencySlice> slices_;
  std::uint64_t answered_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t errors_ = 0;
  std::optional<FailedAnswer> first_failed_;
};

}  // namespace millrace::load
