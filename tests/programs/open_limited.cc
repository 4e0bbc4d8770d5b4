// Opens a plugin that never answers, until a stop and within limits, and another one beside it, and
// tells a line for each: its name, a tab, "ok" or the error's code and text. usage:
// open_limited PLUGIN OTHER PIPE SECONDS OTHER_SECONDS
// The stop comes when the plugin has written to the pipe; then, how long openings may take.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "millrace/millrace.h"

namespace millrace {
namespace {

RuntimeOptions options_of(const char* name, const char* path) {
  RuntimeOptions options;
  options.plugins.push_back({.name = name, .path = path, .origin = devices::pjrt::kGivenPlugin});
  options.device = name;
  options.threads = 1;
  options.blocking_threads = 1;
  options.close_timeout = std::chrono::seconds(1);
  return options;
}

void open(const char* step, const RuntimeOptions& options, const CallOptions& call) {
  const Result<Runtime> runtime = Runtime::create(options, call);
  std::printf("%s\t%s\n", step, runtime ? "ok" : runtime.error().to_string().c_str());
}

CallOptions within(const char* seconds) {
  const std::chrono::duration<double> time(std::atof(seconds));
  return {.stop = {},
          .deadline = steady_clock().now() + std::chrono::duration_cast<Duration>(time)};
}

// Returns when a byte was written to the pipe.
void wait_for_byte(const char* pipe) {
  pollfd polled{.fd = ::open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC), .events = POLLIN};
  while (::poll(&polled, 1, -1) != 1) {
  }
}

void open_all(const char* plugin, const char* other, const char* pipe, const char* limit,
              const char* other_limit) {
  const RuntimeOptions stuck = options_of("npu", plugin);
  std::stop_source stop;
  std::thread stopper([&] {
    wait_for_byte(pipe);
    stop.request_stop();
  });
  open("stop", stuck, {.stop = stop.get_token(), .deadline = kNoDeadline});
  stopper.join();
  open("deadline", stuck, within(limit));
  open("again", stuck, within(limit));
  open("other", options_of("other", other), within(other_limit));
  std::printf("left behind\t%s\n", Runtime::left_behind() ? "yes" : "no");
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  ::alarm(500);  // a hang of ours is a death by signal
  millrace::open_all(argv[1], argv[2], argv[3], argv[4], argv[5]);
  std::fflush(stdout);
  if (millrace::Runtime::left_behind()) ::_exit(0);
  return 0;
}
