#include "millrace/devices/pjrt/client.h"

#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/devices/host_view.h"
#include "millrace/devices/pjrt/buffer.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/dtype.h"
#include "millrace/devices/pjrt/layout.h"

namespace millrace::devices::pjrt {
namespace {

Error no_type_error(const Shape& shape) {
  return Error(ErrorCode::kUnimplemented, "PJRT has no element type for a " + shape.to_string());
}

}  // namespace

Result<std::unique_ptr<PjrtClient>> PjrtClient::create(const Plugin& plugin,
                                                       PjrtClientOptions options) {
  MILLRACE_CHECK(options.completions != nullptr, "a PJRT client needs an executor");
  std::unique_ptr<PjrtClient> client(new PjrtClient(plugin, std::move(options)));
  if (Status opened = client->open(); !opened) {
    const Error error =
        opened.error().with_context("opening devices (PJRT API " + plugin.version_text() + ")");
    if (client->options().on_failure) client->options().on_failure(error);
    if (client->destroy_in_time()) return std::unexpected(error);
    static_cast<void>(client.release());  // a thread is still in there
    return std::unexpected(
        Error(error.code(), error.message() + "; nor has PJRT_Client_Destroy returned after that"));
  }
  return client;
}

Result<std::unique_ptr<PjrtClient>> open_client(const Plugin& plugin, PjrtClientOptions options,
                                                const OpeningOptions& opening) {
  MILLRACE_TRY_STATUS(may_begin(plugin.name(), opening.call));
  if (opening.thread == nullptr) return PjrtClient::create(plugin, std::move(options));
  if (options.store != nullptr) options.key_values = make_key_values(options);
  const std::shared_ptr<KeyValues> key_values = options.key_values;
  Opening under_way{.plugin = plugin.name(), .ended = {}, .number = plugin.number()};
  options.on_failure = [failure = under_way.failure](const Error& error) {
    const MutexLock lock(failure->mutex);
    failure->error = error;
  };
  // Shared with the work: a client that was not taken goes on the thread that made it.
  const auto made = std::make_shared<std::optional<Result<std::unique_ptr<PjrtClient>>>>();
  under_way.ended =
      make_ready().then(*opening.thread,
                        [&plugin, options = std::move(options), thread = under_way.thread,
                         made](const Status&) mutable -> Status {
                          thread->store(std::this_thread::get_id());
                          *made = PjrtClient::create(plugin, std::move(options));
                          return {};
                        });
  if (Status ended = wait_for(under_way, opening.call); !ended) {
    if (key_values) key_values->revoke();
    return std::unexpected(std::move(ended).error());
  }
  MILLRACE_TRY_STATUS(under_way.ended.result());  // an exception, or the thread was not there
  return *std::move(*made);
}

Result<PutResult> PjrtClient::put_in(const HostView& view, HostBufferSemantics semantics,
                                     DeviceId device, int memory, const DeviceLayout& layout) {
  MILLRACE_TRY_STATUS(layout.check(view.shape.rank()));
  WrittenLayout written(layout);
  const bool row_major =
      layout.minor_to_major == DeviceLayout::row_major(view.shape.rank()).minor_to_major;
  return put_laid_out(view, semantics, device, memory, written.get(), !row_major);
}

Result<DeviceLayout> PjrtClient::default_layout(const Shape& shape, DeviceId device) const {
  MILLRACE_TRY_STATUS(opened().find(device));
  if (to_buffer_type(shape.dtype()) == abi::BufferType::kInvalid)
    return std::unexpected(no_type_error(shape));
  MILLRACE_TRY(const std::string text, default_layout_text(plugin(), get(), shape));
  return DeviceLayout::from_text(text);
}

Result<PutResult> PjrtClient::put_laid_out(const HostView& view, HostBufferSemantics semantics,
                                           DeviceId device, int memory, abi::MemoryLayout* layout,
                                           bool laid_out) {
  MILLRACE_TRY(abi::Device* const target, opened().find(device));
  MILLRACE_TRY_STATUS(alive(device));
  MILLRACE_TRY_STATUS(check(view));
  gate().make_handed_over();
  StripedScope::Hold hold = gate().scope().hold();
  if (!hold) [[unlikely]]
    return std::unexpected(gate().scope().closed_error());
  abi::ClientBufferFromHostBufferArgs args;
  args.client = get();
  args.data = view.data;
  args.type = to_buffer_type(view.shape.dtype());
  args.dims = view.shape.dims().data();
  args.num_dims = view.shape.dims().size();
  if (!view.byte_strides.empty()) args.byte_strides = view.byte_strides.data();
  args.num_byte_strides = view.byte_strides.size();
  args.host_buffer_semantics = static_cast<int>(semantics);
  args.device_layout = layout;
  if (memory == -1) {
    args.device = target;
  } else {
    MILLRACE_TRY(args.memory, opened().find_memory(device, memory));
  }
  if (args.type == abi::BufferType::kInvalid) [[unlikely]]
    return std::unexpected(no_type_error(view.shape));
  if (const Status put = plugin().call(args); !put) [[unlikely]] {
    return std::unexpected(put.error().with_context("cannot put a " + view.shape.to_string() +
                                                    " on device " + std::to_string(index(device))));
  }
  abi::Event* const done = args.done_with_host_buffer;
  abi::Buffer* const made = args.buffer;
  // A zero-copy put releases its source when the buffer goes, which may be after the close: it is
  // no event that the device owes.
  const bool zero_copy = semantics >= HostBufferSemantics::kImmutableZeroCopy;
  const StripedScope::Hold use = zero_copy ? late_use() : StripedScope::Hold();
  if (zero_copy) hold.reset();  // use is there until the buffer's own begins
  constexpr const char* kPut = "PJRT_Client_BufferFromHostBuffer";
  Future<void> released =
      zero_copy ? take_event(plugin(), done, releases(), kPut, releases_of(device), view.owner)
                : watch(done, kPut, device, view.owner);
  if (!released.ready()) {
    released = std::move(released).then(
        inline_executor(),
        [hold = std::move(hold), owner = view.owner](Status done) { return done; });
  }
  if (made == nullptr) [[unlikely]] {
    released.ignore();
    return std::unexpected(
        plugin().require<abi::ClientBufferFromHostBufferArgs>(false, "buffer").error());
  }
  Buffer buffer(make_ref<PjrtBuffer>(*this, device, view.shape, made, laid_out));
  return PutResult{std::move(buffer), std::move(released)};
}

Result<Buffer> PjrtClient::copy(const Buffer& source, DeviceId device, int memory) {
  MILLRACE_TRY(abi::Device* const target, opened().find(device));
  MILLRACE_TRY_STATUS(alive(device));
  if (&source.body()->client() != this) {
    return fail(ErrorCode::kInvalidArgument, "the buffer to copy belongs to another client");
  }
  gate().make_handed_over();
  const auto refused = [&](const Status& status) {
    return std::unexpected(status.error().with_context("cannot copy a " +
                                                       source.shape().to_string() + " to device " +
                                                       std::to_string(index(device))));
  };
  const auto* from = static_cast<const PjrtBuffer*>(source.body().get());
  if (from->removed()) {
    return fail(ErrorCode::kFailedPrecondition, "a copy of a " + source.shape().to_string() +
                                                    " that was donated or removed before");
  }
  abi::Buffer* made = nullptr;
  const auto make = [&](auto& args) -> Status {
    args.buffer = from->get();
    if (const Status copied = plugin().call(args); !copied) return refused(copied);
    made = args.dst_buffer;
    return plugin().require<std::remove_reference_t<decltype(args)>>(made != nullptr, "buffer");
  };
  if (memory != -1) {
    abi::BufferCopyToMemoryArgs args;
    MILLRACE_TRY(args.dst_memory, opened().find_memory(device, memory));
    MILLRACE_TRY_STATUS(make(args));
  } else {
    abi::BufferCopyToDeviceArgs args;
    args.dst_device = target;
    MILLRACE_TRY_STATUS(make(args));
  }
  return Buffer(make_ref<PjrtBuffer>(*this, device, source.shape(), made, from->laid_out()));
}

Result<MemoryStats> PjrtClient::memory_stats(DeviceId device) const {
  const CallsFor mine(this);
  if (gate().may_call_here()) gate().make_handed_over();  // what is freed counts as free
  MILLRACE_TRY(abi::Device* const target, opened().find(device));
  abi::DeviceMemoryStatsArgs args;
  args.device = target;
  if (Status told = plugin().call(args); !told) {
    return std::unexpected(told.error().with_context("cannot tell how much memory device " +
                                                     std::to_string(index(device)) + " uses"));
  }
  const auto known = [](const abi::MaybeInt64& v) {
    return v.is_set ? std::optional<std::int64_t>(v.value) : std::nullopt;
  };
  return MemoryStats{.bytes_in_use = args.bytes_in_use,
                     .peak_bytes_in_use = known(args.peak_bytes_in_use),
                     .bytes_limit = known(args.bytes_limit)};
}

}  // namespace millrace::devices::pjrt
