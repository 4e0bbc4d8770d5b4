#include "millrace/devices/pjrt/plugin_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/temp_folder.h"

namespace millrace::devices::pjrt {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

Variables variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(ParsePluginTest, OptionsHaveTheTypesThatTheyLookLike) {
  const PluginEntry entry =
      parse_plugin("xla_cpu=/p/a.so,devices=8,fast=true,share=0.5,ids=1;2;3,name=x y").value();
  EXPECT_EQ(entry.name, "xla_cpu");
  EXPECT_EQ(entry.path, "/p/a.so");
  EXPECT_EQ(entry.settings.at("devices"), Attribute(std::int64_t{8}));
  EXPECT_EQ(entry.settings.at("fast"), Attribute(true));
  EXPECT_EQ(entry.settings.at("share"), Attribute(0.5));
  EXPECT_EQ(entry.settings.at("ids"), Attribute(std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(entry.settings.at("name"), Attribute(std::string("x y")));
}

TEST(ParsePluginTest, OptionsHaveTheTypesThatAreGiven) {
  const PluginEntry entry =
      parse_plugin("a=/p/a.so,x:text=8,y:float=1,z:ints=4,b:bool=false,i:int=-2,t:text=true")
          .value();
  EXPECT_EQ(entry.settings.at("x"), Attribute(std::string("8")));
  EXPECT_EQ(entry.settings.at("y"), Attribute(1.0));
  EXPECT_EQ(entry.settings.at("z"), Attribute(std::vector<std::int64_t>{4}));
  EXPECT_EQ(entry.settings.at("b"), Attribute(false));
  EXPECT_EQ(entry.settings.at("i"), Attribute(std::int64_t{-2}));
  EXPECT_EQ(entry.settings.at("t"), Attribute(std::string("true")));
  struct Row {
    const char *text, *words;
  };
  for (const Row& row : {Row{"a=b,x:int=1.5", "x:int=1.5' of plugin a: '1.5' is no int"},
                         Row{"a=b,x:bool=1", "'1' is no bool"}, Row{"a=b,x:ints=1;b", "is no ints"},
                         Row{"a=b,x:float=", "'' is no float"},
                         Row{"a=b,x:char=c", "no type 'char': text, int, float, bool, ints"}}) {
    const auto bad = parse_plugin(row.text);
    ASSERT_FALSE(bad) << row.text;
    EXPECT_EQ(bad.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(bad.error().message(), HasSubstr(row.words));
  }
}

TEST(ParsePluginTest, WhatIsNoPluginIsRefused) {
  for (const char* text : {"", "name", "=path", "name=", "name=path,option", "name=path,=1"}) {
    const auto entry = parse_plugin(text);
    ASSERT_FALSE(entry) << text;
    EXPECT_EQ(entry.error().code(), ErrorCode::kInvalidArgument) << text;
  }
  const auto large = parse_plugin("name=path,n=99999999999999999999");
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message(), HasSubstr("more than 64 bits with a sign hold"));
  EXPECT_TRUE(parse_plugin("name=path,n:text=99999999999999999999"));
  const auto named = parse_plugin("n\x1b[2Ju=path");
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().message(), HasSubstr("'n\\x1b[2Ju' cannot name a kind of device"));
}

TEST(ParsePluginTest, PathMayBeAManifestWhoseOptionsHoldWhereNoneAreGiven) {
  const TempFolder folder;
  const std::string file = folder.write("m.json", bytes(R"({"name": "other", "library_path": "a.so",
      "priority": 7, "create_options": {"n": 2, "s": "t"}})"));
  const PluginEntry entry = parse_plugin("npu=" + file + ",n=3,x=true").value();
  EXPECT_EQ(entry.name, "npu");
  EXPECT_EQ(entry.path, folder.file("a.so"));
  EXPECT_EQ(entry.origin, kGivenPlugin);
  EXPECT_EQ(entry.priority, 1000);
  EXPECT_EQ(entry.settings.at("n"), Attribute(std::int64_t{3}));
  EXPECT_EQ(entry.settings.at("s"), Attribute(std::string("t")));
  EXPECT_EQ(entry.settings.at("x"), Attribute(true));
  const auto none = parse_plugin("npu=/nowhere/m.json");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("/nowhere/m.json"));
}

// On a terminal they would do more than name something.
TEST(FindPluginsTest, NamesWithControlCharactersArePassedOver) {
  const TempFolder folder;
  const std::string file =
      folder.write("bad.json", bytes(R"({"name": "a\nb", "library_path": "a.so"})"));
  const PluginList list =
      find_plugins({}, variables({{"PJRT_NAMES_AND_LIBRARY_PATHS", "c\x7f:x.so,d\t,e:y.so"},
                                  {"MILLRACE_PLUGIN_PATH", folder.path()}}));
  ASSERT_EQ(list.entries.size(), 1U);
  EXPECT_EQ(list.entries[0].name, "e");
  ASSERT_EQ(list.problems.size(), 3U);
  EXPECT_THAT(list.problems[0].message(),
              HasSubstr("PJRT_NAMES_AND_LIBRARY_PATHS: 'c\\x7f' cannot name"));
  EXPECT_THAT(list.problems[1].message(), HasSubstr("has 'd\\x09', where"));
  EXPECT_THAT(list.problems[2].message(), HasSubstr(file + ": 'a\\x0ab' cannot name"));
}

TEST(ManifestTest, IsReadWithAPathBesideIt) {
  const TempFolder folder;
  const std::string file = folder.write("npu.json", bytes(R"({"name": "npu",
      "library_path": "lib/npu.so", "priority": 7, "create_options": {"n": 2, "s": "t"}})"));
  const PluginEntry entry = read_manifest(file).value();
  EXPECT_EQ(entry.name, "npu");
  EXPECT_EQ(entry.path, folder.file("lib/npu.so"));
  EXPECT_EQ(entry.priority, 7);
  EXPECT_EQ(entry.settings.at("n"), Attribute(std::int64_t{2}));
  EXPECT_EQ(entry.origin, file);
}

TEST(ManifestTest, EveryBadOneNamesFileAndReason) {
  struct Row {
    std::string text, words;
  };
  for (const Row& row :
       {Row{"", "no JSON object"}, Row{"[1]", "no JSON object"}, Row{"{", "no JSON object"},
        Row{R"({"name": "a", "library_path": "a.so", "create_options": {"x": 1e400}})", "'1e400'"},
        Row{R"({"name": "a", "library_path": "a\u0000.so"})", "'library_path'"},
        Row{R"({"library_path": "a.so"})", "no name"}, Row{R"({"name": "a"})", "no library_path"},
        Row{R"({"name": 3, "library_path": "a.so"})", "'name': 3"},
        Row{R"({"name": "a", "library_path": "a.so", "colour": 1})", "'colour': 1"},
        Row{R"({"name": "a", "library_path": "a.so", "create_options": {"x": null}})",
            "create option x: it is null"}}) {
    const TempFolder folder;
    const auto entry = read_manifest(folder.write("bad.json", bytes(row.text)));
    ASSERT_FALSE(entry) << row.text;
    EXPECT_THAT(entry.error().message(), HasSubstr("bad.json"));
    EXPECT_THAT(entry.error().message(), HasSubstr(row.words));
  }
  EXPECT_FALSE(read_manifest("/nowhere/none.json"));
}

TEST(CreateOptionsTest, WordsStandForThePlaceOfTheProcess) {
  PluginEntry entry{.name = "npu", .path = "npu.so"};
  entry.settings = {{"ordinal", std::string("$local_rank")}, {"text", std::string("plain")}};
  const auto alone = create_options(entry, {}).value();
  EXPECT_EQ(alone, (std::map<std::string, Attribute>{{"ordinal", std::int64_t{0}},
                                                     {"text", std::string("plain")}}));
  const ProcessPlace place{.index = 5, .count = 8, .local_rank = 1, .local_size = 4, .host = 1};
  auto several = create_options(entry, place).value();
  EXPECT_EQ(several.at("ordinal"), Attribute(std::int64_t{1}));
  EXPECT_EQ(several.size(), 2U)
      << "the manifest asks for no more, and plugins refuse options that are new to them";
  entry.process_settings = {{"node_id", std::string("$process")},
                            {"num_nodes", std::string("$processes")}};
  EXPECT_EQ(create_options(entry, {})->size(), 2U);
  several = create_options(entry, place).value();
  EXPECT_EQ(several.at("node_id"), Attribute(std::int64_t{5}));
  EXPECT_EQ(several.at("num_nodes"), Attribute(std::int64_t{8}));
  entry.settings["node_id"] = std::int64_t{7};
  EXPECT_EQ(create_options(entry, place)->at("node_id"), Attribute(std::int64_t{7}));
  entry.settings["bad"] = std::string("$rank");
  const auto bad = create_options(entry, place);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message(), HasSubstr("the create option bad of plugin npu is '$rank'; "
                                               "known are: $host, $local_rank"));
}

