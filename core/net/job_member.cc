#include "millrace/core/net/job_member.h"

#include <unistd.h>

#include <algorithm>

namespace millrace::net {
namespace {

constexpr std::size_t kMostNamed = 8;

}  // namespace

std::string to_string(const JobMember& member) {
  std::string text = "rank " + std::to_string(member.rank);
  if (!member.host.empty())
    text += " (host " + member.host + ", pid " + std::to_string(member.pid) + ")";
  return text;
}

std::string to_string_of_ranks(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostNamed); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > kMostNamed)
    text += " and " + std::to_string(ranks.size() - kMostNamed) + " more";
  return text;
}

std::string host_name() {
  char name[kMostHostBytes + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && is_host_name(name) ? name : "localhost";
}

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostHostBytes &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace millrace::net
