// CastPlan: the tree along which a cast goes down and its answers are reduced on the way up. Pure.
// Read next: cast_run.h.
//
// A process that asks a run of positions splits it into at most eight parts that follow one
// another, gives each to the first of its members, and reduces what comes back, and its own answer,
// in the order of the positions. So no process gets or sends more than nine messages, and which
// answers are reduced with which depends on the number of positions and on the caller's place
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace millrace::actors {

inline constexpr std::size_t kCastRadix = 8;

// Positions begin .. end - 1.
struct CastPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const CastPart&) const = default;
};

// The parts of the positions of `all` without those of own, which is in `all` or nullopt; in their
// order. A part that own separates is two.
std::vector<CastPart> split_cast(CastPart all, std::optional<std::size_t> own);

// Ranks as runs of neighbours: all ranks of a job are one, however many.
struct RankRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const RankRun&) const = default;
};

// Distinct ranks in rising order; positions count from 0. Thread-safety: external.
class CastRanks {
 public:
  CastRanks() = default;
  static CastRanks all(std::uint32_t size);
  // Sorts, and takes each once.
  static CastRanks of(std::vector<std::uint32_t> ranks);
  // What another process said: nullopt where runs are empty, touch or fall, or ranks reach size.
  static std::optional<CastRanks> of_runs(std::vector<RankRun> runs, std::uint32_t size);

  std::size_t size() const { return size_; }
  std::uint32_t at(std::size_t position) const;
  std::optional<std::size_t> find(std::uint32_t rank) const;
  CastRanks part(CastPart part) const;
  std::span<const RankRun> runs() const { return runs_; }

 private:
  void add(RankRun run);

  std::vector<RankRun> runs_;
  std::size_t size_ = 0;
};

}  // namespace millrace::actors
