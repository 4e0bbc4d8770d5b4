// Buffers: what they report of themselves, and the ways to their memory.

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {

Family buffer_family("host.round_trip");

namespace {

// 2 x 3 elements of f32.
Result<HeldBuffer> put_2x3(Rig& rig) {
  const Floats values = {1, 2, 3, 4, 5, 6};
  MILLRACE_TRY(Put put, rig.put_any(values.data(), {.dims = {2, 3}}));
  return std::move(put.buffer);
}

template <class A>
Result<Facts<A, HeldBuffer>> facts_of_2x3(Rig& rig) {
  MILLRACE_TRY(HeldBuffer buffer, put_2x3(rig));
  MILLRACE_TRY(const A args, rig.ask<A>(buffer));
  return Facts<A, HeldBuffer>{args, std::move(buffer)};
}

MILLRACE_CONFORM(buffer, element_type, "a buffer reports the type of its elements") {
  MILLRACE_TRY(const auto args, facts_of_2x3<abi::BufferElementTypeArgs>(rig));
  return expect(args.type == abi::BufferType::kF32, "f32 is said to be type ",
                static_cast<int>(args.type));
}

Status expect_2x3(const std::int64_t* dims, std::size_t num_dims) {
  return expect(num_dims == 2 && dims[0] == 2 && dims[1] == 3,
                "2 x 3 elements are reported otherwise");
}

MILLRACE_CONFORM(buffer, dimensions, "a buffer reports its dimensions") {
  MILLRACE_TRY(const auto args, facts_of_2x3<abi::BufferDimensionsArgs>(rig));
  return expect_2x3(args.dims, args.num_dims);
}

MILLRACE_CONFORM(buffer, unpadded_dimensions, "a buffer reports its dimensions without padding") {
  MILLRACE_TRY(const auto args, facts_of_2x3<abi::BufferUnpaddedDimensionsArgs>(rig));
  return expect_2x3(args.dims, args.num_dims);
}

MILLRACE_CONFORM(buffer, device, "a buffer is where it was put") {
  MILLRACE_TRY(const auto all, rig.devices());
  for (abi::Device* wanted : all) {
    MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers(), wanted));
    MILLRACE_TRY(const auto args, rig.ask<abi::BufferDeviceArgs>(buffer));
    if (args.device != wanted) return broken("a buffer is on another device than it was put to");
  }
  return {};
}

MILLRACE_CONFORM(buffer, memory, "a buffer is in its device's default memory") {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  MILLRACE_TRY(abi::Memory* const wanted, rig.memory());
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferMemoryArgs>(buffer));
  return expect(args.memory == wanted, "it is not in the device's default memory");
}

MILLRACE_CONFORM(buffer, size, "a buffer takes at least the bytes of its elements") {
  MILLRACE_TRY(const auto args, facts_of_2x3<abi::BufferOnDeviceSizeInBytesArgs>(rig));
  if (args.on_device_size_in_bytes < 24) {
    return broken("6 elements of f32 take ", args.on_device_size_in_bytes, " bytes");
  }
  return rig.note(args.on_device_size_in_bytes, " bytes for 24");
}

MILLRACE_CONFORM(buffer, layout, "a buffer reports the order of its dimensions") {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  abi::BufferGetMemoryLayoutArgs args;
  args.buffer = buffer;
  args.layout.struct_size = abi::kStructSize<abi::MemoryLayout>;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.layout.type == abi::LayoutType::kStrides) return rig.note("strides");
  if (args.layout.type != abi::LayoutType::kTiled) return broken("it has a type that is none");
  const abi::TiledLayout& tiled = args.layout.tiled;
  if (tiled.minor_to_major_size != 2 || tiled.minor_to_major[0] + tiled.minor_to_major[1] != 1 ||
      tiled.minor_to_major[0] * tiled.minor_to_major[1] != 0) {
    return broken("its dimensions are not in some order");
  }
  return rig.note(tiled.minor_to_major[0] == 1 ? "row after row" : "column after column");
}

MILLRACE_CONFORM(buffer, on_cpu, "a buffer says whether it is in the host's memory") {
  MILLRACE_TRY(const auto args, facts_of_2x3<abi::BufferIsOnCpuArgs>(rig));
  return rig.note(args.is_on_cpu ? "yes" : "no");
}

