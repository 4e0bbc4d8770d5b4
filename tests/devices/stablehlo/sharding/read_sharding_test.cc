#include "millrace/devices/stablehlo/sharding/read_sharding.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/core/base/read_file.h"
#include "millrace/devices/stablehlo/bytecode/read_bytecode.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "tests/fuzz/reads_back.h"
#include "tests/support/equal_modules.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"

namespace millrace::devices::stablehlo::sharding {
namespace {

using ::testing::HasSubstr;

constexpr const char* kMeshes = R"(module {
  sdy.mesh @mesh = <["a"=2, "b"=8, "c"=1]>
  sdy.mesh @turned = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
  sdy.mesh @one = <[], device_ids=[3]>
  sdy.mesh @empty = <[]>
})";

ir::Module module_of(std::string_view text) {
  auto module = text::read_text(text);
  if (module) return *std::move(module);
  ADD_FAILURE() << module.error().message();
  return {};
}

const Meshes& meshes() {
  static const Meshes made = *Meshes::of(module_of(kMeshes));
  return made;
}

std::string read_back(const std::string& text) {
  const auto sharding = read_sharding("#sdy.sharding" + text, meshes());
  return sharding ? to_string(*sharding) : sharding.error().message();
}

TEST(ReadSharding, WhatIsReadPrintsAsShardyPrintsIt) {
  for (const char* text : {
           R"(<@mesh, []>)",
           R"(<@mesh, [{}, {"a", "b"}, {?}]>)",
           R"(<@mesh, [{"a", ?}p1, {"b":(1)2, "b":(4)2}, {?}p0], replicated={"b":(2)2, "c"}>)",
           R"(<@mesh, [{}], unreduced={"a", "b":(2)4}>)",
           R"(<@mesh, [{}], unreduced=max{"a"}>)",
           R"(<@mesh, [{}], replicated={"b"}, unreduced=min{"a"}>)",
           R"(<mesh<["x"=4, "y\22"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>, [{"y\22"}, {"x"}]>)",
           R"(<@one, []>)",
           R"(<@empty, [{}, {?}]>)",
       }) {
    EXPECT_EQ(read_back(text), text);
  }
}

// SH-2
TEST(ReadSharding, SpellingsOfOneShardingAreEqual) {
  const auto read = [](const char* text) { return *read_sharding(text, meshes()); };
  const Sharding one = read(R"(#sdy.sharding<@mesh, [{"a"}, {?}], unreduced={"b"}>)");
  EXPECT_EQ(one, read(R"(#sdy.sharding< @mesh,[ {"a"},{ ? }],unreduced=sum{"b"} >)"));
  EXPECT_EQ(one, read(R"(#sdy.sharding<@"mesh", [{"a"}, {?}], unreduced{"b"}>)"));
  EXPECT_NE(one, read(R"(#sdy.sharding<@mesh, [{"a"}, {}], unreduced={"b"}>)"));
  EXPECT_NE(one, read(R"(#sdy.sharding<@mesh, [{"a"}, {?}], unreduced=max{"b"}>)"));
  EXPECT_NE(read("#sdy.sharding<@turned, []>"), read("#sdy.sharding<@mesh, []>"));
}

struct Bad {
  const char* name;
  const char* text;
  const char* message;
};

class BadSharding : public ::testing::TestWithParam<Bad> {};

// SH-1 of sharding.h among them.
TEST_P(BadSharding, IsAnErrorWithPlaceAndNumbers) {
  EXPECT_THAT(read_back(GetParam().text), HasSubstr(GetParam().message));
}

