#include "millrace/tools/commands/suggestion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::commands {
namespace {

TEST(SuggestionTest, TheWordWithTheFewestSlipsIsMeant) {
  const std::vector<std::string> known = {"train",     "trace",      "run",   "devices",
                                          "--devices", "--deadline", "--data"};
  struct Case {
    std::string word, meant;
  };
  for (const Case& c : {Case{"trian", "train"}, Case{"trance", "trace"}, Case{"rum", "run"},
                        Case{"device", "devices"}, Case{"--device", "--devices"},
                        Case{"--deadlien", "--deadline"}, Case{"--dat", "--data"},
                        Case{"train", ""}, Case{"frobnicate", ""}, Case{"x", ""}, Case{"", ""}})
    EXPECT_EQ(closest(c.word, known), c.meant) << c.word;
  EXPECT_EQ(closest("train", {}), "");
}

}  // namespace
}  // namespace millrace::commands
