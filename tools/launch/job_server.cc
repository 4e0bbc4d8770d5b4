#include "millrace/tools/launch/job_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/job_observer.h"
#include "millrace/core/net/socket_transport.h"

namespace millrace::launch {

namespace {

Result<net::Secret> write_secret(const std::string& path) {
  net::Secret secret;
  net::draw_random(secret);
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno_error("writing " + path, errno);
  const ssize_t written = ::write(file.get(), secret.data(), secret.size());
  if (written != static_cast<ssize_t>(secret.size())) return errno_error("writing " + path, errno);
  return secret;
}

}  // namespace

// What is confined to the loop, and the loop.
class JobServer::Thread {
 public:
  Thread(std::unique_ptr<EventLoop> loop, int ranks)
      : thread_(std::move(loop), "millrace-host"), generations_(static_cast<std::size_t>(ranks)) {}
  ~Thread() {
    static_cast<void>(wait([this] { return host_ ? host_->close() : make_ready(); }));
    static_cast<void>(wait([this] {
      host_ = {};
      transport_.reset();
      return make_ready();
    }));
  }

  Status open(const std::string& address, net::JobHostOptions options,
              const JobServerHooks& hooks) {
    return wait([&, this]() -> Future<void> {
      transport_ = net::make_socket_transport(thread_.loop());
      net::JobHooks made{.suspect = hooks.suspect};
      made.joined = [this, &hooks](std::uint32_t rank) { report(hooks.joined, rank); };
      made.silent = [this, &hooks](const net::JobMember& member) {
        report(hooks.silent, member.rank);
      };
      MILLRACE_TRY(host_,
                   net::JobHost::open(*transport_, address, std::move(options), std::move(made)));
      return make_ready();
    });
  }
  const std::string& address() const { return host_->address(); }
  void fail(const net::JobFailure& failure) {
    post(thread_.loop(), [this, failure] { host_->fail(failure); });
  }
  void lost(const net::JobFailure& failure) {
    post(thread_.loop(), [this, failure] { host_->lost(failure); });
  }
  void over(const net::JobMember& member, bool well) {
    post(thread_.loop(), [this, member, well] { host_->over(member, well); });
  }
  void started(int rank, int pid) {
    post(thread_.loop(),
         [this, rank, pid] { host_->started(static_cast<std::uint32_t>(rank), pid); });
  }
  void ended(int rank) {
    post(thread_.loop(), [this, rank] {
      ++generations_[static_cast<std::size_t>(rank)];
      host_->ended(static_cast<std::uint32_t>(rank));
    });
  }

 private:
  void report(const std::function<void(int, int)>& hook, std::uint32_t rank) const {
    hook(static_cast<int>(rank), generations_[rank]);
  }
  // work() on the loop, to its end.
  template <class F>
  Status wait(F work) {
    return wait_blocking(make_ready().then(
        thread_.loop(), [&work](Result<void>) -> Future<void> { return work(); }));
  }

  EventLoopThread thread_;
  std::unique_ptr<net::Transport> transport_;
  Ref<net::JobHost> host_;
  std::vector<int> generations_;  // by rank
};

JobServer::JobServer() = default;
JobServer::~JobServer() = default;

Result<std::unique_ptr<JobServer>> JobServer::start(const JobFolder& folder,
                                                    const JobServerOptions& options,
                                                    JobServerHooks hooks) {
  std::unique_ptr<JobServer> made(new JobServer());
  made->hooks_ = std::move(hooks);
  MILLRACE_TRY_STATUS(made->open(folder, options));
  return made;
}

Status JobServer::open(const JobFolder& folder, const JobServerOptions& options) {
  MILLRACE_TRY(std::unique_ptr<EventLoop> loop, create_uv_event_loop());
  try {
    thread_ = std::make_unique<Thread>(std::move(loop), options.ranks);
  } catch (const std::system_error& refused) {
    return millrace::fail(ErrorCode::kResourceExhausted,
                          std::string("starting the thread of the store: ") + refused.what());
  }
  net::JobHostOptions host{.job = options.job,
                           .ranks = static_cast<std::uint32_t>(options.ranks),
                           .silent_after = options.silent_after};
  if (options.least) host.least = static_cast<std::uint32_t>(*options.least);
  std::string address = "unix:" + folder.socket();
  if (options.tcp) address = "tcp:127.0.0.1:0";
  if (options.tcp || options.secret) {
    secret_file_ = folder.secret();
    MILLRACE_TRY(host.secret, write_secret(secret_file_));
  }
  MILLRACE_TRY_STATUS(thread_->open(address, std::move(host), hooks_));
  address_ = thread_->address();
  return net::write_pointer(folder.path(), options.job, address_);
}

void JobServer::fail(const net::JobFailure& failure) { thread_->fail(failure); }
void JobServer::lost(const net::JobFailure& failure) { thread_->lost(failure); }
void JobServer::over(const net::JobMember& member, bool well) { thread_->over(member, well); }
void JobServer::started(int rank, int pid) { thread_->started(rank, pid); }
void JobServer::ended(int rank) { thread_->ended(rank); }

}  // namespace millrace::launch
