// `millrace launch` with real processes: they and their signals are what is tested. What happens
// when is in tests/tools/launch/launch_machine_test.cc, without them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/descriptor.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::millrace_command;
using testing::Outcome;
using testing::Process;
using testing::run_millrace;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

// `millrace launch OPTIONS -- sh -c SCRIPT`.
Words launch(Words options, const std::string& script) {
  options.insert(options.begin(), "launch");
  for (const std::string& word : {std::string("--"), std::string("/bin/sh"), std::string("-c")})
    options.push_back(word);
  options.push_back(script);
  return options;
}

Words lines(const std::string& text) {
  Words all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

std::vector<Json> events(const std::string& out) {
  std::vector<Json> all;
  for (const std::string& line : lines(out)) {
    if (line.starts_with('{')) all.push_back(Json::parse(line));
  }
  return all;
}

std::vector<Json> of_kind(const std::vector<Json>& all, const std::string& kind) {
  std::vector<Json> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&kind](const Json& event) { return event["event"] == kind; });
  return found;
}

// As the system has it: 'T' stopped, 'Z' ended and not reaped; 'X': there is none.
char state_of(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  return std::getline(in, stat) ? stat[stat.rfind(") ") + 2] : 'X';
}

// A process that has ended and is not reaped is none.
bool is_alive(int pid) { return state_of(pid) != 'Z' && state_of(pid) != 'X'; }

// False after five minutes.
bool wait_until_gone(int pid) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (is_alive(pid)) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

// The number behind each "NAME " at the begin of a line.
std::vector<int> numbers(const std::string& out, const std::string& name) {
  std::vector<int> all;
  for (const std::string& line : lines(out)) {
    if (line.starts_with(name + " ")) all.push_back(std::stoi(line.substr(name.size() + 1)));
  }
  return all;
}

TEST(LaunchTest, RanksKnowWhoTheyAreAndTheirLinesPassUnchanged) {
  const Outcome o = run_millrace(
      launch({"-n", "3"},
             "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE ${MILLRACE_JOB:+job}; "
             "echo same >&2; printf 'no end'"),
      {{"RANK", "7"}, {"TORCHELASTIC_RUN_ID", "outer"}});
  EXPECT_EQ(o.code, 0) << o.err;
  Words told;
  for (std::string line : lines(o.out)) {
    // What has no end may stand before a line of another rank only by a line's end.
    if (line != "no end") told.push_back(line);
  }
  EXPECT_THAT(told, UnorderedElementsAre("0 3 0 3 job", "1 3 1 3 job", "2 3 2 3 job")) << o.out;
  std::size_t ranks = 0;
  for (const std::string& line : lines(o.err)) {
    EXPECT_THAT(line, ::testing::EndsWith("] same"));
    ranks += line.starts_with("[0-2]") ? 3
             : line.starts_with("[0-1]") || line.starts_with("[0,2]") || line.starts_with("[1-2]")
                 ? 2
                 : 1;
  }
  EXPECT_EQ(ranks, 3U) << o.err;
}

TEST(LaunchTest, FirstFailureEndsTheJobAndIsNamed) {
  // Rank 0 ends by the SIGTERM alone.
  const Outcome o = run_millrace(
      launch({"-n", "2", "--grace", "600", "--json"},
             "if [ $RANK = 1 ]; then echo why >&2; exit 3; fi; while :; do sleep 600; done"));
  EXPECT_EQ(o.code, 3) << o.err;
  EXPECT_THAT(o.err, HasSubstr(") ended with exit code 3; last it said: why"));
  const std::vector<Json> all = events(o.out);
  ASSERT_EQ(all.size(), 6U) << o.out;
  EXPECT_EQ(all.front()["event"], "launch_start");
  EXPECT_EQ(all.front()["world_size"], 2);
  const Json ranks = all.front()["ranks"];
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(of_kind(all, "rank_start").size(), 2U);
  const std::vector<Json> ends = of_kind(all, "rank_end");
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0]["rank"], 1);
  EXPECT_EQ(ends[0]["pid"], ranks[1]["pid"]);
  EXPECT_EQ(ends[0]["exit"], 3);
  EXPECT_EQ(ends[0]["reason"], "exit");
  EXPECT_EQ(ends[0]["words"], "why");
  EXPECT_EQ(ends[1]["signal"], SIGTERM);
  EXPECT_EQ(ends[1]["exit"], nullptr);
  const Json done = all.back();
  EXPECT_EQ(done["event"], "launch_done");
  EXPECT_EQ(done["ok"], false);
  EXPECT_EQ(done["exit"], 3);
  EXPECT_EQ(done["first_failure"]["rank"], 1);
  EXPECT_EQ(done["first_failure"]["pid"], ranks[1]["pid"]);
  EXPECT_EQ(done["first_failure"]["words"], "why");
  for (const Json& rank : ranks) EXPECT_FALSE(is_alive(rank["pid"]));
}

