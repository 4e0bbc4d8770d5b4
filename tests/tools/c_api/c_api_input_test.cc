// What a program may do wrong at the border: pointers, sizes of structs, numbers, handles. Nothing
// is started then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "tests/tools/c_api/rig.h"

namespace millrace::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect(const Told& error, std::int32_t code, const char* words) {
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_THAT(error.message, HasSubstr(words));
}
void expect_invalid(const Told& error, const char* words) {
  expect(error, MILLRACE_INVALID_ARGUMENT, words);
}

class CApiInputTest : public ::testing::Test {
 protected:
  ~CApiInputTest() override { EXPECT_EQ(rig.next().operation, 0U) << "something was started"; }

  Told put(const millrace_put_args* args) {
    return told(millrace_put(rig.runtime, args, &buffer, &operation));
  }
  Told put_of(std::int32_t dtype, const std::vector<std::int64_t>& dims, std::size_t bytes) {
    const millrace_put_args args = {sizeof args, values, bytes, dims.data(),
                                    dims.size(), dtype,  0,     nullptr};
    return put(&args);
  }

  Rig rig;
  float values[4] = {1, 2, 3, 4};
  const std::int64_t dims[1] = {4};
  millrace_put_args good = {sizeof good, values, 16, dims, 1, MILLRACE_F32, 0, nullptr};
  millrace_buffer buffer = 7;
  millrace_operation operation = 7;
};

TEST_F(CApiInputTest, NullPointersAreNamed) {
  expect_invalid(put(nullptr), "millrace_put_args is NULL");
  good.data = nullptr;
  expect_invalid(put(&good), "millrace_put_args.data is NULL");
  good.data = values;
  good.dims = nullptr;
  expect_invalid(put(&good), "millrace_put_args.dims is NULL");
  good.dims = dims;
  expect_invalid(told(millrace_put(rig.runtime, &good, nullptr, &operation)), "buffer is NULL");
  expect_invalid(told(millrace_put(rig.runtime, &good, &buffer, nullptr)), "operation is NULL");
  EXPECT_EQ(buffer, 7U);  // untouched
  EXPECT_EQ(operation, 7U);

  expect_invalid(told(millrace_open(nullptr, nullptr)), "runtime is NULL");
  expect_invalid(told(millrace_device_count(rig.runtime, nullptr)), "count is NULL");
  expect_invalid(told(millrace_device(rig.runtime, 0, nullptr)), "millrace_device_info is NULL");
  expect_invalid(told(millrace_completion_fd(rig.runtime, nullptr)), "descriptor is NULL");
  expect_invalid(told(millrace_next(rig.runtime, nullptr)), "millrace_completion is NULL");
  expect_invalid(told(millrace_compile(rig.runtime, nullptr, &buffer, &operation)),
                 "millrace_compile_args is NULL");
  millrace_compile_args no_code = {sizeof no_code, nullptr, 3, nullptr, nullptr};
  expect_invalid(told(millrace_compile(rig.runtime, &no_code, &buffer, &operation)),
                 "millrace_compile_args.code is NULL");
  millrace_execute_args no_arguments = {sizeof no_arguments, 0, nullptr, 2, 1, 0, nullptr};
  expect_invalid(told(millrace_execute(rig.runtime, &no_arguments, &buffer, &operation)),
                 "millrace_execute_args.arguments is NULL");
  no_arguments.num_arguments = 0;
  expect_invalid(told(millrace_execute(rig.runtime, &no_arguments, nullptr, &operation)),
                 "outputs is NULL");
  millrace_fetch_args no_room = {sizeof no_room, 0, nullptr, 4, nullptr};
  expect_invalid(told(millrace_fetch(rig.runtime, &no_room, &operation)),
                 "millrace_fetch_args.destination is NULL");
  millrace_error_destroy(nullptr);
  EXPECT_EQ(millrace_error_code(nullptr), MILLRACE_OK);
  EXPECT_STREQ(millrace_error_message(nullptr), "");
}

