#include "millrace/core/net/job_options.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/errno_code.h"

namespace millrace::net {
namespace {

constexpr const char* kStoreVariable = "MILLRACE_STORE";
constexpr const char* kSecretVariable = "MILLRACE_SECRET_FILE";
constexpr const char* kTransportVariable = "MILLRACE_TRANSPORT";

Result<Secret> read_secret(const std::string& path) {
  const std::string what = std::string(kSecretVariable) + " is '" + path + "'";
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return errno_error(what, errno);
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0) return errno_error(what, errno);
  if (!S_ISREG(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) {
    return fail(ErrorCode::kInvalidArgument,
                what + ", which must be a file of this user that no other may read (mode 0600)");
  }
  Secret secret;
  std::byte more{};
  if (::read(file.get(), secret.data(), secret.size()) != static_cast<ssize_t>(secret.size()) ||
      ::read(file.get(), &more, 1) != 0) {
    return fail(ErrorCode::kInvalidArgument,
                what + ", which must have " + std::to_string(secret.size()) + " bytes");
  }
  return secret;
}

std::optional<std::string> value_of(const Variables& variables, const char* name) {
  auto value = variables(name);
  return value && !value->empty() ? value : std::nullopt;
}

}  // namespace

Result<std::optional<JobOptions>> job_options(const Variables& variables,
                                              const std::optional<JobPlace>& place) {
  const auto address = value_of(variables, kStoreVariable);
  if (!address) return std::nullopt;
  const std::string what = std::string(kStoreVariable) + " is '" + *address + "'";
  if (!place) {
    return fail(ErrorCode::kInvalidArgument,
                what +
                    ", but nothing says which rank this process is: RANK, WORLD_SIZE, "
                    "LOCAL_RANK, LOCAL_WORLD_SIZE and MILLRACE_JOB, as `millrace launch` sets "
                    "them");
  }
  const bool is_tcp = address->starts_with("tcp:");
  if (!is_tcp && !address->starts_with("unix:"))
    return fail(ErrorCode::kInvalidArgument,
                what + ", but must be unix:PATH or tcp:127.0.0.1:PORT");
  JobOptions options{.job = place->job,
                     .address = *address,
                     .rank = static_cast<std::uint32_t>(place->process.index),
                     .ranks = static_cast<std::uint32_t>(place->process.count)};
  if (const auto transport = value_of(variables, kTransportVariable)) {
    const auto kind = read_link_kind(*transport);
    if (!kind)
      return fail(kind.error().code(),
                  std::string(kTransportVariable) + " is " + kind.error().message());
    options.links = *kind;
  }
  const auto path = value_of(variables, kSecretVariable);
  if (path) {
    MILLRACE_TRY(options.secret, read_secret(*path));
    if (path->starts_with('/')) options.folder = path->substr(0, path->rfind('/'));
    return options;
  }
  if (!is_tcp && options.links != LinkKind::kTcp) return options;
  const std::string by = is_tcp ? what : std::string(kTransportVariable) + " is 'tcp'";
  return fail(ErrorCode::kInvalidArgument,
              by + ", but " + kSecretVariable + " is not set: TCP needs the secret of the job");
}

}  // namespace millrace::net
