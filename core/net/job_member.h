// JobMember: which process of a job, for messages and as a detail of errors. Pure but for
// host_name().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::net {

inline constexpr std::size_t kMostHostBytes = 255;
inline constexpr std::size_t kMostJobBytes = 255;

// A process that has a rank of a job. Detail of the kAlreadyExists that refuses a second one.
struct JobMember {
  std::uint32_t rank = 0;
  std::string host = {};  // empty: nothing has said it yet
  std::int32_t pid = 0;
  bool operator==(const JobMember&) const = default;
};

// "rank 2 (host alpha, pid 4711)"
std::string to_string(const JobMember& member);

// "rank 3", "ranks 1, 2 and 5 more"
std::string to_string_of_ranks(const std::vector<std::uint32_t>& ranks);

// The host's name, as the system has it; "localhost" where that is none.
std::string host_name();
// 1 to 255 printable characters of ASCII without blanks.
bool is_host_name(std::string_view text);

}  // namespace millrace::net
