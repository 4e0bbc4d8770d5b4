// LentStore: a key-value store that whoever has lent it to a plugin can take back, at any moment.
// Internal to open_client.cc and the client.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "millrace/core/key_value_store.h"
#include "millrace/core/scope.h"

namespace millrace::devices::pjrt {

// A store until take_back(): a plugin that waits in PJRT_Client_Create for its peers, or whose
// client was given up, still has it when whoever has lent the store has gone. Thread-safety:
// thread-safe.
class LentStore final : public KeyValueStore {
 public:
  explicit LentStore(KeyValueStore& store) : store_(store) {}

  // Nobody asks the store any more (kUnavailable); what waits for an answer is cancelled. Waits for
  // calls of the store that are under way, which give a future and do not wait themselves.
  void take_back();

  // The callers' deadlines are kept; they have no stops of their own.
  Future<std::string> get(std::string_view key, CallOptions call) override;
  Future<std::string> try_get(std::string_view key) override;
  Future<void> put(std::string_view key, std::string_view value) override;

 private:
  KeyValueStore& store_;
  std::stop_source stop_;
  Scope scope_{"the key-value store, which was taken back from the plugin,"};
};

}  // namespace millrace::devices::pjrt
