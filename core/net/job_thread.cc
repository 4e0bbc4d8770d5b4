#include "millrace/core/net/job_thread.h"

#include <unistd.h>

#include <system_error>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/check.h"
#include "millrace/core/net/mesh_address.h"
#include "millrace/core/net/socket_transport.h"

namespace millrace::net {

JobThread::JobThread(std::unique_ptr<EventLoop> loop)
    : thread_(std::move(loop), "millrace-job"), transport_(make_socket_transport(thread_.loop())) {}

Result<std::unique_ptr<JobThread>> JobThread::create() {
  MILLRACE_TRY(std::unique_ptr<EventLoop> loop, create_uv_event_loop());
  try {
    return std::unique_ptr<JobThread>(new JobThread(std::move(loop)));
  } catch (const std::system_error& refused) {
    return fail(ErrorCode::kResourceExhausted,
                std::string("starting the thread of the job: ") + refused.what());
  }
}

Future<void> JobThread::join(JobOptions options, CallOptions call) {
  MILLRACE_CHECK(!joined_.valid(), "a process joins its job once");
  joined_ =
      make_ready().then(thread_.loop(), [this, options = std::move(options), call](Result<void>) {
        return Job::join(*transport_, options, call)
            .then(inline_executor(), [this, options](Result<Ref<Job>> joined) -> Future<Ref<Job>> {
              if (!joined) return joined;
              const Status made = make_mesh(options, *joined);
              if (made) return joined;
              return (*joined)->close().then(inline_executor(),
                                             [made](Result<void>) -> Result<Ref<Job>> {
                                               return std::unexpected(made.error());
                                             });
            });
      });
  return joined_.then(inline_executor(), [](const Result<Ref<Job>>& joined) -> Status {
    if (!joined) return std::unexpected(joined.error());
    return {};
  });
}

Status JobThread::make_mesh(const JobOptions& options, const Ref<Job>& job) {
  MeshOptions made{.rank = options.rank,
                   .size = options.ranks,
                   .job = options.job,
                   .host = host_name(),
                   .pid = ::getpid(),
                   .secret = options.secret};
  draw_random(made.incarnation);
  MILLRACE_TRY(mesh_address_, mesh_address(options, made.incarnation));
  MILLRACE_TRY(mesh_, Mesh::make(*transport_, job->store(), std::move(made)));
  job->failure()
      .then(inline_executor(),
            [mesh = mesh_](const Result<void>& failed) {
              const auto* const failure = failed ? nullptr : failed.error().detail<JobFailure>();
              if (failure == nullptr || failure->reason == FailureReason::kAskedToEnd) return;
              mesh->declare_lost(failure->member.rank,
                                 Error(failed.error()).with_detail(failure->member));
            })
      .ignore();
  return {};
}

Job& JobThread::job() const {
  MILLRACE_CHECK(joined_.valid() && joined_.ready() && joined_.result(), "the job was not joined");
  return **joined_.result();
}

Mesh& JobThread::mesh() const {
  static_cast<void>(job());
  if (!mesh_started_.exchange(true)) mesh_->start(mesh_address_).ignore();
  return *mesh_;
}

Future<void> JobThread::close() {
  if (closed_.valid()) return closed_;
  if (!joined_.valid()) return closed_ = make_ready();
  closed_ = joined_.then(inline_executor(), [this](const Result<Ref<Job>>& joined) {
    if (!joined) return make_ready();
    return mesh_->close().then(inline_executor(),
                               [job = *joined](Result<void>) { return job->close(); });
  });
  return closed_;
}

JobThread::~JobThread() {
  // Not wait_blocking(): a bridge may be open on this thread, and nothing of its loop is awaited.
  static_cast<void>(wait_until(close(), CallOptions()));
  joined_ = {};
  mesh_ = {};
  // The transport goes on its own thread, which then ends.
  const auto gone = make_ready().then(thread_.loop(), [this](Result<void>) { transport_.reset(); });
  static_cast<void>(wait_until(gone, CallOptions()));
}

}  // namespace millrace::net
