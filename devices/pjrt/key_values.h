// The key-value callbacks of PJRT_Client_Create, served by a KeyValueStore: by them the parts of a
// plugin in several processes find each other.
#pragma once

#include <string>

#include "millrace/core/clock.h"
#include "millrace/core/key_value_store.h"
#include "millrace/devices/pjrt/abi.h"

namespace millrace::devices::pjrt {

// What the callbacks' user_arg points to; the plugin may call as long as its client lives. A get
// blocks the plugin's thread, as PJRT wants it. Thread-safety: thread-safe.
class KeyValues {
 public:
  // prefix: before every key, so that plugins that share a store do not meet.
  KeyValues(KeyValueStore& store, const Clock& clock, std::string prefix)
      : store_(store), clock_(clock), prefix_(std::move(prefix)) {}
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;

  void serve(abi::ClientCreateArgs& args);

 private:
  static abi::Error* get(abi::KeyValueGetArgs* args);
  static abi::Error* try_get(abi::KeyValueTryGetArgs* args);
  static abi::Error* put(abi::KeyValuePutArgs* args);

  KeyValueStore& store_;
  const Clock& clock_;
  const std::string prefix_;
};

}  // namespace millrace::devices::pjrt
