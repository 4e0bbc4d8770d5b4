#include "millrace/devices/transfer_operation.h"

#include <algorithm>
#include <utility>

#include "millrace/devices/device_actor.h"

namespace millrace::devices {
namespace {

// The buffer itself is not named: it may be on its way while another thread asks.
std::string on_device(std::string_view what, const Seat& seat) {
  return std::string(what) + " device " + std::to_string(index(seat.device->id()));
}

}  // namespace

PutOperation::PutOperation(HostView view, const PutOptions& options)
    : view_(std::move(view)),
      semantics_(options.semantics),
      memory_(options.memory),
      layout_(options.layout) {
  // The caller's list of strides lives for the call only.
  const std::size_t strides = std::min<std::size_t>(view_.byte_strides.size(), kMaxRank);
  std::copy_n(view_.byte_strides.begin(), strides, strides_.begin());
  view_.byte_strides = {strides_.data(), strides};
}

Future<PutResult> PutOperation::submit_tracked(const Device& device, HostView view,
                                               const PutOptions& options) {
  auto* operation = new PutOperation(std::move(view), options);
  operation->tracked_ = make_ref<Cell<PutResult>>();
  Future<PutResult> future(operation->tracked_);
  operation->run(device, options);
  return future;
}

Future<Buffer> PutOperation::submit(const Device& device, HostView view,
                                    const PutOptions& options) {
  auto* operation = new PutOperation(std::move(view), options);
  operation->plain_ = make_ref<Cell<Buffer>>();
  Future<Buffer> future(operation->plain_);
  operation->run(device, options);
  return future;
}

void PutOperation::run(const Device& device, const PutOptions& options) {
  seat_at({&seat_, 1}, {&device, 1});
  watch(options.call);
  enter();
  release();
}

bool PutOperation::complete_with(const Error& error) {
  return tracked_ ? tracked_->try_set(std::unexpected(error))
                  : plain_->try_set(std::unexpected(error));
}

bool PutOperation::call_client(Seat& seat) {
  Client& client = seat.device->client();
  const DeviceId device = seat.device->id();
  Result<PutResult> put = layout_ ? client.put_in(view_, semantics_, device, memory_, *layout_)
                                  : client.put(view_, semantics_, device, memory_);
  view_.owner = nullptr;  // the client keeps its own
  if (!put) {
    complete_with(put.error());
    return true;
  }
  const Future<void> ready = put->buffer.ready();
  if (tracked_) {
    tracked_->try_set(std::move(put));
  } else {
    plain_->try_set(std::move(put->buffer));
  }
  return seat.wait_for(*ready.cell());
}

bool HostRead::advance(const Buffer& buffer, Seat& seat) {
  if (step_ == Step::kReady) {
    waiting_ = buffer.ready();
    step_ = Step::kAccess;
    if (!seat.wait_for(*waiting_.cell())) return false;
  }
  if (const Status& waited = waiting_.result(); !waited) {
    result_ = std::unexpected(waited.error());
    return true;
  }
  if (step_ == Step::kCopied) {
    result_ = std::move(array_);
    return true;
  }
  Result<HostAccess> access = buffer.host_access();
  if (access) {
    result_ = HostArray(buffer.shape(), access->bytes, std::move(access->owner));
    return true;
  }
  if (access.error().code() != ErrorCode::kUnimplemented) {
    result_ = std::unexpected(access.error());
    return true;
  }
  array_ = HostArray::make_unwritten(buffer.shape());
  waiting_ = buffer.body()->copy_to_host(array_.mutable_bytes(), array_.owner());
  step_ = Step::kCopied;
  return seat.wait_for(*waiting_.cell()) && advance(buffer, seat);
}

Future<HostArray> FetchOperation::submit(const Device& device, const Argument& source,
                                         const CallOptions& options) {
  auto* operation = new FetchOperation;
  Future<HostArray> future(operation->result_);
  operation->seat_at({&operation->seat_, 1}, {&device, 1});
  operation->take_argument(source, operation->buffer_);
  operation->watch(options);
  operation->enter();
  operation->release();
  return future;
}

std::string FetchOperation::describe() const { return on_device("the fetch from", seat_); }

bool FetchOperation::call_client(Seat& seat) { return advance(seat); }

bool FetchOperation::advance(Seat& seat) {
  if (!read_.advance(buffer_, seat)) return false;
  result_->try_set(std::move(read_.result()));
  buffer_ = {};
  return true;
}

Future<Buffer> CopyOperation::submit(const Device& device, const Argument& source,
                                     const CallOptions& options) {
  auto* operation = new CopyOperation;
  Future<Buffer> future(operation->result_);
  operation->seat_at({&operation->seat_, 1}, {&device, 1});
  operation->take_argument(source, operation->source_);
  operation->watch(options);
  operation->enter();
  operation->release();
  return future;
}

std::string CopyOperation::describe() const { return on_device("the copy to", seat_); }

bool CopyOperation::call_client(Seat& seat) {
  Client& client = seat.device->client();
  if (&source_.body()->client() != &client) return advance(seat);
  return finish(client.copy(source_, seat.device->id()), seat);
}

bool CopyOperation::advance(Seat& seat) {
  if (copied_) return true;
  if (!read_.advance(source_, seat)) return false;
  const Result<HostArray>& host = read_.result();
  if (!host) return finish(std::unexpected(host.error()), seat);
  const HostView view{.data = host->bytes().data(), .shape = host->shape(), .owner = host->owner()};
  Result<PutResult> put = seat.device->client().put(
      view, HostBufferSemantics::kImmutableUntilTransferCompletes, seat.device->id());
  if (!put) return finish(std::unexpected(put.error()), seat);
  return finish(std::move(put->buffer), seat);
}

bool CopyOperation::finish(Result<Buffer> copy, Seat& seat) {
  copied_ = true;
  Future<void> ready;
  if (copy) ready = copy->ready();
  result_->try_set(std::move(copy));
  return !ready.valid() || seat.wait_for(*ready.cell());
}

}  // namespace millrace::devices