TEST_F(CApiInputTest, StructOfWrongSizeIsRefused) {
  const auto expect_refused = [](const Told& error, const char* name) {
    expect_invalid(error, "struct_size is ");
    EXPECT_THAT(error.message, HasSubstr(std::string("set it to sizeof(") + name + ")"));
  };
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), std::size_t{4097},
                                 std::numeric_limits<std::size_t>::max()}) {
    SCOPED_TRACE(size);
    good.struct_size = size;
    expect_refused(put(&good), "millrace_put_args");
    millrace_compile_args compile = {size, "", 0, nullptr, nullptr};
    expect_refused(told(millrace_compile(rig.runtime, &compile, &buffer, &operation)),
                   "millrace_compile_args");
    millrace_execute_args execute = {size, 0, nullptr, 0, 0, 0, nullptr};
    expect_refused(told(millrace_execute(rig.runtime, &execute, &buffer, &operation)),
                   "millrace_execute_args");
    millrace_fetch_args fetch = {size, 0, nullptr, 0, nullptr};
    expect_refused(told(millrace_fetch(rig.runtime, &fetch, &operation)), "millrace_fetch_args");
    millrace_completion completion = {};
    completion.struct_size = size;
    expect_refused(told(millrace_next(rig.runtime, &completion)), "millrace_completion");
    millrace_device_info info = {size, 0, nullptr};
    expect_refused(told(millrace_device(rig.runtime, 0, &info)), "millrace_device_info");
    millrace_shape shape = {};
    shape.struct_size = size;
    expect_refused(told(millrace_buffer_shape(rig.runtime, 0, &shape)), "millrace_shape");
    expect_refused(told(millrace_executable_input(rig.runtime, 0, 0, &shape)), "millrace_shape");
    expect_refused(told(millrace_executable_output(rig.runtime, 0, 0, &shape)), "millrace_shape");
    millrace_signature signature = {size, 0, 0};
    expect_refused(told(millrace_executable_signature(rig.runtime, 0, &signature)),
                   "millrace_signature");
  }
  // Every field of these two may be missing.
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t) - 1, std::size_t{4097}}) {
    const millrace_open_options open = {size, nullptr, 0, 0, 0};
    millrace_runtime other = 0;
    expect_refused(told(millrace_open(&open, &other)), "millrace_open_options");
    const millrace_close_options close = {size, nullptr, nullptr};
    expect_refused(told(millrace_close(rig.runtime, &close)), "millrace_close_options");
  }
}

