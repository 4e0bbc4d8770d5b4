#include "millrace/tools/serve/infer_body.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "millrace/tools/serve/v2_datatype.h"
#include "millrace/transfer/formats/npy.h"

namespace millrace::serve {
namespace {

using devices::DType;
using devices::HostArray;
using devices::Shape;

Body body_of(std::string text) {
  auto kept = std::make_shared<std::string>(std::move(text));
  return {std::as_bytes(std::span(*kept)), kept};
}

Result<InferRequest> parse(const std::string& json, const std::string& tail = {}) {
  return parse_infer_request(body_of(json + tail),
                             tail.empty() ? std::nullopt : std::optional<std::size_t>(json.size()));
}

std::string with_input(const std::string& input) { return R"({"inputs":[)" + input + "]}"; }

template <class T>
std::vector<T> elements(const transfer::RowInput& input) {
  std::vector<T> values(input.view.shape.size_bytes() / sizeof(T));
  std::memcpy(values.data(), input.view.data, input.view.shape.size_bytes());
  return values;
}

template <class T>
HostArray array_of(DType type, const std::vector<T>& values) {
  HostArray array = HostArray::make(Shape(type, {static_cast<std::int64_t>(values.size())}));
  std::memcpy(array.mutable_bytes().data(), values.data(), array.bytes().size());
  return array;
}

TEST(InferBodyTest, NestedAndFlatDataAreTheSame) {
  for (const char* data : {"[1,2,3,4]", "[[1,2],[3,4]]", "[[1,2,3,4]]"}) {
    const auto request = parse(with_input(
        R"({"name":"x","datatype":"INT16","shape":[2,2],"data":)" + std::string(data) + "}"));
    ASSERT_TRUE(request) << request.error().to_string();
    ASSERT_EQ(request->inputs.size(), 1U);
    EXPECT_EQ(request->inputs[0].name, "x");
    EXPECT_EQ(request->inputs[0].view.shape, Shape(DType::kI16, {2, 2}));
    EXPECT_EQ(elements<std::int16_t>(request->inputs[0]), (std::vector<std::int16_t>{1, 2, 3, 4}));
  }
}

TEST(InferBodyTest, EveryDatatypeIsRead) {
  struct Row {
    const char* datatype;
    const char* data;
    std::vector<std::uint8_t> bytes;
  };
  for (const Row& row : std::vector<Row>{
           {"BOOL", "[true,0]", {1, 0}},
           {"INT8", "[-128,127]", {0x80, 0x7F}},
           {"UINT8", "[0,255]", {0, 0xFF}},
           {"INT16", "[-2,1]", {0xFE, 0xFF, 1, 0}},
           {"UINT16", "[65535,0]", {0xFF, 0xFF, 0, 0}},
           {"INT32", "[-1,1]", {0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0}},
           {"UINT32", "[4294967295,1]", {0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0}},
           {"INT64",
            "[-9223372036854775808,0]",
            {0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0}},
           {"UINT64",
            "[18446744073709551615,0]",
            {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0}},
           {"FP16", "[1,-2.5]", {0x00, 0x3C, 0x00, 0xC1}},
           {"BF16", "[1,-2.5]", {0x80, 0x3F, 0x20, 0xC0}},
           {"FP32", "[1,-2.5]", {0, 0, 0x80, 0x3F, 0, 0, 0x20, 0xC0}},
           {"FP64", "[1,0]", {0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0}}}) {
    const auto request =
        parse(with_input(R"({"name":"x","datatype":")" + std::string(row.datatype) +
                         R"(","shape":[2],"data":)" + row.data + "}"));
    ASSERT_TRUE(request) << row.datatype << request.error().to_string();
    EXPECT_EQ(elements<std::uint8_t>(request->inputs[0]), row.bytes) << row.datatype;
  }
}

TEST(InferBodyTest, WhatIsWrongIsSaidWithTheNameOfItsTensor) {
  struct Row {
    std::string json;
    const char* says;
  };
  const auto x = [](const char* rest) {
    return with_input(R"({"name":"x",)" + std::string(rest) + "}");
  };
  for (const Row& row : std::vector<Row>{
           {"", "no JSON"},
           {"[]", "no object"},
           {"{", "no JSON"},
           {R"({"inputs":{}})", "a list 'inputs'"},
           {R"({"id":7,"inputs":[]})", "'id' is no text"},
           {with_input("3"), "an input is no object"},
           {with_input("{}"), "an input needs a text 'name'"},
           {x(R"("shape":[1])"), "input 'x' needs a text 'datatype'"},
           {x(R"("datatype":"BYTES","shape":[1],"data":["a"])"),
            "input 'x' has the datatype BYTES"},
           {x(R"("datatype":"FP32","data":[1])"), "input 'x' needs a list 'shape'"},
           {x(R"("datatype":"FP32","shape":[-1],"data":[1])"), "input 'x' has a dimension"},
           {x(R"("datatype":"FP32","shape":[1.5],"data":[1])"), "input 'x' has a dimension"},
           {x(R"("datatype":"FP32","shape":[1099511627776,1099511627776],"data":[])"),
            "input 'x' is too large"},
           {x(R"("datatype":"FP32","shape":[1000000000],"data":[1])"), "has 1 elements in 'data'"},
           {x(R"("datatype":"FP32","shape":[2],"data":[1,2,3])"), "has 3 elements in 'data'"},
           {x(R"("datatype":"FP32","shape":[1],"data":["a"])"), "element \"a\", which is no FP32"},
           {x(R"("datatype":"INT8","shape":[1],"data":[128])"), "element 128, which is no INT8"},
           {x(R"("datatype":"INT8","shape":[1],"data":[1.0])"), "element 1.0, which is no INT8"},
           {x(R"("datatype":"UINT8","shape":[1],"data":[-1])"), "element -1, which is no UINT8"},
           {x(R"("datatype":"BOOL","shape":[1],"data":[2])"), "element 2, which is no BOOL"},
           {x(R"("datatype":"FP32","shape":[1],"data":1)"), "needs a list 'data'"},
           {x(R"("datatype":"FP32","shape":[1])"), "neither 'data' nor 'binary_data_size'"},
           {x(R"("datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4})"),
            "0 are left of the body"},
           {R"({"inputs":[],"outputs":[{"name":"y","parameters":{"binary_data":3}}]})",
            "'binary_data' is no true"},
           {R"({"inputs":[],"parameters":{"deadline_ms":-1}})", "'deadline_ms'"},
           {R"({"inputs":[],"parameters":{"priority":10}})", "'priority'"},
           {R"({"inputs":[],"outputs":[{"name":"y"},{"name":"z"},{"name":"y"}]})",
            "output 'y' is asked for twice"},
           {"{\"inputs\":" + std::string(100, '[') + std::string(100, ']') + "}", "too deep"}}) {
    const auto request = parse(row.json);
    ASSERT_FALSE(request) << row.json;
    EXPECT_EQ(request.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(request.error().message().find(row.says), std::string::npos)
        << row.json << ": " << request.error().message();
  }
}

TEST(InferBodyTest, AMillionListsAreRefusedBeforeTheyTakeMemory) {
  std::string lists = R"({"inputs":[)";
  for (int i = 0; i < 1 << 20; ++i) lists += "[],";
  const auto request = parse(lists + "[]]}");
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().message().find("more than 1048576 lists"), std::string::npos);
}

