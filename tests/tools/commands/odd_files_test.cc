// The command among files, names and streams that are not as one expects: bytes that are no text,
// pipes where files belong, streams that are closed, a limit on the size of files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/transfer/formats/npy.h"
#include "tests/support/paths.h"
#include "tests/support/plus_one.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::millrace_command;
using testing::mnist_model;
using testing::Outcome;
using testing::Process;
using testing::run_millrace;
using Json = nlohmann::json;

const std::string kReplaced = "\xef\xbf\xbd";  // U+FFFD

class OddFilesTest : public ::testing::Test {
 protected:
  OddFilesTest() {
    const std::string text = testing::kPlusOne;
    program_ = write("p.mlir", text);
    input_ = folder_.file("x.npy");
    const float values[] = {1, 2, 3, 4};
    EXPECT_TRUE(transfer::write_npy_file(input_, devices::Shape(devices::DType::kF32, {4}),
                                         std::as_bytes(std::span(values))));
    pipe_ = folder_.file("pipe");
    EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
  }
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, std::as_bytes(std::span(text)));
  }
  // The command with words of a shell around it.
  static Outcome run_shell(const std::string& before, const std::vector<std::string>& words,
                           const std::string& after) {
    std::string line = before;
    for (const std::string& word : millrace_command(words)) line += " '" + word + "'";
    return Process({"/bin/sh", "-c", line + " " + after}).wait();
  }

  const testing::TempFolder folder_;
  std::string program_, input_, pipe_;
};

