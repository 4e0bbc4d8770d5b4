// LaunchOperation: one execution of a program, on one device or spanning several. Internal to
// device.cc.
//
//  - LO-1 a launch of a program that spans processes has its place among theirs from the call on,
//    whatever comes of it: where it fails before the client has it, it ends there with the error.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "millrace/devices/operation.h"

namespace millrace::devices {

// Made by the two submit functions, which own nothing afterwards. The future completes on the
// thread that launches, with handles; the seats stay in flight until each device's done.
class LaunchOperation final : public ResultOperation<Buffers> {
 public:
  template <class A>  // Buffer or Argument
  static Future<Buffers> submit(DeviceBody& device, const Executable& executable,
                                std::span<const A> arguments, const ExecuteOptions& options);
  static Future<Buffers> submit_spanning(std::span<DeviceBody* const> devices,
                                         const Executable& executable,
                                         std::span<const std::span<const Argument>> arguments,
                                         LaunchOrder order, const ExecuteOptions& options);

  Kind kind() const override { return Kind::kLaunch; }
  std::size_t bytes() const override { return executable_.body()->launch_bytes(); }
  std::string describe() const override { return "the launch of " + executable_.name(); }

  bool call_client(Seat& seat) override;
  // A call that was refused before it became an operation: as LO-1. Gives the error.
  static Error refuse(const Executable& executable, Error error);

 protected:
  void stop_started() override { own_stop_.request_stop(); }
  bool complete_with(const Error& error) override;

 private:
  LaunchOperation(const Executable& executable, const ExecuteOptions& options, std::size_t devices,
                  std::size_t arguments);
  ~LaunchOperation() override;
  bool call_client_spanning(Seat& seat);
  Buffers all_outputs() const;
  void reserve();
  // What was reserved, for the one that ends it; nullptr: nothing is left to end.
  std::shared_ptr<ProcessLaunch> take_reserved();
  void end_reserved();
  Status launch(std::span<const DeviceId> devices,
                std::span<const std::span<const Buffer>> arguments,
                std::span<LaunchResult> results);

  const Executable executable_;
  // The launch has its own only with a deadline, which must stop the program too; the caller's stop
  // is then passed on by stop_started. Without one the device sees the caller's token itself.
  std::stop_source own_stop_{std::nostopstate};
  const std::stop_token stop_token_;
  const TimePoint deadline_;
  const PooledArray<int> non_donatable_;
  const std::uint64_t flow_;
  const bool awaited_;
  PooledArray<Buffer> arguments_;                // of all devices, one after the other
  PooledArray<std::span<const Buffer>> inputs_;  // per device, of a spanning launch
  PooledArray<DeviceId> ids_;                    // likewise
  PooledArray<Seat> more_seats_;                 // likewise
  PooledArray<LaunchResult> results_;            // likewise
  std::shared_ptr<ProcessLaunch> reserved_;      // while has_reserved_
  std::atomic<bool> has_reserved_{false};
};

}  // namespace millrace::devices
