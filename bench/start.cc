// start.devices: what `millrace devices` takes from the fork to its end: libraries loaded, plugins
// looked for, devices printed. start.devices_plugin: the same with a plugin; the limit is a process
// that loads the plugin, makes its client and ends, and 10 ms. start.core_library: size of core's
// library without the names that only a linker or debugger wants.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "bench/child.h"
#include "bench/figure.h"
#include "bench/pjrt_bare.h"

namespace millrace::bench {
namespace {

constexpr int kStarts = 10;  // of a round

double devices_ms() {
  std::vector<double> times;
  for (int i = 0; i < kStarts; ++i) {
    times.push_back(1e3 * seconds_of_program({program_folder() + "/millrace", "devices"}));
  }
  return quantile(times, 0.5);
}

// An empty program of the same kind: what the system takes before any code of ours runs.
double nothing_ms() { return 1e3 * seconds_of_program({"true"}); }

int create_part(const std::string& path) {
  const BareClient client(path);
  return 0;
}
const Part create("create", &create_part);

void measure_plugin(Session& session) {
  const char* const name = "start.devices_plugin";
  const std::string path = plugin_path();
  if (path.empty()) return session.skip(name, kNoPlugin);
  session.measure(
      {.name = name,
       .unit = "ms",
       .peer = "loading the plugin, its client, and 10 ms",
       .goal = Goal::kAtMost,
       .limit = 1},
      [&] {
        return 1e3 * seconds_of_program(
                         {program_folder() + "/millrace", "devices", "--plugin", plugin_text()});
      },
      [&] { return 10 + 1e3 * seconds_of_program(Part::command("create", path)); });
}

double core_megabytes() {
  const std::string library = program_folder() + "/../lib/libmillrace_core.a";
  char stripped[] = "/tmp/millrace-core-XXXXXX";
  const int file = mkstemp(stripped);
  if (file < 0) give_up("start.core_library", "no temporary file could be made");
  close(file);
  seconds_of_program({"strip", "--strip-unneeded", "-o", stripped, library});
  struct stat found{};
  const bool there = stat(stripped, &found) == 0;
  unlink(stripped);
  if (!there) give_up(stripped, "strip left nothing");
  return static_cast<double>(found.st_size) / (1 << 20);
}

void measure(Session& session) {
  session.measure({.name = "start.devices",
                   .unit = "ms",
                   .peer = "the limit",
                   .goal = Goal::kAtMost,
                   .limit = 1},
                  devices_ms, [] { return 30.0; });
  if (session.wants("start.devices")) {
    session.remark("an empty program: " + std::to_string(nothing_ms()) + " ms");
  }
  measure_plugin(session);
  session.measure({.name = "start.core_library",
                   .unit = "MiB",
                   .peer = "the limit",
                   .goal = Goal::kAtMost,
                   .limit = 1},
                  core_megabytes, [] { return 2.0; });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
