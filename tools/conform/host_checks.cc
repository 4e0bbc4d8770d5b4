// Arrays from the host and to it: the four semantics of who may touch the host's memory, and when;
// then transfers in pieces, to buffers that exist before their contents.
#include <algorithm>
#include <numeric>

#include "millrace/devices/pjrt/layout.h"
#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family host_family("host.round_trip client.devices");
Family transfer_family("host.round_trip events.is_ready");

namespace {

constexpr std::int64_t kElements = 8192;  // 32 KiB: more than what small copies go by

Floats counting(std::int64_t n) {
  Floats values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

// Aligned so that a plugin that can do without a copy does.
struct alignas(128) HostArray {
  float values[kElements];
  HostArray() { std::iota(std::begin(values), std::end(values), 1.0F); }
  void overwrite() { std::fill(std::begin(values), std::end(values), -1.0F); }
};

MILLRACE_CONFORM(host, round_trip, "an array of the host is read back as it was put",
                 .need = kMust) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  return rig.expect(buffer, numbers(), "what is read back");
}

PutOptions options_of(int semantics) { return {.semantics = semantics, .dims = {kElements}}; }

Status read_back(Rig& rig, abi::Buffer* buffer) {
  return rig.expect(buffer, counting(kElements), "what is read back");
}

MILLRACE_CONFORM(host, copied_in_call,
                 "kImmutableOnlyDuringCall: the host's array may change when the call returns") {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(const Put put, rig.put_any(source->values, options_of(kImmutableOnlyDuringCall)));
  source->overwrite();
  return read_back(rig, put.buffer);
}

MILLRACE_CONFORM(host, until_transfer,
                 "kImmutableUntilTransferCompletes: the array may change when the event is set") {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(const Put put,
               rig.put_any(source->values, options_of(kImmutableUntilTransferCompletes)));
  MILLRACE_TRY_STATUS(rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer"));
  source->overwrite();
  return read_back(rig, put.buffer);
}

MILLRACE_CONFORM(host, zero_copy,
                 "kImmutableZeroCopy: memory that the event returns is not read any more") {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(Put put, rig.put_any(source->values, options_of(kImmutableZeroCopy)));
  MILLRACE_TRY_STATUS(rig.wait_ready(put.buffer));
  MILLRACE_TRY_STATUS(read_back(rig, put.buffer));
  // By now a copy is done; memory that is still lent is not.
  MILLRACE_TRY(const bool source_returned, rig.is_ready(put.done));
  static_cast<void>(rig.note(source_returned ? "copied" : "lent"));
  if (!source_returned) return {};
  source->overwrite();
  return read_back(rig, put.buffer);
}

Status source_returned(Rig& rig, int semantics) {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(Put put, rig.put_any(source->values, options_of(semantics)));
  MILLRACE_TRY_STATUS(read_back(rig, put.buffer));
  put.buffer.reset();
  return rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer, after the end of its buffer,");
}

MILLRACE_CONFORM(host, zero_copy_given_back,
                 "kImmutableZeroCopy: the event is set when the buffer is gone") {
  return source_returned(rig, kImmutableZeroCopy);
}

MILLRACE_CONFORM(
    host, mutable_zero_copy,
    "kMutableZeroCopy: contents are right, and the event is set when the buffer is gone",
    .need = kMay) {
  return source_returned(rig, kMutableZeroCopy);
}

// 2 x 3, column after column in the host's memory.
MILLRACE_CONFORM(host, strides,
                 "arrays in any order of dimensions are understood by their strides") {
  const Floats columns = {1, 4, 2, 5, 3, 6};
  PutOptions options{.dims = {2, 3}, .byte_strides = {4, 8}};
  MILLRACE_TRY(const Put put, rig.put_any(columns.data(), options));
  return rig.expect(put.buffer, Floats{1, 2, 3, 4, 5, 6}, "what is read back");
}

MILLRACE_CONFORM(host, negative_strides, "strides may be negative", .need = kMay) {
  const Floats backwards = {4, 3, 2, 1};
  PutOptions options{.dims = {4}, .byte_strides = {-4}};
  MILLRACE_TRY(const Put put, rig.put_any(&backwards[3], options));
  return rig.expect(put.buffer, numbers(), "what is read back");
}

// Where NumPy's arrays begin.
MILLRACE_CONFORM(host, unaligned, "arrays need no alignment beyond that of their elements") {
  for (int offset = 1; offset < 4; ++offset) {
    alignas(64) float values[8] = {};
    std::copy_n(numbers().data(), 4, values + offset);
    MILLRACE_TRY(const Put put,
                 rig.put_any(values + offset, {.semantics = kImmutableZeroCopy, .dims = {4}}));
    MILLRACE_TRY_STATUS(rig.expect(
        put.buffer, numbers(),
        "an array that begins " + std::to_string(4 * offset) + " bytes behind an aligned place"));
  }
  return {};
}

MILLRACE_CONFORM(host, types, "elements of every type come back as they were") {
  using enum devices::DType;
  std::string lacking;
  for (const devices::DType type :
       {kI1, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kF32, kF64, kBF16, kC64, kC128}) {
    std::vector<unsigned char> bytes(3 * devices::byte_width(type));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<unsigned char>(type == kI1 ? i & 1 : i + 1);
    const std::string name(devices::to_string(type));
    const Result<Put> put =
        rig.put_any(bytes.data(), {.type = devices::pjrt::to_buffer_type(type), .dims = {3}});
    if (!put) {
      if (put.error().detail<PluginError>() == nullptr) return std::unexpected(put.error());
      lacking += (lacking.empty() ? "without " : ", ") + name;
      continue;
    }
    std::vector<unsigned char> got(bytes.size());
    MILLRACE_TRY_STATUS(rig.get_bytes(put->buffer, got.data(), got.size()));
    if (got != bytes) return broken("three elements of ", name, " come back wrong");
  }
  return rig.note(lacking);
}

MILLRACE_CONFORM(host, scalar, "a scalar has no dimensions") {
  const float value = 42;
  MILLRACE_TRY(const Put put, rig.put_any(&value, {}));
  return rig.expect(put.buffer, Floats{42}, "a scalar");
}

MILLRACE_CONFORM(host, empty, "an array may have no elements") {
  const float nothing = 0;
  MILLRACE_TRY(const Put put, rig.put_any(&nothing, {.dims = {2, 0}}));
  MILLRACE_TRY_STATUS(rig.wait_ready(put.buffer));
  float untouched = 7;
  MILLRACE_TRY_STATUS(rig.get_bytes(put.buffer, &untouched, 0));
  return expect_floats(Floats{untouched}, Floats{7}, "what is behind an array of no elements");
}

MILLRACE_CONFORM(host, large, "8 MiB come back as they were") {
  const Floats source = counting(2 << 20);
  MILLRACE_TRY(const Put put,
               rig.put_any(source.data(), {.semantics = kImmutableUntilTransferCompletes,
                                           .dims = {static_cast<std::int64_t>(source.size())}}));
  MILLRACE_TRY(const Floats got, rig.get(put.buffer, 2 << 20));
  MILLRACE_TRY_STATUS(rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer"));
  return expect(got == source, "8 MiB come back wrong");
}

MILLRACE_CONFORM(host, size_query, "PJRT_Buffer_ToHostBuffer without a target reports the size") {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferToHostBufferArgs>(buffer));
  const HeldEvent none = rig.hold(args.event);
  return expect(args.dst_size == sizeof(float) * kLength, "16 bytes are said to be ",
                args.dst_size);
}

MILLRACE_CONFORM(host, small_target,
                 "a target that is too small is refused, and nothing is written behind it") {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  Floats target(kLength, -1);
  const Status read = rig.get_bytes(buffer, target.data(), 2 * sizeof(float));
  if (target[2] != -1 || target[3] != -1) return broken("more is written than there is room for");
  return expect_refused(read, "a target of 8 bytes for 16");
}

Status transfer(Rig& rig, abi::TransferManager* manager, const float* data, std::int64_t first,
                std::int64_t count, bool last) {
  MILLRACE_TRY(const auto args, rig.ask<abi::TransferManagerTransferDataArgs>(
                                    manager, 0, data, first * 4, count * 4, last));
  const HeldEvent done = rig.hold(args.done);
  return rig.wait(done, "PJRT_AsyncHostToDeviceTransferManager_TransferData");
}

MILLRACE_CONFORM(transfer, sizes,
                 "a transfer manager reports its buffers, their bytes and its device") {
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(const auto count, rig.ask<abi::TransferManagerBufferCountArgs>(manager));
  if (count.buffer_count != 1) return broken("one buffer is said to be ", count.buffer_count);
  MILLRACE_TRY(const auto size, rig.ask<abi::TransferManagerBufferSizeArgs>(manager));
  if (size.buffer_size < 16) return broken("16 bytes are said to be ", size.buffer_size);
  MILLRACE_TRY(const auto device, rig.ask<abi::TransferManagerDeviceArgs>(manager));
  MILLRACE_TRY(abi::Device* const first, rig.device());
  return expect(device.device == first, "it is not the device of the memory");
}

MILLRACE_CONFORM(transfer, pieces, "pieces arrive where they belong, in any order") {
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  const Floats values = numbers();
  MILLRACE_TRY_STATUS(transfer(rig, manager, &values[2], 2, 2, false));
  MILLRACE_TRY_STATUS(transfer(rig, manager, values.data(), 0, 2, true));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve_buffer(rig, manager));
  return rig.expect(buffer, values, "what came in two pieces");
}

MILLRACE_CONFORM(transfer, used_before, "a buffer can be used before its contents have come",
                 .after = "execute.result") {
  MILLRACE_TRY(const HeldLoaded increment, rig.compile(increment_program()));
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve_buffer(rig, manager));
  MILLRACE_TRY(const HeldEvent ready, rig.ready_event(buffer));
  MILLRACE_TRY(const bool early, rig.is_ready(ready));
  if (early) return broken("it is ready before its contents have come");
  MILLRACE_TRY(const HeldBuffer y, rig.apply(increment, buffer));
  const Floats values = numbers();
  MILLRACE_TRY_STATUS(transfer(rig, manager, values.data(), 0, 4, true));
  return rig.expect(y, numbers(1), "what was computed from it");
}

MILLRACE_CONFORM(transfer, failed, "a buffer whose transfer failed has the error",
                 .after = "events.error_path transfer.used_before") {
  MILLRACE_TRY(const HeldTransferManager manager, make_transfer_manager(rig));
  MILLRACE_TRY(const HeldBuffer buffer, retrieve_buffer(rig, manager));
  MILLRACE_TRY_STATUS(fail_transfer(rig, manager));
  return expect_that_error(rig.wait_ready(buffer), "the buffer");
}

}  // namespace
}  // namespace millrace::conform
