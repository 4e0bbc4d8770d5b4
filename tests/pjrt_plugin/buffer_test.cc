// Buffers: host bytes of any strides and types in, bytes out in any order; views, memories, tokens.
#include <gmock/gmock.h>

#include <array>
#include <cstdint>

#include "tests/pjrt_plugin/plugin_fixture.h"

namespace millrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BufferTest : public PluginTest {
 protected:
  abi::ClientBufferFromHostBufferArgs args_of(const void* data, abi::BufferType type,
                                              std::vector<std::int64_t> dims) {
    dims_ = std::move(dims);
    abi::ClientBufferFromHostBufferArgs args;
    args.client = client_;
    args.data = data;
    args.type = type;
    args.dims = dims_.data();
    args.num_dims = dims_.size();
    args.device = device(client_);
    return args;
  }
  abi::ClientCreateViewOfDeviceBufferArgs view_of(float* data, std::vector<std::int64_t> dims) {
    dims_ = std::move(dims);
    abi::ClientCreateViewOfDeviceBufferArgs args;
    args.client = client_;
    args.device_buffer_ptr = data;
    args.type = abi::BufferType::kF32;
    args.dims = dims_.data();
    args.num_dims = dims_.size();
    args.device = device(client_);
    return args;
  }
  abi::Buffer* made(abi::ClientBufferFromHostBufferArgs& args) {
    must(args);
    EXPECT_TRUE(awaited(args.done_with_host_buffer).ok());
    return args.buffer;
  }
};

TEST_F(BufferTest, StridesMayBeNegative) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  auto args = args_of(values.data() + 5, abi::BufferType::kF32, {2, 3});
  const std::int64_t strides[] = {-12, -4};
  args.byte_strides = strides;
  args.num_byte_strides = 2;
  abi::Buffer* const x = made(args);
  EXPECT_THAT(fetched(x), ElementsAre(6, 5, 4, 3, 2, 1));
  destroy(x);
}

TEST_F(BufferTest, BytesComeInTheOrderThatTheHostWants) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  auto args = args_of(values.data(), abi::BufferType::kF32, {2, 3});
  abi::Buffer* const x = made(args);
  const std::int64_t order[] = {0, 1};
  abi::MemoryLayout layout;
  layout.struct_size = abi::kStructSize<abi::MemoryLayout>;
  layout.type = abi::LayoutType::kTiled;
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 2;
  std::array<float, 6> there{};
  abi::BufferToHostBufferArgs fetch{{}, x, &layout, there.data(), sizeof(there)};
  must(fetch);
  EXPECT_TRUE(awaited(fetch.event).ok());
  EXPECT_THAT(there, ElementsAre(1, 4, 2, 5, 3, 6));
  fetch.dst_size = 20;
  EXPECT_THAT(call(fetch).message, HasSubstr("the host has room for 20"));
  destroy(x);
}

// The bits above an element are the host's.
TEST_F(BufferTest, IntegersOfLessThanAByteHaveTheirSign) {
  const std::array<std::uint8_t, 4> nibbles = {0x01, 0xFE, 0x0E, 0x08};
  auto args = args_of(nibbles.data(), abi::BufferType::kS4, {4});
  abi::Buffer* const x = made(args);
  std::array<std::int8_t, 4> there{};
  abi::BufferToHostBufferArgs fetch{{}, x, nullptr, there.data(), sizeof(there)};
  must(fetch);
  EXPECT_TRUE(awaited(fetch.event).ok());
  EXPECT_THAT(there, ElementsAre(1, -2, -2, -8));
  destroy(x);
  args.type = abi::BufferType::kU4;
  abi::Buffer* const y = made(args);
  fetch.src = y;
  must(fetch);
  EXPECT_TRUE(awaited(fetch.event).ok());
  EXPECT_THAT(there, ElementsAre(1, 14, 14, 8));
  destroy(y);
}

