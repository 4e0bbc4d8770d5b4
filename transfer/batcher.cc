#include "millrace/transfer/batcher.h"

#include <algorithm>
#include <map>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/transfer/batch_actor.h"

namespace millrace::transfer {

using actors::ActorRef;

// What the handles share. Thread-safety: thread-safe.
class BatcherCore final : public RefCounted {
 public:
  BatcherCore(BatcherOptions options, ActorRef<BatchActor> actor,
              std::shared_ptr<const BatchDevices> known)
      : options_(std::move(options)), actor_(std::move(actor)), known_(std::move(known)) {}

  const Environment& environment() const { return actor_.cell()->home().environment; }
  const BatcherOptions& options() const { return options_; }
  const ActorRef<BatchActor>& actor() const { return actor_; }
  const BatchDevices& known_devices() const { return *known_; }

  std::shared_ptr<BatchQueue> find(const std::string& name) const MILLRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = queues_.find(name);
    return found == queues_.end() ? nullptr : found->second;
  }
  Status add(const std::shared_ptr<const BatchModel>& model, const BatchQueueOptions& options)
      MILLRACE_EXCLUDES(mutex_) {
    std::shared_ptr<BatchQueue> queue;
    {
      MutexLock lock(mutex_);
      if (queues_.contains(model->name())) {
        return fail(ErrorCode::kAlreadyExists,
                    "the batcher '" + options_.name + "' has a model '" + model->name() + "'");
      }
      queue = std::make_shared<BatchQueue>(model, options, next_number_++, options_.metrics);
    }
    actor_.send_notice(AddBatchQueue{queue});
    MutexLock lock(mutex_);  // after the notice: who finds the queue sends what comes behind it
    if (queues_.try_emplace(queue->name, queue).second) return {};
    return fail(ErrorCode::kAlreadyExists, "model '" + queue->name + "' was added twice at once");
  }
  std::vector<std::string> names() const MILLRACE_EXCLUDES(mutex_) {
    std::vector<std::string> names;
    MutexLock lock(mutex_);
    for (const auto& [name, queue] : queues_) names.push_back(name);
    return names;
  }