TEST_F(CApiInputTest, StructOfAnOlderProgramLacksTheLastFields) {
  good.struct_size = offsetof(millrace_put_args, device);
  good.device = 99;  // not read
  good.user_data = this;
  EXPECT_EQ(put(&good).message, "");
  struct {
    millrace_completion known;
    unsigned char behind[16];
  } room;
  std::memset(&room, 0xAB, sizeof room);
  room.known.struct_size = offsetof(millrace_completion, kind);
  ASSERT_TRUE(rig.readable(300'000));
  EXPECT_EQ(told(millrace_next(rig.runtime, &room.known)).message, "");
  EXPECT_EQ(room.known.operation, operation);
  EXPECT_EQ(room.known.user_data, nullptr);
  EXPECT_EQ(room.known.error, nullptr);
  EXPECT_EQ(room.known.struct_size, offsetof(millrace_completion, kind));
  const auto* bytes = reinterpret_cast<const unsigned char*>(&room);
  for (std::size_t i = offsetof(millrace_completion, kind); i < sizeof room; ++i)
    ASSERT_EQ(bytes[i], 0xAB) << "byte " << i << " was written";
  const millrace_open_options least = {sizeof(std::size_t), "no such device", -1, -1, -1};
  millrace_runtime other = 0;
  EXPECT_EQ(told(millrace_open(&least, &other)).message, "");
  const millrace_close_options end = {sizeof(std::size_t), nullptr, nullptr};
  EXPECT_EQ(told(millrace_close(other, &end)).message, "");
}

TEST_F(CApiInputTest, StructOfANewerProgramIsFineWhileItsNewFieldsAreZero) {
  struct {
    millrace_put_args known;
    std::uint64_t later;
  } newer = {good, 0};
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(put(&newer.known).message, "");
  struct {
    millrace_completion known;
    std::uint64_t later;
  } room = {{}, 5};
  room.known.struct_size = sizeof room;
  ASSERT_TRUE(rig.readable(300'000));
  EXPECT_EQ(told(millrace_next(rig.runtime, &room.known)).message, "");
  EXPECT_EQ(room.known.operation, operation);
  EXPECT_EQ(room.later, 0U);  // what this library cannot tell
  newer.later = std::uint64_t{1} << 40;
  const Told refused = put(&newer.known);
  expect(refused, MILLRACE_UNIMPLEMENTED, "was made for a newer one");
  EXPECT_THAT(refused.message, HasSubstr("at byte " + std::to_string(sizeof good + 5)));
}

TEST_F(CApiInputTest, NumbersOutOfRangeAreNamed) {
  const auto most = std::numeric_limits<std::int64_t>::max();
  expect_invalid(put_of(0, {4}, 16), "dtype is 0");
  expect_invalid(put_of(MILLRACE_C128 + 1, {4}, 16), "dtype is 32");
  expect_invalid(put_of(-1, {4}, 16), "dtype is -1");
  expect_invalid(put_of(MILLRACE_F32, {-4}, 16), "dims has -4");
  expect_invalid(put_of(MILLRACE_F32, {most, 2}, 16), "their product overflows");
  expect_invalid(put_of(MILLRACE_F32, {0, most, most}, 0), "their product overflows");
  expect_invalid(put_of(MILLRACE_F32, std::vector<std::int64_t>(13, 1), 4), "rank is 13");
  expect_invalid(put_of(MILLRACE_F32, {4}, 12), "data_bytes is 12, but a tensor<4xf32> has 16");
  expect_invalid(put_of(MILLRACE_F64, {4}, 16), "data_bytes is 16, but a tensor<4xf64> has 32");
  good.device = 1;
  expect_invalid(put(&good), "there is no device 1: the runtime has 1");
  good.device = -1;
  expect_invalid(put(&good), "there is no device -1");

  millrace_runtime other = 0;
  millrace_open_options options = {sizeof options, nullptr, -1, 0, 0};
  expect_invalid(told(millrace_open(&options, &other)), "millrace_open_options.devices is -1");
  options.devices = 0;
  options.threads = 5000;
  expect_invalid(told(millrace_open(&options, &other)), "millrace_open_options.threads is 5000");
  options.threads = 0;
  for (const double seconds : {-1.0, 1e10, std::numeric_limits<double>::quiet_NaN()}) {
    options.seconds = seconds;
    expect_invalid(told(millrace_open(&options, &other)), "millrace_open_options.seconds is ");
  }
  options.seconds = 0;
  options.device = "ABACUS";
  expect(told(millrace_open(&options, &other)), MILLRACE_NOT_FOUND,
         "millrace_open_options.device names the device kind 'ABACUS'");
  EXPECT_EQ(other, 0U);
}

TEST_F(CApiInputTest, UnknownAndMixedUpHandlesAreRefused) {
  const millrace_buffer made = rig.put(values, 16, MILLRACE_F32, {4});
  const millrace_operation put_operation = rig.last;
  const millrace_executable add = rig.compiled(kAdd);
  rig.expect_success(1);
  const auto destroy = [&](std::uint64_t handle) {
    return told(millrace_buffer_destroy(rig.runtime, handle));
  };
  expect_invalid(destroy(0), "handle 0 was never given; a buffer is wanted");
  expect(destroy(1'000'000'003), MILLRACE_NOT_FOUND, "was never given");
  expect(destroy(~std::uint64_t{0}), MILLRACE_NOT_FOUND, "was never given");
  // The number is one that was given, to a buffer: no runtime has had it.
  for (int i = 0; i < 10; ++i) rig.put(values, 16, MILLRACE_F32, {4});
  rig.expect_success(10);
  const std::uint64_t kind_bits = 7;
  expect(destroy((rig.put(values, 16, MILLRACE_F32, {4}) & ~kind_bits) | (rig.runtime & kind_bits)),
         MILLRACE_NOT_FOUND, "was never given");
  rig.expect_success(1);
  expect_invalid(destroy(add), "is an executable, but a buffer is wanted");
  expect_invalid(destroy(rig.runtime), "is a runtime, but a buffer is wanted");
  expect_invalid(destroy(put_operation), "is an operation, but a buffer is wanted");
  expect_invalid(rig.cancel(made), "is a buffer, but an operation is wanted");
  expect_invalid(told(millrace_executable_destroy(rig.runtime, made)),
                 "is a buffer, but an executable is wanted");
  std::size_t count = 0;
  expect_invalid(told(millrace_device_count(0, &count)), "a runtime is wanted");
  expect_invalid(told(millrace_device_count(made, &count)), "is a buffer, but a runtime is wanted");
  expect_invalid(told(millrace_close(add, nullptr)), "is an executable, but a runtime is wanted");

  const millrace_buffer arguments[] = {made, add};
  millrace_execute_args execute = {sizeof execute, add, arguments, 2, 1, 0, nullptr};
  expect_invalid(told(millrace_execute(rig.runtime, &execute, &buffer, &operation)),
                 "argument 1: handle");
  execute.executable = made;
  expect_invalid(told(millrace_execute(rig.runtime, &execute, &buffer, &operation)),
                 "is a buffer, but an executable is wanted");
  millrace_fetch_args fetch = {sizeof fetch, add, values, 16, nullptr};
  expect_invalid(told(millrace_fetch(rig.runtime, &fetch, &operation)),
                 "is an executable, but a buffer is wanted");
}

TEST_F(CApiInputTest, StaleHandlesAreRefused) {
  const millrace_buffer made = rig.put(values, 16, MILLRACE_F32, {4});
  const millrace_operation put_operation = rig.last;
  const millrace_executable add = rig.compiled(kAdd);
  rig.expect_success(1);
  expect(rig.cancel(put_operation), MILLRACE_NOT_FOUND, "given by millrace_next before");
  EXPECT_EQ(told(millrace_buffer_destroy(rig.runtime, made)).message, "");
  expect(told(millrace_buffer_destroy(rig.runtime, made)), MILLRACE_NOT_FOUND, "was destroyed");
  millrace_shape shape = {};
  shape.struct_size = sizeof shape;
  expect(told(millrace_buffer_shape(rig.runtime, made, &shape)), MILLRACE_NOT_FOUND,
         "was destroyed");
  EXPECT_EQ(told(millrace_executable_destroy(rig.runtime, add)).message, "");
  millrace_execute_args execute = {sizeof execute, add, nullptr, 0, 0, 0, nullptr};
  expect(told(millrace_execute(rig.runtime, &execute, nullptr, &operation)), MILLRACE_NOT_FOUND,
         "was destroyed");

  Rig other;
  const millrace_buffer theirs = other.put(values, 16, MILLRACE_F32, {4});
  other.expect_success(1);
  expect(told(millrace_buffer_destroy(rig.runtime, theirs)), MILLRACE_NOT_FOUND,
         "is another runtime's");
  const millrace_runtime closed = other.runtime;
  other.close();
  millrace_completion completion = {};
  completion.struct_size = sizeof completion;
  expect(told(millrace_next(closed, &completion)), MILLRACE_NOT_FOUND, "was closed");
  expect(told(millrace_close(closed, nullptr)), MILLRACE_NOT_FOUND, "was closed");
}

}  // namespace
}  // namespace millrace::testing