TEST_F(OddFilesTest, BytesThatAreNoTextAreReplacedInJson) {
  const std::string odd = write("\xff.mlir", R"(module @"a\FF\00b" {
  func.func public @"main"() -> tensor<f32> {
    %0 = func.call @"f\FE"() : () -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @"f\FE"() -> tensor<f32> {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    return %0 : tensor<f32>
  }
})");
  const Outcome o = run_millrace({"inspect", odd, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  EXPECT_EQ(json["file"], folder_.file(kReplaced + ".mlir"));
  EXPECT_EQ(json["module"], "a" + kReplaced + std::string("\0b", 2));
  EXPECT_EQ(json["functions"][1]["name"], "f" + kReplaced);
}

TEST_F(OddFilesTest, ADamagedNameInATraceIsReplacedInJson) {
  const std::string trace = folder_.file("t");
  ASSERT_EQ(run_millrace({"run", program_, "--input", input_, "--trace", trace}).code, 0);
  std::ifstream in(trace, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::size_t at = bytes.find("device 0");
  ASSERT_NE(at, std::string::npos);
  for (std::size_t i = at; i != std::string::npos; i = bytes.find("device 0", i)) bytes[i] = '\xff';
  const Outcome o = run_millrace({"trace", write("damaged", bytes), "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr(kReplaced + "evice 0"));
  EXPECT_TRUE(Json::parse(o.out).is_object());
}

TEST_F(OddFilesTest, ACheckpointMayLieUnderANameThatIsNoText) {
  const std::string folder = folder_.file("\xff\xfe");
  const std::vector<std::string> words = {"train",       "--model",  mnist_model(),
                                          "--fake-data", "--json",   "--checkpoint",
                                          folder,        "--resume", "--max-steps"};
  for (const char* steps : {"1", "2"}) {
    std::vector<std::string> all = words;
    all.emplace_back(steps);
    const Outcome o = run_millrace(all);
    ASSERT_EQ(o.code, 0) << o.err;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(Json::parse(line).is_object()) << line;
    EXPECT_THAT(o.out, HasSubstr(kReplaced + kReplaced + "/step-0000000" + steps));
  }
  EXPECT_TRUE(std::filesystem::exists(folder + "/step-00000002"));
}

TEST_F(OddFilesTest, APipeOrADeviceWhereAFileBelongsIsRefusedAtOnce) {
  const testing::TempFolder model;
  ASSERT_EQ(::mkfifo(model.file("manifest.json").c_str(), 0600), 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", pipe_},
        {"run", program_, "--input", pipe_},
        {"inspect", pipe_},
        {"trace", pipe_},
        {"train", "--model", model.path(), "--fake-data"}}) {
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 1) << words[0];
    EXPECT_THAT(o.err, HasSubstr("it is a pipe, where a regular file is expected")) << words[0];
  }
  EXPECT_THAT(run_millrace({"run", pipe_}).err, HasSubstr("only stdin may be a pipe"));
  const Outcome zero = run_millrace({"run", "/dev/zero"});
  EXPECT_EQ(zero.code, 1);
  EXPECT_THAT(zero.err, HasSubstr("it is a device"));
}

TEST_F(OddFilesTest, APipeInPlaceOfTheDataOrACheckpointIsRefusedAtOnce) {
  const std::vector<std::string> train = {"train", "--model", mnist_model(), "--quiet",
                                          "--max-steps"};
  const auto run = [&train](std::vector<std::string> more) {
    more.insert(more.begin(), train.begin(), train.end());
    return run_millrace(more);
  };
  const Outcome data = run({"1", "--data", pipe_});
  EXPECT_EQ(data.code, 1);
  EXPECT_THAT(data.err, HasSubstr("opening the data set " + pipe_));
  const testing::TempFolder set;
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
    ASSERT_EQ(::mkfifo(set.file(name).c_str(), 0600), 0);
  const Outcome member = run({"1", "--data", set.path()});
  EXPECT_EQ(member.code, 1);
  EXPECT_THAT(member.err, HasSubstr("it is a pipe, where a regular file is expected"));

  const std::string folder = folder_.file("c"), step = folder + "/step-00000001/";
  ASSERT_EQ(run({"1", "--fake-data", "--checkpoint", folder}).code, 0);
  const auto resume = [&] { return run({"2", "--fake-data", "--checkpoint", folder, "--resume"}); };
  for (const std::string name : {"arrays.safetensors", "checkpoint.json"}) {
    std::filesystem::rename(step + name, folder_.file("kept"));
    ASSERT_EQ(::mkfifo((step + name).c_str(), 0600), 0);
    const Outcome o = resume();
    EXPECT_EQ(o.code, 1) << name;
    EXPECT_THAT(o.err, HasSubstr(step + name + ": it is a pipe, where a regular file is expected"));
    std::filesystem::rename(folder_.file("kept"), step + name);
  }
  EXPECT_EQ(resume().code, 0);
}

TEST_F(OddFilesTest, APipeThatNothingReadsIsNotWaitedFor) {
  const std::string plugin = testing::build_folder() + "/lib/memory_plugin.so";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"inspect", program_, "--svg", pipe_},
        {"inspect", program_, "--write", pipe_},
        {"conform", plugin, "--filter", "table.*", "--junit", pipe_}}) {
    const Outcome o = run_millrace(words);
    EXPECT_EQ(o.code, 1) << words[0] << o.err;
    EXPECT_THAT(o.err, HasSubstr("writing " + pipe_ + ": it has no reader")) << words[0];
  }
}

TEST_F(OddFilesTest, StdinGivesTheProgramOrOneArray) {
  const Outcome program =
      run_shell("cat '" + program_ + "' |", {"run", "-", "--input", input_}, "");
  EXPECT_EQ(program.code, 0) << program.err;
  EXPECT_THAT(program.out, HasSubstr("[2, 3, 4, 5]"));
  for (const char* verb : {"run", "inspect"}) {
    std::vector<std::string> words = {verb, program_, "--input", "-"};
    if (words[0] == "inspect") words.insert(words.end(), {"--ops", "--repeat", "1"});
    const Outcome array = run_shell("", words, "< '" + input_ + "'");
    EXPECT_EQ(array.code, 0) << array.err;
  }
  const Outcome both = run_shell("", {"run", "-", "--input", "-"}, "< '" + program_ + "'");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("stdin can be read only once"));
  const Outcome empty = run_shell("", {"run", "-"}, "< /dev/null");
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("the program on stdin is empty"));
}