TEST(ManifestTest, ReportsTheOptionsOfSeveralProcesses) {
  const TempFolder folder;
  const PluginEntry entry =
      read_manifest(folder.write("npu.json", bytes(R"({"name": "npu", "library_path": "npu.so",
          "process_options": {"rank": "$process", "hosts": ["no"]}})")))
          .value_or(PluginEntry{});
  EXPECT_TRUE(entry.name.empty()) << "a list of texts is no create option";
  const PluginEntry good =
      read_manifest(folder.write("npu.json", bytes(R"({"name": "npu", "library_path": "npu.so",
          "process_options": {"rank": "$process"}})")))
          .value();
  const auto options = create_options(good, {.index = 2, .count = 3}).value();
  EXPECT_EQ(options, (std::map<std::string, Attribute>{{"rank", std::int64_t{2}}}));
}

TEST(FindPluginsTest, CommandLineThenVariableThenFoldersAndNoneBreaksAnother) {
  const TempFolder folder;
  folder.write("b.json", bytes(R"({"name": "b", "library_path": "/m/b.so"})"));
  folder.write("broken.json", bytes("{"));
  folder.write("c.json", bytes(R"({"name": "C", "library_path": "/m/c.so"})"));
  folder.write("note.txt", bytes("no manifest"));
  const PluginEntry given[] = {parse_plugin("a=/g/a.so").value()};
  const PluginList list = find_plugins(
      given, variables({{"PJRT_NAMES_AND_LIBRARY_PATHS", "a:/v/a.so,c:/v/c.so,oops,x:"},
                        {"MILLRACE_PLUGIN_PATH", folder.path() + ":/nowhere"}}));
  std::map<std::string, std::string> paths;
  for (const PluginEntry& entry : list.entries) paths[entry.name] = entry.path;
  EXPECT_EQ(paths, (std::map<std::string, std::string>{
                       {"a", "/g/a.so"}, {"b", "/m/b.so"}, {"c", "/v/c.so"}}));
  std::string problems;
  for (const Error& problem : list.problems) problems += problem.message() + "\n";
  EXPECT_THAT(problems, HasSubstr("'oops', where NAME:PATH is expected"));
  EXPECT_THAT(problems, HasSubstr("'x:', where NAME:PATH is expected"));
  EXPECT_THAT(problems, HasSubstr("broken.json"));
  EXPECT_THAT(problems,
              HasSubstr("PJRT_NAMES_AND_LIBRARY_PATHS names a plugin 'a', which --plugin"));
  EXPECT_THAT(problems, HasSubstr("names a plugin 'C', which PJRT_NAMES_AND_LIBRARY_PATHS"));
  EXPECT_THAT(problems, HasSubstr("the folder /nowhere of MILLRACE_PLUGIN_PATH cannot be read"));
  EXPECT_EQ(list.problems.size(), 6u);
}

TEST(FindPluginsTest, ManifestWithALibraryWinsThenTheOneOfHigherPriority) {
  const TempFolder folder;
  const auto manifest = [&](const char* file, const char* library, const char* priority) {
    folder.write(file, bytes(std::string(R"({"name": "npu", "library_path": ")") + library +
                             R"(", "priority": )" + priority + "}"));
  };
  const auto found = [&](const std::map<std::string, std::string>& more) {
    std::map<std::string, std::string> all = more;
    all["MILLRACE_PLUGIN_PATH"] = folder.path();
    const PluginList list = find_plugins({}, variables(all));
    return list.entries.size() == 1 ? list.entries[0].path.substr(folder.path().size()) : "";
  };
  folder.write("low.so", bytes("low"));
  folder.write("high.so", bytes("high"));
  manifest("a.json", "gone.so", "9");
  manifest("b.json", "low.so", "1");
  EXPECT_EQ(found({}), "/low.so");
  manifest("c.json", "high.so", "5");
  EXPECT_EQ(found({}), "/high.so");
  manifest("d.json", "low.so", "5");
  EXPECT_EQ(found({}), "/high.so") << "the first of as much";
  // A library that is named by hand wins over every manifest.
  const std::string by_hand = "npu:" + folder.file("typed.so");
  EXPECT_EQ(found({{"PJRT_NAMES_AND_LIBRARY_PATHS", by_hand}}), "/typed.so");
}

TEST(CreateOptionsTest, TwoDollarsStandForOne) {
  PluginEntry entry{.name = "npu", .path = "npu.so"};
  entry.settings = {{"text", std::string("$$rank")}};
  EXPECT_EQ(create_options(entry, {})->at("text"), Attribute(std::string("$rank")));
}

TEST(FindPluginsTest, StandardFolderNeedNotBeThere) {
  EXPECT_TRUE(find_plugins({}, variables({})).problems.empty());
  EXPECT_TRUE(find_plugins({}, variables({{"MILLRACE_PLUGIN_PATH", "/usr/lib/millrace/plugins.d"}}))
                  .problems.empty());
}

TEST(FindPluginsTest, PathOfTheVariableMayBeAManifest) {
  const TempFolder folder;
  const std::string file = folder.write(
      "npu.json", bytes(R"({"library_path": "/m/npu.so", "create_options": {"k": 1}})"));
  const PluginList list = find_plugins(
      {},
      variables({{"PJRT_NAMES_AND_LIBRARY_PATHS", "npu:" + file}, {"MILLRACE_PLUGIN_PATH", ""}}));
  ASSERT_EQ(list.entries.size(), 1u);
  EXPECT_EQ(list.entries[0].name, "npu");
  EXPECT_EQ(list.entries[0].path, "/m/npu.so");
  EXPECT_EQ(list.entries[0].settings.at("k"), Attribute(std::int64_t{1}));
  EXPECT_TRUE(list.problems.empty());
}

}  // namespace
}  // namespace millrace::devices::pjrt
