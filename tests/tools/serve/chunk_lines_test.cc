#include "millrace/tools/serve/chunk_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::serve {
namespace {

const std::string kHead = "POST /1 HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\n\r\n";

// In pieces of so many bytes.
ChunkLines fed(const std::string& request, std::size_t piece) {
  ChunkLines lines;
  for (std::size_t at = 0; at < request.size(); at += piece)
    lines.add(std::string_view(request).substr(at, piece));
  return lines;
}

TEST(ChunkLinesTest, OnlyALineWithAChunksSizeIsOpen) {
  struct Row {
    std::string request;
    std::size_t open;
  };
  const std::string data(1000, 'a');
  for (const Row& row : {Row{"POST /" + data, 0},
                         {kHead, 0},
                         {kHead + "3e8", 3},
                         {kHead + "3e8\r\n" + data.substr(1), 0},
                         {kHead + "3e8\r\n" + data + "\r\n", 0},
                         {kHead + "3e8\n" + data + "\n" + data, 1000},
                         {kHead + "3e8 x\r\n" + data + "\r\n" + data, 1000},
                         {kHead + "1\r\na\r\n" + std::string(1, '\0') + "0\r\n" + data, 1000},
                         {kHead + "0\r\n" + data, 0},
                         {kHead + "none\r\n" + data, 0},
                         {"POST /1 HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" + data, 0},
                         {"POST /1 HTTP/1.1\r\nTransfer-Encodings: 2\r\n\r\n" + data, 0}}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, row.request.size()})
      EXPECT_EQ(fed(row.request, piece).open_line(), row.open) << row.request << piece;
  }
}

TEST(ChunkLinesTest, BytesWithinAChunkNeedNotBeLookedAt) {
  ChunkLines lines;
  EXPECT_FALSE(lines.skip(1)) << "of the head";
  lines.add(kHead + "10\r\nab");
  EXPECT_TRUE(lines.skip(13));
  EXPECT_FALSE(lines.skip(2)) << "one byte is left";
  lines.add("a\r\nffff");
  EXPECT_EQ(lines.open_line(), 4U);
  lines.add("\r\n");
  EXPECT_TRUE(lines.skip(0xffff));
  lines.add("\r\n0\r\n");
  EXPECT_TRUE(lines.skip(1000000)) << "the end";
}

}  // namespace
}  // namespace millrace::serve
