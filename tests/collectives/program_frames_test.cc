// Frames of programs that span processes, and their pieces in a line: rules PL-1 and PL-7.
#include "millrace/collectives/program_frames.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "millrace/collectives/message_line.h"

namespace millrace::collectives {
namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

net::Frame piece() { return data_frames({7, 3}, 5, bytes("abc"), 100).front(); }

TEST(ProgramFramesTest, LongMessageIsCutAndComesTogetherAgain) {
  for (const std::size_t size : {0, 1, 9, 10, 11, 20, 95}) {
    const std::string text(size, 'x');
    const auto frames = data_frames({7, 3}, 5, bytes(text), 10);
    EXPECT_EQ(frames.size(), std::max<std::size_t>(1, (size + 9) / 10));
    MessageLine line;
    for (const net::Frame& frame : frames) {
      EXPECT_FALSE(line.ready());
      auto saying = read_program_frame(frame);
      ASSERT_TRUE(saying) << saying.error().message();
      EXPECT_EQ(saying->says, ProgramSays::kData);
      EXPECT_EQ(saying->launch.link, 7U);
      EXPECT_EQ(saying->launch.number, 3U);
      EXPECT_EQ(saying->edge, 5);
      ASSERT_TRUE(line.add(saying->total, saying->offset, std::move(saying->piece)));
    }
    ASSERT_TRUE(line.ready());
    std::string copy(size, '?');
    line.take().move_to(std::as_writable_bytes(std::span(copy)));
    EXPECT_EQ(copy, text);
    EXPECT_FALSE(line.ready());
  }
}

TEST(ProgramFramesTest, NewsAndErrorsAreReadAsTheyWereWritten) {
  const auto open = read_program_frame(news_frame(ProgramSays::kOpen, {7, 0}));
  ASSERT_TRUE(open);
  EXPECT_EQ(open->says, ProgramSays::kOpen);
  EXPECT_EQ(open->launch.link, 7U);
  for (const ProgramSays says : {ProgramSays::kOver, ProgramSays::kGone}) {
    const auto saying = read_program_frame(news_frame(says, {7, 3}));
    ASSERT_TRUE(saying);
    EXPECT_EQ(saying->says, says);
    EXPECT_EQ(saying->launch.number, 3U);
  }
  const Error error(ErrorCode::kDataLoss, "the words");
  for (const auto& frame : {end_frame({7, 3}, 2, error), left_frame(error)}) {
    const auto saying = read_program_frame(frame);
    ASSERT_TRUE(saying);
    EXPECT_EQ(saying->error->code(), ErrorCode::kDataLoss);
    EXPECT_EQ(saying->error->message(), "the words");
    EXPECT_EQ(saying->arose, saying->says == ProgramSays::kEnd ? 2 : 0);
  }
}

TEST(ProgramFramesTest, HostileFramesAreRefused) {
  const Error error(ErrorCode::kDataLoss, "the words");
  struct Row {
    const char* what;
    net::Frame frame;
    std::function<void(net::Frame&)> change;
  };
  const Row rows[] = {
      {"another kind", piece(), [](auto& f) { f.header.kind = net::FrameKind{34}; }},
      {"no saying", piece(), [](auto& f) { f.header.flags = kProgramSayings; }},
      {"no edge", piece(), [](auto& f) { f.header.words[1] = std::uint64_t{1} << 31; }},
      {"an edge of 64 bits", piece(), [](auto& f) { f.header.words[1] += std::uint64_t{1} << 32; }},
      {"over 1 TiB", piece(), [](auto& f) { f.header.words[2] = kMostMessage + 1; }},
      {"all of 64 bits", piece(), [](auto& f) { f.header.words[2] = ~std::uint64_t{0}; }},
      {"a piece too long", piece(), [](auto& f) { f.header.words[2] = 2; }},
      {"a piece beyond", piece(), [](auto& f) { f.header.words[3] = 1; }},
      {"an offset beyond", piece(), [](auto& f) { f.header.words[3] = 4; }},
      {"an offset that wraps", piece(), [](auto& f) { f.header.words[3] = ~std::uint64_t{0}; }},
      {"a piece of nothing", piece(), [](auto& f) { f.payload.clear(); }},
      {"no process", end_frame({7, 3}, 2, error),
       [](auto& f) { f.header.words[1] = std::uint64_t{1} << 31; }},
      {"a word in an end", end_frame({7, 3}, 2, error), [](auto& f) { f.header.words[2] = 1; }},
      {"no error", end_frame({7, 3}, 2, error), [](auto& f) { f.payload.clear(); }},
      {"half an error", end_frame({7, 3}, 2, error), [](auto& f) { f.payload.pop_back(); }},
      {"more than an error", end_frame({7, 3}, 2, error), [](auto& f) { f.payload.push_back({}); }},
      {"code 0", end_frame({7, 3}, 2, error), [](auto& f) { f.payload[0] = {}; }},
      {"a link in a farewell", left_frame(error), [](auto& f) { f.header.words[0] = 1; }},
      {"a launch in a farewell", left_frame(error), [](auto& f) { f.header.sequence = 1; }},
      {"a payload in news", news_frame(ProgramSays::kOver, {7, 3}),
       [](auto& f) { f.payload.push_back({}); }},
      {"a word in news", news_frame(ProgramSays::kGone, {7, 3}),
       [](auto& f) { f.header.words[3] = 1; }},
      {"a process in news", news_frame(ProgramSays::kGone, {7, 3}),
       [](auto& f) { f.header.words[1] = 1; }},
      {"a launch that opens", news_frame(ProgramSays::kOpen, {7, 0}),
       [](auto& f) { f.header.sequence = 1; }},
  };
  for (const Row& row : rows) {
    net::Frame frame = row.frame;
    ASSERT_TRUE(read_program_frame(frame)) << row.what;
    row.change(frame);
    const auto saying = read_program_frame(frame);
    ASSERT_FALSE(saying) << row.what;
    EXPECT_EQ(saying.error().code(), ErrorCode::kInvalidArgument) << row.what;
  }
}

TEST(MessageLineTest, PieceThatIsNotTheNextIsRefused) {
  const net::Bytes two(2), three(3);
  MessageLine line;
  EXPECT_FALSE(line.add(5, 2, three));  // none before it
  ASSERT_TRUE(line.add(5, 0, two));
  EXPECT_FALSE(line.add(5, 0, two));    // again
  EXPECT_FALSE(line.add(5, 3, two));    // a gap
  EXPECT_FALSE(line.add(6, 2, three));  // another message
  ASSERT_TRUE(line.add(5, 2, three));
  EXPECT_TRUE(line.ready());
  EXPECT_FALSE(line.add(5, 5, {}));
  ASSERT_TRUE(line.add(9, 0, two));
  line.drop_part();
  line.drop_part();  // which leaves what is whole
  EXPECT_EQ(line.take().total, 5U);
  EXPECT_FALSE(line.ready());
}

}  // namespace
}  // namespace millrace::collectives