// Were each compared with all before it, these would take the thread that reads for minutes.
TEST(InferBodyTest, ManyOutputsAreReadInOneGo) {
  std::string outputs = R"({"inputs":[],"outputs":[)";
  for (int i = 0; i < 300000; ++i) outputs += R"({"name":")" + std::to_string(i) + R"("},)";
  const auto request = parse(outputs + R"({"name":"299999"}]})");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().message(), "output '299999' is asked for twice");
}

TEST(InferBodyTest, BracketsInATextNestNothing) {
  const std::string id = "\\" + std::string(100, '[') + '"' + std::string(100, '{');
  const std::string quoted =
      R"("\\)" + std::string(100, '[') + R"(\")" + std::string(100, '{') + '"';
  const auto request = parse(R"({"id":)" + quoted + R"(,"inputs":[]})");
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->id, id);
}

TEST(InferBodyTest, BinaryTensorsFollowTheJsonInTheOrderOfTheInputs) {
  const std::string json =
      R"({"inputs":[{"name":"a","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":3}},)"
      R"({"name":"b","datatype":"INT16","shape":[1],"data":[7]},)"
      R"({"name":"c","datatype":"UINT8","shape":[2],"parameters":{"binary_data_size":2}}]})";
  const auto request = parse(json, "abcde");
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(elements<char>(request->inputs[0]), (std::vector<char>{'a', 'b', 'c'}));
  EXPECT_EQ(elements<char>(request->inputs[2]), (std::vector<char>{'d', 'e'}));
  EXPECT_FALSE(parse(json, "abcd"));
  EXPECT_NE(parse(json, "abcdef").error().message().find("1 bytes behind"), std::string::npos);
  EXPECT_FALSE(parse_infer_request(body_of("{}"), 3));
}

