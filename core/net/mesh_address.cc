#include "millrace/core/net/mesh_address.h"

#include <array>
#include <cstdio>

namespace millrace::net {
namespace {

constexpr std::string_view kUnix = "unix:";

// "rank-3-a0b1c2d3"
std::string socket_name(const JobOptions& options, const Incarnation& incarnation) {
  std::string name = "rank-" + std::to_string(options.rank) + "-";
  for (std::size_t i = 0; i < 4; ++i) {
    std::array<char, 3> digits = {};
    std::snprintf(digits.data(), digits.size(), "%02x", std::to_integer<unsigned>(incarnation[i]));
    name += digits.data();
  }
  return name;
}

}  // namespace

Result<std::string> mesh_address(const JobOptions& options, const Incarnation& incarnation) {
  const bool store_is_unix = options.address.starts_with(kUnix);
  const LinkKind kind = options.links.value_or(store_is_unix ? LinkKind::kShm : LinkKind::kTcp);
  if (kind == LinkKind::kTcp) {
    if (options.secret) return "tcp:127.0.0.1:0";
    return fail(ErrorCode::kInvalidArgument,
                "linking the ranks of the job by TCP, which needs a secret, and there is none");
  }
  std::string folder = options.folder;
  if (folder.empty() && store_is_unix)
    folder = options.address.substr(kUnix.size(), options.address.rfind('/') - kUnix.size());
  if (!folder.empty()) {
    const std::string_view scheme = kind == LinkKind::kShm ? "shm:" : kUnix;
    return std::string(scheme) + folder + "/" + socket_name(options, incarnation);
  }
  return fail(ErrorCode::kInvalidArgument,
              "linking the ranks of the job by shared memory or Unix sockets, which needs a folder "
              "of the job, and "
              "its store at " +
                  options.address + " has none");
}

}  // namespace millrace::net
