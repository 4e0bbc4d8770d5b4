// The device suite: what every backend behind the device interface must do, written once. A backend
// takes part by an instantiation with its SuiteBackend (device_suite_test.cc: the CPU device and
// the simulated one; plugins add theirs). It runs on real threads, because that is what backends
// are used with.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "millrace/devices/client.h"

namespace millrace::testing {

// Programs that the suite runs, as StableHLO text and by name for backends without a compiler. All
// arrays are tensor<4xf32>.
//   add:        (a, b) -> a + b
//   increment:  (a donated) -> a + 1, in place where the backend can
//   split:      (a) -> (a + a, a * a)
struct SuiteProgram {
  std::string name;
  std::string text;
};
SuiteProgram suite_program(const std::string& name);

// A client of some backend with what it runs on. Destroyed after client().close().
class SuiteClient {
 public:
  virtual ~SuiteClient() = default;
  virtual devices::Client& client() = 0;
  virtual Result<devices::Executable> compile(const SuiteProgram& program) {
    return client().compile(devices::Program::from_text(program.text, program.name), {});
  }
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

}  // namespace millrace::testing