TEST(InferBodyTest, ABinaryTensorIsAViewOfTheBody) {
  const std::string json =
      R"({"inputs":[{"name":"a","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":3}}]})";
  const Body body = body_of(json + "abc");
  const auto request = parse_infer_request(body, json.size());
  EXPECT_EQ(request->inputs[0].view.data, body.bytes.data() + json.size());
  EXPECT_EQ(request->inputs[0].view.owner, body.owner);
}

// What waits counts by its tensors.
TEST(InferBodyTest, ABodyThatIsMostlySomethingElseIsNotKept) {
  const std::string json =
      std::string(1 << 20, ' ') +
      with_input(
          R"({"name":"a","datatype":"UINT8","shape":[3],"parameters":{"binary_data_size":3}})");
  Body body = body_of(json + "abc");
  const std::weak_ptr<const void> kept = body.owner;
  const auto request = parse_infer_request(body, json.size());
  body = {};
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_TRUE(kept.expired());
  EXPECT_EQ(elements<char>(request->inputs[0]), (std::vector<char>{'a', 'b', 'c'}));
  const std::string id(std::size_t{65} << 10, 'i');
  EXPECT_NE(parse(R"({"id":")" + id + R"(","inputs":[]})").error().message().find("'id'"),
            std::string::npos);
}

TEST(InferBodyTest, ParametersAndWantedOutputsAreRead) {
  const auto request = parse(
      R"({"id":"7","inputs":[],"parameters":{"binary_data_output":true,"deadline_ms":12.5,"priority":2},)"
      R"("outputs":[{"name":"y"},{"name":"z","parameters":{"binary_data":false}}]})");
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->id, "7");
  EXPECT_EQ(request->deadline_ms, 12.5);
  EXPECT_EQ(request->priority, 2);
  EXPECT_TRUE(request->outputs[0].binary);
  EXPECT_FALSE(request->outputs[1].binary);
}

