#include "millrace/devices/cpu/copy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "millrace/devices/host_view.h"

namespace millrace::devices::cpu {
namespace {

// One copy: waits for its source, then for a thread where it is large. Consumed by run() or drop().
class CopyWork : public Work, public Waiter, public Pooled {
 public:
  CopyWork(CpuDevice& device, Scope::Hold hold) : device_(device), hold_(std::move(hold)) {}
  virtual ~CopyWork() = default;

  void start_after(AsyncValue& ready) { ready.add_waiter(this); }
  void start(std::size_t bytes) {
    if (bytes <= kInlineCopyBytes) {
      run();
    } else {
      device_.executor().submit(this);
    }
  }
  void on_complete(AsyncValue& value) noexcept override {
    if (const Error* error = value.error()) {
      finish(std::unexpected(*error));
    } else {
      start(bytes());
    }
  }
  void run() noexcept override {
    const Status alive = device_.alive();
    finish(alive ? copy() : alive);
  }
  void drop() noexcept override {
    finish(millrace::fail(ErrorCode::kUnavailable,
                          "the threads of a CPU device closed before a copy was made"));
  }

 protected:
  virtual std::size_t bytes() const = 0;
  virtual Status copy() = 0;
  virtual void complete(const Status& status) = 0;
  CpuDevice& device() const { return device_; }

 private:
  void finish(const Status& status) {
    const Scope::Hold hold = std::move(hold_);
    complete(status);
    delete this;
  }

  CpuDevice& device_;
  Scope::Hold hold_;
};

class CopyIn final : public CopyWork {
 public:
  CopyIn(CpuDevice& device, Scope::Hold hold, const HostView& view, Ref<CpuArray> array)
      : CopyWork(device, std::move(hold)), view_(view), array_(std::move(array)) {
    std::ranges::copy(view.byte_strides, strides_.begin());
    view_.byte_strides = {strides_.data(), view.byte_strides.size()};
  }
  Future<void> source_released() const { return Future<void>(Ref<Cell<void>>(released_)); }
  std::size_t bytes() const override { return view_.shape.size_bytes(); }

 protected:
  Status copy() override {
    const TraceScope trace(device().trace(), device().put_lane(), device().put_name());
    MILLRACE_TRY(block_, device().memory().allocate(bytes()));
    copy_dense(view_, block_->data());
    return {};
  }
  void complete(const Status& status) override {
    view_.owner = nullptr;
    released_->set({});
    if (status) {
      CpuArray::write(std::move(array_), std::move(block_));
    } else {
      CpuArray::fail(std::move(array_), status.error());
    }
  }

 private:
  HostView view_;
  std::array<std::int64_t, kMaxRank> strides_{};
  Ref<CpuArray> array_;
  const Ref<QuietCell> released_ = make_ref<QuietCell>();  // the array reports errors too
  Ref<Block> block_;
};

class CopyAcross final : public CopyWork {
 public:
  CopyAcross(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source, Ref<CpuArray> array)
      : CopyWork(device, std::move(hold)), source_(std::move(source)), array_(std::move(array)) {}

 protected:
  std::size_t bytes() const override { return source_->block()->size(); }
  Status copy() override {
    MILLRACE_TRY(block_, device().memory().allocate(bytes()));
    std::memcpy(block_->data(), source_->block()->data(), bytes());
    return {};
  }
  void complete(const Status& status) override {
    source_ = nullptr;
    if (status) {
      CpuArray::write(std::move(array_), std::move(block_));
    } else {
      CpuArray::fail(std::move(array_), status.error());
    }
  }

 private:
  Ref<CpuArray> source_;
  Ref<CpuArray> array_;
  Ref<Block> block_;
};

class CopyOut final : public CopyWork {
 public:
  CopyOut(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source,
          std::span<std::byte> destination, Owner keep_alive)
      : CopyWork(device, std::move(hold)),
        source_(std::move(source)),
        destination_(destination),
        keep_alive_(std::move(keep_alive)) {}
  Future<void> done() const { return Future<void>(Ref<Cell<void>>(done_)); }

 protected:
  std::size_t bytes() const override { return destination_.size(); }
  Status copy() override {
    if (!destination_.empty()) {
      std::memcpy(destination_.data(), source_->block()->data(), bytes());
    }
    return {};
  }
  void complete(const Status& status) override {
    source_ = nullptr;
    keep_alive_ = nullptr;
    done_->set(status);
  }

 private:
  Ref<CpuArray> source_;
  const std::span<std::byte> destination_;
  Owner keep_alive_;
  const Ref<Cell<void>> done_ = make_ref<Cell<void>>();
};

}  // namespace

Future<void> copy_in(CpuDevice& device, Scope::Hold hold, const HostView& view, Ref<CpuArray> array,
                     bool during_call) {
  auto* copy = new CopyIn(device, std::move(hold), view, std::move(array));
  Future<void> released = copy->source_released();
  copy->start(during_call ? 0 : copy->bytes());
  return released;
}

void copy_across(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source, Ref<CpuArray> array) {
  const Ref<Cell<void>> ready = source->ready();
  (new CopyAcross(device, std::move(hold), std::move(source), std::move(array)))
      ->start_after(*ready);
}

Future<void> copy_out(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source,
                      std::span<std::byte> destination, Owner keep_alive) {
  const Ref<Cell<void>> ready = source->ready();
  auto* copy =
      new CopyOut(device, std::move(hold), std::move(source), destination, std::move(keep_alive));
  Future<void> done = copy->done();
  copy->start_after(*ready);
  return done;
}

}  // namespace millrace::devices::cpu
