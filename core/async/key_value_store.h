// KeyValueStore: a small store that the processes of one job share. The parts of a plugin or group
// that spans processes find each other by it. A socket, MPI or a simulation may implement it; this
// file's store is for one process. Read next: devices/pjrt/key_values.h, its user.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/base/ref.h"

namespace millrace {

class TimerQueue;

// Keys and values are bytes; values are short (addresses, descriptions of topologies), and written
// once. Thread-safety: thread-safe.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;
  // Completes when the key is put; kCancelled and kDeadlineExceeded (it names the key) by call.
  virtual Future<std::string> get(std::string_view key, CallOptions call = {}) = 0;
  // kNotFound, without waiting, if it was not put.
  virtual Future<std::string> try_get(std::string_view key) = 0;
  // kAlreadyExists if it has another value.
  virtual Future<void> put(std::string_view key, std::string_view value) = 0;
};

// In the memory of one process. Its destructor completes waiting gets with kAborted.
class LocalKeyValueStore final : public KeyValueStore {
 public:
  // The queue, borrowed, drives the deadlines of gets.
  explicit LocalKeyValueStore(TimerQueue& timers);
  ~LocalKeyValueStore() override;
  Future<std::string> get(std::string_view key, CallOptions call = {}) override;
  Future<std::string> try_get(std::string_view key) override;
  Future<void> put(std::string_view key, std::string_view value) override;

 private:
  class Wait;
  struct Entry {
    std::optional<std::string> value;
    std::vector<Ref<Wait>> waits;  // some may have ended
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  TimerQueue& timers_;
  Mutex mutex_;
  Entries entries_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace
