#include "millrace/tools/launch/output.h"

#include <algorithm>
#include <utility>

namespace millrace::launch {

void LineSplitter::add(std::string_view bytes, const OnLine& on_line) {
  while (!bytes.empty()) {
    const std::size_t room = kMostLineBytes - begun_.size();
    const std::size_t end = bytes.find('\n');
    const std::size_t size =
        std::min({end == std::string_view::npos ? end : end + 1, bytes.size(), room});
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (!part.ends_with('\n') && size < room) {
      begun_ += part;
    } else if (begun_.empty()) {
      on_line(part);
    } else {
      begun_ += part;
      on_line(std::exchange(begun_, {}));
    }
  }
}

void LineSplitter::end(const OnLine& on_line) {
  if (!begun_.empty()) on_line(std::exchange(begun_, {}));
}

std::string MergedLines::add(int rank, std::string_view bytes) {
  std::string text;
  splitters_[static_cast<std::size_t>(rank)].add(
      bytes, [&](std::string_view line) { append(rank, line, text); });
  return text;
}

std::string MergedLines::end(int rank) {
  std::string text;
  splitters_[static_cast<std::size_t>(rank)].end(
      [&](std::string_view line) { append(rank, line, text); });
  if (open_ == rank) open_ = kEnded;
  return text;
}

void MergedLines::append(int rank, std::string_view line, std::string& text) {
  if (open_ >= 0 && open_ != rank) text += '\n';
  text += line;
  open_ = line.ends_with('\n') ? -1 : rank;
}

FoldedLines::FoldedLines(int ranks, Duration window)
    : window_(window), ranks_(static_cast<std::size_t>(ranks)) {}

std::string FoldedLines::add(int rank, std::string_view bytes, TimePoint now) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  if (std::exchange(r.ended, false)) r.words.clear();
  std::string text;
  r.splitter.add(bytes, [&](std::string_view line) {
    take(rank, line, now);
    while (waiting_.size() > kMostWaiting || waiting_bytes_ > kMostWaitingBytes) write_front(text);
  });
  return text + write_due(now);
}

std::string FoldedLines::end(int rank, TimePoint now) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  r.splitter.end([&](std::string_view line) { take(rank, line, now); });
  if (std::exchange(r.ended, true)) r.words.clear();
  return write_due(now);
}

std::string FoldedLines::timer(TimePoint now) { return write_due(now); }

std::string FoldedLines::flush() {
  std::string text;
  while (!waiting_.empty()) write_front(text);
  return text;
}

std::optional<TimePoint> FoldedLines::next_timer() const {
  return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().due);
}

std::string FoldedLines::words(int rank) const {
  std::string text;
  for (const std::string& line : ranks_[static_cast<std::size_t>(rank)].words)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

void FoldedLines::take(int rank, std::string_view line, TimePoint now) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  if (!line.empty()) r.words.emplace_back(line.substr(0, kMostWordBytes));
  if (r.words.size() > kMostWords) r.words.pop_front();
  const std::size_t begin = r.next > first_ ? static_cast<std::size_t>(r.next - first_) : 0;
  auto place = std::find_if(waiting_.begin() + static_cast<std::ptrdiff_t>(begin), waiting_.end(),
                            [line](const Line& other) { return other.text == line; });
  if (place == waiting_.end()) {
    waiting_.push_back({.text = std::string(line), .ranks = {}, .due = now + window_});
    waiting_bytes_ += line.size();
    place = waiting_.end() - 1;
  }
  place->ranks.insert(std::ranges::upper_bound(place->ranks, rank), rank);
  r.next = first_ + static_cast<std::uint64_t>(place - waiting_.begin()) + 1;
}

void FoldedLines::write_front(std::string& text) {
  const Line& line = waiting_.front();
  text += "[" + ranks_text(line.ranks) + "] " + line.text + "\n";
  waiting_bytes_ -= line.text.size();
  waiting_.pop_front();
  ++first_;
}

std::string FoldedLines::write_due(TimePoint now) {
  std::string text;
  while (!waiting_.empty() &&
         (waiting_.front().due <= now || waiting_.front().ranks.size() == ranks_.size()))
    write_front(text);
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (i == 0 ? "" : ",") + std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace millrace::launch
