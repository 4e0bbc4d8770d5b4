#include "millrace/devices/pjrt/lent_store.h"

#include <utility>

#include "millrace/core/blocking.h"

namespace millrace::devices::pjrt {

void LentStore::take_back() {
  static_cast<void>(wait_blocking(scope_.close()));
  stop_.request_stop();
}

Future<std::string> LentStore::get(std::string_view key, CallOptions call) {
  const Scope::Hold hold = scope_.hold();
  if (!hold) return scope_.closed_error();
  call.stop = stop_.get_token();
  return store_.get(key, std::move(call));
}

Future<std::string> LentStore::try_get(std::string_view key) {
  const Scope::Hold hold = scope_.hold();
  if (!hold) return scope_.closed_error();
  return store_.try_get(key);
}

Future<void> LentStore::put(std::string_view key, std::string_view value) {
  const Scope::Hold hold = scope_.hold();
  if (!hold) return scope_.closed_error();
  return store_.put(key, value);
}

}  // namespace millrace::devices::pjrt
