#include "millrace/tools/load/load_target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/tools/serve/infer_body.h"

namespace millrace::load {
namespace {

TEST(LoadTargetTest, AUrlIsHostPortAndModel) {
  struct Row {
    const char* url;
    LoadTarget target;
  };
  for (const Row& row : std::vector<Row>{{"http://127.0.0.1:8000", {"127.0.0.1", 8000, ""}},
                                         {"http://localhost/", {"localhost", 80, ""}},
                                         {"http://[::1]:99/v2", {"::1", 99, ""}},
                                         {"http://[::1]", {"::1", 80, ""}},
                                         {"http://h:1/v2/models/a%20b", {"h", 1, "a%20b"}}}) {
    const Result<LoadTarget> target = parse_target(row.url);
    ASSERT_TRUE(target) << row.url;
    EXPECT_EQ(*target, row.target) << row.url;
  }
  for (const char* wrong : {"", "localhost:8000", "https://localhost", "http://", "http://:80",
                            "http://h:0", "http://h:x", "http://h:65536", "http://h/v3",
                            "http://h/v2/models/", "http://h/v2/models/m/infer"}) {
    EXPECT_FALSE(parse_target(wrong)) << wrong;
  }
}

TEST(LoadTargetTest, AnAddressOfIpv6IsInBracketsBeforeItsPort) {
  EXPECT_EQ(host_and_port({"::1", 99, ""}), "[::1]:99");
  EXPECT_EQ(host_and_port({"127.0.0.1", 80, ""}), "127.0.0.1:80");
  EXPECT_EQ(host_and_port({"localhost", 8000, "m"}), "localhost:8000");
}

TEST(LoadTargetTest, OnlyNamesOfTheLoopbackAreLoopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"", "127.0.0.1.example.com", "128.0.0.1", "example.com", "::2"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(LoadTargetTest, TheOneModelIsTakenAndSeveralAreNamed) {
  EXPECT_EQ(only_model(R"({"models":[{"name":"m"}]})").value(), "m");
  EXPECT_NE(only_model(R"({"models":[{"name":"a"},{"name":"b"}]})").error().message().find("a, b"),
            std::string::npos);
  for (const char* wrong : {"", "[]", "{}", R"({"models":[7]})", R"({"models":7})"})
    EXPECT_FALSE(only_model(wrong)) << wrong;
}

TEST(LoadTargetTest, TheBodyIsARequestForTheModel) {
  const std::string model = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[-1,2]},)"
                            R"({"name":"i","datatype":"INT64","shape":[-1,-1]},)"
                            R"({"name":"h","datatype":"BF16","shape":[-1]}]})";
  const Result<LoadBody> made = make_body(model, 3, 5, 1);
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->bytes.size() - made->json_bytes, 3U * 2 * 4 + 3U * 5 * 8 + 3U * 2);
  const auto kept = std::make_shared<std::string>(made->bytes);
  const auto request =
      serve::parse_infer_request({std::as_bytes(std::span(*kept)), kept}, made->json_bytes);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->inputs[1].view.shape, devices::Shape(devices::DType::kI64, {3, 5}));
  EXPECT_TRUE(request->binary_output);
  EXPECT_EQ(make_body(model, 3, 5, 1)->bytes, made->bytes);
  EXPECT_NE(make_body(model, 3, 5, 2)->bytes, made->bytes);
  EXPECT_NE(make_body(model, 3, {}, 1).error().message().find("--length"), std::string::npos);
  EXPECT_FALSE(make_body(model, 1 << 20, 1 << 20, 1));
  for (const char* wrong :
       {"", R"({"inputs":[{"name":"x","datatype":"BYTES","shape":[-1]}]})",
        R"({"inputs":[{"name":"x","datatype":"FP32","shape":["a"]}]})",
        R"({"inputs":[{"name":7,"datatype":"FP32","shape":[]}]})", R"({"inputs":[8]})"}) {
    EXPECT_FALSE(make_body(wrong, 1, 1, 1)) << wrong;
  }
}

}  // namespace
}  // namespace millrace::load
