#include "millrace/devices/pjrt/events.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/observe/log.h"
#include "millrace/devices/pjrt/call_gate.h"

namespace millrace::devices::pjrt {
namespace {

struct Pending : Pooled {
  const Plugin* plugin;
  abi::Event* event;
  Executor* executor;  // nullptr: given up, none waits
  Promise<void> promise;
  std::string_view what;  // a literal
  EventSource source;
  Owner keep;
  CallGate* frees;

  Pending(const Plugin& p, abi::Event* e, Executor& x, std::string_view w, EventSource s, Owner k,
          CallGate* f)
      : plugin(&p), event(e), executor(&x), what(w), source(s), keep(std::move(k)), frees(f) {}
  ~Pending() {
    if (event != nullptr) plugin->call_quietly<abi::EventDestroyArgs>(event);
  }
  // On the plugin's thread, which may be inside of the event.
  void hand_over_event() {
    if (frees == nullptr) return;
    try {
      frees->hand_over([plugin = plugin, gate = frees, gone = std::exchange(event, nullptr)] {
        if (!gate->given_up()) plugin->call_quietly<abi::EventDestroyArgs>(gone);
      });
      // Then the event stays. NOLINTNEXTLINE(bugprone-empty-catch)
    } catch (const std::bad_alloc&) {
    }
  }
};

// Callbacks that are to come, by a number that is never used again: a plugin that calls twice finds
// nothing the second time, where a pointer would be stale. The plugin's own number stands above it,
// so that even then it is known whose it was.
using Key = std::uintptr_t;
constexpr int kPluginShift = 48;

class PendingTable {
 public:
  Key add(std::unique_ptr<Pending> pending) {
    const Key key = next_.fetch_add(1, std::memory_order_relaxed) |
                    static_cast<Key>(pending->plugin->number()) << kPluginShift;
    Part& part = part_of(key);
    MutexLock lock(part.mutex);
    const EventSource source = pending->source;
    part.entries.emplace(key, Entry{std::move(pending), source});
    return key;
  }
  // The callback was refused, and a thread waits for the event: it stands in the table until
  // end_wait(), so that it can be given up. nullptr: the callback has come all the same.
  const Pending* begin_wait(Key key) { return begin(key, State::kAwaited); }
  // Completes with what the wait has brought, unless it was given up since.
  void end_wait(Key key, Status status) {
    Part& part = part_of(key);
    std::unique_ptr<Pending> pending;
    {
      MutexLock lock(part.mutex);
      Entry& entry = part.entries.find(key)->second;
      pending = std::move(entry.pending);
      entry.state = State::kEnding;
    }
    Promise<void> promise = std::move(pending->promise);
    pending.reset();  // which calls the plugin
    erase(part, key);
    // Its continuations may give up events, so it stands in the table no more.
    if (promise.valid()) promise.set(std::move(status));
  }
  // The wait has failed: it stands in the table for ever, with what the plugin may write into.
  void keep(Key key, const Error& error) {
    Part& part = part_of(key);
    std::optional<Promise<void>> promise;
    {
      MutexLock lock(part.mutex);
      Pending& pending = *part.entries.find(key)->second.pending;
      if (std::exchange(pending.executor, nullptr) == nullptr) return;
      promise = std::move(pending.promise);
    }
    promise->set(std::unexpected(error));
  }
  // The callback has come, the first one: it stands in the table until end_call(). nullptr: it came
  // before, or was refused.
  const Pending* begin_call(Key key) { return begin(key, State::kCalling); }
  // Completes with what the callback has brought, unless it was given up since. Until that is done,
  // no thread that gives up its source goes on, since the executor may go next.
  void end_call(Key key, Status status) {
    Part& part = part_of(key);
    std::unique_ptr<Pending> pending;
    {
      MutexLock lock(part.mutex);
      Entry& entry = part.entries.find(key)->second;
      pending = std::move(entry.pending);
      entry.state = pending->executor != nullptr ? State::kCompleting : State::kEnding;
    }
    if (Executor* const executor = pending->executor) {
      const ForeignThreadScope here(*executor);
      Promise<void> promise = std::move(pending->promise);
      // The event goes first: who waits for the future may close the client next.
      pending->hand_over_event();
      pending.reset();
      promise.set(std::move(status));
    } else {
      pending.reset();  // which calls the plugin
    }
    erase(part, key);
  }
  // The error of an event for whose own there is no memory.
  const Error& no_memory() const { return no_memory_; }
  // Everything that waits, or whose callback is on its way, while none of it changes.
  template <class F>
  void for_each(const F& f) {
    for (Part& part : parts_) {
      MutexLock lock(part.mutex);
      for (auto& [key, entry] : part.entries) {
        if (entry.pending != nullptr) f(*entry.pending);
      }
    }
  }
  // Until none of the source's is completing.
  void wait_for_completions(const EventSource& source) {
    wait_while([&](const Entry& entry) {
      return entry.state == State::kCompleting && entry.source == source;
    });
  }
  // Until no callback of the client's events is on its way.
  void wait_for_calls(std::uint64_t client) {
    wait_while([&](const Entry& entry) {
      return entry.state != State::kWaiting && entry.state != State::kAwaited &&
             entry.source.client == client;
    });
  }