TEST(LaunchTest, SignalThatEndsARankIsTheExitCode) {
  EXPECT_EQ(run_millrace(launch({"-n", "1"}, "kill -SEGV $$")).code, 128 + SIGSEGV);
}

TEST(LaunchTest, ValuesThatAreNoneAreNamedBeforeTheProgram) {
  const std::vector<std::pair<Words, std::string>> wrong = {
      {{"-n", "0"}, "--ranks"},
      {{"-n", "2", "--min", "0"}, "--min"},
      {{"-n", "2", "--min", "3"}, "--min 3 asks for more ranks than -n 2"},
      {{"-n", "2", "--restarts", "x"}, "--restarts"},
      {{"-n", "2", "--grace", "-1"}, "--grace"},
      {{"-n", "2", "--transport", "pigeon"}, "pigeon"}};
  for (const auto& [options, words] : wrong) {
    const Outcome o = run_millrace(launch(options, "exit 0"));
    EXPECT_EQ(o.code, 2) << words;
    EXPECT_THAT(o.err, HasSubstr(words));
  }
}

// Rank 0 has failed, because rank 1 was killed, before launch could look.
TEST(LaunchTest, RankThatWasKilledComesBeforeThoseThatFailByIt) {
  const testing::TempFolder folder;
  const std::string go = folder.file("go");
  Process launched(millrace_command(
      launch({"-n", "2", "--json"}, "until [ -e " + go +
                                        " ]; do sleep 0.01; done; "
                                        "if [ $RANK = 1 ]; then kill -9 $$; fi; exit 3")));
  Outcome so_far;
  ASSERT_TRUE(launched.wait_for([&so_far](const Outcome& o) {
    so_far = o;
    return o.out.find("launch_start") != std::string::npos;
  }));
  launched.send(SIGSTOP);
  std::ofstream{go};
  const Json ranks = of_kind(events(so_far.out), "launch_start")[0]["ranks"];
  for (const Json& rank : ranks) EXPECT_TRUE(wait_until_gone(rank["pid"]));
  launched.send(SIGCONT);
  const Outcome& o = launched.wait();
  EXPECT_EQ(o.code, 128 + SIGKILL) << o.err;
  EXPECT_EQ(of_kind(events(o.out), "launch_done")[0]["first_failure"]["rank"], 1);
}

TEST(LaunchTest, ProgramThatIsNotThereIsARanksFailure) {
  const Outcome o = run_millrace({"launch", "-n", "2", "--", "/no/such/program"});
  EXPECT_EQ(o.code, 127) << o.err;
  EXPECT_THAT(o.err, HasSubstr("cannot run '/no/such/program': No such file or directory"));
}

TEST(LaunchTest, RankIsRestarted) {
  const testing::TempFolder folder;
  const Outcome o = run_millrace(
      launch({"-n", "1", "--restarts", "1", "--log-dir", folder.path() + "/log", "--json"},
             "echo out; mkdir " + folder.path() + "/again 2> /dev/null || exit 0; exit 5"));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("it is restarted (1 of 1)"));
  const std::vector<Json> all = events(o.out);
  EXPECT_EQ(of_kind(all, "rank_start").back()["incarnation"], 1);
  EXPECT_EQ(all.back()["restarts"], 1);
  std::ifstream log(folder.path() + "/log/0.stdout");
  std::stringstream text;
  text << log.rdbuf();
  EXPECT_EQ(text.str(), "out\nout\n");
}

