// CallOperation: a call of the client that neither launches nor moves bytes, on the device's thread
// like all others: mapping host memory, asking for a layout. Internal to device.cc.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "millrace/devices/device_actor.h"
#include "millrace/devices/operation.h"

namespace millrace::devices {

// Over when the call has returned. Waits for its argument, if it has one, and for nothing else.
template <class T>
class CallOperation final : public Operation {
 public:
  // about: of an empty Buffer, if there is none.
  using Call = std::move_only_function<Result<T>(Client& client, const Buffer& about)>;

  // what: for errors, "mapping 64 bytes of the host".
  static Future<T> submit(const Device& device, std::string what, const Argument& about, Call call,
                          const CallOptions& options) {
    auto* operation = new CallOperation(std::move(what), std::move(call));
    Future<T> future(operation->result_);
    operation->seat_at({&operation->seat_, 1}, {&device, 1});
    operation->take_argument(about, operation->about_);
    operation->watch(options);
    operation->enter();
    operation->release();
    return future;
  }

  Kind kind() const override { return Kind::kCall; }
  std::size_t bytes() const override { return 0; }
  std::string describe() const override {
    return what_ + " on device " + std::to_string(index(seat_.device->id()));
  }

 protected:
  bool complete_with(const Error& error) override {
    return result_->try_set(std::unexpected(error));
  }
  bool call_client(Seat& seat) override {
    result_->try_set(call_(seat.device->client(), about_));
    about_ = {};
    return true;
  }
  bool abandonable() const override { return true; }

 private:
  CallOperation(std::string what, Call call) : what_(std::move(what)), call_(std::move(call)) {}

  const std::string what_;
  Call call_;
  Buffer about_;
  const Ref<Cell<T>> result_ = make_ref<Cell<T>>();
  Seat seat_;
};

}  // namespace millrace::devices
