// The profiler extension of the PJRT C API, as abi.h has the API itself: a table of its own, whose
// structures have no extensions and whose errors are its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/devices/pjrt/abi.h"

namespace millrace::devices::pjrt::abi {

inline constexpr int kProfilerExtension = 1;

struct ProfilerHandle;
struct ProfilerError;
struct ProfilerErrorDestroyArgs {
  std::size_t struct_size = 24;
  void* unused = nullptr;
  ProfilerError* error = nullptr;
};
struct ProfilerErrorMessageArgs {
  std::size_t struct_size = 40;
  void* unused = nullptr;
  const ProfilerError* error = nullptr;
  const char* message = nullptr;
  std::size_t message_size = 0;
};
struct ProfilerCreateArgs {
  std::size_t struct_size = 32;
  const char* options = nullptr;
  std::size_t options_size = 0;
  ProfilerHandle* profiler = nullptr;
};
struct ProfilerArgs {  // of start, stop and destroy
  std::size_t struct_size = 16;
  ProfilerHandle* profiler = nullptr;
};
struct ProfilerCollectDataArgs {
  std::size_t struct_size = 32;
  ProfilerHandle* profiler = nullptr;
  std::uint8_t* buffer = nullptr;
  std::size_t buffer_size = 0;
};
struct ProfilerApi {
  std::size_t struct_size;
  void* unused;
  void (*error_destroy)(ProfilerErrorDestroyArgs*);
  void (*error_message)(ProfilerErrorMessageArgs*);
  void* error_get_code;
  ProfilerError* (*create)(ProfilerCreateArgs*);
  ProfilerError* (*destroy)(ProfilerArgs*);
  ProfilerError* (*start)(ProfilerArgs*);
  ProfilerError* (*stop)(ProfilerArgs*);
  ProfilerError* (*collect_data)(ProfilerCollectDataArgs*);
};
static_assert(sizeof(ProfilerApi) == 80 && sizeof(ProfilerCollectDataArgs) == 32);

struct ProfilerExtension : Extension {
  const ProfilerApi* api;
};

}  // namespace millrace::devices::pjrt::abi