 private:
  enum class State : std::uint8_t {
    kWaiting,     // -> kCalling, kAwaited
    kAwaited,     // the plugin takes no callback, a thread waits for the event -> kEnding
    kCalling,     // the plugin's callback is on its way through on_ready -> kCompleting, kEnding
    kCompleting,  // the event is destroyed, the future completes
    kEnding,      // given up, or waited for: the event is destroyed
  };
  struct Entry {
    std::unique_ptr<Pending> pending;  // until kCompleting, kEnding
    EventSource source;
    State state = State::kWaiting;
  };
  struct alignas(64) Part {
    Mutex mutex;
    std::unordered_map<Key, Entry> entries MILLRACE_GUARDED_BY(mutex);
    CondVar ended;  // a call
  };
  // nullptr: it is not kWaiting.
  const Pending* begin(Key key, State state) {
    Part& part = part_of(key);
    MutexLock lock(part.mutex);
    const auto found = part.entries.find(key);
    if (found == part.entries.end() || found->second.state != State::kWaiting) return nullptr;
    found->second.state = state;
    return found->second.pending.get();
  }
  static void erase(Part& part, Key key) {
    {
      MutexLock lock(part.mutex);
      part.entries.erase(key);
    }
    part.ended.notify_all();
  }
  template <class F>
  void wait_while(const F& any) {
    for (Part& part : parts_) {
      MutexLock lock(part.mutex);
      while (std::ranges::any_of(part.entries, [&](const auto& one) { return any(one.second); }))
        part.ended.wait(part.mutex);
    }
  }
  Part& part_of(Key key) { return parts_[key % parts_.size()]; }

  const Error no_memory_{ErrorCode::kResourceExhausted,
                         "an event of a plugin has failed, and there is no memory for its error"};
  std::atomic<Key> next_{1};
  std::array<Part, 16> parts_;
};

PendingTable& table() {
  static PendingTable* instance = new PendingTable;  // never destroyed: plugins' threads run on
  return *instance;
}

Error error_of(const Pending& pending, abi::Error* error) {
  try {
    return pending.plugin->take_error(error, pending.what);
  } catch (const std::bad_alloc&) {
    return table().no_memory();
  }
}

void report_second_call(Key key) {
  // Its error, where there is one, is not freed: it may be that of the first call, which is gone,
  // and a leak does no harm.
  MILLRACE_LOG(kError, "pjrt",
               "the plugin " + std::string(name_of_plugin(key >> kPluginShift)) +
                   " called back more than once for one event, or after it had refused to");
}

// On a thread of the plugin, whose frames nothing may be thrown through.
void on_ready(abi::Error* error, void* user_arg) {
  const Key key = reinterpret_cast<Key>(user_arg);
  const Pending* const pending = table().begin_call(key);
  if (pending == nullptr) {
    try {
      report_second_call(key);
      // Then it goes unsaid. NOLINTNEXTLINE(bugprone-empty-catch)
    } catch (const std::bad_alloc&) {
    }
    return;
  }
  Status status;
  if (error != nullptr) status = std::unexpected(error_of(*pending, error));
  table().end_call(key, std::move(status));
}

// Waits for it here; true if it has come.
bool await(const Pending& pending, Status& status) {
  abi::EventAwaitArgs wait{{}, pending.event};
  status = pending.plugin->call_for(pending.what, wait);
  if (status) return true;
  // The error is the event's or that of a wait that has not waited.
  const auto asked = pending.plugin->ask<abi::EventIsReadyArgs>(pending.event);
  return asked && asked->is_ready;
}

// The wait for an event whose callback was refused, on the thread that calls this once. Dropped
// uncalled, it is as one that has failed.
class EventWait {
 public:
  EventWait(Key key, const Pending& pending, Error refusal)
      : key_(key), pending_(&pending), refusal_(std::move(refusal)) {}
  EventWait(EventWait&& other) noexcept
      : key_(other.key_),
        pending_(std::exchange(other.pending_, nullptr)),
        refusal_(std::move(other.refusal_)) {}
  EventWait& operator=(EventWait&&) = delete;
  ~EventWait() {
    if (pending_ != nullptr) table().keep(key_, refusal_);
  }

