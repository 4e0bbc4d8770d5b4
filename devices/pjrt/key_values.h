// The key-value callbacks of PJRT_Client_Create, served by a KeyValueStore: by them the parts of a
// plugin in several processes find each other.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "millrace/core/clock.h"
#include "millrace/core/key_value_store.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/pjrt/abi.h"

namespace millrace::devices::pjrt {

// What the callbacks' user_arg points to; the plugin may call as long as its client lives. Its
// thread waits, as PJRT wants it: as long as the plugin says in a get, and always for `patience`,
// by the machine's time, which is what a store gets for its answer. After that the plugin is given
// kDeadlineExceeded, with the key. Nothing is thrown through the plugin's frames: what the store
// throws, or memory that is not there, is an error of the callback. Thread-safety: thread-safe.
class KeyValues {
 public:
  static constexpr Duration kPatience = std::chrono::minutes(1);
  // prefix: before every key, so that plugins that share a store do not meet. owner: of the store,
  // where it is not borrowed.
  KeyValues(KeyValueStore& store, const Clock& clock, std::string prefix,
            Duration patience = kPatience, Owner owner = nullptr)
      : store_(store),
        owner_(std::move(owner)),
        clock_(clock),
        prefix_(std::move(prefix)),
        patience_(patience) {}
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;

  void serve(abi::ClientCreateArgs& args);

 private:
  static abi::Error* get(abi::KeyValueGetArgs* args);
  static abi::Error* try_get(abi::KeyValueTryGetArgs* args);
  static abi::Error* put(abi::KeyValuePutArgs* args);

  KeyValueStore& store_;
  const Owner owner_;
  const Clock& clock_;
  const std::string prefix_;
  const Duration patience_;
};

}  // namespace millrace::devices::pjrt