// Waits until each rank has told that its trap is set, which "ready PID" says.
void wait_until_ready(Process& process, std::size_t ranks) {
  EXPECT_TRUE(process.wait_for(
      [ranks](const Outcome& o) { return numbers(o.out, "ready").size() == ranks; }));
}

// Launch hears of both ends at once, that of the rank that failed by itself first.
TEST(LaunchTest, RanksThatEndTogetherAreRestartedOnceEach) {
  Process process(millrace_command(
      launch({"-n", "2", "--restarts", "9", "--json"},
             "trap 'exit 1' USR1; echo ready$RANK $$; while :; do sleep 0.01; done")));
  const auto pids = [](const Outcome& o, const std::string& rank) {
    return numbers(o.out, "ready" + rank);
  };
  std::vector<int> first, second;
  EXPECT_TRUE(process.wait_for([&](const Outcome& o) {
    first = pids(o, "0");
    second = pids(o, "1");
    return !first.empty() && !second.empty();
  }));
  process.send(SIGSTOP);
  while (state_of(process.pid()) != 'T') ::poll(nullptr, 0, 1);
  ::kill(first[0], SIGUSR1);
  EXPECT_TRUE(wait_until_gone(first[0]));
  ::kill(second[0], SIGKILL);
  EXPECT_TRUE(wait_until_gone(second[0]));
  process.send(SIGCONT);
  EXPECT_TRUE(process.wait_for(
      [&](const Outcome& o) { return pids(o, "0").size() == 2 && pids(o, "1").size() == 2; }));
  process.send(SIGTERM);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 128 + SIGTERM) << o.err;
  EXPECT_EQ(events(o.out).back()["restarts"], 2);
}

TEST(LaunchTest, AnEventIsALineOfItsOwn) {
  const Outcome o = run_millrace(launch({"-n", "2", "--json"}, "printf abc"));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(of_kind(events(o.out), "rank_end").size(), 2u) << o.out;
  const Words all = lines(o.out);
  EXPECT_EQ(std::ranges::count(all, "abc"), 2) << o.out;
  EXPECT_EQ(std::ranges::count(all, ""), 0) << o.out;
}

// A shell that waits runs its traps at once. What it waits for ignores the signals that its group
// gets, too; a command that it forked and waited for would lose one that comes before its exec.
std::string waiting(const std::string& trap) {
  return "trap '" + trap + "' INT TERM; (trap '' INT TERM; exec sleep 600) & echo ready $$; " +
         "while :; do wait; done";
}