  void operator()() {
    const Pending& pending = *std::exchange(pending_, nullptr);
    Status status;
    if (await(pending, status)) return table().end_wait(key_, std::move(status));
    MILLRACE_LOG(kError, "pjrt",
                 "an event of " + std::string(pending.what) + " neither calls back (" +
                     refusal_.message() + ") nor can be waited for (" + status.error().message() +
                     "): what it may still write into is never freed");
    table().keep(key_, refusal_);
  }

 private:
  const Key key_;
  const Pending* pending_;  // the table's; nullptr: called, or moved from
  Error refusal_;
};

}  // namespace

std::optional<Future<void>> take_ready_event(const Plugin& plugin, abi::Event* event,
                                             std::string_view what) {
  if (event == nullptr) [[unlikely]] {
    return Future<void>(fail(ErrorCode::kInternal, std::string(what) + " of the plugin " +
                                                       plugin.name() + " gives no event"));
  }
  CallUnderWay under_way(plugin.number());
  abi::EventIsReadyArgs ready{{}, event};
  if (!plugin.call_in(under_way, {}, ready) || !ready.is_ready) return std::nullopt;
  abi::EventErrorArgs error{{}, event};
  Future<void> future(plugin.call_in(under_way, what, error));
  plugin.call_quietly_in<abi::EventDestroyArgs>(under_way, event);
  return future;
}

void keep_for_ever(Owner owner) {
  static Mutex mutex;
  static auto* const kept = new std::vector<Owner>;
  if (!owner) return;
  MutexLock lock(mutex);
  kept->push_back(std::move(owner));
}

Future<void> take_event(const Plugin& plugin, abi::Event* event, Executor& executor,
                        std::string_view what, EventSource source, Owner keep, Executor* waits,
                        CallGate* frees) {
  if (event == nullptr) keep_for_ever(keep);
  if (std::optional<Future<void>> ready = take_ready_event(plugin, event, what))
    return *std::move(ready);
  auto pending =
      std::make_unique<Pending>(plugin, event, executor, what, source, std::move(keep), frees);
  Future<void> future = pending->promise.future();
  const Key key = table().add(std::move(pending));
  abi::EventOnReadyArgs later{{}, event, &on_ready, reinterpret_cast<void*>(key)};
  if (Status called = plugin.call(later); !called) {
    const Pending* const refused = table().begin_wait(key);
    if (refused == nullptr) return future;
    EventWait wait(key, *refused, called.error());
    if (waits == nullptr) {
      wait();
    } else {
      post(*waits, std::move(wait));
    }
  }
  return future;
}

void give_up_events(const EventSource& source, const Error& cause) {
  struct Ended {
    Executor* executor;
    Promise<void> promise;
    Error error;
  };
  std::vector<Ended> ended;
  table().for_each([&](Pending& pending) {
    if (pending.executor == nullptr || pending.source != source) return;
    ended.push_back({std::exchange(pending.executor, nullptr), std::move(pending.promise),
                     cause.with_context(std::string(pending.what) + " of the plugin " +
                                        pending.plugin->name() + " has not ended")});
  });
  table().wait_for_completions(source);
  for (Ended& one : ended) {
    post(*one.executor, [promise = std::move(one.promise), error = std::move(one.error)]() mutable {
      promise.set(std::unexpected(std::move(error)));
    });
  }
}

void wait_for_callbacks(std::uint64_t client) { table().wait_for_calls(client); }

std::string events_given_up(std::uint64_t client) {
  std::map<std::string_view, int> calls;
  table().for_each([&](const Pending& pending) {
    if (pending.executor == nullptr && pending.source.client == client) ++calls[pending.what];
  });
  std::string text;
  for (const auto& [what, count] : calls) {
    text += (text.empty() ? "" : ", ") + std::string(what) + " (" + std::to_string(count) + ")";
  }
  return text;
}

}  // namespace millrace::devices::pjrt