// Bytes that the client would leave in place for good: many that lie well are used there, until the
// buffer ends.
TEST_F(BufferTest, FewBytesAreCopiedAtOnceAndManyAreUsedInPlace) {
  constexpr int kMany = 1 << 15;
  alignas(64) static float values[kMany + 4] = {1, 2, 3, 4, 5};
  const auto is_returned = [](abi::Event* event) {
    abi::EventIsReadyArgs args{{}, event};
    must(args);
    return args.is_ready;
  };
  auto few = args_of(values, abi::BufferType::kF32, {4});
  few.host_buffer_semantics = 2;
  must(few);
  EXPECT_TRUE(is_returned(few.done_with_host_buffer));
  auto many = args_of(values, abi::BufferType::kF32, {kMany});
  many.host_buffer_semantics = 2;
  must(many);
  EXPECT_FALSE(is_returned(many.done_with_host_buffer));
  auto badly_aligned = args_of(values + 4, abi::BufferType::kF32, {kMany});
  badly_aligned.host_buffer_semantics = 2;
  must(badly_aligned);
  EXPECT_TRUE(is_returned(badly_aligned.done_with_host_buffer));
  values[0] = 7;
  values[4] = 7;
  EXPECT_EQ(fetched(badly_aligned.buffer)[0], 5);
  EXPECT_EQ(fetched(few.buffer)[0], 1);
  EXPECT_EQ(fetched(many.buffer)[0], 7);
  values[0] = 1;
  // Bytes that the device may write into stay where they are, however few.
  auto writable = args_of(values, abi::BufferType::kF32, {4});
  writable.host_buffer_semantics = 3;
  must(writable);
  EXPECT_FALSE(is_returned(writable.done_with_host_buffer));
  for (auto* const args : {&few, &many, &badly_aligned, &writable}) {
    destroy(args->buffer);
    EXPECT_TRUE(awaited(args->done_with_host_buffer).ok());
  }
}

TEST_F(BufferTest, WhatIsNoArrayIsRefused) {
  const std::array<float, 4> values{};
  auto negative = args_of(values.data(), abi::BufferType::kF32, {2, -2});
  EXPECT_EQ(call(negative).code, 3);
  auto huge = args_of(values.data(), abi::BufferType::kF32, {1LL << 40, 1LL << 40});
  EXPECT_EQ(call(huge).code, 3);
  auto typeless = args_of(values.data(), abi::BufferType::kInvalid, {4});
  EXPECT_EQ(call(typeless).code, 12);
  auto null = args_of(nullptr, abi::BufferType::kF32, {4});
  EXPECT_THAT(call(null).message, HasSubstr("cannot put an array"));
  auto nowhere = args_of(values.data(), abi::BufferType::kF32, {4});
  nowhere.device = nullptr;
  EXPECT_THAT(call(nowhere).message, HasSubstr("a memory or a device"));
  auto semantics = args_of(values.data(), abi::BufferType::kF32, {4});
  semantics.host_buffer_semantics = 7;
  EXPECT_THAT(call(semantics).message, HasSubstr("semantics are 7"));
}

