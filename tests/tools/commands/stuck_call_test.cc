// The commands on a plugin of which a function never returns once it is opened: --deadline and the
// first signal end them, with the function and the plugin. Real processes and real signals, because
// those are what is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "millrace/transfer/formats/npy.h"
#include "tests/support/paths.h"
#include "tests/support/plus_one.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/fault_pipe.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using testing::FaultPipe;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::Process;

using Environ = std::map<std::string, std::string>;

const Environ kCalls = {{"stuck.compile", "PJRT_Client_Compile"},
                        {"stuck.put", "PJRT_Client_BufferFromHostBuffer"},
                        {"stuck.execute", "PJRT_LoadedExecutable_Execute"},
                        {"stuck.ready", "PJRT_Buffer_ReadyEvent"}};
constexpr const char* kFreeClient = "stuck.free_client";

class StuckCallTest : public ::testing::Test {
 protected:
  StuckCallTest() {
    const std::string text = testing::kPlusOne;
    program_ = folder_.write("p.mlir", std::as_bytes(std::span(text)));
    input_ = folder_.file("x.npy");
    const float values[] = {1, 2, 3, 4};
    EXPECT_TRUE(transfer::write_npy_file(input_, devices::Shape(devices::DType::kF32, {4}),
                                         std::as_bytes(std::span(values))));
  }
  std::vector<std::string> run() const { return with_plugin({"run", program_, "--input", input_}); }
  static std::vector<std::string> with_plugin(std::vector<std::string> words) {
    words.insert(words.end(),
                 {"--plugin", "npu=" + testing::build_folder() + "/lib/faulty_plugin.so"});
    return testing::millrace_command(std::move(words));
  }
  testing::TempFolder folder_;
  std::string program_, input_;
};

TEST_F(StuckCallTest, DeadlineEndsRunAndNamesTheCall) {
  const auto start = [&](const std::string& fault, const std::string& limit) {
    std::vector<std::string> words = run();
    words.insert(words.end(), {"--deadline", limit});
    return std::make_unique<Process>(words, Environ{{"MILLRACE_FAULT", fault}});
  };
  const auto there = [](const std::string& fault, const Outcome& o) {
    EXPECT_EQ(o.code, 124) << fault << ": " << o.err;
    return o.err.find(kCalls.at(fault)) != std::string::npos;
  };
  const auto names = std::views::keys(kCalls);
  const auto all = testing::until_limit(2, {names.begin(), names.end()}, start, there);
  for (const auto& [fault, end] : all) {
    SCOPED_TRACE(fault);
    const std::string& told = end.outcome.err;
    EXPECT_THAT(told,
                HasSubstr("--deadline " + end.limit + " came before " + program_ + " was done"));
    EXPECT_THAT(told, HasSubstr(kCalls.at(fault)));
    EXPECT_THAT(told, HasSubstr("npu"));
  }
}

// The command's outcome is printed by then; its own threads and timers are gone.
TEST_F(StuckCallTest, DeadlineEndsAnExitHandlerThatDoesNotReturn) {
  const auto start = [&](const std::string& limit) {
    std::vector<std::string> words = run();
    words.insert(words.end(), {"--json", "--deadline", limit});
    return std::make_unique<Process>(words, Environ{{"MILLRACE_FAULT", "stuck.exit"}});
  };
  const auto there = [](const Outcome& o) {
    return o.err.find("an exit handler of a library has not returned") != std::string::npos;
  };
  const auto end = testing::until_limit(2, start, there);
  EXPECT_EQ(end.outcome.code, 124) << end.outcome.err;
  EXPECT_THAT(end.outcome.out, HasSubstr("execute_ms_median"));
  EXPECT_THAT(end.outcome.out, HasSubstr(R"({"event":"error","code":"DEADLINE_EXCEEDED",)"));
  EXPECT_TRUE(end.outcome.out.ends_with("\"exit\":124}\n")) << end.outcome.out;
  EXPECT_THAT(end.outcome.err,
              HasSubstr("millrace run: error: an exit handler of a library has not "
                        "returned within a second after --deadline"));
}

// One that has come while the plugin's function runs.
void expect_signal_ends(const std::vector<std::string>& words, const std::string& fault,
                        const std::string& call) {
#if defined(MILLRACE_TSAN)
  GTEST_SKIP() << "the thread sanitizer runs a handler where a thread calls what it intercepts, "
                  "which none of a command does that waits for a plugin";
#endif
  const FaultPipe pipe;
  Process process(words, pipe.variables(fault));
  ASSERT_TRUE(pipe.wait()) << "the plugin was never asked";
  process.send(SIGTERM);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 143) << o.err;
  EXPECT_THAT(o.err, HasSubstr("stopped on SIGTERM"));
  EXPECT_THAT(o.err, HasSubstr(call));
}

