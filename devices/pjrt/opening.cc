#include "millrace/devices/pjrt/opening.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/registry.h"

namespace millrace::devices::pjrt {
namespace {

Error given_up(const CallOptions& call, const std::string& what, OpeningGivenUp detail) {
  const bool stopped = call.stop.stop_requested();
  return Error(stopped ? ErrorCode::kCancelled : ErrorCode::kDeadlineExceeded, what)
      .with_detail(std::move(detail));
}

std::string seconds_since(TimePoint begin) {
  const auto time = std::chrono::round<std::chrono::milliseconds>(steady_clock().now() - begin);
  char text[32];
  std::snprintf(text, sizeof text, "%g s", std::chrono::duration<double>(time).count());
  return text;
}

// Its thread may wait for another one's.
std::string call_of(const Opening& opening) {
  std::string call = call_under_way_of(opening.thread->load());
  if (call.empty() && opening.number != 0) call = calls_under_way(opening.number);
  return call;
}

std::string told(const std::string& call) { return call.empty() ? "its thread" : call; }

}  // namespace

Status may_begin(const std::string& plugin, const CallOptions& call) {
  const bool stopped = call.stop.stop_requested();
  if (!stopped && steady_clock().now() < call.deadline) return {};
  return std::unexpected(given_up(call,
                                  "the plugin " + plugin + " was not opened, because " +
                                      (stopped ? "a stop was requested" : "the deadline came") +
                                      " before that",
                                  {}));
}

Status wait_for(const Opening& opening, const CallOptions& call) {
  CallOptions patient = call;
  patient.deadline = std::min(call.deadline, opening.begin + opening.patience);
  if (wait_until(opening.ended, patient)) return {};
  if (patient.deadline < call.deadline && !call.stop.stop_requested()) {
    MILLRACE_LOG(kWarning, "pjrt",
                 "opening the plugin " + opening.plugin + " takes longer than most: " +
                     told(call_of(opening)) + " has not returned after " +
                     seconds_since(opening.begin) + ", and is waited for");
    if (wait_until(opening.ended, call)) return {};
  }
  const std::string under_way = call_of(opening);
  if (opening.ended.ready()) return {};  // at the last moment
  std::string why;
  {
    const MutexLock lock(opening.failure->mutex);
    if (opening.failure->error) why = ", after " + opening.failure->error->message();
  }
  return std::unexpected(
      given_up(call,
               "opening the plugin " + opening.plugin + " was given up after " +
                   seconds_since(opening.begin) + ": " + told(under_way) +
                   " has not returned, and is left to itself until the process ends" + why,
               {.call = under_way, .left = true}));
}

}  // namespace millrace::devices::pjrt
