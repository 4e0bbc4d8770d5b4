#include "millrace/devices/cpu/copy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace millrace::devices::cpu {
namespace {

// One copy: waits for its source, then for a thread where it is large. Consumed by run() or drop().
class CopyWork final : public Work, public Waiter, public Pooled {
 public:
  // From a view on the host or an array, to an array or bytes on the host; done completes at the
  // end, beside the array.
  struct Ends {
    HostView view = {};
    Ref<CpuArray> source = nullptr;
    Ref<CpuArray> array = nullptr;
    std::span<std::byte> destination = {};
    Owner keep_alive = nullptr;
    Ref<Cell<void>> done = nullptr;
  };
  CopyWork(CpuDevice& device, Scope::Hold hold, Ends ends)
      : device_(device), hold_(std::move(hold)), ends_(std::move(ends)) {
    std::ranges::copy(ends_.view.byte_strides, strides_.begin());
    ends_.view.byte_strides = {strides_.data(), ends_.view.byte_strides.size()};
  }

  void start(bool here) {
    if (here || bytes() <= kInlineCopyBytes) {
      run();
    } else {
      device_.executor().submit(this);
    }
  }
  void on_complete(AsyncValue& value) noexcept override {
    if (const Error* error = value.error()) {
      finish(std::unexpected(*error));
    } else {
      start(false);
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

 private:
  std::size_t bytes() const {
    return !ends_.source ? ends_.view.shape.size_bytes()
           : ends_.array ? ends_.source->block()->size()
                         : ends_.destination.size();
  }
  Status copy() {
    const TraceScope trace(ends_.source ? nullptr : device_.trace(), device_.put_lane(),
                           device_.put_name());
    if (ends_.array) {
      MILLRACE_TRY(block_, device_.memory().allocate(bytes()));
    }
    std::byte* const to = ends_.array ? block_->data() : ends_.destination.data();
    if (!ends_.source) {
      copy_dense(ends_.view, to);
    } else if (bytes() > 0) {
      std::memcpy(to, ends_.source->block()->data(), bytes());
    }
    return {};
  }
  // Releases the source before it reports the end.
  void finish(const Status& status) {
    const Scope::Hold hold = std::move(hold_);
    const bool put = !ends_.source;
    ends_.view.owner = nullptr;
    ends_.source = nullptr;
    ends_.keep_alive = nullptr;
    // The host bytes of a put have been read, whatever becomes of the array.
    if (ends_.done) ends_.done->set(put ? Status() : status);
    if (ends_.array && status) {
      CpuArray::write(std::move(ends_.array), std::move(block_));
    } else if (ends_.array) {
      CpuArray::fail(std::move(ends_.array), status.error());
    }
    delete this;
  }

  CpuDevice& device_;
  Scope::Hold hold_;
  Ends ends_;
  std::array<std::int64_t, kMaxRank> strides_{};  // of the view
  Ref<Block> block_;                              // of the array, once it is written
};

}  // namespace

Future<void> copy_in(CpuDevice& device, Scope::Hold hold, const HostView& view, Ref<CpuArray> array,
                     bool during_call) {
  Ref<Cell<void>> released = make_ref<QuietCell>();  // the array reports errors too
  auto* copy = new CopyWork(device, std::move(hold),
                            {.view = view, .array = std::move(array), .done = released});
  copy->start(during_call);
  return Future<void>(std::move(released));
}

void copy_across(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source, Ref<CpuArray> array) {
  const Ref<Cell<void>> ready = source->ready();
  ready->add_waiter(new CopyWork(device, std::move(hold),
                                 {.source = std::move(source), .array = std::move(array)}));
}

Future<void> copy_out(CpuDevice& device, Scope::Hold hold, Ref<CpuArray> source,
                      std::span<std::byte> destination, Owner keep_alive) {
  const Ref<Cell<void>> ready = source->ready();
  Ref<Cell<void>> done = make_ref<Cell<void>>();
  ready->add_waiter(new CopyWork(device, std::move(hold),
                                 {.source = std::move(source),
                                  .destination = destination,
                                  .keep_alive = std::move(keep_alive),
                                  .done = done}));
  return Future<void>(std::move(done));
}

}  // namespace millrace::devices::cpu
