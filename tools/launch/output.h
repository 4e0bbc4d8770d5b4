// What the ranks of a job write, made ready for one reader: stdout in whole lines, unchanged;
// stderr with the ranks in front, equal lines of several ranks folded. Pure: bytes and the time go
// in, text to write comes out. Thread-safety: external.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/clock.h"

namespace millrace::launch {

// What is longer comes as several lines.
inline constexpr std::size_t kMostLineBytes = std::size_t{64} << 10;

// Cuts a stream into lines.
class LineSplitter {
 public:
  // With the '\n' at its end, unless it is cut or the stream has ended.
  using OnLine = std::function<void(std::string_view line)>;

  void add(std::string_view bytes, const OnLine& on_line);
  // A last line without an end is one, too.
  void end(const OnLine& on_line);

 private:
  std::string begun_;
};

// The standard outputs of the ranks. What comes out of one rank is to the byte what went in; only
// where a rank's line has no end, because it is cut or the process has ended, and another rank's
// line follows, a '\n' is put between.
class MergedLines {
 public:
  explicit MergedLines(int ranks) : splitters_(static_cast<std::size_t>(ranks)) {}

  std::string add(int rank, std::string_view bytes);
  // Its process has ended.
  std::string end(int rank);

 private:
  void append(int rank, std::string_view line, std::string& text);

  std::vector<LineSplitter> splitters_;
  static constexpr int kEnded = std::numeric_limits<int>::max();
  int open_ = -1;  // the rank whose line has no end yet; -1: none; kEnded: it gets none
};

// The standard errors of the ranks: "[0-3] text", "[0,2] text". A line waits a short time for equal
// ones of other ranks, and less where all ranks have written it. The lines of one rank keep their
// order.
class FoldedLines {
 public:
  // What waits is bounded: beyond it the oldest goes.
  static constexpr std::size_t kMostWaiting = 256;
  static constexpr std::size_t kMostWaitingBytes = std::size_t{1} << 20;
  // The last words of a process: so many lines, so many bytes of each.
  static constexpr std::size_t kMostWords = 5;
  static constexpr std::size_t kMostWordBytes = 512;

  FoldedLines(int ranks, Duration window);

  std::string add(int rank, std::string_view bytes, TimePoint now);
  std::string end(int rank, TimePoint now);
  std::string timer(TimePoint now);
  std::string flush();
  // When timer() is to be called.
  std::optional<TimePoint> next_timer() const;

  // The last lines of the rank's process; after end(), until the next one writes.
  std::string words(int rank) const;

 private:
  struct Line {
    std::string text;
    std::vector<int> ranks;  // sorted
    TimePoint due;
  };
  struct Rank {
    LineSplitter splitter = {};
    std::uint64_t next = 0;  // the number of the first line that may take its next one
    std::deque<std::string> words = {};
    bool ended = false;
  };

  void take(int rank, std::string_view line, TimePoint now);
  void write_front(std::string& text);
  std::string write_due(TimePoint now);

  const Duration window_;
  std::vector<Rank> ranks_;
  std::deque<Line> waiting_;
  std::uint64_t first_ = 0;  // the number of the first that waits
  std::size_t waiting_bytes_ = 0;
};

// "0-3,5" of sorted ranks.
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace millrace::launch
