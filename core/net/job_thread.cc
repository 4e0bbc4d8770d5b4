#include "millrace/core/net/job_thread.h"

#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/base/check.h"
#include "millrace/core/net/declare_failure.h"
#include "millrace/core/net/host_transport.h"
#include "millrace/core/net/mesh_address.h"

namespace millrace::net {
namespace {

constexpr int kClearUpTries = 500;
constexpr Duration kClearUpPause = std::chrono::milliseconds(2);
// A rank comes as late as its program lets it: calls have deadlines, and the host says who is gone.
constexpr Duration kPatience = std::chrono::hours(24);
// What goes to a rank waits for it: a group has 2 MiB on the way at most.
constexpr std::size_t kMostQueued = std::size_t{256} << 20;

}  // namespace

JobThread::JobThread(std::unique_ptr<EventLoop> loop)
    : thread_(std::move(loop), "millrace-job"), transport_(make_host_transport(thread_.loop())) {}

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
  if (options.hosted) folder_ = options.folder;
  patience_ = options.patience;
  joined_ =
      make_ready().then(thread_.loop(), [this, options = std::move(options), call](Result<void>) {
        return (options.hosted ? join_hosted(*transport_, options, host_, call)
                               : Job::join(*transport_, options, call))
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
                   .secret = options.secret,
                   .most_queued = kMostQueued,
                   .patience = kPatience};
  draw_random(made.incarnation);
  MILLRACE_TRY(mesh_address_, mesh_address(options, made.incarnation));
  if (may_fall_silent(mesh_address_)) made.silent_after = job->silent_after();
  MILLRACE_TRY(mesh_, Mesh::make(*transport_, job->store(), std::move(made)));
  job->failure()
      .then(inline_executor(),
            [mesh = mesh_](const Result<void>& failed) {
              if (!failed) declare_failure(*mesh, failed.error());
            })
      .ignore();
  // The last reference of a job goes with its thread, and so does this.
  job->set_lost([mesh = mesh_](const JobFailure& failure) {
    mesh->declare_lost(
        failure.member.rank,
        Error(ErrorCode::kUnavailable, to_string(failure)).with_detail(failure.member));
  });
  return {};
}

Future<World> JobThread::next_world() {
  return job().next_world().then(inline_executor(), [this](Result<World> world) -> Future<World> {
    if (!world) return world;
    // Before the next frame of the host is read, which may say who of it is lost.
    const bool was_started = mesh_started_.load();
    Future<void> there =
        world->epoch > mesh_->epoch() ? mesh_->set_epoch(world->epoch) : make_ready();
    if (!was_started) static_cast<void>(mesh());
    return there.then(inline_executor(),
                      [world = *std::move(world)](const Result<void>& entered) -> Result<World> {
                        if (!entered) return std::unexpected(entered.error());
                        return world;
                      });
  });
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

Future<void> JobThread::close(CallOptions call) {
  if (closed_.valid()) return closed_;
  if (!joined_.valid()) return closed_ = make_ready();
  closed_ = joined_.then(inline_executor(), [this, call](const Result<Ref<Job>>& joined) {
    if (!joined) return end_host(Duration(0), call);
    return mesh_->close()
        .then(inline_executor(), [job = *joined](Result<void>) { return job->close(); })
        .then(thread_.loop(), [this, call](Result<void>) { return end_host(patience_, call); });
  });
  return closed_;
}

Future<void> JobThread::end_host(Duration patience, const CallOptions& call) {
  if (host_) return host_->end(patience, call);
  const Result<Ref<Job>>& joined = joined_.result();
  const Future<void> failed = joined ? (*joined)->failure() : Future<void>();
  if (folder_.empty() || !failed.valid() || !failed.ready() || failed.result()) return make_ready();
  const auto* const failure = failed.result().error().detail<JobFailure>();
  return failure != nullptr && failure->member.rank == 0 ? clear_up_after_host(kClearUpTries)
                                                         : make_ready();
}

// What a host has left that was killed.
Future<void> JobThread::clear_up_after_host(int tries) {
  if (ClaimedFolder::remove_if_stale(folder_) || tries == 0) return make_ready();
  TimerQueue& timers = transport_->timers();
  return sleep_until(timers.clock().now() + kClearUpPause, timers)
      .then(thread_.loop(), [this, tries](Result<void>) { return clear_up_after_host(tries - 1); });
}

JobThread::~JobThread() {
  // Not wait_blocking(): a bridge may be open on this thread, and nothing of its loop is awaited.
  static_cast<void>(wait_until(close(), CallOptions()));
  joined_ = {};
  mesh_ = {};
  // The transport goes on its own thread, which then ends.
  const auto gone = make_ready().then(thread_.loop(), [this](Result<void>) {
    host_.reset();
    transport_.reset();
  });
  static_cast<void>(wait_until(gone, CallOptions()));
}

}  // namespace millrace::net
