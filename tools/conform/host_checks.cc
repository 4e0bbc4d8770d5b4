// Arrays from the host and to it: the four semantics of who may touch the host's memory, and when.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

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

Status round_trip(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY(const Floats got, rig.get(buffer.get()));
  return expect_floats(got, numbers(), "what is read back");
}

PutOptions options_of(int semantics) { return {.semantics = semantics, .dims = {kElements}}; }

Status read_back(Rig& rig, abi::Buffer* buffer) {
  MILLRACE_TRY(const Floats got, rig.get(buffer, kElements));
  return expect_floats(got, counting(kElements), "what is read back");
}

Status copied_in_call(Rig& rig) {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(const Put put, rig.put_any(source->values, options_of(kImmutableOnlyDuringCall)));
  source->overwrite();
  return read_back(rig, put.buffer.get());
}

Status until_transfer(Rig& rig) {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(const Put put,
               rig.put_any(source->values, options_of(kImmutableUntilTransferCompletes)));
  MILLRACE_TRY_STATUS(rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer"));
  source->overwrite();
  return read_back(rig, put.buffer.get());
}

Status zero_copy(Rig& rig) {
  const auto source = std::make_unique<HostArray>();
  MILLRACE_TRY(Put put, rig.put_any(source->values, options_of(kImmutableZeroCopy)));
  MILLRACE_TRY_STATUS(rig.wait_ready(put.buffer.get()));
  MILLRACE_TRY_STATUS(read_back(rig, put.buffer.get()));
  // By now a copy is done; memory that is still lent is not.
  MILLRACE_TRY(const bool given_back, rig.is_ready(put.done.get()));
  rig.note(given_back ? "copied" : "lent");
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

Status zero_copy_given_back(Rig& rig) { return given_back(rig, kImmutableZeroCopy); }

Status mutable_zero_copy(Rig& rig) { return given_back(rig, kMutableZeroCopy); }

// 2 x 3, column after column in the host's memory.
Status strides(Rig& rig) {
  const Floats columns = {1, 4, 2, 5, 3, 6};
  PutOptions options{.dims = {2, 3}, .byte_strides = {4, 8}};
  MILLRACE_TRY(const Put put, rig.put_any(columns.data(), options));
  MILLRACE_TRY(const Floats got, rig.get(put.buffer.get(), 6));
  return expect_floats(got, Floats{1, 2, 3, 4, 5, 6}, "what is read back");
}

Status negative_strides(Rig& rig) {
  const Floats backwards = {4, 3, 2, 1};
  PutOptions options{.dims = {4}, .byte_strides = {-4}};
  MILLRACE_TRY(const Put put, rig.put_any(&backwards[3], options));
  MILLRACE_TRY(const Floats got, rig.get(put.buffer.get()));
  return expect_floats(got, numbers(), "what is read back");
}

// Where NumPy's arrays begin.
Status unaligned(Rig& rig) {
  for (int offset = 1; offset < 4; ++offset) {
    alignas(64) float values[8] = {};
    std::copy_n(numbers().data(), 4, values + offset);
    MILLRACE_TRY(const Put put,
                 rig.put_any(values + offset, {.semantics = kImmutableZeroCopy, .dims = {4}}));
    MILLRACE_TRY(const Floats got, rig.get(put.buffer.get()));
    MILLRACE_TRY_STATUS(expect_floats(
        got, numbers(),
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

Status types(Rig& rig) {
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
    if (got != bytes)
      return broken(std::string("three elements of ") + t.name + " come back wrong");
  }
  rig.note(lacking);
  return {};
}

Status scalar(Rig& rig) {
  const float value = 42;
  MILLRACE_TRY(const Put put, rig.put_any(&value, {}));
  MILLRACE_TRY(const Floats got, rig.get(put.buffer.get(), 1));
  return expect_floats(got, Floats{42}, "a scalar");
}

Status empty(Rig& rig) {
  const float nothing = 0;
  MILLRACE_TRY(const Put put, rig.put_any(&nothing, {.dims = {2, 0}}));
  MILLRACE_TRY_STATUS(rig.wait_ready(put.buffer.get()));
  float untouched = 7;
  MILLRACE_TRY_STATUS(rig.get_bytes(put.buffer.get(), &untouched, 0));
  return expect_floats(Floats{untouched}, Floats{7}, "what is behind an array of no elements");
}

Status large(Rig& rig) {
  const Floats source = counting(2 << 20);
  MILLRACE_TRY(const Put put,
               rig.put_any(source.data(), {.semantics = kImmutableUntilTransferCompletes,
                                           .dims = {static_cast<std::int64_t>(source.size())}}));
  MILLRACE_TRY(const Floats got, rig.get(put.buffer.get(), 2 << 20));
  MILLRACE_TRY_STATUS(rig.wait(put.done, "PJRT_Client_BufferFromHostBuffer"));
  return got == source ? Status() : broken("8 MiB come back wrong");
}

Status size_query(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  abi::BufferToHostBufferArgs args;
  args.src = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldEvent none = rig.hold(args.event);
  if (args.dst_size == sizeof(float) * kLength) return {};
  return broken("16 bytes are said to be " + std::to_string(args.dst_size));
}

Status small_target(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  Floats target(kLength, -1);
  const Status read = rig.get_bytes(buffer.get(), target.data(), 2 * sizeof(float));
  if (target[2] != -1 || target[3] != -1) return broken("more is written than there is room for");
  return expect_refused(read, "a target of 8 bytes for 16");
}

}  // namespace

std::vector<Check> host_checks() {
  std::vector<Check> list = {
      {.name = "host.round_trip",
       .wants = "an array of the host is read back as it was put",
       .run = &round_trip,
       .need = Need::kMust},
      {.name = "host.copied_in_call",
       .wants = "kImmutableOnlyDuringCall: the host's array may change when the call returns",
       .run = &copied_in_call},
      {.name = "host.until_transfer",
       .wants = "kImmutableUntilTransferCompletes: the array may change when the event is set",
       .run = &until_transfer},
      {.name = "host.zero_copy",
       .wants = "kImmutableZeroCopy: memory that the event gives back is not read any more",
       .run = &zero_copy},
      {.name = "host.zero_copy_given_back",
       .wants = "kImmutableZeroCopy: the event is set when the buffer is gone",
       .run = &zero_copy_given_back},
      {.name = "host.mutable_zero_copy",
       .wants =
           "kMutableZeroCopy: contents are right, and the event is set when the buffer is gone",
       .run = &mutable_zero_copy,
       .need = Need::kMay},
      {.name = "host.strides",
       .wants = "arrays in any order of dimensions are understood by their strides",
       .run = &strides},
      {.name = "host.negative_strides",
       .wants = "strides may be negative",
       .run = &negative_strides,
       .need = Need::kMay},
      {.name = "host.unaligned",
       .wants = "arrays need no alignment beyond that of their elements",
       .run = &unaligned},
      {.name = "host.types",
       .wants = "elements of every type come back as they were",
       .run = &types},
      {.name = "host.scalar", .wants = "a scalar has no dimensions", .run = &scalar},
      {.name = "host.empty", .wants = "an array may have no elements", .run = &empty},
      {.name = "host.large", .wants = "8 MiB come back as they were", .run = &large},
      {.name = "host.size_query",
       .wants = "PJRT_Buffer_ToHostBuffer without a target tells the size",
       .run = &size_query},
      {.name = "host.small_target",
       .wants = "a target that is too small is refused, and nothing is written behind it",
       .run = &small_target},
  };
  for (std::size_t i = 1; i < list.size(); ++i) list[i].after.push_back("host.round_trip");
  return after({"client.devices"}, std::move(list));
}

}  // namespace millrace::conform
