// Opens a plugin that may never answer, again and again within limits, and another one beside it,
// and tells a line for each: its name, a tab, "ok" or the error's code and text. usage:
// open_limited PLUGIN OTHER MILLISECONDS   how long each opening may take
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

void open_all(const char* plugin, const char* other, Duration limit) {
  const auto within_limit = [limit] {
    return CallOptions{.stop = {}, .deadline = steady_clock().now() + limit};
  };
  const RuntimeOptions stuck = options_of("npu", plugin);
  open("deadline", stuck, within_limit());
  open("again", stuck, within_limit());
  std::stop_source stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(limit);
    stop.request_stop();
  });
  open("stop", stuck, {.stop = stop.get_token(), .deadline = kNoDeadline});
  stopper.join();
  open("other", options_of("other", other), within_limit());
  std::printf("left behind\t%s\n", Runtime::left_behind() ? "yes" : "no");
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  ::alarm(60);  // a hang of ours is a death by signal
  millrace::open_all(argv[1], argv[2], std::chrono::milliseconds(std::atoi(argv[3])));
  std::fflush(stdout);
  if (millrace::Runtime::left_behind()) ::_exit(0);
  return 0;
}
