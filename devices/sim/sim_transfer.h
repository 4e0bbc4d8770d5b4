// SimTransfer: bytes on their way to, between or from simulated devices, one at a time per device
// and direction. Internal to sim_client.h.
#pragma once

#include <array>
#include <optional>

#include "millrace/core/scope.h"
#include "millrace/devices/sim/sim_buffer.h"
#include "millrace/devices/sim/sim_device.h"
#include "millrace/devices/sim/sim_options.h"

namespace millrace::devices::sim {

// Life: waits for its source, takes its turn in the lane, ends. Owned by whoever will call it next.
class SimTransfer final : public RefCounted, public Waiter, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  SimTransfer(SimClient& client, SimDevice& device, Scope::Hold hold);

  void put(const HostView& view, Ref<SimBuffer> to, std::optional<Error> scripted);
  void copy(Ref<SimBuffer> from, Ref<SimBuffer> to);
  Future<void> fetch(Ref<SimBuffer> from, std::span<std::byte> to, Owner keep_alive);
  // Of a put or a fetch.
  Future<void> done() const { return Future<void>(Ref<Cell<void>>(done_)); }

  void on_complete(AsyncValue& value) noexcept override;  // the source is ready

 private:
  void wait_for_source(Ref<SimBuffer> from);
  void reserve();
  void end();
  Status move_bytes();

  SimClient& client_;
  SimDevice& device_;
  Scope::Hold hold_;
  SimEvent::Kind begin_kind_{};
  SimEvent::Kind end_kind_{};
  std::uint64_t number_ = 0;
  std::size_t size_ = 0;
  TimePoint begin_{};
  Duration length_{};
  HostView view_;
  std::array<std::int64_t, kMaxRank> strides_{};
  Ref<SimBytes> from_;
  Future<void> source_ready_;
  Ref<SimBuffer> to_;
  std::span<std::byte> host_;
  Owner keep_alive_;
  std::optional<Error> error_;
  const Ref<QuietCell> done_ = make_ref<QuietCell>();
};

}  // namespace millrace::devices::sim