// Both ends of the pipe are the shell's, so that its end never comes.
TEST_F(OddFilesTest, DeadlineAndSignalEndTheReadingOfStdin) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"run", "-"},
                                                {"inspect", "-"},
                                                {"run", program_, "--input", "-"}}) {
    std::vector<std::string> with_limit = words;
    with_limit.insert(with_limit.end(), {"--deadline", "0.2"});
    const Outcome late = run_shell("exec", with_limit, "0<> '" + pipe_ + "'");
    EXPECT_EQ(late.code, 124) << late.err;
    EXPECT_THAT(late.err, HasSubstr("--deadline 0.2 came before " + words[1] + " was "));
  }
  Process process(
      {"/bin/sh", "-c", "exec '" + millrace_command({})[0] + "' run - 0<> '" + pipe_ + "'"});
  ASSERT_TRUE(process.wait_until_caught(SIGTERM));
  process.send(SIGTERM);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 143) << o.err;
  EXPECT_THAT(o.err,
              HasSubstr("stopped on SIGTERM before - was done: stopped while stdin was read"));
}

// The error about the deadline is not read either.
TEST_F(OddFilesTest, DeadlineEndsACommandWhoseOutputIsNotRead) {
  const int pipe = ::open(pipe_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(pipe, 0);
  const std::string block(4096, 'x');
  while (::write(pipe, block.data(), block.size()) > 0) {
  }
  const Outcome o = run_shell("exec", {"inspect", program_, "--json", "--deadline", "0.5"},
                              "> '" + pipe_ + "' 2>&1");
  ::close(pipe);
  EXPECT_EQ(o.code, 124);
}

// The descriptors that it opens do not become its streams.
TEST_F(OddFilesTest, ClosedStreamsAreNotTakenByWhatIsOpened) {
  const std::vector<std::string> training = {
      "train", "--model", mnist_model(), "--fake-data", "--quiet", "--max-steps", "2"};
  for (const char* closed : {"<&- >&- 2>&-", "<&-", ">&-", "2>&-"}) {
    EXPECT_EQ(run_shell("exec", training, closed).code, 0) << closed;
    EXPECT_EQ(run_shell("exec", {"run", program_, "--input", input_}, closed).code, 0) << closed;
  }
}

TEST_F(OddFilesTest, ALimitOnTheSizeOfFilesIsAnErrorWithWords) {
  const std::vector<std::string> training = {
      "train", "--model", mnist_model(), "--fake-data", "--quiet", "--max-steps", "2"};
  for (const std::string option : {"--trace", "--checkpoint"}) {
    std::vector<std::string> words = training;
    words.insert(words.end(), {option, folder_.file("out" + option)});
    const Outcome o = run_shell("ulimit -f 4; exec", words, "");
    EXPECT_EQ(o.code, 1) << option << o.err;
    EXPECT_THAT(o.err, HasSubstr("File too large")) << option;
  }
}

TEST_F(OddFilesTest, FilesAreWrittenThroughLinksAndIntoPipes) {
  const std::string picture = write("t.svg", "old");
  ASSERT_EQ(::symlink("t.svg", folder_.file("l.svg").c_str()), 0);
  ASSERT_EQ(run_millrace({"inspect", program_, "--svg", folder_.file("l.svg")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.file("l.svg")));
  EXPECT_GT(std::filesystem::file_size(picture), 100U);
  const int reader = ::open(pipe_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(run_millrace({"inspect", program_, "--write", pipe_}).code, 0);
  char bytes[4096];
  const ssize_t count = ::read(reader, bytes, sizeof bytes);
  ::close(reader);
  ASSERT_GT(count, 0);
  EXPECT_THAT(std::string(bytes, static_cast<std::size_t>(count)), HasSubstr("stablehlo.add"));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe_));
  const Outcome folder = run_millrace({"inspect", program_, "--write", folder_.path()});
  EXPECT_EQ(folder.code, 1);
  EXPECT_THAT(folder.err, HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace millrace
