#include "millrace/core/net/job_member.h"

#include <unistd.h>

#include <algorithm>

namespace millrace::net {

std::string to_string(const JobMember& member) {
  std::string text = "rank " + std::to_string(member.rank);
  if (!member.host.empty())
    text += " (host " + member.host + ", pid " + std::to_string(member.pid) + ")";
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
