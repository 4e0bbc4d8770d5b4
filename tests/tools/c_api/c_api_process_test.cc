// The library in its process: what it exports, what it leaves behind, forks, and the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/entries.h"
#include "tests/support/paths.h"
#include "tests/tools/c_api/rig.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

TEST(CApiProcessTest, LibraryExportsTheFunctionsOfTheHeaderAndNothingElse) {
  std::ifstream in(source_folder() + "/tools/c_api/c_api.h");
  std::ostringstream text;
  text << in.rdbuf();
  const std::string header = text.str();
  std::set<std::string> declared;
  const std::regex function(R"(MILLRACE_(API|CALL) [a-z0-9_ ]+\*? ?(millrace_[a-z_]+)\()");
  for (std::sregex_iterator it(header.begin(), header.end(), function), end; it != end; ++it)
    declared.insert((*it)[2]);
  ASSERT_GE(declared.size(), 20U);
  EXPECT_EQ(declared.count("millrace_version"), 1U);

  const Outcome nm = Process({"/usr/bin/nm", "-D", "--defined-only", "--format=posix",
                              build_folder() + "/lib/libmillrace_c.so"})
                         .wait();
  ASSERT_EQ(nm.code, 0) << nm.err;
  std::set<std::string> exported;
  std::istringstream lines(nm.out);
  for (std::string line; std::getline(lines, line);)
    exported.insert(line.substr(0, line.find(' ')));
  EXPECT_EQ(exported, declared);
}

void use_once(int i) {
  const std::vector<float> x = {1, 2, 3};  // borrowed until the end of rig
  Rig rig(1 + i % 2);
  const millrace_buffer there = rig.put(x);
  if (i % 8 == 0) rig.run_endless();
  if (i % 4 == 1) rig.execute(rig.compile(kAdd), {there, there});
}

TEST(CApiProcessStressTest, OpenedAndClosedTwoHundredTimesLeavesNoDescriptorAndNoThread) {
  for (int i = 0; i < 12; ++i) use_once(i);  // what a library makes once and keeps
  const std::size_t descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  for (int i = 0; i < 200; ++i) {
    use_once(i);
    ASSERT_EQ(entries("/proc/self/fd"), descriptors) << "after " << i;
  }
  // The workers of oneTBB are the process's, not the runtime's, and come as they are needed.
  const std::size_t most = threads + std::thread::hardware_concurrency();
  EXPECT_LE(threads_down_to(most), most);
}

// What the child saw, as its exit code: the number of the first call that was not refused, or 0.
int child_of_a_fork(millrace_runtime runtime, millrace_buffer buffer,
                    millrace_operation operation) {
  millrace_completion completion = {};
  completion.struct_size = sizeof completion;
  millrace_put_args put = {sizeof put, nullptr, 0, nullptr, 0, MILLRACE_F32, 0, nullptr};
  const std::int64_t dims[] = {0};
  put.dims = dims;
  put.rank = 1;
  std::size_t count = 0;
  int descriptor = 0;
  int number = 0;
  for (const Told& error : {
           told(millrace_open(nullptr, &runtime)),
           told(millrace_device_count(runtime, &count)),
           told(millrace_completion_fd(runtime, &descriptor)),
           told(millrace_put(runtime, &put, &buffer, &operation)),
           told(millrace_next(runtime, &completion)),
           told(millrace_cancel(runtime, operation)),
           told(millrace_buffer_destroy(runtime, buffer)),
           told(millrace_close(runtime, nullptr)),
       }) {
    ++number;
    const bool refused = error.code == MILLRACE_FAILED_PRECONDITION &&
                         error.message.find("forked") != std::string::npos &&
                         error.message.find("fork before") != std::string::npos;
    if (!refused) return number;
  }
  return 0;
}

TEST(CApiProcessTest, ForkAfterOpenGivesAClearErrorInTheChildAndNoneInTheParent) {
  Rig rig;
  const std::vector<float> x = {1, 2, 3};
  const auto [endless, output] = rig.run_endless();
  const millrace_buffer there = rig.put(x);
  rig.expect_success(1);
  const pid_t child = fork();
  if (child == 0) _exit(child_of_a_fork(rig.runtime, there, endless));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the number of the call that was not refused";
  EXPECT_FALSE(rig.readable());
  EXPECT_EQ(rig.cancel(endless).message, "");
  EXPECT_EQ(rig.wait_next().operation, endless);
  std::vector<float> back(3);
  rig.fetch(there, back.data(), 12);
  rig.expect_success(1);
  EXPECT_EQ(back, x);
}

