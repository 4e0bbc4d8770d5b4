#include "millrace/core/net/job_observer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/read_file.h"
#include "millrace/core/net/job_folder.h"
#include "millrace/core/net/job_frames.h"
#include "millrace/core/net/store_frames.h"

namespace millrace::net {
namespace {

constexpr const char* kPointer = "/job";

// A look of one who is no member. Kept by its connection. Confined to home.
class Look final : public RefCounted {
 public:
  Future<JobStatus> start(Transport& transport, const JobPointer& job, const CallOptions& call) {
    Future<JobStatus> result = promise_->future();
    detail::limit_wait(
        call, &transport.timers(), Ref<AsyncValue>(result.cell()), self(),
        [](RefCounted& target, detail::WaitEnd end) { static_cast<Look&>(target).give_up(end); });
    home_ = &transport.home();
    enter(
        transport, job.address,
        {.secret = job.secret,
         .job = job.job,
         .self = {.rank = 0, .incarnation = own_incarnation()},
         .member = {.max_payload = kMostStorePayload}},
        [self = self()](const Ref<Connection>& connection) { return self->admit(connection); },
        call)
        .then(transport.home(),
              [self = self()](const Result<Ref<Connection>>& entered) {
                if (!entered) self->complete(std::unexpected(entered.error()));
              })
        .ignore();
    return result;
  }

 private:
  Ref<Look> self() { return Ref<Look>::share(this); }
  FrameSink admit(const Ref<Connection>& connection) {
    connection_ = connection;
    connection->end()
        .then(*home_,
              [self = self(), connection](const Result<ConnectionEnd>& end) {
                self->connection_ = {};
                self->complete(std::unexpected(end->error(connection->peer())));
              })
        .ignore();
    connection->send(encode_ask()).ignore();
    return [self = self()](const Frame& frame) {
      self->complete(decode_status(frame));
      if (self->connection_) self->connection_->close("it has what it asked for").ignore();
      return Future<void>();
    };
  }
  void give_up(detail::WaitEnd end) {
    post(*home_, [self = self(), end] {
      self->complete(std::unexpected(detail::wait_error(end, "before the host had answered")));
      if (self->connection_) self->connection_->abandon("given up");
    });
  }
  void complete(Result<JobStatus> result) {
    if (promise_) std::exchange(promise_, std::nullopt)->set(std::move(result));
  }

  Executor* home_ = nullptr;
  Ref<Connection> connection_;
  std::optional<Promise<JobStatus>> promise_{std::in_place};
};

bool is_ours(const std::string& path) {
  struct stat found = {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid() && (found.st_mode & 077) == 0;
}

std::optional<JobPointer> read_pointer(const std::string& folder) {
  if (!is_ours(folder)) return std::nullopt;
  const Result<std::string> text = read_file(folder + kPointer);
  if (!text) return std::nullopt;
  const std::size_t end = text->find('\n');
  if (end == std::string::npos) return std::nullopt;
  JobPointer job{.job = text->substr(end + 1), .address = text->substr(0, end)};
  const std::string secret_file = folder + JobFolder::kSecret;
  if (::access(secret_file.c_str(), F_OK) == 0) {
    const auto secret = read_secret(secret_file, "the secret of a job, " + secret_file);
    if (!secret) return std::nullopt;
    job.secret = *secret;
  }
  return job;
}

}  // namespace

Status write_pointer(const std::string& folder, const std::string& job,
                     const std::string& address) {
  const std::string path = folder + kPointer, made = path + ".new", text = address + "\n" + job;
  {
    const Descriptor file(
        ::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return errno_error("writing " + made, errno);
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return errno_error("writing " + made, errno);
  }
  if (::rename(made.c_str(), path.c_str()) != 0) return errno_error("writing " + path, errno);
  return {};
}

std::vector<JobPointer> find_jobs() {
  std::vector<JobPointer> jobs;
  for (const std::string& place : JobFolder::places()) {
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(place, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      if (!entry->path().filename().string().starts_with(JobFolder::kPrefix)) continue;
      if (auto job = read_pointer(entry->path())) jobs.push_back(*std::move(job));
    }
  }
  return jobs;
}

Future<JobStatus> observe_job(Transport& transport, const JobPointer& job, CallOptions call) {
  MILLRACE_TRY_STATUS(check_in_time(call, transport.timers().clock(), "the look at a job"));
  return make_ref<Look>()->start(transport, job, call);
}

}  // namespace millrace::net
