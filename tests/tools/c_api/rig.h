// For tests of the C interface: an open runtime, and the errors and completions that it gives as
// values. Nothing of Millrace but the header and the shared library is in these tests. On real
// threads and descriptors, which are what the library brings along; nothing sleeps.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/c_api.h"

namespace millrace::testing {

// An error that was given, and is destroyed; code 0: none was.
struct Told {
  std::int32_t code = MILLRACE_OK;
  std::string message;
};
inline Told told(millrace_error* error) {
  Told result{millrace_error_code(error), millrace_error_message(error)};
  millrace_error_destroy(error);
  return result;
}
inline void PrintTo(const Told& t, std::ostream* out) { *out << t.code << ": " << t.message; }

struct Finished {
  millrace_operation operation = 0;
  std::int32_t kind = 0;
  std::uint64_t result = 0;
  void* user_data = nullptr;
  Told error;
};
inline Finished finished(const millrace_completion& c) {
  return {c.operation, c.kind, c.result, c.user_data, told(c.error)};
}

constexpr std::string_view kAdd = R"(func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>)
    -> tensor<3xf32> {
  %0 = stablehlo.add %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}
)";

// Runs for as long as its argument is 1 (and until it is stopped); 0 ends it.
constexpr std::string_view kEndless = R"(func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.multiply %i, %x : tensor<i32>
    stablehlo.return %n : tensor<i32>
  }
  return %r : tensor<i32>
}
)";

// A runtime that is closed at the end, unless the test has done so.
class Rig {
 public:
  explicit Rig(std::int32_t devices = 1) {
    const millrace_open_options options = {sizeof options, "CPU", devices, 1, 0};
    EXPECT_EQ(told(millrace_open(&options, &runtime)).message, "");
    EXPECT_EQ(told(millrace_completion_fd(runtime, &descriptor)).message, "");
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() {
    if (runtime != 0) close();
  }

  // Completions that close has handed out.
  std::vector<Finished> close() {
    std::vector<Finished> rest;
    const millrace_close_options options = {
        sizeof options,
        [](void* context, const millrace_completion* completion) {
          static_cast<std::vector<Finished>*>(context)->push_back(finished(*completion));
        },
        &rest};
    EXPECT_EQ(told(millrace_close(runtime, &options)).message, "");
    runtime = 0;
    return rest;
  }

  millrace_executable compile(std::string_view code, const char* name = nullptr) {
    millrace_compile_args args = {sizeof args, code.data(), code.size(), name, nullptr};
    millrace_executable executable = 0;
    started(millrace_compile(runtime, &args, &executable, &last));
    return executable;
  }
  millrace_buffer put(const void* data, std::size_t bytes, std::int32_t dtype,
                      const std::vector<std::int64_t>& dims, std::int32_t device = 0) {
    millrace_put_args args = {sizeof args, data,  bytes,  dims.data(),
                              dims.size(), dtype, device, nullptr};
    millrace_buffer buffer = 0;
    started(millrace_put(runtime, &args, &buffer, &last));
    return buffer;
  }
  // values live until its completion was taken.
  millrace_buffer put(const std::vector<float>& values, std::int32_t device = 0) {
    return put(values.data(), values.size() * sizeof(float), MILLRACE_F32,
               {static_cast<std::int64_t>(values.size())}, device);
  }
  std::vector<millrace_buffer> execute(millrace_executable executable,
                                       const std::vector<millrace_buffer>& arguments,
                                       std::size_t outputs = 1, std::int32_t device = 0) {
    millrace_execute_args args = {sizeof args, executable, arguments.data(), arguments.size(),
                                  outputs,     device,     nullptr};
    std::vector<millrace_buffer> made(outputs);
    started(millrace_execute(runtime, &args, made.data(), &last));
    return made;
  }
  void fetch(millrace_buffer buffer, void* destination, std::size_t bytes) {
    millrace_fetch_args args = {sizeof args, buffer, destination, bytes, nullptr};
    started(millrace_fetch(runtime, &args, &last));
  }
  Told cancel(millrace_operation operation) { return told(millrace_cancel(runtime, operation)); }

  bool readable(int timeout_ms = 0) const {
    pollfd waited = {descriptor, POLLIN, 0};
    return ::poll(&waited, 1, timeout_ms) == 1;
  }
  // The completion of the first operation that has completed; operation 0 if there is none.
  Finished next() const {
    millrace_completion completion = {};
    completion.struct_size = sizeof completion;
    EXPECT_EQ(told(millrace_next(runtime, &completion)).message, "");
    return finished(completion);
  }
  Finished wait_next() const {
    EXPECT_TRUE(readable(300'000)) << "nothing finished for five minutes";
    return next();
  }
  // The next n, by operation; each one is given once.
  std::map<millrace_operation, Finished> wait(std::size_t n) const {
    std::map<millrace_operation, Finished> all;
    for (std::size_t i = 0; i < n; ++i) {
      const Finished one = wait_next();
      EXPECT_NE(one.operation, 0U);
      EXPECT_TRUE(all.emplace(one.operation, one).second) << "given twice: " << one.operation;
    }
    return all;
  }
  // Waits for n operations, all of which should succeed.
  void expect_success(std::size_t n) const {
    for (const auto& [operation, one] : wait(n)) EXPECT_EQ(one.error.message, "");
  }
  // The executable of a program that compiles.
  millrace_executable compiled(std::string_view code) {
    const millrace_executable executable = compile(code);
    expect_success(1);
    return executable;
  }
  // An execution that runs until it is cancelled, and its output. It has begun: the device's thread
  // computes, so that what is given to it later waits.
  std::pair<millrace_operation, millrace_buffer> run_endless() {
    static const std::int32_t one = 1;
    const millrace_executable endless = compile(kEndless);
    const millrace_buffer x = put(&one, sizeof one, MILLRACE_I32, {});
    expect_success(2);
    const millrace_buffer output = execute(endless, {x})[0];
    const std::int64_t before = others_cpu_nanoseconds();
    while (others_cpu_nanoseconds() - before < 5'000'000) std::this_thread::yield();
    return {last, output};
  }

  millrace_runtime runtime = 0;
  int descriptor = -1;
  millrace_operation last = 0;  // of the call before

 private:
  // That the threads of this process but the calling one have used.
  static std::int64_t others_cpu_nanoseconds() {
    timespec all{}, mine{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine);
    return (all.tv_sec - mine.tv_sec) * std::int64_t{1'000'000'000} + all.tv_nsec - mine.tv_nsec;
  }
  static void started(millrace_error* error) { EXPECT_EQ(told(error).message, ""); }
};

}  // namespace millrace::testing
