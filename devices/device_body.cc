#include "millrace/devices/device_body.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "millrace/actors/actor_cell.h"

namespace millrace::devices {

DeviceBody::DeviceBody(Client& client, const DeviceInfo& info, const DeviceActorOptions& options,
                       std::shared_ptr<LaunchSequencer> sequencer)
    : client_(client),
      info_(info),
      options_(options),
      put_memory_(client.put_memory(info.id)),
      sequencer_(std::move(sequencer)),
      pass_gate_(options_.inline_when_idle ? options_.environment.clock : nullptr) {}

std::string DeviceBody::name() const { return name_of(id()) + " (" + info_.kind + ")"; }

Status DeviceBody::check_process() const {
  if (millrace::detail::fork_generation() == generation_) [[likely]]
    return {};
  return fail(ErrorCode::kFailedPrecondition,
              name() +
                  " belongs to the process that this one was forked from, where its threads are: "
                  "fork before the first runtime is made, or exec");
}

Status DeviceBody::check_there() const {
  if (life_.load() == DeviceLife::kClosed) return std::unexpected(gone_error());
  return check_process();
}

Error DeviceBody::gone_error() const {
  const DeviceLife life = life_.load();
  const bool closes = life != DeviceLife::kOpen && life != DeviceLife::kFailed;
  return {ErrorCode::kUnavailable,
          name() + (closes ? " is closed" : " lost its executor, which has closed")};
}

Future<void> DeviceBody::close() {
  if (const Status here = check_process(); !here) return here.error();
  cell_->stop({actors::ExitReason::kClosed, std::nullopt}, actors::StopMode::kNow);
  return cell_->down().then(inline_executor(),
                            [self = Ref<DeviceBody>::share(this)](const Result<actors::Down>&) {
                              const MutexLock lock(self->mutex_);
                              return self->end_;
                            });
}

Future<void> DeviceBody::failed() const {
  const MutexLock lock(mutex_);
  return failed_;
}

void DeviceBody::add_listener(std::weak_ptr<FailureListener> listener) {
  Future<void> failed;
  {
    const MutexLock lock(mutex_);
    failed = failed_;
    if (!failed.ready()) {
      if (listeners_.size() >= most_listeners_) {
        std::erase_if(listeners_, [](const auto& one) { return one.expired(); });
        most_listeners_ = std::max<std::size_t>(8, 2 * listeners_.size());
      }
      listeners_.push_back(std::move(listener));
      return;
    }
  }
  const auto alive = listener.lock();
  if (alive && !failed.result()) alive->on_device_failed(failed.result().error());
}

// failed_ is complete already: a listener that is not in the list finds that.
void DeviceBody::report_failure(const Error& reason) {
  std::vector<std::weak_ptr<FailureListener>> listeners;
  {
    const MutexLock lock(mutex_);
    listeners.swap(listeners_);
  }
  for (const auto& listener : listeners) {
    if (const auto alive = listener.lock()) alive->on_device_failed(reason);
  }
}

Future<void> DeviceBody::restart() {
  if (const Status here = check_there(); !here) return here.error();
  Promise<void> promise;
  Future<void> restarted = promise.future();
  post(*cell_,
       [this, promise = std::move(promise)]() mutable { turns_->on_restart(std::move(promise)); });
  return restarted;
}

void DeviceBody::give_up(const Error& reason) {
  post(*cell_, [this, reason] { turns_->on_give_up(reason); });
}

void DeviceBody::watch_client() {
  const Future<void> failed = client_.failed(id());
  if (!failed.valid()) return;
  // The continuation holds the cell, which is its executor, and the body through it.
  failed
      .then(*cell_,
            [this, cell = cell_](const Status& status) {
              if (!status) turns_->on_failure(status.error());
            })
      .ignore();
}

bool DeviceBody::try_signal(Seat& seat, std::uint32_t signals, Operation* held) {
  // As soon as the mailbox is idle, a close on another thread may end the actor and drop this body,
  // while try_turn still looks into it (CpuClientStressTest with the thread sanitizer). A call that
  // enters holds the device.
  const Ref<actors::ActorCell> cell = held != nullptr ? cell_ : nullptr;
  return cell_->try_turn([&] { turns_->on_signals(seat, signals, held); });
}

void DeviceBody::publish(const DeviceStats& stats, Duration busy) {
  // relaxed: numbers order nothing. Word by word: what a turn has just written is read as it was
  // written, which the processor need not wait for. What lies between two fields is never read.
  for (std::size_t i = 0; i < published_.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&stats) + i * sizeof(word), sizeof(word));
    published_[i].store(word, std::memory_order_relaxed);
  }
  constexpr std::size_t kBusy = offsetof(DeviceStats, busy) / sizeof(std::uint64_t);
  published_[kBusy].store(static_cast<std::uint64_t>(busy.count()), std::memory_order_relaxed);
}

DeviceStats DeviceBody::stats() const {
  StatsWords words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = published_[i].load();
  auto stats = std::bit_cast<DeviceStats>(words);
  if (life_.load() != DeviceLife::kClosed)
    stats.busy = client_.busy_time(id()).value_or(stats.busy);
  return stats;
}

}  // namespace millrace::devices