TEST(LaunchTest, CtrlCReachesEachRankOnce) {
  for (const auto& [number, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    Process process(
        millrace_command(launch({"-n", "2", "--grace", "600"}, waiting("echo got $RANK; exit 0"))));
    wait_until_ready(process, 2);
    process.send(number);
    const Outcome o = process.wait();
    EXPECT_EQ(o.code, code) << o.err;
    std::vector<int> got = numbers(o.out, "got");
    std::ranges::sort(got);
    EXPECT_THAT(got, ElementsAre(0, 1));
  }
}

TEST(LaunchTest, SecondSignalKills) {
  Process process(
      millrace_command(launch({"-n", "2", "--grace", "600"}, waiting("echo got $RANK"))));
  wait_until_ready(process, 2);
  process.send(SIGINT);
  EXPECT_TRUE(process.wait_for([](const Outcome& o) { return numbers(o.out, "got").size() == 2; }));
  process.send(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.code, 130) << o.err;
  for (const int pid : numbers(o.out, "ready")) EXPECT_FALSE(is_alive(pid));
}

TEST(LaunchTest, DeadlineEndsWhatIgnoresSigterm) {
  const Outcome o = run_millrace(
      launch({"-n", "2", "--grace", "0.01", "--deadline", "0.2"}, waiting("echo got $RANK")));
  EXPECT_EQ(o.code, 124) << o.err;
  EXPECT_THAT(o.err, HasSubstr("--deadline 0.2 came before all ranks had ended"));
}

// A pipe that is open for reading, and from which nothing reads.
class FullPipe {
 public:
  FullPipe() {
    EXPECT_EQ(::mkfifo(path().c_str(), 0600), 0);
    reader_ = Descriptor(::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    EXPECT_TRUE(reader_);
  }
  std::string path() const { return folder_.path() + "/pipe"; }
  // `millrace launch WORDS` with the pipe as its stdout.
  std::vector<std::string> command(const std::string& words) const {
    return {"/bin/sh", "-c",
            "exec '" + testing::build_folder() + "/bin/millrace' launch " + words + " > " + path()};
  }
  void wait_until_full() const {
    int bytes = 0;
    while (::ioctl(reader_.get(), FIONREAD, &bytes) == 0 && bytes < kFull) ::poll(nullptr, 0, 1);
  }

 private:
  static constexpr int kFull = 60 << 10;
  testing::TempFolder folder_;
  Descriptor reader_;
};

TEST(LaunchTest, ReaderThatTakesNothingHoldsNoDeadlineUp) {
  const FullPipe pipe;
  Process process(pipe.command("-n 2 --grace 0.01 --deadline 0.2 -- yes"));
  EXPECT_EQ(process.wait().code, 124) << process.wait().err;
}

TEST(LaunchTest, ReaderThatTakesNothingHoldsNoSignalUp) {
  const FullPipe pipe;
  Process process(pipe.command("-n 2 --grace 600 --deadline 600 --json -- yes"));
  pipe.wait_until_full();
  process.send(SIGINT);
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().code, 130) << process.wait().err;
}

// Those who have joined hear of a failure although launch waits for its reader.
TEST(LaunchTest, ReaderThatTakesNothingHoldsNoFailureUp) {
  const FullPipe pipe;
  const testing::TempFolder files;
  const auto word_of = [&](const char* name) {
    std::string line;
    while (!(std::ifstream(files.file(name)) >> line >> line)) ::poll(nullptr, 0, 1);
    return line;
  };
  const std::string rank = "exec " + testing::build_folder() + "/bin/job_rank ";
  Process process(
      pipe.command("-n 3 --silent-after 0 --grace 600 -- sh -c 'case $RANK in 0) exec yes;; 1) " +
                   rank + "joined sleep 600 > " + files.file("joined") + ";; *) " + rank +
                   "joined failure > " + files.file("heard") + ";; esac'"));
  pipe.wait_until_full();
  word_of("heard");  // it has joined, too
  ::kill(std::stoi(word_of("joined")), SIGKILL);
  std::string heard;
  while (heard.find("rank 1") == std::string::npos) {
    ::poll(nullptr, 0, 1);
    std::stringstream all;
    all << std::ifstream(files.file("heard")).rdbuf();
    heard = all.str();
  }
  process.send(SIGINT);
  process.send(SIGTERM);
  process.wait();
}

TEST(LaunchTest, WhatARankLeavesInItsGroupEndsWithIt) {
  const Outcome o = run_millrace(launch({"-n", "1"}, "sleep 600 & echo left $!"));
  EXPECT_EQ(o.code, 0) << o.err;
  const std::vector<int> left = numbers(o.out, "left");
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(wait_until_gone(left[0]));
}

TEST(LaunchTest, NoRankOutlivesALaunchThatIsKilled) {
  Process process(millrace_command(
      launch({"-n", "3"}, "sleep 600 & echo left $!; echo ready $$; while :; do wait; done")));
  wait_until_ready(process, 3);
  process.send(SIGKILL);
  const Outcome o = process.wait();
  EXPECT_EQ(o.code, 128 + SIGKILL);
  for (const int pid : numbers(o.out, "ready")) EXPECT_TRUE(wait_until_gone(pid));
  for (const int pid : numbers(o.out, "left")) EXPECT_TRUE(wait_until_gone(pid));
}

TEST(LaunchTest, ManyRanksStartAndEnd) {
  const Outcome o = run_millrace({"launch", "-n", "256", "--json", "--", "/bin/true"});
  EXPECT_EQ(o.code, 0) << o.err;
  const std::vector<Json> all = events(o.out);
  EXPECT_EQ(all.front()["ranks"].size(), 256U);
  EXPECT_EQ(of_kind(all, "rank_end").size(), 256U);
  EXPECT_EQ(all.back()["ok"], true);
}

TEST(LaunchTest, OptionsThatMakeNoSenseAreRefused) {
  for (const Words& words :
       {Words{"launch", "--", "/bin/true"}, Words{"launch", "-n", "0", "--", "/bin/true"},
        Words{"launch", "-n", "1025", "--", "/bin/true"}, Words{"launch", "-n", "2"},
        Words{"launch", "-n", "2", "--grace", "nan", "--", "/bin/true"},
        Words{"launch", "-n", "2", "--grace", "-1", "--", "/bin/true"}}) {
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 2) << o.err;
    EXPECT_THAT(o.out, IsEmpty());
  }
}