MILLRACE_CONFORM(buffer, raw_copy, "some bytes of a buffer can be read") {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer));
  float target[3] = {-1, -1, -1};
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferCopyRawToHostArgs>(buffer, target, 4, 8));
  const HeldEvent done = rig.hold(args.event);
  MILLRACE_TRY_STATUS(rig.wait(done, "PJRT_Buffer_CopyRawToHost"));
  return expect_floats(target, Floats{2, 3, -1}, "8 bytes behind 4");
}

MILLRACE_CONFORM(buffer, external_reference,
                 "memory that is held from outside can be found, and holds what was put",
                 .need = kMay) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer));
  MILLRACE_TRY(const Floats seen, rig.with_memory_held(buffer, [] { return Status(); }));
  return expect_floats(seen, numbers(), "what its memory holds");
}

MILLRACE_CONFORM(buffer, reference_underflow, "what is not held cannot be released") {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer));
  return expect_refused(rig.call<abi::BufferDecreaseExternalReferenceCountArgs>(buffer),
                        "releasing what was not taken");
}

MILLRACE_CONFORM(buffer, unsafe_pointer, "the address of a buffer is reported", .need = kMay) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer));
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferUnsafePointerArgs>(buffer));
  return expect(args.pointer != 0, "it is null");
}

MILLRACE_CONFORM(buffer, copy_to_memory, "a copy in the same memory holds the same") {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY(abi::Memory* const memory, rig.memory());
  MILLRACE_TRY(const auto args, rig.ask<abi::BufferCopyToMemoryArgs>(buffer, memory));
  const HeldBuffer copy = rig.hold(args.dst_buffer);
  return rig.expect(copy, numbers(), "the copy");
}

MILLRACE_CONFORM(buffer, uninitialized, "a buffer without contents has its dimensions and is ready",
                 .after = "buffer.dimensions") {
  const std::int64_t dims[] = {2, 3};
  MILLRACE_TRY(abi::Memory* const memory, rig.memory());
  MILLRACE_TRY(const auto args,
               rig.ask_client<abi::ClientCreateUninitializedBufferArgs>(
                   dims, std::size_t{2}, abi::BufferType::kF32, nullptr, nullptr, memory));
  const HeldBuffer buffer = rig.hold(args.buffer);
  MILLRACE_TRY(const auto shape, rig.ask<abi::BufferDimensionsArgs>(buffer));
  MILLRACE_TRY_STATUS(expect_2x3(shape.dims, shape.num_dims));
  return rig.wait_ready(buffer);
}

MILLRACE_CONFORM(buffer, view, "lent memory is seen, and returned once, after the end of the view",
                 .after = "buffer.on_cpu", .need = kMay) {
  struct Lent {
    alignas(128) float values[kLength] = {1, 2, 3, 4};
    std::atomic<int> returned{0};
  };
  const auto lent = std::make_unique<Lent>();
  const std::int64_t dims[] = {kLength};
  MILLRACE_TRY(abi::Device* const device, rig.device());
  // Host memory is device memory only there.
  MILLRACE_TRY(HeldBuffer probe, rig.put(numbers()));
  MILLRACE_TRY(const auto where, rig.ask<abi::BufferIsOnCpuArgs>(probe));
  probe.reset();  // nothing may outlive the client
  if (!where.is_on_cpu) return skip("the device's memory is not the host's");
  MILLRACE_TRY(abi::Memory* const memory, rig.memory(device));
  const auto on_returned =
      +[](void* /*memory*/, void* user_arg) { ++static_cast<Lent*>(user_arg)->returned; };
  MILLRACE_TRY(const auto args,
               rig.ask_client<abi::ClientCreateViewOfDeviceBufferArgs>(
                   lent->values, dims, std::size_t{1}, abi::BufferType::kF32, nullptr, device,
                   on_returned, lent.get(), std::intptr_t{0}, nullptr, memory));
  HeldBuffer buffer = rig.hold(args.buffer);
  MILLRACE_TRY_STATUS(rig.expect(buffer, numbers(), "the view"));
  if (lent->returned != 0) return broken("the memory is returned while the view lives");
  buffer.reset();
  // After the end of the client nothing can be in flight.
  MILLRACE_TRY_STATUS(rig.close());
  return expect(lent->returned == 1, "the memory is returned ", lent->returned, " times");
}

}  // namespace
}  // namespace millrace::conform
