// Buffers: what they tell of themselves, and the ways to their memory.
#include <cstring>

#include "millrace/tools/conform/rig.h"

namespace millrace::conform {
namespace {

using Need = Check::Need;

// 2 x 3 elements of f32.
Result<HeldBuffer> put_2x3(Rig& rig) {
  const Floats values = {1, 2, 3, 4, 5, 6};
  MILLRACE_TRY(Put put, rig.put_any(values.data(), {.dims = {2, 3}}));
  return std::move(put.buffer);
}

Status element_type(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  abi::BufferElementTypeArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.type == abi::BufferType::kF32) return {};
  return broken("f32 is said to be type " + std::to_string(static_cast<int>(args.type)));
}

Status expect_2x3(const std::int64_t* dims, std::size_t num_dims) {
  if (num_dims == 2 && dims[0] == 2 && dims[1] == 3) return {};
  return broken("2 x 3 elements are told otherwise");
}

Status dimensions(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  abi::BufferDimensionsArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return expect_2x3(args.dims, args.num_dims);
}

Status unpadded_dimensions(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  abi::BufferUnpaddedDimensionsArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return expect_2x3(args.dims, args.num_dims);
}

Status device(Rig& rig) {
  MILLRACE_TRY(const auto all, rig.devices());
  for (abi::Device* wanted : all) {
    MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers(), wanted));
    abi::BufferDeviceArgs args;
    args.buffer = buffer.get();
    MILLRACE_TRY_STATUS(rig.table().call(args));
    if (args.device != wanted) return broken("a buffer is on another device than it was put to");
  }
  return {};
}

Status memory(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  MILLRACE_TRY(abi::Device* const first, rig.device());
  MILLRACE_TRY(abi::Memory* const wanted, rig.memory(first));
  abi::BufferMemoryArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return args.memory == wanted ? Status() : broken("it is not in the device's default memory");
}

Status size(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  abi::BufferOnDeviceSizeInBytesArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.on_device_size_in_bytes < 24) {
    return broken("6 elements of f32 take " + std::to_string(args.on_device_size_in_bytes) +
                  " bytes");
  }
  rig.note(std::to_string(args.on_device_size_in_bytes) + " bytes for 24");
  return {};
}

Status layout(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  abi::BufferGetMemoryLayoutArgs args;
  args.buffer = buffer.get();
  args.layout.struct_size = abi::kStructSize<abi::MemoryLayout>;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  if (args.layout.type == abi::LayoutType::kStrides) {
    rig.note("strides");
    return {};
  }
  if (args.layout.type != abi::LayoutType::kTiled) return broken("it has a type that is none");
  const abi::TiledLayout& tiled = args.layout.tiled;
  if (tiled.minor_to_major_size != 2 || tiled.minor_to_major[0] + tiled.minor_to_major[1] != 1 ||
      tiled.minor_to_major[0] * tiled.minor_to_major[1] != 0) {
    return broken("its dimensions are not in some order");
  }
  rig.note(tiled.minor_to_major[0] == 1 ? "row after row" : "column after column");
  return {};
}

Status on_cpu(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, put_2x3(rig));
  abi::BufferIsOnCpuArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  rig.note(args.is_on_cpu ? "yes" : "no");
  return {};
}

Status raw_copy(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer.get()));
  float target[3] = {-1, -1, -1};
  abi::BufferCopyRawToHostArgs args;
  args.buffer = buffer.get();
  args.dst = target;
  args.offset = 4;
  args.transfer_size = 8;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldEvent done = rig.hold(args.event);
  MILLRACE_TRY_STATUS(rig.wait(done, "PJRT_Buffer_CopyRawToHost"));
  return expect_floats(target, Floats{2, 3, -1}, "8 bytes behind 4");
}

Status external_reference(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer.get()));
  MILLRACE_TRY(const float* const memory, rig.hold_memory(buffer.get()));
  const Floats seen = memory == nullptr ? numbers() : Floats(memory, memory + kLength);
  MILLRACE_TRY_STATUS(rig.let_go_of_memory(buffer.get()));
  return expect_floats(seen, numbers(), "what its memory holds");
}

Status reference_underflow(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer.get()));
  abi::BufferDecreaseExternalReferenceCountArgs less;
  less.buffer = buffer.get();
  return expect_refused(rig.table().call(less), "giving back what nobody took");
}

Status unsafe_pointer(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY_STATUS(rig.wait_ready(buffer.get()));
  abi::BufferUnsafePointerArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  return args.pointer != 0 ? Status() : broken("it is null");
}

Status copy_to_memory(Rig& rig) {
  MILLRACE_TRY(const HeldBuffer buffer, rig.put(numbers()));
  MILLRACE_TRY(abi::Device* const first, rig.device());
  abi::BufferCopyToMemoryArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY(args.dst_memory, rig.memory(first));
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldBuffer copy = rig.hold(args.dst_buffer);
  MILLRACE_TRY(const Floats got, rig.get(copy.get()));
  return expect_floats(got, numbers(), "the copy");
}

