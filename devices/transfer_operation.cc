#include "millrace/devices/transfer_operation.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace millrace::devices {

template <class T>
PutOperation<T>::PutOperation(HostView&& view, HostBufferSemantics semantics,
                              const PutOptions& options)
    : view_(std::move(view)),
      semantics_(semantics),
      memory_(options.memory),
      layout_(options.layout) {
  // The caller's list of strides lives for the call only.
  const std::size_t strides = std::min<std::size_t>(view_.byte_strides.size(), kMaxRank);
  std::copy_n(view_.byte_strides.begin(), strides, strides_.begin());
  view_.byte_strides = {strides_.data(), strides};
}

template <class T>
Future<T> PutOperation<T>::submit(DeviceBody& device, HostView&& view,
                                  HostBufferSemantics semantics, const PutOptions& options) {
  auto* operation = new PutOperation(std::move(view), semantics, options);
  operation->seat_at(operation->seat_, device);
  return operation->submitted(options.call);
}

template <class T>
bool PutOperation<T>::call_client(Seat& seat) {
  Client& client = seat.device->client();
  const DeviceId device = seat.device->id();
  Result<PutResult> put = layout_ ? client.put_in(view_, semantics_, device, memory_, *layout_)
                                  : client.put(view_, semantics_, device, memory_);
  view_.owner = nullptr;  // the client keeps its own
  if (!put) {
    this->complete_with(put.error());
    return true;
  }
  const Future<void> ready = put->buffer.ready();
  if constexpr (std::is_same_v<T, Buffer>) {
    this->result_->try_set(std::move(put->buffer));
  } else {
    this->result_->try_set(std::move(put));
  }
  return seat.wait_for(*ready.cell());
}

template class PutOperation<Buffer>;
template class PutOperation<PutResult>;

bool HostRead::call(const Buffer& buffer, Seat& seat) {
  Client& client = buffer.body()->client();
  if (step_ == Step::kReady) {
    waiting_ = buffer.ready();
    step_ = Step::kAccess;
    // A small copy that waits by itself saves a second call, which would be made by the driver.
    const bool copy_waits = client.calls_may_block() && buffer.size_bytes() <= kSmall;
    if (!copy_waits && !seat.wait_for(*waiting_.cell())) return false;
    if (copy_waits && !waiting_.ready()) return begin_copy(buffer, seat);
  }
  if (const Status& waited = waiting_.result(); !waited) {
    result_ = std::unexpected(waited.error());
    return true;
  }
  Result<HostAccess> access = buffer.host_access();
  if (!access && access.error().code() == ErrorCode::kUnimplemented)
    return begin_copy(buffer, seat);
  if (access)
    result_ = HostArray(buffer.shape(), access->bytes, std::move(access->owner));
  else
    result_ = std::unexpected(access.error());
  return true;
}

bool HostRead::begin_copy(const Buffer& buffer, Seat& seat) {
  result_ = HostArray::make_unwritten(buffer.shape());
  step_ = Step::kCopied;
  waiting_ = buffer.body()->copy_to_host(result_->mutable_bytes(), result_->owner());
  if (!seat.wait_for(*waiting_.cell())) return false;
  awaited();
  return true;
}

void HostRead::awaited() {
  if (step_ != Step::kCopied) return;
  if (const Status& copied = waiting_.result(); !copied) result_ = std::unexpected(copied.error());
}

Future<HostArray> FetchOperation::submit(DeviceBody& device, const Argument& source,
                                         const CallOptions& options) {
  auto* operation = new FetchOperation;
  return operation->submitted(device, source, operation->buffer_, options);
}

bool FetchOperation::call_client(Seat& seat) {
  if (!read_.call(buffer_, seat)) return false;
  finish();
  return true;
}

void FetchOperation::awaited() {
  read_.awaited();
  if (!read_.calls_again()) finish();
}

void FetchOperation::finish() {
  result_->try_set(std::move(read_.result()));
  buffer_ = {};
}

Future<Buffer> CopyOperation::submit(DeviceBody& device, const Argument& source,
                                     const CallOptions& options) {
  auto* operation = new CopyOperation;
  return operation->submitted(device, source, operation->source_, options);
}

bool CopyOperation::call_client(Seat& seat) {
  Client& client = seat.device->client();
  if (&source_.body()->client() == &client)
    return finish(client.copy(source_, seat.device->id()), seat);
  if (!read_there_ && !read_.call(source_, seat)) return false;
  read_there_ = true;
  const Result<HostArray>& host = read_.result();
  if (!host) return finish(std::unexpected(host.error()), seat);
  const HostView view{.data = host->bytes().data(), .shape = host->shape(), .owner = host->owner()};
  Result<PutResult> put =
      client.put(view, HostBufferSemantics::kImmutableUntilTransferCompletes, seat.device->id());
  if (!put) return finish(std::unexpected(put.error()), seat);
  return finish(std::move(put->buffer), seat);
}

void CopyOperation::awaited() {
  if (copied_) return;
  read_.awaited();
  read_there_ = !read_.calls_again();
}

bool CopyOperation::finish(Result<Buffer> copy, Seat& seat) {
  copied_ = true;
  Future<void> ready;
  if (copy) ready = copy->ready();
  result_->try_set(std::move(copy));
  return !ready.valid() || seat.wait_for(*ready.cell());
}

}  // namespace millrace::devices
