// The man page and the completion say what the command says: both are held against --help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using testing::Process;
using testing::run_millrace;
using Names = std::set<std::string>;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

// The names of options that the lines begin with: "  -h,--help  text".
Names options_in_help(const std::string& help) {
  Names names;
  for (std::string line : lines(help)) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.starts_with('-')) continue;
    const std::size_t name = line.find("--");
    if (name == std::string::npos) continue;
    names.insert(line.substr(name, line.find_first_of(" ,=", name) - name));
  }
  names.erase("--help");
  return names;
}

// The commands that the help lists.
std::vector<std::string> verbs() {
  std::vector<std::string> all;
  bool inside = false;
  for (const std::string& line : lines(run_millrace({"--help"}).out)) {
    if (line == "Subcommands:") inside = true;
    if (!inside || !line.starts_with("  ") || line[2] == ' ') continue;
    all.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return all;
}

struct ManPage {
  std::map<std::string, Names> options;  // by command
  Names variables;

  ManPage() {
    std::ifstream in(testing::source_folder() + "/tools/man/millrace.1");
    std::string section;
    std::string command;
    std::string before;
    for (std::string line; std::getline(in, line); before = line) {
      if (line.starts_with(".SH ")) section = line.substr(4);
      if (line.starts_with(".SS ")) {
        command = line.substr(4, line.find(' ', 4) - 4);
        options[command];
      }
      if (before != ".TP" || !line.starts_with(".B")) continue;
      if (section == "ENVIRONMENT") variables.insert(line.substr(3));
      if (section != "COMMANDS") continue;
      std::string name = line.substr(line.find("\\-"));
      name.resize(std::min(name.size(), name.find_first_of(" \"")));
      for (std::size_t at; (at = name.find("\\-")) != std::string::npos;) name.replace(at, 2, "-");
      options[command].insert(name);
    }
  }
};

TEST(ManPageTest, HasEveryCommandWithTheOptionsOfItsHelp) {
  const ManPage man;
  const std::vector<std::string> all = verbs();
  ASSERT_THAT(all, Contains("train"));
  EXPECT_EQ(man.options.size(), all.size());
  for (const std::string& verb : all) {
    ASSERT_TRUE(man.options.contains(verb)) << verb;
    EXPECT_EQ(man.options.at(verb), options_in_help(run_millrace({verb, "--help"}).out)) << verb;
  }
}

TEST(ManPageTest, HasTheVariablesThatEnvPrints) {
  const auto json = nlohmann::json::parse(run_millrace({"env", "--json"}).out);
  Names names;
  for (const auto& variable : json["variables"]) names.insert(variable["name"]);
  EXPECT_EQ(ManPage().variables, names);
}

TEST(ManPageTest, FormatsWithoutAWarning) {
  const std::string groff = "/usr/bin/groff";
  if (!std::ifstream(groff)) GTEST_SKIP() << "no groff here";
  Process process(
      {groff, "-man", "-ww", "-Tutf8", "-z", testing::source_folder() + "/tools/man/millrace.1"});
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.err, IsEmpty());
}

// What bash would offer for the words, the last of which is being typed.
std::vector<std::string> completed(const std::vector<std::string>& words) {
  std::string script =
      "source <(" + testing::build_folder() + "/bin/millrace completion) && COMP_WORDS=(";
  for (const std::string& word : words) script += "'" + word + "' ";
  script += ") COMP_CWORD=" + std::to_string(words.size() - 1) +
            " && _millrace && printf '%s\\n' \"${COMPREPLY[@]}\"";
  Process process({"/bin/bash", "-c", script});
  const Outcome o = process.wait();
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, IsEmpty());
  std::vector<std::string> offers;
  for (const std::string& line : lines(o.out)) {
    if (!line.empty()) offers.push_back(line);
  }
  return offers;
}

TEST(CompletionTest, OffersCommandsAndTheOptionsOfEach) {
  EXPECT_THAT(completed({"millrace", "tra"}), ::testing::UnorderedElementsAre("train", "trace"));
  EXPECT_THAT(completed({"millrace", "train", "--steps"}), ElementsAre("--steps-in-flight"));
  EXPECT_THAT(completed({"millrace", "train", "--fake"}), ElementsAre("--fake-data"));
  for (const std::string& verb : verbs()) {
    const std::vector<std::string> offers = completed({"millrace", verb, "--"});
    Names names(offers.begin(), offers.end());
    names.erase("--help");
    EXPECT_EQ(names, options_in_help(run_millrace({verb, "--help"}).out)) << verb;
  }
}

TEST(CompletionTest, OffersFilesFoldersOrNothingAsTheOptionWants) {
  const std::string source = testing::source_folder();
  EXPECT_THAT(completed({"millrace", "run", source + "/tools/models/mnist/in"}),
              ElementsAre(source + "/tools/models/mnist/init.mlir"));
  EXPECT_THAT(completed({"millrace", "trace", "--svg", source + "/tools/models/mnist/in"}),
              ElementsAre(source + "/tools/models/mnist/init.mlir"));
  EXPECT_THAT(completed({"millrace", "train", "--model", source + "/tools/models/mn"}),
              ElementsAre(source + "/tools/models/mnist"));
  EXPECT_THAT(completed({"millrace", "train", "--epochs", ""}), IsEmpty());
}

}  // namespace
}  // namespace millrace
