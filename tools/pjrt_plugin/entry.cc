// What makes the library a PJRT plugin: its only symbol.
#include "millrace/tools/pjrt_plugin/table.h"

extern "C" __attribute__((visibility("default"))) const millrace::devices::pjrt::abi::Api*
GetPjrtApi() {
  static const millrace::devices::pjrt::abi::Api api = millrace::pjrt_plugin::make_api();
  return &api;
}
