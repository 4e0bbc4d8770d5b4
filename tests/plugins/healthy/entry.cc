// What makes the memory plugin a plugin.
#include "tests/plugins/healthy/objects.h"

extern "C" __attribute__((visibility("default"))) const millrace::memory_plugin::abi::Api*
GetPjrtApi() {
  static const millrace::memory_plugin::abi::Api api = millrace::memory_plugin::make_api();
  return &api;
}
