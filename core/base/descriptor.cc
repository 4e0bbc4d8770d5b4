#include "millrace/core/base/descriptor.h"

#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "millrace/core/base/errno_code.h"

namespace millrace {

Status allow_descriptors(std::uint64_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno_error("asking for a limit", errno);
  if (limit.rlim_cur >= count) return {};
  if (limit.rlim_max < count) {
    return fail(ErrorCode::kResourceExhausted,
                std::to_string(count) + " open descriptors are needed, and this process may have " +
                    std::to_string(limit.rlim_max) + " (ulimit -Hn)");
  }
  limit.rlim_cur = count;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return errno_error("raising a limit", errno);
  return {};
}

}  // namespace millrace
