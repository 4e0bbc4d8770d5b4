#include "millrace/core/net/job_options.h"

#include <unistd.h>

#include <utility>

#include "millrace/core/net/job_folder.h"
#include "millrace/core/net/job_member.h"

namespace millrace::net {
namespace {

constexpr const char* kStoreVariable = "MILLRACE_STORE";
constexpr const char* kSecretVariable = "MILLRACE_SECRET_FILE";
constexpr const char* kTransportVariable = "MILLRACE_TRANSPORT";

// A name of this user's for a job of another launcher than ours.
std::string folder_name(const JobPlace& place) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const std::string text = std::to_string(::geteuid()) + "/" + place.launcher + "/" + place.job +
                           "/" + std::to_string(place.process.count);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return JobFolder::name_of_hosted(hash);
}

std::string job_name(const JobPlace& place) {
  const std::string name = place.launcher + " " + place.job;
  return name.size() <= kMostJobBytes ? name : folder_name(place);
}

std::optional<std::string> value_of(const Variables& variables, const char* name) {
  auto value = variables(name);
  return value && !value->empty() ? value : std::nullopt;
}

}  // namespace

Result<std::optional<JobOptions>> job_options(const Variables& variables,
                                              const std::optional<JobPlace>& place) {
  JobOptions options;
  const auto store = value_of(variables, kStoreVariable);
  const std::string what = std::string(kStoreVariable) + " is '" + store.value_or("") + "'";
  if (store && !place) {
    return fail(ErrorCode::kInvalidArgument,
                what +
                    ", but nothing says which rank this process is: RANK, WORLD_SIZE, "
                    "LOCAL_RANK, LOCAL_WORLD_SIZE and MILLRACE_JOB, as `millrace launch` sets "
                    "them");
  }
  if (store) {
    options.job = place->job;
    options.address = *store;
  } else {
    // Ours always has a store.
    if (!place || place->job.empty() || place->launcher == "millrace") return std::nullopt;
    options.job = job_name(*place);
    options.hosted = true;
    options.folder =
        JobFolder::place(value_of(variables, "XDG_RUNTIME_DIR")) + "/" + folder_name(*place);
    options.address = "unix:" + options.folder + "/store";
  }
  options.rank = static_cast<std::uint32_t>(place->process.index);
  options.ranks = static_cast<std::uint32_t>(place->process.count);
  const bool is_tcp = options.address.starts_with("tcp:");
  if (!is_tcp && !options.address.starts_with("unix:"))
    return fail(ErrorCode::kInvalidArgument,
                what + ", but must be unix:PATH or tcp:127.0.0.1:PORT");
  if (const auto transport = value_of(variables, kTransportVariable)) {
    const auto kind = read_link_kind(*transport);
    if (!kind)
      return fail(kind.error().code(),
                  std::string(kTransportVariable) + " is " + kind.error().message());
    options.links = *kind;
  }
  const auto path = value_of(variables, kSecretVariable);
  if (path) {
    MILLRACE_TRY(options.secret,
                 read_secret(*path, std::string(kSecretVariable) + " is '" + *path + "'"));
    if (!options.hosted && path->starts_with('/'))
      options.folder = path->substr(0, path->rfind('/'));
    return options;
  }
  if (!is_tcp && options.links != LinkKind::kTcp) return options;
  const std::string by = is_tcp ? what : std::string(kTransportVariable) + " is 'tcp'";
  return fail(ErrorCode::kInvalidArgument,
              by + ", but " + kSecretVariable + " is not set: TCP needs the secret of the job");
}

}  // namespace millrace::net