TEST_F(BufferTest, AViewReturnsItsMemoryOnceAtTheEndOfItsLastReader) {
  alignas(64) static float values[4] = {1, 2, 3, 4};
  static int returned = 0;
  returned = 0;
  auto args = view_of(values, {4});
  args.on_delete_callback = [](void* pointer, void* /*user_arg*/) {
    EXPECT_EQ(pointer, values + returned);
    ++returned;
  };
  must(args);
  EXPECT_EQ(fetched(args.buffer), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(returned, 0);
  destroy(args.buffer);
  EXPECT_EQ(returned, 1);
  // Bytes that lie badly are copied, and returned at once.
  dims_[0] = 3;
  args.device_buffer_ptr = values + 1;
  must(args);
  EXPECT_EQ(returned, 2);
  EXPECT_EQ(fetched(args.buffer), (std::vector<float>{2, 3, 4}));
  destroy(args.buffer);
  EXPECT_EQ(returned, 2);
}

// As DLPack brings a transposed array of NumPy or PyTorch.
TEST_F(BufferTest, AViewInAnotherOrderOfDimensionsIsTheSameArray) {
  alignas(64) float values[6] = {1, 2, 3, 4, 5, 6};
  const std::array<std::int64_t, 2> minor_to_major = {0, 1};
  abi::MemoryLayout layout;
  layout.type = abi::LayoutType::kTiled;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = 2;
  auto args = view_of(values, {2, 3});
  args.layout = &layout;
  must(args);
  EXPECT_EQ(fetched(args.buffer), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  destroy(args.buffer);
  // An empty array has no strides that could be too large for a number.
  dims_[0] = 1LL << 62;
  dims_[1] = 0;
  must(args);
  destroy(args.buffer);
  const std::array<std::int64_t, 1> tile = {8};
  const std::size_t tile_rank = 1;
  layout.tiled.tile_dims = tile.data();
  layout.tiled.tile_dim_sizes = &tile_rank;
  layout.tiled.num_tiles = 1;
  EXPECT_THAT(call(args).message, HasSubstr("with tiles"));
}

TEST_F(BufferTest, ACopyIsInTheMemoryThatIsNamed) {
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  abi::DeviceAddressableMemoriesArgs memories{{}, device(client_, 1)};
  must(memories);
  ASSERT_EQ(memories.num_memories, 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    abi::BufferCopyToMemoryArgs copy{{}, x, memories.memories[i]};
    must(copy);
    abi::BufferMemoryArgs where{{}, copy.dst_buffer};
    must(where);
    EXPECT_EQ(where.memory, memories.memories[i]);
    EXPECT_EQ(fetched(copy.dst_buffer), values);
    destroy(copy.dst_buffer);
  }
  destroy(x);
}

TEST_F(BufferTest, RawBytesOutsideOfAnArrayAreRefused) {
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  std::array<float, 2> there{};
  abi::BufferCopyRawToHostArgs args{{}, x, there.data(), 8, 8};
  must(args);
  EXPECT_TRUE(awaited(args.event).ok());
  EXPECT_THAT(there, ElementsAre(3, 4));
  for (const auto& [offset, size] :
       {std::pair<std::int64_t, std::int64_t>{12, 8}, {-4, 4}, {0, 17}, {1LL << 62, 1LL << 62}}) {
    abi::BufferCopyRawToHostArgs outside{{}, x, there.data(), offset, size};
    EXPECT_EQ(call(outside).code, 3);
  }
  destroy(x);
}

// A token comes with the launch, and donated arguments behind one are the right ones.
TEST_F(BufferTest, TokensAreArgumentsAndResultsWithoutBytes) {
  abi::LoadedExecutable* const start = compiled(R"(
module @start {
  func.func @main() -> !stablehlo.token {
    %t = stablehlo.create_token : !stablehlo.token
    return %t : !stablehlo.token
  }
}
)");
  const Launch first = launch(start, {});
  ASSERT_TRUE(first.outcome.ok()) << first.outcome.message;
  abi::BufferElementTypeArgs type{{}, first.outputs[0]};
  must(type);
  EXPECT_EQ(type.type, abi::BufferType::kToken);
  abi::LoadedExecutable* const next = compiled(R"(
module @next {
  func.func @main(%t: !stablehlo.token, %x: tensor<4xf32>,
                  %y: tensor<4xf32> {tf.aliasing_output = 1 : i32})
      -> (!stablehlo.token, tensor<4xf32>) {
    %z = stablehlo.subtract %x, %y : tensor<4xf32>
    return %t, %z : !stablehlo.token, tensor<4xf32>
  }
}
)");
  const std::vector<float> values = {1, 2, 3, 4};
  abi::Buffer* const x = put(values);
  abi::Buffer* const y = put(values);
  const Launch second = launch(next, {first.outputs[0], x, y}, 2);
  ASSERT_TRUE(second.outcome.ok()) << second.outcome.message;
  EXPECT_FALSE(is_deleted(x));
  EXPECT_TRUE(is_deleted(y));
  abi::BufferReadyEventArgs ready{{}, second.outputs[0]};
  must(ready);
  EXPECT_TRUE(awaited(ready.event).ok());
  EXPECT_EQ(fetched(second.outputs[1]), (std::vector<float>(4)));
  destroy(first.done);
  destroy(second.done);
  for (abi::Buffer* b : {first.outputs[0], x, y, second.outputs[0], second.outputs[1]}) destroy(b);
  destroy(start);
  destroy(next);
}

}  // namespace
}  // namespace millrace::testing
