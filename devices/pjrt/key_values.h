// The key-value callbacks of PJRT_Client_Create, served by a KeyValueStore: by them the parts of a
// plugin in several processes find each other.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include "millrace/core/async/key_value_store.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/clock.h"
#include "millrace/devices/pjrt/abi/api.h"

namespace millrace::devices::pjrt {

// What the callbacks' user_arg points to; the plugin may call as long as its client lives. Its
// thread waits, as PJRT wants it: as long as the plugin says in a get, and always for `patience`,
// by the machine's time, which is what a store gets for its answer. After that the plugin is given
// kDeadlineExceeded, with the key. Nothing is thrown through the plugin's frames: what the store
// throws, or memory that is not there, is an error of the callback. Thread-safety: thread-safe.
class KeyValues {
 public:
  static constexpr Duration kPatience = std::chrono::minutes(1);
  // prefix: before every key, so that plugins that share a store do not meet.
  KeyValues(KeyValueStore& store, const Clock& clock, std::string prefix,
            Duration patience = kPatience)
      : store_(store), clock_(clock), prefix_(std::move(prefix)), patience_(patience) {}
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;

  void serve(abi::ClientCreateArgs& args);
  // The store may go: from here on callbacks are refused (kUnavailable), and those that wait for an
  // answer are cancelled. A plugin that waits in PJRT_Client_Create for its peers, or whose client
  // was given up, still holds this object. Waits for calls of the store that are under way, which
  // give a future and do not wait themselves.
  void revoke();

 private:
  template <class A, class Ask>
  static abi::Error* answer(A& args, const char* structure, const char* what, Duration longer,
                            Ask ask);

  KeyValueStore& store_;
  const Clock& clock_;
  const std::string prefix_;
  const Duration patience_;
  std::stop_source stop_;
  Scope scope_{"the key-value store, which was revoked from the plugin,"};
};

}  // namespace millrace::devices::pjrt
