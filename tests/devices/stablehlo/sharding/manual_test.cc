#include "millrace/devices/stablehlo/sharding/manual.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::sharding {
namespace {

using ::testing::HasSubstr;

// A computation on a mesh of 2 x 4, its body giving what it gets.
std::string verdict(const std::string& in, const std::string& out, const std::string& axes,
                    const std::string& local) {
  const auto module = text::read_text(
      "module {\n sdy.mesh @m = <[\"a\"=2, \"b\"=4]>\n func.func @main(%x: tensor<8x6xf32>) -> "
      "tensor<8x6xf32> {\n %0 = sdy.manual_computation(%x) in_shardings=[" +
      in + "] out_shardings=[" + out + "] manual_axes=" + axes + " (%y: tensor<" + local +
      "xf32>) {\n sdy.return %y : tensor<" + local +
      "xf32>\n } : (tensor<8x6xf32>) -> tensor<8x6xf32>\n return %0 : tensor<8x6xf32>\n }\n}");
  if (!module) return "not read: " + module.error().message();
  const Status status = verify::verify(*module);
  return status ? "good" : status.error().message();
}

TEST(Manual, TheBodyHasThePartsOfItsAxes) {
  const std::string both = R"(<@m, [{"b"}, {"a"}]>)", one = R"(<@m, [{"b", "a"}, {}]>)";
  EXPECT_EQ(verdict(both, both, R"({"a", "b"})", "2x3"), "good");
  EXPECT_EQ(verdict(one, one, R"({"b"})", "2x6"), "good");
  EXPECT_EQ(verdict(R"(<@m, [{?}, {?}]>)", R"(<@m, [{?}, {?}]>)", R"({"b"})", "8x6"), "good");
}

struct Bad {
  const char* in;
  const char* out;
  const char* axes;
  const char* local;
  const char* message;
};

TEST(Manual, WhatDoesNotFitIsAnErrorWithPlaceAndNumbers) {
  constexpr Bad kBad[] = {
      {R"(<@m, [{"b"}, {}]>)", R"(<@m, [{"b"}, {}]>)", R"({"b"})", "8x6",
       "argument 0 of region 0 is tensor<8x6xf32>, expected tensor<2x6xf32>"},
      {R"(<@m, [{"b"}, {}]>)", R"(<@m, [{"a"}, {}]>)", R"({"a", "b"})", "2x6",
       "sdy.return: value 0 is tensor<2x6xf32>, expected tensor<4x6xf32>"},
      {R"(<@m, [{"b"}, {}]>, <@m, [{}, {}]>)", R"(<@m, [{"b"}, {}]>)", R"({"b"})", "2x6",
       "4:7: sdy.manual_computation: in_shardings has 2 shardings for 1 values"},
      {R"(<@m, [{"b"}]>)", R"(<@m, [{"b"}, {}]>)", R"({"b"})", "2x6",
       "in_shardings 0: the sharding <@m, [{\"b\"}]> has 1 dimensions, and the value is"},
      {R"(<@m, [{"a", "b"}, {}]>)", R"(<@m, [{"b"}, {}]>)", R"({"b"})", "2x6",
       R"(in_shardings 0: the manual axis "b" comes behind others in dimension 0)"},
      {R"(<@m, [{}, {"b"}]>)", R"(<@m, [{"b"}, {}]>)", R"({"b"})", "8x2",
       R"(in_shardings 0: the manual axes of <@m, [{}, {"b"}]> cut dimension 1 of tensor<8x6xf32> into 4 parts)"},
      {R"(<@m, [{"b"}, {}]>)", R"(<@m, [{"b"}, {}]>)", R"({"c"})", "2x6",
       R"(the manual axis "c" is not in the mesh)"},
      {R"(<@m, [{"b"}, {}]>)", R"(<@n, [{"b"}, {}]>)", R"({"b"})", "2x6",
       "4:7: sdy.manual_computation: out_shardings: "},
      {R"(<@m, [{"b"}, {}]>)", R"(<@m, [{"b"}, {}]>)", R"({"b", "b"})", "2x6",
       R"(the axis "b" stands twice)"},
  };
  for (const Bad& bad : kBad)
    EXPECT_THAT(verdict(bad.in, bad.out, bad.axes, bad.local), HasSubstr(bad.message));
}

}  // namespace
}  // namespace millrace::devices::stablehlo::sharding