 private:
  const BatcherOptions options_;
  const ActorRef<BatchActor> actor_;
  const std::shared_ptr<const BatchDevices> known_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<BatchQueue>> queues_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t next_number_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

namespace {

constexpr int kLeastPriority = 9;

// Ends a request by its stop or deadline; kept until its answer is there.
struct RequestLimit final : RefCounted, Pooled {
  using Pooled::operator new;
  using Pooled::operator delete;
  RequestLimit(Ref<BatcherCore> of, Ref<BatchRequest> limited)
      : core(std::move(of)), request(std::move(limited)) {}
  static void end(RefCounted& target, millrace::detail::WaitEnd end) {
    auto& self = static_cast<RequestLimit&>(target);
    const Error error = millrace::detail::wait_error(
        end, "before the rows of model '" + self.request->queue->name + "' were there");
    if (self.request->end(std::unexpected(error), self.core->environment().clock->now()))
      self.core->actor().send_notice(LeaveBatch{self.request});
  }
  const Ref<BatcherCore> core;
  const Ref<BatchRequest> request;
};

Error full_error(const BatchQueue& queue, std::size_t bytes) {
  const QueueLimit::Amount used = queue.limit.used();
  const QueueLimit::Amount& most = queue.limit.most();
  const QueueFull full{.requests = used.requests,
                       .bytes = used.bytes,
                       .retry_after = Duration(queue.expected_wait.load())};
  return Error(ErrorCode::kResourceExhausted,
               "the queue of model '" + queue.name + "' is full: " + std::to_string(used.requests) +
                   " of " + std::to_string(most.requests) + " requests with " +
                   std::to_string(used.bytes) + " of " + std::to_string(most.bytes) +
                   " bytes wait, and this one has " + std::to_string(bytes) + "; try again later")
      .with_detail(full);
}

Status check_options(const BatchModel& model, BatchQueueOptions& options, std::size_t devices) {
  const std::string which = "model '" + model.name() + "' in a batcher: ";
  if (options.most_rows == 0) options.most_rows = model.most_rows();
  if (options.most_rows < 1 || options.most_rows > model.most_rows()) {
    return fail(ErrorCode::kInvalidArgument,
                which + "batches of " + std::to_string(options.most_rows) +
                    " rows are asked for, and 1 to " + std::to_string(model.most_rows()) +
                    " were exported");
  }
  if (!(options.weight > 0) || options.most_delay < Duration() || options.most_requests == 0) {
    return fail(ErrorCode::kInvalidArgument,
                which +
                    "its weight must be above 0, its delay not negative, and one request at "
                    "least must be allowed to wait");
  }
  const std::size_t lists = model.constant_lists();
  if (lists > 1 && lists != devices) {
    return fail(ErrorCode::kInvalidArgument,
                which + "it has constants for " + std::to_string(lists) +
                    " devices, and there are " + std::to_string(devices));
  }
  return {};
}

}  // namespace

Batcher::Batcher(Ref<BatcherCore> core) : core_(std::move(core)) {}
Batcher::Batcher(const Batcher& other) = default;
Batcher::Batcher(Batcher&& other) noexcept = default;
Batcher::~Batcher() = default;

Batcher& Batcher::operator=(Batcher other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}

Result<Batcher> Batcher::create(actors::ActorSystem& system, BatcherOptions options) {
  if (options.devices.empty() || options.batches_per_device < 1 ||
      !std::ranges::all_of(options.devices, [](const devices::Device& d) { return bool(d); })) {
    return fail(ErrorCode::kInvalidArgument,
                "a batcher needs devices that are not empty, and one batch on each at least");
  }
  const BatchSchedule::Options schedule{.devices = options.devices.size(),
                                        .batches_per_device = options.batches_per_device,
                                        .priority_step = options.priority_step};
  auto known = std::make_shared<BatchDevices>(options.devices.size());
  MILLRACE_TRY(ActorRef<BatchActor> actor,
               system.spawn<BatchActor>(options.name, {.inline_when_idle = true}, options.devices,
                                        schedule, known));
  return Batcher(make_ref<BatcherCore>(std::move(options), std::move(actor), std::move(known)));
}

Status Batcher::add(const std::shared_ptr<const BatchModel>& model,
                    const BatchQueueOptions& options) const {
  BatchQueueOptions checked = options;
  MILLRACE_TRY_STATUS(check_options(*model, checked, core_->options().devices.size()));
  return core_->add(model, checked);
}

Future<void> Batcher::replace(std::shared_ptr<const BatchModel> model) const {
  const std::shared_ptr<BatchQueue> queue = core_->find(model->name());
  if (!queue) {
    return fail(ErrorCode::kNotFound, "the batcher has no model '" + model->name() + "'");
  }
  BatchQueueOptions options = queue->options;
  MILLRACE_TRY_STATUS(check_options(*model, options, core_->options().devices.size()));
  if (!model->same_interface(*queue->model())) {
    return fail(ErrorCode::kFailedPrecondition,
                "the new version of model '" + model->name() +
                    "' takes or gives other rows than the one before; add it under another name");
  }
  Promise<void> ended;
  Future<void> future = ended.future();
  core_->actor().send_notice(SetBatchQueue{queue, std::move(model), std::move(ended)});
  return future;
}

Future<RowOutputs> Batcher::run(const std::string& model, const ListOf<RowInput>& inputs,
                                const RequestOptions& options) const {
  const Clock& clock = *core_->environment().clock;
  if (Status ok = check_in_time(options.call, clock, "the request"); !ok) return ok.error();
  std::shared_ptr<BatchQueue> queue = core_->find(model);
  if (!queue) return fail(ErrorCode::kNotFound, "there is no model '" + model + "'");
  if (options.priority < 0 || options.priority > kLeastPriority) {
    return fail(ErrorCode::kInvalidArgument,
                "a request has priority " + std::to_string(options.priority) + "; it is 0 to " +
                    std::to_string(kLeastPriority) + ", and 0 comes first");
  }
  const std::shared_ptr<const BatchModel> version = queue->model();
  MILLRACE_TRY(const BatchModel::Request checked, version->check(inputs));
  if (checked.rows > queue->options.most_rows) {
    return fail(ErrorCode::kInvalidArgument,
                "a request for model '" + model + "' has " + std::to_string(checked.rows) +
                    " rows, more than a batch of " + std::to_string(queue->options.most_rows));
  }
  if (!queue->limit.try_admit(checked.bytes)) {
    queue->count_refused();
    return full_error(*queue, checked.bytes);
  }
  const BatchPlace::Facts facts{.queue = queue->number,
                                .bucket = checked.bucket,
                                .rows = checked.rows,
                                .priority = options.priority,
                                .deadline = options.call.deadline};
  auto request = make_ref<BatchRequest>(facts, std::move(queue), inputs, checked.bytes,
                                        checked.length, clock.now());
  Future<RowOutputs> answer(request->answer);
  millrace::detail::limit_wait(
      options.call, core_->environment().timers, Ref<AsyncValue>(request->answer),
      Ref<RefCounted>(make_ref<RequestLimit>(core_, request)), &RequestLimit::end);
  core_->actor().send_notice(EnterBatch(std::move(request)));
  return answer;
}

std::shared_ptr<const BatchModel> Batcher::model(const std::string& name) const {
  const std::shared_ptr<BatchQueue> queue = core_->find(name);
  return queue ? queue->model() : nullptr;
}

std::vector<std::string> Batcher::models() const { return core_->names(); }

Result<BatchQueueStats> Batcher::stats(const std::string& model) const {
  const std::shared_ptr<BatchQueue> queue = core_->find(model);
  if (!queue) return fail(ErrorCode::kNotFound, "there is no model '" + model + "'");
  return queue->stats();
}

std::size_t Batcher::devices_alive() const { return core_->known_devices().alive(); }

std::vector<std::optional<Error>> Batcher::device_failures() const {
  return core_->known_devices().failures();
}

Future<void> Batcher::close(TimePoint deadline) const {
  core_->actor().send_notice(CloseBatches{deadline});
  return core_->actor().down().then(inline_executor(),
                                    [](const Result<actors::Down>& down) -> Status {
                                      if (!down) return std::unexpected(down.error());
                                      if (down->exit.failure())
                                        return std::unexpected(*down->exit.error);
                                      return {};
                                    });
}

}  // namespace millrace::transfer
