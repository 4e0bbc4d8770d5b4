#include "millrace/tools/launch/status_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "millrace/core/base/printed.h"

namespace millrace::launch {
namespace {

using Row = std::array<std::string, 4>;

std::string groups_text(const net::JobStatus& status, const net::RankStatus& rank) {
  std::string text;
  for (const net::GroupCount& group : rank.groups) {
    if (!text.empty()) text += ", ";
    text += group.name + " " + std::to_string(group.done) + "/" + std::to_string(group.begun);
    if (is_behind(status, rank, group)) text += " behind";
  }
  return text;
}

}  // namespace

bool is_behind(const net::JobStatus& status, const net::RankStatus& rank,
               const net::GroupCount& group) {
  if (rank.phase == net::RankPhase::kEnded) return false;
  return std::ranges::any_of(status.ranks, [&group](const net::RankStatus& other) {
    return other.phase != net::RankPhase::kEnded &&
           std::ranges::any_of(other.groups, [&group](const net::GroupCount& its) {
             return its.name == group.name && its.begun > group.begun && its.done <= group.begun;
           });
  });
}

std::string status_text(const net::JobStatus& status, const std::string& address) {
  const double seconds = std::chrono::duration<double>(status.age).count();
  std::string text = "job " + status.job + " (pid " + std::to_string(status.host_pid) +
                     printed(", %.1f s), ", seconds) + address;
  if (status.turned_away > 0) text += ", " + std::to_string(status.turned_away) + " turned away";
  text += "\n";
  std::vector<Row> rows = {{"rank", "pid", "state", "done/begun"}};
  for (std::size_t i = 0; i < status.ranks.size(); ++i) {
    const net::RankStatus& rank = status.ranks[i];
    rows.push_back({std::to_string(i), rank.pid > 0 ? std::to_string(rank.pid) : "-",
                    net::name_of(rank.phase), groups_text(status, rank)});
  }
  std::array<std::size_t, 3> widths = {};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += "  " + row[i];
      if (i < widths.size()) line.append(widths[i] - row[i].size(), ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace millrace::launch
