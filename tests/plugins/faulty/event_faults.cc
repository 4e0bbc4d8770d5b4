// Faults of events.
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

std::mutex mutex;
std::map<abi::Event*, int> counts;  // by handle, of what a fault counts

// A callback on its way through the plugin.
struct Wrapped {
  abi::Event* event;
  EventState::Callback callback;
  void* user_arg;
};
std::multimap<abi::Event*, Wrapped*> waiting;  // whose handle has not been destroyed
thread_local abi::Event* calling = nullptr;    // the event whose callback this thread is in

// Registers `through` instead of the caller's callback; it gets a Wrapped.
abi::Error* wrap(abi::EventOnReadyArgs* a, EventState::Callback through) {
  a->user_arg = new Wrapped{a->event, a->callback, a->user_arg};
  a->callback = through;
  return healthy(a);
}

template <auto kThrough>
void wrap_with(abi::Api& api) {
  api.set([](abi::EventOnReadyArgs* a) -> abi::Error* {
    return wrap(a, [](abi::Error* error, void* user_arg) {
      const std::unique_ptr<Wrapped> w(static_cast<Wrapped*>(user_arg));
      kThrough(*w, error);
    });
  });
}

void note_calling(const Wrapped& w, abi::Error* error) {
  calling = w.event;
  w.callback(error, w.user_arg);
  calling = nullptr;
}

int count(abi::Event* event) {
  const std::scoped_lock lock(mutex);
  return ++counts[event];
}
// Before an event goes: another thread may be given the same address at once.
void end_counts(abi::Api& api) {
  before<[](abi::EventDestroyArgs* a) {
    const std::scoped_lock lock(mutex);
    counts.erase(a->event);
  }>(api);
}

bool failed(const EventRef& state) { return state->ready() && state->wait().code != 0; }

// For the time of a call, a buffer that failed looks as if it had not.
class AsIfGood {
 public:
  explicit AsIfGood(abi::Buffer* buffer) : buffer_(buffer), before_(buffer->ready) {
    if (failed(before_)) buffer_->ready = ready_state();
  }
  AsIfGood(const AsIfGood&) = delete;
  AsIfGood& operator=(const AsIfGood&) = delete;
  ~AsIfGood() { buffer_->ready = before_; }

 private:
  abi::Buffer* buffer_;
  EventRef before_;
};

}  // namespace

Faults event_faults() {
  return {
      {"events.completes", after<[](abi::BufferReadyEventArgs* a) {
         // A result that takes a while is never ready.
         if (60'000 < a->buffer->bytes) a->event->state = std::make_shared<EventState>();
       }>},
      {"events.is_ready", after<[](abi::EventIsReadyArgs* a) { a->is_ready = false; }>},
      {"events.no_error", instead<[](abi::EventErrorArgs* a) {
         abi::Error* error = healthy(a);
         return error != nullptr ? error : make_error(13, "a fault of this plugin");
       }>},
      // As an event is seen that is not ready yet when a wait for it has returned, however long the
      // program takes.
      {"events.await",
       [](abi::Api& api) {
         before<[](abi::EventAwaitArgs* a) { count(a->event); }>(api);
         after<[](abi::EventIsReadyArgs* a) {
           const std::scoped_lock lock(mutex);
           if (counts.erase(a->event) != 0) a->is_ready = false;
         }>(api);
         end_counts(api);
       }},
      {"events.called_when_ready",
       [](abi::Api& api) {
         before<[](abi::EventAwaitArgs* a) { count(a->event); }>(api);
         instead<[](abi::EventOnReadyArgs* a) {
           // Not under the lock: what is ready calls back at once, and the callback destroys
           // events.
           const bool awaited = [&] {
             const std::scoped_lock lock(mutex);
             return counts.contains(a->event);
           }();
           return awaited ? nullptr : healthy(a);
         }>(api);
         end_counts(api);
       }},
      {"events.called_once", instead<[](abi::EventOnReadyArgs* a) {
         // A callback may destroy the event.
         abi::Event kept{a->event->state};
         abi::EventOnReadyArgs again = *a;
         again.event = &kept;
         abi::Error* error = healthy(a);
         return error != nullptr ? error : healthy(&again);
       }>},
      {"events.every_callback",
       [](abi::Api& api) {
         instead<[](abi::EventOnReadyArgs* a) {
           return 2 < count(a->event) ? nullptr : healthy(a);
         }>(api);
         end_counts(api);
       }},
      {"events.destroyed_in_callback",
       [](abi::Api& api) {
         wrap_with<note_calling>(api);
         before<[](abi::EventDestroyArgs* a) {
           if (calling == a->event) std::abort();
         }>(api);
       }},
      {"events.destroyed_before",
       [](abi::Api& api) {
         instead<[](abi::EventOnReadyArgs* a) {
           auto* const w = new Wrapped{a->event, a->callback, a->user_arg};
           {
             const std::scoped_lock lock(mutex);
             waiting.emplace(a->event, w);
           }
           a->user_arg = w;
           a->callback = [](abi::Error* error, void* user_arg) {
             const std::unique_ptr<Wrapped> own(static_cast<Wrapped*>(user_arg));
             bool wanted = false;
             {
               const std::scoped_lock lock(mutex);
               wanted =
                   std::erase_if(waiting, [&](const auto& e) { return e.second == own.get(); });
             }
             if (wanted) own->callback(error, own->user_arg);
           };
           return healthy(a);
         }>(api);
         before<[](abi::EventDestroyArgs* a) {
           const std::scoped_lock lock(mutex);
           waiting.erase(a->event);
         }>(api);
       }},
      {"events.calls_in_callback",
       [](abi::Api& api) {
         wrap_with<note_calling>(api);
         before<[](abi::ClientBufferFromHostBufferArgs* /*a*/) {
           while (calling != nullptr) ::pause();
         }>(api);
       }},
      {"events.error_path", wrap_with<[](const Wrapped& w, abi::Error* error) {
         delete error;
         w.callback(nullptr, w.user_arg);
       }>},
      {"events.error_awaited", instead<[](abi::EventAwaitArgs* a) -> abi::Error* {
         delete healthy(a);
         return nullptr;
       }>},
      {"events.error_read",
       instead<[](abi::EventErrorArgs* /*a*/) -> abi::Error* { return nullptr; }>},
      {"events.error_propagates", instead<[](abi::LoadedExecutableExecuteArgs* a) {
         if (a->num_args != 1) return healthy(a);
         const AsIfGood good(a->argument_lists[0][0]);
         return healthy(a);
       }>},
      {"events.error_reaches_host", instead<[](abi::BufferToHostBufferArgs* a) {
         if (!failed(a->src->ready)) return healthy(a);
         const AsIfGood good(a->src);
         return healthy(a);
       }>},
      {"events.promised", after<[](abi::EventCreateArgs* a) { a->event->state->set({}); }>},
  };
}

}  // namespace millrace::faulty_plugin