const Bad kBad[] = {
    {"Mesh", R"(<@other, [{}]>)", "there is no mesh @other"},
    {"Axis", R"(<@mesh, [{"x"}]>)",
     R"(there is no axis "x" in the mesh @mesh <["a"=2, "b"=8, "c"=1]>)"},
    {"AxisOfInlined", R"(<mesh<["y"=2]>, [{"x"}]>)",
     R"(there is no axis "x" in the mesh <["y"=2]>)"},
    {"TwiceInADim", R"(<@mesh, [{"a", "a"}]>)", R"(the axis "a" is used twice, beside "a")"},
    {"TwiceInTwoDims", R"(<@mesh, [{"a"}, {"a"}]>)", R"(the axis "a" is used twice, beside "a")"},
    {"TwiceReplicated", R"(<@mesh, [{"a"}], replicated={"a"}>)", R"(the axis "a" is used twice)"},
    {"TwiceUnreduced", R"(<@mesh, [{"a"}], unreduced={"a"}>)", R"(the axis "a" is used twice)"},
    {"WholeAndPart", R"(<@mesh, [{"b"}, {"b":(2)2}]>)",
     R"(the axis "b":(2)2 is used twice, beside "b")"},
    {"PartsThatOverlap", R"(<@mesh, [{"b":(1)4}, {"b":(2)4}]>)",
     R"(the axis "b":(2)4 is used twice, beside "b":(1)4)"},
    {"OfSizeOneTwice", R"(<@mesh, [{"c"}, {"c"}]>)", R"(the axis "c" is used twice)"},
    {"PartBeyond", R"(<@mesh, [{"b":(4)4}]>)", R"("b":(4)4 is no part of an axis of size 8)"},
    {"PartThatDoesNotDivide", R"(<@mesh, [{"b":(1)3}]>)",
     R"("b":(1)3 is no part of an axis of size 8)"},
    {"PartOfAll", R"(<@mesh, [{"b":(1)8}]>)", R"("b":(1)8 is no part of an axis of size 8)"},
    {"PartOfOne", R"(<@mesh, [{"b":(2)1}]>)", R"("b":(2)1 is no part)"},
    {"PartOfNothing", R"(<@mesh, [{"b":(0)2}]>)", R"("b":(0)2 is no part)"},
    {"PartOfHugeSize", R"(<@mesh, [{"b":(9223372036854775807)4611686018427387904}]>)",
     "is no part of an axis of size 8"},
    {"PartsOfOne", R"(<@mesh, [{"b":(1)2, "b":(2)2}]>)",
     R"(the axes "b":(1)2 and "b":(2)2 are one)"},
    {"UnsortedReplicated", R"(<@mesh, [{}], replicated={"b", "a"}>)",
     "that are not in the order of the mesh"},
    {"QuestionMarkFirst", R"(<@mesh, [{?, "a"}]>)", "'}' behind '?'"},
    {"Priority", R"(<@mesh, [{"a"}q1]>)", "expected a priority"},
    {"PriorityTooLarge", R"(<@mesh, [{"a"}p99999999999]>)", "expected a priority"},
    {"PriorityOfNothing", R"(<@mesh, [{}p1]>)", "closed and has no axes"},
    {"NoDims", R"(<@mesh>)", "expected ','"},
    {"MoreBehind", R"(<@mesh, []> x)", "expected the end"},
    {"OtherFields", R"(<@mesh, [], reduced={"a"}>)", "expected 'unreduced'"},
    {"AxisWithoutSize", R"(<mesh<["y"]>, []>)", "expected '='"},
    {"AxisOfSizeZero", R"(<mesh<["y"=0]>, []>)", R"(the axis "y" of size 0)"},
    {"AxisTwice", R"(<mesh<["y"=2, "y"=2]>, []>)", R"(the axis "y" stands twice)"},
    {"TooManyDevices", R"(<mesh<["x"=1024, "y"=2048]>, []>)", "a mesh of 2097152 devices"},
    {"NumberOfIds", R"(<mesh<["x"=2], device_ids=[1]>, []>)",
     "1 device ids of a mesh of 2 devices"},
    {"IdTwice", R"(<mesh<["x"=2], device_ids=[1, 1]>, []>)", "the device id 1 stands twice"},
    {"IdBeyond", R"(<mesh<["x"=2], device_ids=[1, 2]>, []>)",
     "the device id 2 of a mesh of 2 devices"},
    {"IdsOfNoAxes", R"(<mesh<[], device_ids=[1, 2]>, []>)", "a mesh without axes that has 2"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BadSharding, ::testing::ValuesIn(kBad),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(ReadSharding, MeshesThatAreWrittenTwiceAreAnError) {
  const auto made = Meshes::of(module_of(R"(module {
  sdy.mesh @m = <["a"=2]>
  sdy.mesh @m = <["a"=4]>
})"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message(), "3:3: sdy.mesh: the mesh @m is defined twice");
}

TEST(ReadSharding, MeshesOfOtherDevicesThanTheProgramAreAnError) {
  const auto made = Meshes::of(module_of(R"(module {
  sdy.mesh @m = <["a"=2, "b"=4]>
  sdy.mesh @one = <[], device_ids=[7]>
  sdy.mesh @none = <[]>
})"));
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->check_devices(8));
  EXPECT_EQ(made->check_devices(4).error().message(),
            R"(the mesh @m <["a"=2, "b"=4]> is of 8 devices, and the program runs on 4)");
}

TEST(ReadSharding, ADeviceIdOfOneDeviceAloneMustExist) {
  const auto made = Meshes::of(module_of("module { sdy.mesh @one = <[], device_ids=[7]>\n}"));
  EXPECT_TRUE(made->check_devices(8));
  EXPECT_EQ(made->check_devices(7).error().message(),
            "the mesh @one <[], device_ids=[7]> is of 8 devices, and the program runs on 7");
}

TEST(ReadSharding, AShardingHasTheRankOfItsValue) {
  ir::Module m;
  const auto check = [&](const char* text, ir::Type type) {
    const Status status = check_type(*read_sharding(text, meshes()), type);
    return status ? "good" : status.error().message();
  };
  const ir::Type matrix = m.types().tensor({2, 3}, DType::kF32);
  EXPECT_EQ(check("#sdy.sharding<@mesh, [{}, {}]>", matrix), "good");
  EXPECT_EQ(check("#sdy.sharding<@one, []>", matrix), "good");
  EXPECT_EQ(check("#sdy.sharding<@mesh, []>", m.types().token()), "good");
  EXPECT_EQ(check("#sdy.sharding<@mesh, [{}]>", matrix),
            "the sharding <@mesh, [{}]> has 1 dimensions, and the value is tensor<2x3xf32>");
  EXPECT_THAT(check("#sdy.sharding<@one, [{}, {}]>", matrix), HasSubstr("on one device"));
  EXPECT_THAT(check("#sdy.sharding<@mesh, [{}]>", m.types().token()), HasSubstr("no tensor"));
}

TEST(ReadSharding, ListsAreRead) {
  const ir::Module m = module_of(*read_file(millrace::testing::source_folder() +
                                            "/tests/devices/stablehlo/sharding/attributes.mlir"));
  const Meshes known = *Meshes::of(m);
  for (const ir::Op& op : m.find("main")->body().block()) {
    if (op.name() != "sdy.manual_computation") continue;
    const auto in = read_shardings(op.attr("in_shardings"), known);
    ASSERT_TRUE(in) << in.error().message();
    ASSERT_EQ(in->size(), 1u);
    EXPECT_EQ(to_string(in->front()), R"(<@mesh, [{"a"}, {"b":(1)2, ?}]>)");
    EXPECT_EQ(*read_manual_axes(op.attr("manual_axes")), std::vector<std::string>{"a"});
    EXPECT_THAT(read_manual_axes(op.attr("in_shardings")).error().message(),
                HasSubstr("the list of manual axes #sdy.sharding_per_value<"));
    EXPECT_EQ(read_shardings({}, known).error().message(), "a sharding per value is expected here");
    return;
  }
  FAIL() << "there is no manual computation";
}

class Programs : public ::testing::TestWithParam<const char*> {};

// Written by JAX (make_programs.py).
TEST_P(Programs, TextAndBytecodeAreEqual) {
  const std::string path = millrace::testing::source_folder() +
                           "/tests/devices/stablehlo/sharding/" + GetParam() + ".mlir";
  const ir::Module text = module_of(*read_file(path));
  const auto bytecode = bytecode::read_bytecode(*read_file(path + ".bc"));
  ASSERT_TRUE(bytecode) << bytecode.error().message();
  std::string why;
  EXPECT_TRUE(ir::equal(text, *bytecode, &why)) << why;
}

// Foreign bytes: whatever stands at a place, there is an error or a program that is one.
TEST_P(Programs, WithAnyByteChangedAreProgramsOrErrors) {
  const std::string bytes =
      *read_file(millrace::testing::source_folder() + "/tests/devices/stablehlo/sharding/" +
                 GetParam() + ".mlir.bc");
  int programs = 0;
  for (std::size_t at = 0; at < bytes.size(); at += millrace::testing::kSanitized ? 19 : 5) {
    ASSERT_FALSE(bytecode::read_bytecode(std::string_view(bytes).substr(0, at)));
    for (const int change : {1, 0x40, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const auto module = bytecode::read_bytecode(changed);
      if (!module) continue;
      ++programs;
      millrace::testing::check_reads_back(*module);
    }
  }
  EXPECT_GT(programs, 20);
}

INSTANTIATE_TEST_SUITE_P(Jax, Programs, ::testing::Values("attributes", "jit", "shard_map"),
                         [](const auto& i) { return std::string(i.param); });

}  // namespace
}  // namespace millrace::devices::stablehlo::sharding
