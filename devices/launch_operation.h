// LaunchOperation: one execution of a program, on one device or spanning several. Internal to
// device.cc.
#pragma once

#include <string>

#include "millrace/devices/operation.h"

namespace millrace::devices {

// Made by the two submit functions, which own nothing afterwards. The future completes on the
// launching actor's slice, with handles; the seats stay in flight until each device's done.
class LaunchOperation final : public Operation {
 public:
  template <class A>  // Buffer or Argument
  static Future<Buffers> submit(const Device& device, const Executable& executable,
                                std::span<const A> arguments, const ExecuteOptions& options);
  static Future<Buffers> submit_spanning(std::span<const Device> devices,
                                         const Executable& executable,
                                         std::span<const std::span<const Argument>> arguments,
                                         LaunchOrder order, const ExecuteOptions& options);

  Kind kind() const override { return Kind::kLaunch; }
  std::size_t bytes() const override { return executable_.body()->launch_bytes(); }
  std::string describe() const override { return "the launch of " + executable_.name(); }

 protected:
  bool complete_with(const Error& error) override {
    return result_->try_set(std::unexpected(error));
  }
  bool call_client(Seat& seat) override;
  void stop_started() override { own_stop_.request_stop(); }

 private:
  LaunchOperation(const Executable& executable, const ExecuteOptions& options, std::size_t devices,
                  std::size_t arguments);
  ~LaunchOperation() override;
  Status launch(std::span<LaunchResult> results);
  bool call_client_spanning(Seat& seat);

  const Ref<Cell<Buffers>> result_ = make_ref<Cell<Buffers>>();
  const Executable executable_;
  // Of its own only with a deadline, which must stop the program too; the caller's stop is then
  // passed on by stop_started. Without one the device sees the caller's token itself.
  std::stop_source own_stop_{std::nostopstate};
  const std::stop_token stop_token_;
  const TimePoint deadline_;
  const PooledArray<int> non_donatable_;
  const std::uint64_t flow_;
  PooledArray<Buffer> arguments_;                // of all devices, one after the other
  PooledArray<std::span<const Buffer>> inputs_;  // per device, of a spanning launch
  PooledArray<DeviceId> ids_;                    // likewise
  PooledArray<Seat> more_seats_;                 // likewise
  Seat seat_;                                    // of any other
};

}  // namespace millrace::devices
