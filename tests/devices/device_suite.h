// The device suite: what every backend behind the device interface must do, written once. Backends
// take part by a SuiteBackend (device_suite_backends.cc). It runs on real threads, because that is
// what backends are used with. Read next: device_suite_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "millrace/core/async/blocking.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/client.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"

namespace millrace::testing {

using devices::Argument;
using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::DType;
using devices::Executable;
using devices::HostArray;
using devices::HostView;
using devices::Shape;

// Programs that the suite runs, as StableHLO text and by name for backends without a compiler. All
// arrays are tensor<4xf32>.
//   add:        (a, b) -> a + b
//   increment:  (a donated) -> a + 1, in place where the backend can
//   split:      (a) -> (a + a, a * a)
//   long:       (a) -> a + 1, thirty thousand times
//   all_reduce: two replicas, each: (a) -> the sum of both a
//   sharded_sum: two partitions of one program that adds the halves of its argument: as all_reduce
struct SuiteProgram {
  std::string name;
  std::string text;
  int replicas = 1;
  int partitions = 1;
};
SuiteProgram suite_program(const std::string& name);
inline constexpr float kLongSum = 30'000;  // that `long` adds

// A client of some backend with what it runs on. Destroyed after client().close().
class SuiteClient {
 public:
  virtual ~SuiteClient() = default;
  virtual devices::Client& client() = 0;
  virtual Result<Executable> compile(const SuiteProgram& program);
};

struct SuiteBackend {
  std::string name;
  std::function<std::unique_ptr<SuiteClient>(int devices)> make;
  bool compiles_text = true;
  ErrorCode refusal = ErrorCode::kInvalidArgument;  // of a program that is none
};
inline std::ostream& operator<<(std::ostream& out, const SuiteBackend& backend) {
  return out << backend.name;
}

using Vector = std::array<float, 4>;
inline const Shape kVector(DType::kF32, {4});

// Two devices of one backend behind their actors.
class DeviceSuite : public ::testing::TestWithParam<SuiteBackend> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Executable program(const std::string& name) {
    return backend_->compile(suite_program(name)).value();
  }
  static HostView view(const Vector& values) { return {.data = values.data(), .shape = kVector}; }
  Buffer put(const Vector& values, std::size_t device = 0);
  Vector fetch(const Argument& buffer, std::size_t device = 0);
  // The output of an execution that has one.
  static Future<Buffer> first(const Future<Buffers>& outputs);
  template <class T>
  static ErrorCode code_of(const Result<T>& result) {
    return result ? ErrorCode{} : result.error().code();
  }

  std::unique_ptr<PoolExecutor> threads_ = make_executor(ExecutorBackend::kThreads, 2, "actors");
  TimerQueue timers_{steady_clock()};
  std::unique_ptr<SuiteClient> backend_;
  std::vector<Device> devices_;
};

}  // namespace millrace::testing
