#include "millrace/devices/cpu/kernels/contraction/onednn_support.inc"

#include <dlfcn.h>

#include <limits>
#include <vector>

#include "millrace/core/base/check.h"

namespace millrace::devices::cpu {
namespace {

thread_local int scope_depth = 0;

// oneDNN brings its OpenMP run time along; asking for it by name works with any compiler and any
// such library.
void use_one_openmp_thread() {
  using SetThreads = void (*)(int);
  static const auto set_threads =
      reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set_threads != nullptr) set_threads(1);
}

}  // namespace

bool inside_onednn() { return scope_depth > 0; }

OneDnnScope::OneDnnScope() {
  thread_local bool done = false;
  ++scope_depth;
  if (!done) {
    use_one_openmp_thread();
    done = true;
  }
}

OneDnnScope::~OneDnnScope() { --scope_depth; }

const dnnl::engine& onednn_engine() {
  // Never destroyed: kernels of a static object may outlive any order of destruction.
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch) + " " + version->hash;
}

dnnl::memory::dims onednn_sizes(std::span<const std::int64_t> sizes) {
  for (const std::int64_t size : sizes) {
    if (size > std::numeric_limits<int>::max())
      throw dnnl::error(dnnl_unimplemented, "sizes above 2^31 - 1");
  }
  return {sizes.begin(), sizes.end()};
}

dnnl::memory::desc f32_desc(std::span<const std::int64_t> dims,
                            std::span<const std::int64_t> strides) {
  return dnnl::memory::desc(onednn_sizes(dims), dnnl::memory::data_type::f32,
                            dnnl::memory::dims(strides.begin(), strides.end()));
}

dnnl::memory::desc f32_any(std::span<const std::int64_t> dims) {
  return dnnl::memory::desc(onednn_sizes(dims), dnnl::memory::data_type::f32,
                            dnnl::memory::format_tag::any);
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

BoundPrimitive::BoundPrimitive(const dnnl::primitive& primitive,
                               const std::vector<std::pair<int, dnnl::memory::desc>>& args)
    : primitive_(primitive), stream_(onednn_engine()) {
  for (const auto& [name, desc] : args) {
    memories_.emplace_back(desc, onednn_engine(), nullptr);
    args_.push_back({name, memories_.back().get()});
  }
}

void BoundPrimitive::execute(std::initializer_list<void*> pointers) {
  const OneDnnScope scope;
  std::size_t i = 0;
  for (void* p : pointers) {
    if (i == args_.size()) break;
    MILLRACE_CHECK(
        dnnl_memory_set_data_handle_v2(args_[i].memory, p, stream_.get()) == dnnl_success,
        "oneDNN refused a pointer");
    ++i;
  }
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                                      static_cast<int>(args_.size()), args_.data());
  MILLRACE_CHECK(status == dnnl_success, "oneDNN refused a planned execution");
}

}  // namespace millrace::devices::cpu