TEST(InferBodyTest, AnAnswerHasTheOutputsThatAreWantedAsTheyAreWanted) {
  const transfer::RowOutputs outputs = {{"y", array_of<float>(DType::kF32, {1, -0.5F, NAN})},
                                        {"z", array_of<std::uint8_t>(DType::kU8, {3, 4})}};
  InferRequest request{.id = "a\"b"};
  EXPECT_EQ(make_infer_answer("m", request, outputs)->head,
            R"({"model_name":"m","id":"a\"b","outputs":[)"
            R"({"name":"y","datatype":"FP32","shape":[3],"data":[1,-0.5,null]},)"
            R"({"name":"z","datatype":"UINT8","shape":[2],"data":[3,4]}]})");
  request.outputs = {{.name = "z", .binary = true}};
  const auto answer = make_infer_answer("m", request, outputs);
  EXPECT_EQ(
      answer->head,
      R"({"model_name":"m","id":"a\"b","outputs":[{"name":"z","datatype":"UINT8","shape":[2],)"
      R"("parameters":{"binary_data_size":2}}]})");
  EXPECT_EQ(answer->header_bytes, answer->head.size());
  ASSERT_EQ(answer->tail.size(), 1U);
  EXPECT_EQ(answer->tail[0].bytes().data(), outputs[1].array.bytes().data());
  request.outputs = {{.name = "q"}};
  EXPECT_NE(make_infer_answer("m", request, outputs).error().message().find("output 'q' is none"),
            std::string::npos);
}

TEST(InferBodyTest, EveryDatatypeIsWrittenAsItIsRead) {
  for (const char* datatype : {"BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16",
                               "UINT32", "UINT64", "FP16", "BF16", "FP32", "FP64"}) {
    const std::string data = std::string(datatype) == "BOOL" ? "[true,false]" : "[1,0]";
    const auto request = parse(with_input(R"({"name":"x","datatype":")" + std::string(datatype) +
                                          R"(","shape":[2],"data":)" + data + "}"));
    const auto& view = request->inputs[0].view;
    const HostArray array(view.shape,
                          {static_cast<const std::byte*>(view.data), view.shape.size_bytes()},
                          view.owner);
    EXPECT_NE(make_infer_answer("m", {}, {{"y", array}})->head.find("\"data\":" + data),
              std::string::npos)
        << datatype;
  }
}

TEST(InferBodyTest, AnErrorIsNoLongerThanAPersonReads) {
  const auto request = parse(with_input(R"({"name":")" + std::string(1000000, 'x') + R"("})"));
  ASSERT_FALSE(request);
  const std::string body = error_body(request.error().message());
  EXPECT_LT(body.size(), 10000U);
  EXPECT_TRUE(body.starts_with(R"({"error":"input 'xxx)"));
  EXPECT_TRUE(body.ends_with("xxx...\"}"));
}

TEST(InferBodyTest, AnNpyBodyIsTheOneInputAndTheOneOutput) {
  const HostArray array = array_of<float>(DType::kF32, {1, 2});
  const auto written = make_npy_answer({{"y", array}});
  ASSERT_TRUE(written);
  std::string file = written->head;
  file.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
  const auto request = parse_npy_request(body_of(file), "x");
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(elements<float>(request->inputs[0]), (std::vector<float>{1, 2}));
  EXPECT_NE(parse_npy_request(body_of("junk"), "x").error().message().find("input 'x'"),
            std::string::npos);
  EXPECT_FALSE(make_npy_answer({{"y", array}, {"z", array}}));
}

TEST(V2DatatypeTest, FloatsOf16BitsKeepTheirValueAndRoundToEven) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(from_fp16(half))) {
      EXPECT_EQ(to_fp16(from_fp16(half)), half) << bits;
    }
    if (!std::isnan(from_bf16(half))) {
      EXPECT_EQ(to_bf16(from_bf16(half)), half) << bits;
    }
  }
  struct Row {
    float value;
    std::uint16_t fp16, bf16;
  };
  for (const Row& row : std::vector<Row>{{65504.0F, 0x7BFF, 0x4780},
                                         {65519.996F, 0x7BFF, 0x4780},
                                         {65520.0F, 0x7C00, 0x4780},
                                         {1.00048828125F, 0x3C00, 0x3F80},  // half-way: to even
                                         {1.00146484375F, 0x3C02, 0x3F80},
                                         {5.9604645e-8F, 0x0001, 0x3380},
                                         {2.9802322e-8F, 0x0000, 0x3300},
                                         {-INFINITY, 0xFC00, 0xFF80}}) {
    EXPECT_EQ(to_fp16(row.value), row.fp16) << row.value;
    EXPECT_EQ(to_bf16(row.value), row.bf16) << row.value;
  }
  EXPECT_TRUE(std::isnan(from_fp16(to_fp16(NAN))));
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(NAN))));
}

}  // namespace
}  // namespace millrace::serve
