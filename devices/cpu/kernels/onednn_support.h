// Shared by onednn_matmul.cc and onednn_convolution.cc: the engine, one-thread execution, primitives with user
// scratchpads. Includes oneDNN's headers, so no other file may include it.
#pragma once

#include <dnnl.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/error.h"
#include "millrace/devices/cpu/kernels/onednn.h"

namespace millrace::devices::cpu {

// Makes oneDNN's OpenMP teams of this thread one thread wide, once per thread, and marks the thread as inside.
class OneDnnScope {
 public:
  OneDnnScope();
  ~OneDnnScope();
  OneDnnScope(const OneDnnScope&) = delete;
};

const dnnl::engine& onednn_engine();

dnnl::memory::desc f32_desc(std::span<const std::int64_t> dims, std::span<const std::int64_t> strides);
dnnl::memory::desc f32_any(std::span<const std::int64_t> dims);
dnnl::primitive_attr user_scratchpad();

// A stream and memory objects whose handles are set before each execution. Thread-safety: confined.
class BoundPrimitive {
 public:
  // args: (DNNL_ARG_..., descriptor) in the order of execute()'s pointers.
  BoundPrimitive(const dnnl::primitive& primitive, std::vector<std::pair<int, dnnl::memory::desc>> args);
  void execute(std::initializer_list<void*> pointers);

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> args_;
};

inline std::size_t align64(std::size_t n) { return (n + 63) & ~std::size_t{63}; }

// Runs make() and turns oneDNN's exceptions into an Error that names `what`.
template <class F>
auto guard_onednn(const std::string& what, F make) -> Result<decltype(make())> {
  try {
    const OneDnnScope scope;
    return make();
  } catch (const dnnl::error& e) {
    return fail(ErrorCode::kUnimplemented, "oneDNN has no " + what + ": " + e.what());
  }
}

}  // namespace millrace::devices::cpu
