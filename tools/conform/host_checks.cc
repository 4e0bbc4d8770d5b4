// Arrays from the host and to it: the four semantics of who may touch the host's memory, and when.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family host_family("host.round_trip client.devices");

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
  return rig.expect(buffer.get(), numbers(), "what is read back");
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
  return read_back(rig, put.buffer.get());
}

MILLRACE_CONFORM(host, until_transfer,
                 "kImmutableUntilTransferCompletes: the array may change when the event is set") {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(const Put put,
               rig.put_any(source->values, options_of(kImmutableUntilTransferCompletes)));
  MILLRACE_TRY_STATUS(rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer"));
  source->overwrite();
  return read_back(rig, put.buffer.get());
}

MILLRACE_CONFORM(host, zero_copy,
                 "kImmutableZeroCopy: memory that the event gives back is not read any more") {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(Put put, rig.put_any(source->values, options_of(kImmutableZeroCopy)));
  MILLRACE_TRY_STATUS(rig.wait_ready(put.buffer.get()));
  MILLRACE_TRY_STATUS(read_back(rig, put.buffer.get()));
  // By now a copy is done; memory that is still lent is not.
  MILLRACE_TRY(const bool given_back, rig.is_ready(put.done.get()));
  static_cast<void>(rig.note(given_back ? "copied" : "lent"));
  if (!given_back) return {};
  source->overwrite();
  return read_back(rig, put.buffer.get());
}

Status given_back(Rig& rig, int semantics) {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(Put put, rig.put_any(source->values, options_of(semantics)));
  MILLRACE_TRY_STATUS(read_back(rig, put.buffer.get()));
  put.buffer.reset();
  return rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer, after the end of its buffer,");
}

MILLRACE_CONFORM(host, zero_copy_given_back,
                 "kImmutableZeroCopy: the event is set when the buffer is gone") {
  return given_back(rig, kImmutableZeroCopy);
}

MILLRACE_CONFORM(
    host, mutable_zero_copy,
    "kMutableZeroCopy: contents are right, and the event is set when the buffer is gone",
    .need = kMay) {
  return given_back(rig, kMutableZeroCopy);
}

// 2 x 3, column after column in the host's memory.
MILLRACE_CONFORM(host, strides,
                 "arrays in any order of dimensions are understood by their strides") {
  const Floats columns = {1, 4, 2, 5, 3, 6};
  PutOptions options{.dims = {2, 3}, .byte_strides = {4, 8}};
  MILLRACE_TRY(const Put put, rig.put_any(columns.data(), options));
  return rig.expect(put.buffer.get(), Floats{1, 2, 3, 4, 5, 6}, "what is read back");
}

MILLRACE_CONFORM(host, negative_strides, "strides may be negative", .need = kMay) {
  const Floats backwards = {4, 3, 2, 1};
  PutOptions options{.dims = {4}, .byte_strides = {-4}};
  MILLRACE_TRY(const Put put, rig.put_any(&backwards[3], options));
  return rig.expect(put.buffer.get(), numbers(), "what is read back");
}

// Where NumPy's arrays begin.
MILLRACE_CONFORM(host, unaligned, "arrays need no alignment beyond that of their elements") {
  for (int offset = 1; offset < 4; ++offset) {
    alignas(64) float values[8] = {};
    std::copy_n(numbers().data(), 4, values + offset);
    MILLRACE_TRY(const Put put,
                 rig.put_any(values + offset, {.semantics = kImmutableZeroCopy, .dims = {4}}));
    MILLRACE_TRY_STATUS(rig.expect(
        put.buffer.get(), numbers(),
        "an array that begins " + std::to_string(4 * offset) + " bytes behind an aligned place"));
  }
  return {};
}

struct TypeOfHost {
  abi::BufferType type;
  const char* name;
  std::size_t bytes;
};
constexpr TypeOfHost kTypes[] = {
    {abi::BufferType::kPred, "pred", 1}, {abi::BufferType::kS8, "s8", 1},
    {abi::BufferType::kS16, "s16", 2},   {abi::BufferType::kS32, "s32", 4},
    {abi::BufferType::kS64, "s64", 8},   {abi::BufferType::kU8, "u8", 1},
    {abi::BufferType::kU16, "u16", 2},   {abi::BufferType::kU32, "u32", 4},
    {abi::BufferType::kU64, "u64", 8},   {abi::BufferType::kF16, "f16", 2},
    {abi::BufferType::kF32, "f32", 4},   {abi::BufferType::kF64, "f64", 8},
    {abi::BufferType::kBF16, "bf16", 2}, {abi::BufferType::kC64, "c64", 8},
    {abi::BufferType::kC128, "c128", 16}};

MILLRACE_CONFORM(host, types, "elements of every type come back as they were") {
  std::string lacking;
  for (const TypeOfHost& t : kTypes) {
    std::vector<unsigned char> bytes(3 * t.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = t.type == abi::BufferType::kPred ? static_cast<unsigned char>(i & 1)
                                                  : static_cast<unsigned char>(i + 1);
    }
    const Result<Put> put = rig.put_any(bytes.data(), {.type = t.type, .dims = {3}});
    if (!put) {
      if (put.error().detail<PluginError>() == nullptr) return std::unexpected(put.error());
      lacking += (lacking.empty() ? "without " : ", ") + std::string(t.name);
      continue;
    }
    std::vector<unsigned char> got(bytes.size());
    MILLRACE_TRY_STATUS(rig.get_bytes(put->buffer.get(), got.data(), got.size()));
    if (got != bytes) return broken("three elements of ", t.name, " come back wrong");
  }
  return rig.note(lacking);
}

MILLRACE_CONFORM(host, scalar, "a scalar has no dimensions") {
  const float value = 42;
  MILLRACE_TRY(const Put put, rig.put_any(&value, {}));
  return rig.expect(put.buffer.get(), Floats{42}, "a scalar");
}

MILLRACE_CONFORM(host, empty, "an array may have no elements") {
  const float nothing = 0;
  MILLRACE_TRY(const Put put, rig.put_any(&nothing, {.dims = {2, 0}}));
  MILLRACE_TRY_STATUS(rig.wait_ready(put.buffer.get()));
  float untouched = 7;
  MILLRACE_TRY_STATUS(rig.get_bytes(put.buffer.get(), &untouched, 0));
  return expect_floats(Floats{untouched}, Floats{7}, "what is behind an array of no elements");
}

MILLRACE_CONFORM(host, large, "8 MiB come back as they were") {
  const Floats source = counting(2 << 20);
  MILLRACE_TRY(const Put put,
               rig.put_any(source.data(), {.semantics = kImmutableUntilTransferCompletes,
                                           .dims = {static_cast<std::int64_t>(source.size())}}));
  MILLRACE_TRY(const Floats got, rig.get(put.buffer.get(), 2 << 20));
  MILLRACE_TRY_STATUS(rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer"));
  return expect(got == source, "8 MiB come back wrong");
}

MILLRACE_CONFORM(host, size_query, "PJRT_Buffer_ToHostBuffer without a target tells the size") {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferToHostBufferArgs>(buffer.get()));
  const HeldEvent none = rig.hold(args.event);
  return expect(args.dst_size == sizeof(float) * kLength, "16 bytes are said to be ",
                args.dst_size);
}

MILLRACE_CONFORM(host, small_target,
                 "a target that is too small is refused, and nothing is written behind it") {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  Floats target(kLength, -1);
  const Status read = rig.get_bytes(buffer.get(), target.data(), 2 * sizeof(float));
  if (target[2] != -1 || target[3] != -1) return broken("more is written than there is room for");
  return expect_refused(read, "a target of 8 bytes for 16");
}

}  // namespace
}  // namespace millrace::conform
