#include "millrace/tools/trace/svg.h"

#include <gtest/gtest.h>

namespace millrace::trace {
namespace {

TEST(SvgTest, TextBecomesXmlWhateverItsBytesAre) {
  EXPECT_EQ(escaped("a < b & \"c\"\n"), "a &lt; b &amp; &quot;c&quot;&#10;");
  EXPECT_EQ(escaped("b\x01"), "b?");
  EXPECT_EQ(escaped("b\xff.mlir"), "b\xef\xbf\xbd.mlir");
  EXPECT_EQ(escaped("\xc3\xa4"), "\xc3\xa4") << "what is UTF-8 stays";
}

}  // namespace
}  // namespace millrace::trace
