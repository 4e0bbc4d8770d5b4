#include "millrace/tools/serve/route.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "millrace/tools/serve/http_status.h"
#include "millrace/transfer/batch_options.h"

namespace millrace::serve {
namespace {

using Kind = Route::Kind;

TEST(RouteTest, MethodAndPathNameTheResource) {
  struct Row {
    const char* method;
    const char* path;
    Route route;
  };
  for (const Row& row :
       std::vector<Row>{{"GET", "/", {Kind::kPage}},
                        {"GET", "/status", {Kind::kStatus}},
                        {"POST", "/", {Kind::kWrongMethod, {}, "GET, HEAD"}},
                        {"GET", "//", {}},
                        {"GET", "/metrics", {Kind::kMetrics}},
                        {"GET", "/v2", {Kind::kServer}},
                        {"HEAD", "/v2", {Kind::kServer}},
                        {"GET", "/v2/health/live", {Kind::kLive}},
                        {"GET", "/v2/health/ready", {Kind::kReady}},
                        {"GET", "/v2/models", {Kind::kModels}},
                        {"GET", "/v2/models/m", {Kind::kModel, "m"}},
                        {"GET", "/v2/models/m/ready", {Kind::kModelReady, "m"}},
                        {"GET", "/v2/models/m/stats", {Kind::kModelStats, "m"}},
                        {"GET", "/v2/models/m/versions/1", {Kind::kModel, "m"}},
                        {"GET", "/v2/models/m/versions/1/ready", {Kind::kModelReady, "m"}},
                        {"GET", "/v2/models/m/versions/2/ready", {Kind::kWrongVersion, "m"}},
                        {"POST", "/v2/models/m/infer", {Kind::kInfer, "m"}},
                        {"POST", "/v2/models/a%20b/infer", {Kind::kInfer, "a b"}},
                        {"POST", "/v2/models/a%2Fb/infer", {Kind::kInfer, "a/b"}},
                        {"GET", "/v2/models/m/infer", {Kind::kWrongMethod, {}, "POST"}},
                        {"POST", "/v2", {Kind::kWrongMethod, {}, "GET, HEAD"}},
                        {"GET", "", {}},
                        {"GET", "v2", {}},
                        {"GET", "/v3", {}},
                        {"GET", "/v2/", {}},
                        {"GET", "/v2/health", {}},
                        {"GET", "/v2/models/", {}},
                        {"GET", "/v2/models/%", {}},
                        {"GET", "/v2/models/%0", {}},
                        {"GET", "/v2/models/%00", {}},
                        {"GET", "/v2/models/%zz", {}},
                        {"GET", "/v2/models/m/other", {}},
                        {"GET", "/v2/models/m/ready/more", {}},
                        {"GET", "/v2/models/../../etc/passwd", {}},
                        {"GET", "/../etc/passwd", {}}}) {
    EXPECT_EQ(route_of(row.method, row.path), row.route) << row.method << " " << row.path;
  }
}

TEST(HttpStatusTest, EveryErrorOfARequestHasItsStatus) {
  using enum ErrorCode;
  struct Row {
    ErrorCode code;
    int status;
  };
  for (const Row& row : std::vector<Row>{{kInvalidArgument, 400},
                                         {kOutOfRange, 413},
                                         {kUnauthenticated, 401},
                                         {kNotFound, 404},
                                         {kUnimplemented, 415},
                                         {kResourceExhausted, 429},
                                         {kCancelled, 503},
                                         {kUnavailable, 503},
                                         {kAborted, 503},
                                         {kDeadlineExceeded, 504},
                                         {kInternal, 500},
                                         {kDataLoss, 500}}) {
    EXPECT_EQ(http_status_of(Error(row.code, "x")), row.status) << to_string(row.code);
  }
}

TEST(HttpStatusTest, RetryAfterIsWholeSecondsAndAtLeastOne) {
  const auto full = [](Duration wait) {
    return Error(ErrorCode::kResourceExhausted, "x")
        .with_detail(transfer::QueueFull{.retry_after = wait});
  };
  EXPECT_EQ(retry_after_seconds(full(std::chrono::milliseconds(3))), 1);
  EXPECT_EQ(retry_after_seconds(full(std::chrono::milliseconds(1001))), 2);
  EXPECT_EQ(retry_after_seconds(Error(ErrorCode::kUnavailable, "x")), 1);
  EXPECT_EQ(retry_after_seconds(Error(ErrorCode::kInternal, "x")), std::nullopt);
}

TEST(HttpStatusTest, SecretsAreEqualOnlyWhereAllBytesAre) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_TRUE(same_secret("", ""));
  for (const char* other : {"", "a", "ab", "abd", "bbc", "abcd"})
    EXPECT_FALSE(same_secret(other, "abc")) << other;
}

}  // namespace
}  // namespace millrace::serve
