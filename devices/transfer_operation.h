// PutOperation, CopyOperation, FetchOperation: bytes to, between and from devices. Internal to
// device.cc.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "millrace/devices/operation.h"

namespace millrace::devices {

// Host to device. In flight until the buffer is ready.
class PutOperation final : public Operation {
 public:
  static Future<PutResult> submit_tracked(const Device& device, HostView view,
                                          const PutOptions& options);
  static Future<Buffer> submit(const Device& device, HostView view, const PutOptions& options);

  Kind kind() const override { return Kind::kPut; }
  std::size_t bytes() const override { return view_.shape.size_bytes(); }
  std::string describe() const override { return "the put of " + view_.shape.to_string(); }

 protected:
  bool complete_with(const Error& error) override;
  bool call_client(Seat& seat) override;

 private:
  PutOperation(HostView view, const PutOptions& options);
  void run(const Device& device, const PutOptions& options);

  HostView view_;
  std::array<std::int64_t, kMaxRank> strides_;
  const HostBufferSemantics semantics_;
  const int memory_;
  const std::optional<DeviceLayout> layout_;
  Ref<Cell<PutResult>> tracked_;  // one of the two
  Ref<Cell<Buffer>> plain_;
  Seat seat_;
};

// Brings a buffer's bytes into sight of the host: in place where the backend allows it, else by a
// copy.
class HostRead {
 public:
  // In the actor's slice, again after each kDone of seat: true when result() is there.
  bool advance(const Buffer& buffer, Seat& seat);
  Result<HostArray>& result() { return result_; }

 private:
  enum class Step : std::uint8_t { kReady, kAccess, kCopied };
  Step step_ = Step::kReady;
  Future<void> waiting_;
  HostArray array_;
  Result<HostArray> result_;
};

// Device to host.
class FetchOperation final : public Operation {
 public:
  static Future<HostArray> submit(const Device& device, const Argument& source,
                                  const CallOptions& options);

  Kind kind() const override { return Kind::kFetch; }
  std::size_t bytes() const override { return buffer_.shape().size_bytes(); }
  std::string describe() const override;
  bool advance(Seat& seat) override;

 protected:
  bool complete_with(const Error& error) override {
    return result_->try_set(std::unexpected(error));
  }
  bool call_client(Seat& seat) override;
  bool abandonable() const override { return true; }

 private:
  Buffer buffer_;
  HostRead read_;
  const Ref<Cell<HostArray>> result_ = make_ref<Cell<HostArray>>();
  Seat seat_;
};

// Device to device: by the client where it owns both ends, else through the host.
class CopyOperation final : public Operation {
 public:
  static Future<Buffer> submit(const Device& device, const Argument& source,
                               const CallOptions& options);

  Kind kind() const override { return Kind::kCopy; }
  std::size_t bytes() const override { return source_.size_bytes(); }
  std::string describe() const override;
  bool advance(Seat& seat) override;

 protected:
  bool complete_with(const Error& error) override {
    return result_->try_set(std::unexpected(error));
  }
  bool call_client(Seat& seat) override;
  bool abandonable() const override { return true; }

 private:
  bool finish(Result<Buffer> copy, Seat& seat);

  Buffer source_;
  HostRead read_;
  bool copied_ = false;  // the destination exists, its bytes are on their way
  const Ref<Cell<Buffer>> result_ = make_ref<Cell<Buffer>>();
  Seat seat_;
};

}  // namespace millrace::devices
