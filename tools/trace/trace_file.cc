#include "millrace/tools/trace/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/errno_code.h"
#include "millrace/core/base/mutex.h"
#include "millrace/tools/trace/trace_encoder.h"

namespace millrace::trace {
namespace {

std::unexpected<Error> cannot_write(const std::string& path, int error) {
  Error why(errno_code(error), "cannot write the trace to " + path + ": " + errno_text(error));
  return std::unexpected(why.with_detail(TraceNotWritten{path}));
}

// From here on, a write to a full pipe waits for its reader.
bool let_writes_wait(int file) {
  const int flags = ::fcntl(file, F_GETFL);
  return flags >= 0 && ::fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

Result<Descriptor> open_for_writing(const std::string& path) {
  // With O_NONBLOCK, a pipe that nothing reads is an error and not waited for.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  Descriptor file(::open(path.c_str(), kFlags, 0666));
  if (!file && errno == ENXIO) {
    const Error why(ErrorCode::kFailedPrecondition,
                    "cannot write the trace to " + path + ": it has no reader");
    return std::unexpected(why.with_detail(TraceNotWritten{path}));
  }
  if (!file || !let_writes_wait(file.get())) return cannot_write(path, errno);
  return file;
}

// What it held is gone; a device or a pipe holds nothing.
bool make_empty(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return false;
  return !S_ISREG(status.st_mode) || ::ftruncate(file, 0) == 0;
}

}  // namespace

// Lives until its last timer and its last write are over. One write at a time: the next is
// scheduled when one has ended.
class TraceFile::Core final : public RefCounted {
 public:
  // whole: of a part, what it is a part of.
  Core(const Environment& environment, const TraceRecorder& recorder, TraceFileOptions options,
       std::string path, Descriptor file, Descriptor whole)
      : environment_(environment),
        recorder_(recorder),
        options_(std::move(options)),
        path_(std::move(path)),
        file_(std::move(file)),
        whole_(std::move(whole)),
        encoder_(recorder) {}

  void begin() {
    MutexLock lock(mutex_);
    if (begun_ || stopped_) return;
    begun_ = true;
    if (!make_empty(file_.get())) {
      status_ = cannot_write(path_, errno);
      return;
    }
    const int pid = ::getpid();
    const auto part = static_cast<std::uint32_t>(options_.part ? pid : 0);
    encoder_.begin(options_.process, pid, bytes_, part);
    schedule();
  }
  Future<void> close();
  void stop() {
    MutexLock lock(mutex_);
    stopped_ = true;
    cancel_timer();
  }
  std::uint64_t lost() const {
    MutexLock lock(mutex_);
    return lost_;
  }

 private:
  void schedule() MILLRACE_REQUIRES(mutex_);
  void cancel_timer() MILLRACE_REQUIRES(mutex_) {
    if (timer_) environment_.timers->cancel(*timer_);
    timer_.reset();
  }
  void on_timer();
  void write() MILLRACE_REQUIRES(mutex_);
  Status write_last();

  const Environment environment_;
  const TraceRecorder& recorder_;
  const TraceFileOptions options_;
  const std::string path_;  // of the file that is written
  mutable Mutex mutex_;
  Descriptor file_ MILLRACE_GUARDED_BY(mutex_);
  const Descriptor whole_;
  TraceEncoder encoder_ MILLRACE_GUARDED_BY(mutex_);
  TraceCursor cursor_ MILLRACE_GUARDED_BY(mutex_);
  std::string bytes_ MILLRACE_GUARDED_BY(mutex_);  // not yet written
  std::uint64_t lost_ MILLRACE_GUARDED_BY(mutex_) = 0;
  bool begun_ MILLRACE_GUARDED_BY(mutex_) = false;
  bool stopped_ MILLRACE_GUARDED_BY(mutex_) = false;
  Status status_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<TimerQueue::Id> timer_ MILLRACE_GUARDED_BY(mutex_);
  Future<void> closed_ MILLRACE_GUARDED_BY(mutex_);
};

void TraceFile::Core::schedule() {
  timer_ = environment_.timers->schedule(environment_.clock->now() + options_.period,
                                         [self = Ref<Core>::share(this)] { self->on_timer(); });
}

// On the timers' thread, which must not write.
void TraceFile::Core::on_timer() {
  post(*environment_.blocking, [self = Ref<Core>::share(this)] {
    MutexLock lock(self->mutex_);
    if (self->stopped_) return;
    self->write();
    if (self->status_) self->schedule();
  });
}

void TraceFile::Core::write() {
  const TraceBatch batch = recorder_.events_since(cursor_);
  lost_ += batch.lost;
  if (!status_) return;
  encoder_.add(batch, bytes_);
  for (std::size_t done = 0; done < bytes_.size();) {
    const ssize_t count = ::write(file_.get(), bytes_.data() + done, bytes_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      status_ = cannot_write(path_, errno);
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  bytes_.clear();
}

Status TraceFile::Core::write_last() {
  MutexLock lock(mutex_);
  if (begun_) write();
  if (options_.part && !begun_) ::unlink(path_.c_str());
  if (::close(file_.detach()) != 0 && status_) {
    status_ = cannot_write(path_, errno);
  }
  if (options_.part) {
    const Status joined = join_parts(options_.path, options_.part->job, whole_);
    if (!joined && status_)
      status_ = std::unexpected(joined.error().with_detail(TraceNotWritten{options_.path}));
  }
  return status_;
}

Future<void> TraceFile::Core::close() {
  Promise<void> promise;
  Future<void> closed = promise.future();
  {
    MutexLock lock(mutex_);
    if (closed_.valid()) return closed_;
    closed_ = closed;
    stopped_ = true;
    cancel_timer();
  }
  post(*environment_.blocking,
       [self = Ref<Core>::share(this), promise = std::move(promise)]() mutable {
         promise.set(self->write_last());
       });
  return closed;
}

TraceFile::TraceFile(Ref<Core> core) : core_(std::move(core)) {}
TraceFile::~TraceFile() { core_->stop(); }

Result<std::unique_ptr<TraceFile>> TraceFile::open(const Environment& environment,
                                                   const TraceRecorder& recorder,
                                                   const TraceFileOptions& options) {
  MILLRACE_TRY(Descriptor file, open_for_writing(options.path));
  if (!options.part) {
    return std::unique_ptr<TraceFile>(new TraceFile(make_ref<Core>(
        environment, recorder, options, options.path, std::move(file), Descriptor())));
  }
  std::string path = part_path(options.path, *options.part);
  Result<Descriptor> part = open_part(path);
  if (!part) return std::unexpected(part.error().with_detail(TraceNotWritten{path}));
  return std::unique_ptr<TraceFile>(new TraceFile(make_ref<Core>(
      environment, recorder, options, std::move(path), *std::move(part), std::move(file))));
}

void TraceFile::begin() { core_->begin(); }

Future<void> TraceFile::close() { return core_->close(); }
std::uint64_t TraceFile::lost() const { return core_->lost(); }

}  // namespace millrace::trace
