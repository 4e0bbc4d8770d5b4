#include "millrace/tools/serve/tls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/serve/certificates.h"

namespace millrace::serve {
namespace {

using testing::MadeKey;
using testing::TempFolder;

constexpr long kDay = 86400;

TEST(TlsTest, ACertificateIsTakenWithItsKeyAndInItsTimeAlone) {
  const TempFolder folder;
  const MadeKey key, other;
  const std::string certificate = folder.file("server.pem");
  key.write_certificate(certificate, -kDay, kDay);
  key.write(folder.file("server.key"));
  other.write(folder.file("other.key"));
  key.write(folder.file("locked.key"), "passphrase");
  folder.write("junk", std::as_bytes(std::span("junk")));
  const Duration now = wall_time();

  ASSERT_TRUE(load_tls(certificate, folder.file("server.key"), now));
  struct Row {
    std::string certificate;
    std::string key;
    Duration now;
    ErrorCode code;
    std::string says;
  };
  using std::chrono::hours;
  for (const Row& row : std::vector<Row>{
           {"server.pem", "server.key", now + hours(25), ErrorCode::kFailedPrecondition, "ran out"},
           {"server.pem", "server.key", now - hours(25), ErrorCode::kFailedPrecondition, "clock"},
           {"server.pem", "other.key", now, ErrorCode::kInvalidArgument, "not that of"},
           {"server.pem", "locked.key", now, ErrorCode::kInvalidArgument, "passphrase"},
           {"server.pem", "junk", now, ErrorCode::kInvalidArgument, "no private key"},
           {"server.pem", "server.pem", now, ErrorCode::kInvalidArgument, "no private key"},
           {"junk", "server.key", now, ErrorCode::kInvalidArgument, "no certificate"},
           {"none", "server.key", now, ErrorCode::kNotFound, "none"},
           {"server.pem", "none", now, ErrorCode::kNotFound, "none"}}) {
    const Result<TlsContext> refused =
        load_tls(folder.file(row.certificate), folder.file(row.key), row.now);
    ASSERT_FALSE(refused) << row.says;
    EXPECT_EQ(refused.error().code(), row.code) << refused.error().to_string();
    EXPECT_NE(refused.error().message().find(row.says), std::string::npos)
        << refused.error().message();
    EXPECT_NE(refused.error().message().find(folder.path()), std::string::npos)
        << refused.error().message();
  }
}

}  // namespace
}  // namespace millrace::serve
