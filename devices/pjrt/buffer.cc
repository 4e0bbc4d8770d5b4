#include "millrace/devices/pjrt/buffer.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/devices/pjrt/events.h"
#include "millrace/devices/pjrt/layout.h"

namespace millrace::devices::pjrt {
namespace {

// Several elements in one byte of device memory.
bool is_packed(DType type) { return bit_width(type) < 8 && type != DType::kI1; }

// What PJRT leaves open: above the bits of a small element, its byte is the number's, as everywhere
// here; plugins leave zeros, or nothing in particular.
void fill_bytes(DType type, std::span<std::byte> elements) {
  if (!is_packed(type)) return;
  const int bits = bit_width(type);
  const auto above = static_cast<std::uint8_t>(0xff << bits);
  const auto sign = static_cast<std::uint8_t>(is_signed_integer(type) ? 1 << (bits - 1) : 0);
  for (std::byte& element : elements) {
    const auto value = static_cast<std::uint8_t>(element);
    const bool negative = (value & sign) != 0;
    element = static_cast<std::byte>(negative ? value | above : value & ~above);
  }
}

// A copy of so few bytes, on a thread of the plugin, is mostly over before a third thread could be
// woken to report it (XLA's CPU client: after 1 to 2 us): so long it is asked whether it is.
constexpr std::size_t kSmallCopy = 16384;
constexpr std::chrono::microseconds kSmallCopyTime(4);

}  // namespace

PjrtBuffer::PjrtBuffer(ClientCore& client, DeviceId device, const Shape& shape, abi::Buffer* buffer,
                       bool laid_out, const Future<void>& written)
    : client_(client),
      device_(device),
      shape_(shape),
      buffer_(buffer),
      laid_out_(laid_out),
      written_(written.valid() && written.cell()->state() == AsyncValue::State::kValue),
      asked_(written.valid() && !written_),
      ready_(asked_ ? written : Future<void>()) {
  if (laid_out) client_.note_laid_out();
}

PjrtBuffer::~PjrtBuffer() { client_.dispose<abi::BufferDestroyArgs>(buffer_); }

Error PjrtBuffer::removed_error(std::string_view use) const {
  return Error(ErrorCode::kFailedPrecondition, std::string(use) + " of a " + shape_.to_string() +
                                                   " on " + name_of(device_) +
                                                   " that was donated or removed before");
}

Error PjrtBuffer::while_doing(std::string_view what, const Error& error) const {
  return error.with_context("cannot " + std::string(what) + " a " + shape_.to_string() + " on " +
                            name_of(device_));
}

// Asked for on whatever thread: neither call may block, compile or copy.
Future<void> PjrtBuffer::ready() const {
  if (removed()) [[unlikely]]
    return removed_error("the state");
  if (Status alive = client_.alive(device_); !alive) [[unlikely]]
    return std::move(alive).error();
  if (written_.load(std::memory_order_acquire)) return make_ready();
  if (asked_.load(std::memory_order_acquire)) {
    const MutexLock lock(mutex_);
    return ready_;
  }
  // Without the lock, which costs more than the rest of us where it is written. A thread that asks
  // at the same time gets an event of its own.
  abi::BufferReadyEventArgs args{{}, buffer_};
  if (const Status status = client_.plugin().call(args); !status) [[unlikely]]
    return while_doing("ask for the state of", status.error());
  Future<void> ready = client_.watch(args.event, "PJRT_Buffer_ReadyEvent", device_);
  if (ready.ready() && ready.result()) {
    written_.store(true, std::memory_order_release);
    return ready;
  }
  const MutexLock lock(mutex_);
  if (!ready_.valid()) ready_ = ready;
  asked_.store(true, std::memory_order_release);
  return ready;
}

Future<void> PjrtBuffer::copy_to_host(std::span<std::byte> destination, Owner keep_alive) {
  if (removed()) return removed_error("a copy to the host");
  if (destination.size() != shape_.size_bytes()) {
    return fail(ErrorCode::kInvalidArgument,
                "copying a " + shape_.to_string() + " to the host takes " +
                    std::to_string(shape_.size_bytes()) + " bytes, not " +
                    std::to_string(destination.size()));
  }
  if (Status alive = client_.alive(device_); !alive) return std::move(alive).error();
  client_.gate().drain_frees();
  StripedScope::Hold hold = client_.gate().scope().hold();
  if (!hold) return client_.gate().scope().closed_error();
  abi::BufferToHostBufferArgs args{
      {}, buffer_, WrittenLayout::row_major(shape_.rank()), destination.data(), destination.size()};
  if (const Status status = client_.plugin().call(args); !status)
    return while_doing("fetch", status.error());
  constexpr std::string_view kCopy = "PJRT_Buffer_ToHostBuffer";
  const auto until = steady_clock().now() + kSmallCopyTime;
  while (args.event != nullptr && destination.size() <= kSmallCopy &&
         steady_clock().now() < until) {
    if (std::optional<Future<void>> copied =
            take_ready_event(client_.plugin(), args.event, kCopy)) {
      if (!copied->result()) return while_doing("fetch", copied->result().error());
      fill_bytes(shape_.dtype(), destination);
      return *std::move(copied);
    }
  }
  // What is written into stays for as long as the plugin may write.
  Future<void> copied = client_.watch(args.event, kCopy, device_, keep_alive);
  if (copied.ready()) {
    if (!copied.result()) return while_doing("fetch", copied.result().error());
    fill_bytes(shape_.dtype(), destination);
    return copied;
  }
  return std::move(copied).then(
      brief_executor(),
      // The hold goes last: with it the client may.
      [hold = std::move(hold), self = Ref<PjrtBuffer>::share(this), destination,
       keep_alive = std::move(keep_alive)](Status ended) -> Status {
        if (!ended) return std::unexpected(self->while_doing("fetch", ended.error()));
        fill_bytes(self->shape_.dtype(), destination);
        return ended;
      });
}

Result<DeviceLayout> PjrtBuffer::layout() const {
  if (removed()) return std::unexpected(removed_error("the layout"));
  const auto answer = client_.plugin().ask<abi::BufferGetMemoryLayoutArgs>(buffer_);
  if (!answer) return std::unexpected(while_doing("ask for the layout of", answer.error()));
  return read_layout(client_.plugin(), answer->layout, shape_.rank());
}

// None of these calls has to be a quick one: device actors make them on the device's own thread.
Result<HostAccess> PjrtBuffer::host_access() {
  if (removed()) return std::unexpected(removed_error("a look from the host"));
  MILLRACE_TRY_STATUS(client_.alive(device_));
  const Plugin& plugin = client_.plugin();
  const auto where = plugin.ask<abi::BufferIsOnCpuArgs>(buffer_);
  if (!where) return std::unexpected(while_doing("ask for the place of", where.error()));
  // Sub-byte elements are packed in device memory and one byte each here.
  const bool row_major = shape_.rank() < 2 || layout() == DeviceLayout::row_major(shape_.rank());
  if (!where->is_on_cpu || is_packed(shape_.dtype()) || !row_major) {
    return fail(ErrorCode::kUnimplemented,
                "the host cannot read a " + shape_.to_string() + " in place: fetch it");
  }
  if (Status begun = begin_reading(); !begun)
    return std::unexpected(while_doing("read in place", begun.error()));
  // Keeps the memory where it is. The use goes last: at its end, the buffer's may be over.
  Owner reference(this, [use = client_.use(), &client = client_,
                         self = Ref<PjrtBuffer>::share(this)](const void*) mutable {
    client.gate().hand_over([buffer = std::move(self), &client] {
      if (!client.given_up()) buffer->end_reading();
    });
  });
  using PointerArgs = abi::BufferOpaqueDeviceMemoryDataPointerArgs;
  const auto answer = plugin.ask<PointerArgs>(buffer_);
  if (!answer) return std::unexpected(while_doing("read in place", answer.error()));
  const auto* const bytes = static_cast<const std::byte*>(answer->device_memory_ptr);
  MILLRACE_TRY_STATUS(
      plugin.require<PointerArgs>(bytes != nullptr || shape_.size_bytes() == 0, "pointer"));
  return HostAccess{{bytes, shape_.size_bytes()}, std::move(reference)};
}

Status PjrtBuffer::begin_reading() {
  const MutexLock lock(readers_mutex_);
  const auto begun = client_.plugin().ask<abi::BufferIncreaseExternalReferenceCountArgs>(buffer_);
  return begun ? Status() : std::unexpected(begun.error());
}

void PjrtBuffer::end_reading() {
  const MutexLock lock(readers_mutex_);
  client_.plugin().call_quietly<abi::BufferDecreaseExternalReferenceCountArgs>(buffer_);
}

void PjrtBuffer::remove() {
  State state = state_.load();
  do {
    if (state == State::kRemoved || state == State::kGivenRemoved) return;
  } while (!state_.compare_exchange_weak(
      state, state == State::kThere ? State::kRemoved : State::kGivenRemoved));
  if (state == State::kThere) delete_bytes();
}

void PjrtBuffer::undo_donation() {
  State given = State::kGiven;
  if (state_.compare_exchange_strong(given, State::kThere)) return;
  state_.store(State::kRemoved);  // remove() has come since, and comes to nothing from now on
  delete_bytes();
}

void PjrtBuffer::delete_bytes() {
  client_.gate().hand_over([self = Ref<PjrtBuffer>::share(this)] {
    const ClientCore& client = self->client_;
    if (!client.given_up()) client.plugin().call_quietly<abi::BufferDeleteArgs>(self->buffer_);
  });
}

}  // namespace millrace::devices::pjrt