TEST(LaunchTest, ProgramWithoutNOrAMarkIsRefusedWithWhatHelps) {
  struct Row {
    Words words;
    std::string says;
  };
  const std::string mark = "put -- before the program";
  for (const Row& row : std::vector<Row>{
           {{"--", "./x"},
            "-n is required before the program: how many ranks are started, as in "
            "millrace launch -n 2 -- ./x; see millrace launch --help\n"},
           {{"3", "--", "./x"}, "-n is required"},
           {{"3", "--", "./x"}, "millrace launch -n 3 -- ./x;"},
           {{"3", "./x"}, "-n is required"},
           {{"./x"}, "-n is required"},
           {{"--", "./x", "-n", "3"}, "-n is required before the program"},
           {{"-n", "3", "./x", "--help"}, mark + ", as in millrace launch -n 3 -- ./x --help;"},
           {{"-n3", "./x", "-h"}, mark + ", as in millrace launch -n 3 -- ./x -h;"},
           {{"--ranks=3", "./x", "--foo", "1"},
            "'--foo' is taken for an option of launch: " + mark},
           {{"--json", "./x", "--foo"}, "launch -n 2 -- ./x --foo;"},
           {{"-n", "3", "./x", "--", "a"}, mark + ", not behind it, as in millrace launch -n 3"},
           {{"-n", "3", "--"}, "a program must follow the --"},
           {{"-n", "3"}, "PROGRAM is required"},
           {{"-n", "3", "--grcae", "1", "--", "./x"}, "did you mean '--grace'?"},
           {{"-n", "0", "./x", "--foo"}, "--ranks"}}) {
    Words words = row.words;
    words.insert(words.begin(), "launch");
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 2) << ::testing::PrintToString(words) << o.err;
    EXPECT_THAT(o.out, IsEmpty()) << ::testing::PrintToString(words);
    EXPECT_THAT(o.err, HasSubstr(row.says)) << ::testing::PrintToString(words);
  }
}

TEST(LaunchTest, OptionsOfLaunchMayStandBehindAProgramWithoutAnyOfItsOwn) {
  for (const Words& words :
       {Words{"launch", "-n", "1", "/bin/echo", "a"}, Words{"launch", "/bin/echo", "a", "-n", "1"},
        Words{"launch", "/bin/echo", "--store", "tcp", "-n1", "a"},
        Words{"launch", "-n", "1", "--", "/bin/echo", "a"}}) {
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 0) << ::testing::PrintToString(words) << o.err;
    EXPECT_EQ(o.out, "a\n") << ::testing::PrintToString(words);
  }
  for (const Words& words : {Words{"launch", "--help"}, Words{"launch", "-h", "--", "./x"},
                             Words{"launch", "-n", "2", "--help", "./x"}}) {
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 0) << ::testing::PrintToString(words);
    EXPECT_THAT(o.out, HasSubstr("--restart-delay")) << ::testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace millrace