// What there was to tell has been told, and the exit code is that of the limit.
TEST_F(StuckCallTest, DeadlineEndsTheEndOfEachCommand) {
  const std::map<std::string, std::vector<std::string>> commands = {
      {"run", run()},
      {"inspect", with_plugin({"inspect", program_})},
      {"train", with_plugin({"train", "--model", testing::mnist_model(), "--fake-data",
                             "--max-steps", "1", "--json"})}};
  const auto start = [&](const std::string& name, const std::string& limit) {
    std::vector<std::string> words = commands.at(name);
    words.insert(words.end(), {"--deadline", limit});
    Environ variables{{"MILLRACE_FAULT", kFreeClient}};
#if defined(MILLRACE_TSAN)
    // The process ends without a runtime's end, which is where threads that have ended are joined.
    const char* const options = std::getenv("TSAN_OPTIONS");
    variables["TSAN_OPTIONS"] =
        (options == nullptr ? "" : std::string(options) + ":") + "report_thread_leaks=0";
#endif
    return std::make_unique<Process>(words, variables);
  };
  const auto there = [](const std::string& /*name*/, const Outcome& o) {
    return o.err.find("PJRT_Client_Destroy") != std::string::npos;
  };
  for (const auto& [name, end] :
       testing::until_limit(2, {"run", "inspect", "train"}, start, there)) {
    SCOPED_TRACE(name);
    const Outcome& o = end.outcome;
    EXPECT_THAT(o.err,
                HasSubstr("--deadline " + end.limit + " came while the runtime was closing"));
    EXPECT_THAT(o.err, HasSubstr("PJRT_Client_Destroy of the plugin npu"));
    if (name == "train") {  // this plugin runs no such program, which it has told
      EXPECT_EQ(o.code, 4) << o.err;
      EXPECT_THAT(o.out, HasSubstr("\"exit\":4}"));
      EXPECT_THAT(o.out, ::testing::Not(HasSubstr("\"exit\":124")));
      EXPECT_LT(o.err.find("millrace train: error"), o.err.find("PJRT_Client_Destroy"));
    } else {
      EXPECT_EQ(o.code, 124) << o.err;
      EXPECT_THAT(o.out, HasSubstr("tensor<4xf32>"));
    }
  }
}

TEST_F(StuckCallTest, SignalEndsTheEndOfRun) {
  expect_signal_ends(run(), kFreeClient, "PJRT_Client_Destroy");
}

TEST_F(StuckCallTest, SignalEndsRun) {
  expect_signal_ends(run(), "stuck.execute", "PJRT_LoadedExecutable_Execute");
}

TEST_F(StuckCallTest, SignalEndsRunThatInheritedItBlocked) {
  sigset_t term;
  sigset_t before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &term, &before), 0);
  expect_signal_ends(run(), "stuck.execute", "PJRT_LoadedExecutable_Execute");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A short program that is repeated calls the plugin on the command's own thread.
TEST_F(StuckCallTest, SignalEndsARepeatedRunThatIsStuckOnItsOwnThread) {
  std::vector<std::string> words = run();
  words.insert(words.end(), {"--repeat", "100000"});
  expect_signal_ends(words, "stuck.execute_on_main", "PJRT_LoadedExecutable_Execute");
}

// It waits for nothing, so it has nothing to tell either.
TEST_F(StuckCallTest, SecondSignalEndsEachCommandAtOnce) {
#if defined(MILLRACE_TSAN)
  GTEST_SKIP() << "the thread sanitizer runs a handler where a thread calls what it intercepts";
#endif
  const std::vector<std::vector<std::string>> commands = {
      run(), with_plugin({"inspect", program_}),
      with_plugin({"train", "--model", testing::mnist_model(), "--fake-data"})};
  for (const std::vector<std::string>& words : commands) {
    const FaultPipe pipe;
    Process process(words, pipe.variables("stuck.compile"));
    ASSERT_TRUE(pipe.wait()) << "the plugin was never asked";
    process.send(SIGTERM);
    ASSERT_TRUE(process.wait_until_taken(SIGTERM));
    process.send(SIGTERM);
    const Outcome& o = process.wait();
    EXPECT_EQ(o.code, 143) << words[1] << o.err;
    EXPECT_THAT(o.err, ::testing::Not(HasSubstr("stopped on SIGTERM"))) << words[1];
  }
}

TEST_F(StuckCallTest, SignalEndsInspect) {
  expect_signal_ends(with_plugin({"inspect", program_}), "stuck.compile", "PJRT_Client_Compile");
}

TEST_F(StuckCallTest, SignalEndsTrain) {
  expect_signal_ends(with_plugin({"train", "--model", testing::mnist_model(), "--fake-data"}),
                     "stuck.compile", "PJRT_Client_Compile");
}

}  // namespace
}  // namespace millrace
