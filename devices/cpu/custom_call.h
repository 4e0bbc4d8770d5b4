// custom_call: what a program asks for by name and StableHLO leaves open. Users of the CPU device
// register a handler per name; programs that are compiled afterwards find it. Read next:
// reference/kernel.h, which runs it as one step of the program.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "millrace/core/error.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// Dense, row-major arrays of the device: an operand of a call, and a result that is to be written.
struct ConstArray {
  Shape shape;
  const std::byte* data = nullptr;
};
struct MutableArray {
  Shape shape;
  std::byte* data = nullptr;
};

struct CustomCall {
  std::string_view target;          // call_target_name
  std::string_view backend_config;  // the attribute if it is a string, else ""
  std::span<const ConstArray> operands;
  std::span<const MutableArray> results;
};

// Runs on a thread of the device, perhaps several at once for several executions; writes every
// result. An error fails the execution. It keeps no pointer of the call.
using CustomCallHandler = std::function<Status(const CustomCall&)>;

// Of this process. kAlreadyExists if the name has one. Thread-safety: thread-safe.
Status register_custom_call(std::string target, CustomCallHandler handler);
// nullptr if there is none.
std::shared_ptr<const CustomCallHandler> find_custom_call(std::string_view target);

}  // namespace millrace::devices::cpu
