// CallOperation: a call of the client that neither launches nor moves bytes, on the device's thread
// like all others: mapping host memory, asking for a layout. Internal to device.cc.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "millrace/devices/operation.h"

namespace millrace::devices {

// Over when the call has returned. Waits for its argument, if it has one, and for nothing else.
template <class T>
class CallOperation final : public ResultOperation<T> {
 public:
  // about: of an empty Buffer, if there is none.
  using Call = std::move_only_function<Result<T>(Client& client, const Buffer& about)>;

  // what: for errors, "mapping 64 bytes of the host".
  static Future<T> submit(DeviceBody& device, std::string what, const Argument& about, Call call,
                          const CallOptions& options) {
    auto* operation = new CallOperation(std::move(what), std::move(call));
    return operation->submitted(device, about, operation->about_, options);
  }

  Operation::Kind kind() const override { return Operation::Kind::kCall; }
  std::size_t bytes() const override { return 0; }
  std::string describe() const override {
    return what_ + " on device " + std::to_string(index(this->seat_.device->id()));
  }

 protected:
  bool call_client(Seat& seat) override {
    this->result_->try_set(call_(seat.device->client(), about_));
    about_ = {};
    return true;
  }
  bool abandonable() const override { return true; }

 private:
  CallOperation(std::string what, Call call) : what_(std::move(what)), call_(std::move(call)) {}

  const std::string what_;
  Call call_;
  Buffer about_;
};

}  // namespace millrace::devices