Status uninitialized(Rig& rig) {
  const std::int64_t dims[] = {2, 3};
  abi::ClientCreateUninitializedBufferArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY(abi::Device* const first, rig.device());
  MILLRACE_TRY(args.memory, rig.memory(first));
  args.dims = dims;
  args.num_dims = 2;
  args.type = abi::BufferType::kF32;
  MILLRACE_TRY_STATUS(rig.table().call(args));
  const HeldBuffer buffer = rig.hold(args.buffer);
  abi::BufferDimensionsArgs shape;
  shape.buffer = buffer.get();
  MILLRACE_TRY_STATUS(rig.table().call(shape));
  MILLRACE_TRY_STATUS(expect_2x3(shape.dims, shape.num_dims));
  return rig.wait_ready(buffer.get());
}

Status view(Rig& rig) {
  struct Lent {
    alignas(128) float values[kLength] = {1, 2, 3, 4};
    std::atomic<int> given_back{0};
  };
  const auto lent = std::make_unique<Lent>();
  const std::int64_t dims[] = {kLength};
  abi::ClientCreateViewOfDeviceBufferArgs args;
  MILLRACE_TRY(args.client, rig.client());
  MILLRACE_TRY(args.device, rig.device());
  // Host memory is device memory only there.
  MILLRACE_TRY(HeldBuffer probe, rig.put(numbers()));
  abi::BufferIsOnCpuArgs where;
  where.buffer = probe.get();
  MILLRACE_TRY_STATUS(rig.table().call(where));
  probe.reset();  // nothing may outlive the client
  if (!where.is_on_cpu) return skip("the device's memory is not the host's");
  MILLRACE_TRY(args.memory, rig.memory(args.device));
  args.device_buffer_ptr = lent->values;
  args.dims = dims;
  args.num_dims = 1;
  args.type = abi::BufferType::kF32;
  args.on_delete_callback = [](void* /*memory*/, void* user_arg) {
    ++static_cast<Lent*>(user_arg)->given_back;
  };
  args.on_delete_callback_arg = lent.get();
  MILLRACE_TRY_STATUS(rig.table().call(args));
  HeldBuffer buffer = rig.hold(args.buffer);
  MILLRACE_TRY(const Floats got, rig.get(buffer.get()));
  MILLRACE_TRY_STATUS(expect_floats(got, numbers(), "the view"));
  if (lent->given_back != 0) return broken("the memory is given back while the view lives");
  buffer.reset();
  // After the end of the client nothing can be in flight.
  MILLRACE_TRY_STATUS(rig.close());
  if (lent->given_back == 1) return {};
  return broken("the memory is given back " + std::to_string(lent->given_back) + " times");
}

}  // namespace

std::vector<Check> buffer_checks() {
  return after(
      {"host.round_trip"},
      {
          {.name = "buffer.element_type",
           .wants = "a buffer tells the type of its elements",
           .run = &element_type},
          {.name = "buffer.dimensions",
           .wants = "a buffer tells its dimensions",
           .run = &dimensions},
          {.name = "buffer.unpadded_dimensions",
           .wants = "a buffer tells its dimensions without padding",
           .run = &unpadded_dimensions},
          {.name = "buffer.device", .wants = "a buffer is where it was put", .run = &device},
          {.name = "buffer.memory",
           .wants = "a buffer is in its device's default memory",
           .run = &memory},
          {.name = "buffer.size",
           .wants = "a buffer takes at least the bytes of its elements",
           .run = &size},
          {.name = "buffer.layout",
           .wants = "a buffer tells the order of its dimensions",
           .run = &layout},
          {.name = "buffer.on_cpu",
           .wants = "a buffer says whether it is in the host's memory",
           .run = &on_cpu},
          {.name = "buffer.raw_copy",
           .wants = "some bytes of a buffer can be read",
           .run = &raw_copy},
          {.name = "buffer.external_reference",
           .wants = "memory that is held from outside can be found, and holds what was put",
           .run = &external_reference,
           .need = Need::kMay},
          {.name = "buffer.reference_underflow",
           .wants = "what nobody holds cannot be given back",
           .run = &reference_underflow},
          {.name = "buffer.unsafe_pointer",
           .wants = "the address of a buffer is told",
           .run = &unsafe_pointer,
           .need = Need::kMay},
          {.name = "buffer.copy_to_memory",
           .wants = "a copy in the same memory holds the same",
           .run = &copy_to_memory},
          {.name = "buffer.uninitialized",
           .wants = "a buffer without contents has its dimensions and is ready",
           .run = &uninitialized,
           .after = {"buffer.dimensions"}},
          {.name = "buffer.view",
           .wants = "lent memory is seen, and given back once, after the end of the view",
           .run = &view,
           .after = {"buffer.on_cpu"},
           .need = Need::kMay},
      });
}

}  // namespace millrace::conform