// The device `stuck` is a plugin of which a function never returns, `healthy` one that answers.
TEST(CApiProcessTest, OpeningThatNeverEndsIsADeadlineAndAnotherPluginIsOpenedAllTheSame) {
  const std::string stuck = build_folder() + "/lib/faulty_plugin.so";
  const std::string healthy = build_folder() + "/lib/memory_plugin.so";
  const std::pair<std::string, std::string> calls[] = {
      {"stuck.create", "PJRT_Client_Create"}, {"stuck.initialize", "PJRT_Plugin_Initialize"}};
  for (const auto& [fault, call] : calls) {
    SCOPED_TRACE(fault);
    const std::map<std::string, std::string> variables = {
        {"PJRT_NAMES_AND_LIBRARY_PATHS", "stuck:" + stuck + ",healthy:" + healthy},
        {"MILLRACE_FAULT", fault}};
    const auto start = [&](const std::string& limit) {
      const std::vector<std::string> words = {build_folder() + "/bin/c_open_in_time", "stuck",
                                              limit, "healthy", "300"};
      return std::make_unique<Process>(words, variables);
    };
    const auto there = [&](const Outcome& o) { return o.out.find(call) != std::string::npos; };
    const Outcome o = until_limit(0.5, start, there).outcome;
    EXPECT_EQ(o.code, 0) << o.out << o.err;
    EXPECT_THAT(o.out, ::testing::ContainsRegex(
                           "^" + std::to_string(MILLRACE_DEADLINE_EXCEEDED) +
                           " opening the plugin stuck \\(" + stuck +
                           "\\) was given up after [0-9.]+ s: " + call +
                           " has not returned[^\n]*\nleft behind 1\nopened\nleft behind 1\n$"));
  }
}

// Opens under each limit from least to most in a process of its own; returns how many were refused.
int refused_below(const char* what, int least, int most) {
  int refused = 0;
  for (int limit = least; limit <= most; ++limit) {
    const Outcome o = Process({build_folder() + "/bin/c_open_limited", what, std::to_string(limit)},
                              {{"PJRT_DEVICE", "CPU"}, {"MILLRACE_THREADS", "2"}})
                          .wait();
    EXPECT_EQ(o.code, 0) << what << " " << limit << ": " << o.out << o.err;
    EXPECT_THAT(o.out, HasSubstr("left 0")) << what << " " << limit;
    if (o.out.starts_with("opened")) continue;
    ++refused;
    EXPECT_TRUE(o.out.starts_with(std::to_string(MILLRACE_RESOURCE_EXHAUSTED) + " "))
        << what << " " << limit << ": " << o.out;
    EXPECT_THAT(o.out, HasSubstr("ulimit")) << "what would help";
  }
  return refused;
}

TEST(CApiProcessTest, TooFewDescriptorsForARuntimeAreAnErrorAndNothingIsLeft) {
#ifdef MILLRACE_SANITIZED
  GTEST_SKIP() << "a sanitizer asks the system about addresses through a pipe, and takes it badly "
                  "if there is none";
#endif
  // Three are open already; the loop and the completions want some eight.
  const int refused = refused_below("descriptors", 3, 24);
  EXPECT_GE(refused, 4);
  EXPECT_LE(refused, 20);
}

TEST(CApiProcessTest, TooFewThreadsForARuntimeAreAnErrorAndNothingIsLeft) {
  const int refused = refused_below("threads", 1, 24);
  EXPECT_GE(refused, 4);
  // Other processes of the same user count too, where the test does not run as root.
  if (::geteuid() == 0) {
    EXPECT_LE(refused, 20);
  }
}

TEST(CApiProcessTest, ProgramThatEndsWithWorkInFlightEnds) {
  for (int i = 0; i < 10; ++i) {
    const Outcome o = Process({build_folder() + "/bin/c_leaves_open"}).wait();
    ASSERT_EQ(o.code, 3) << o.err;
    EXPECT_EQ(o.err, "");
  }
}

}  // namespace
}  // namespace millrace::testing
