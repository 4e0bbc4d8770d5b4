// PutOperation, CopyOperation, FetchOperation: bytes to, between and from devices. Internal to
// device.cc.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "millrace/devices/operation.h"

namespace millrace::devices {

// Host to device. In flight until the buffer is ready. T: Buffer, or PutResult for a caller that
// waits for the release of the source.
template <class T>
class PutOperation final : public ResultOperation<T> {
 public:
  static Future<T> submit(DeviceBody& device, HostView&& view, HostBufferSemantics semantics,
                          const PutOptions& options);

  Operation::Kind kind() const override { return Operation::Kind::kPut; }
  std::size_t bytes() const override { return view_.shape.size_bytes(); }
  std::string describe() const override { return "the put of " + view_.shape.to_string(); }

  bool call_client(Seat& seat) override;

 private:
  PutOperation(HostView&& view, HostBufferSemantics semantics, const PutOptions& options);

  HostView view_;
  std::array<std::int64_t, kMaxRank> strides_;
  const HostBufferSemantics semantics_;
  const int memory_;
  const std::optional<DeviceLayout> layout_;
};

// Makes a buffer's bytes readable for the host: in place where the backend allows it, else by a
// copy.
class HostRead {
 public:
  // True when result() is complete; else seat waits, then awaited() follows, and, if calls_again()
  // says so, this once more.
  bool call(const Buffer& buffer, Seat& seat);
  void awaited();
  bool calls_again() const { return step_ != Step::kCopied; }
  Result<HostArray>& result() { return result_; }

 private:
  enum class Step : std::uint8_t { kReady, kAccess, kCopied };
  static constexpr std::size_t kSmall = 4096;
  bool begin_copy(const Buffer& buffer, Seat& seat);

  Step step_ = Step::kReady;
  Future<void> waiting_;
  Result<HostArray> result_;
};

// Device to host.
class FetchOperation final : public ResultOperation<HostArray> {
 public:
  static Future<HostArray> submit(DeviceBody& device, const Argument& source,
                                  const CallOptions& options);

  Kind kind() const override { return Kind::kFetch; }
  std::size_t bytes() const override { return buffer_.shape().size_bytes(); }
  // The buffer itself is not named: it may be on its way while another thread asks.
  std::string describe() const override { return "the fetch from " + name_of(seat_.device->id()); }
  bool call_client(Seat& seat) override;
  void awaited() override;
  bool calls_again() const override { return read_.calls_again(); }

 protected:
  bool abandonable() const override { return true; }

 private:
  void finish();

  Buffer buffer_;
  HostRead read_;
};

// Device to device: by the client where it owns both ends, else through the host.
class CopyOperation final : public ResultOperation<Buffer> {
 public:
  static Future<Buffer> submit(DeviceBody& device, const Argument& source,
                               const CallOptions& options);

  Kind kind() const override { return Kind::kCopy; }
  std::size_t bytes() const override { return source_.size_bytes(); }
  std::string describe() const override { return "the copy to " + name_of(seat_.device->id()); }
  bool call_client(Seat& seat) override;
  void awaited() override;
  bool calls_again() const override { return !copied_; }

 protected:
  bool abandonable() const override { return true; }

 private:
  bool finish(Result<Buffer> copy, Seat& seat);

  Buffer source_;
  HostRead read_;
  bool read_there_ = false;
  bool copied_ = false;  // the destination exists, its bytes are on their way
};

}  // namespace millrace::devices
