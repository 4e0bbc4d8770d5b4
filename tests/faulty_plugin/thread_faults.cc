// Of calls from many threads: what goes wrong for the eighth thread or so.
#include <map>

#include "tests/faulty_plugin/faults.h"

namespace millrace::faulty_plugin {
namespace {

abi::Error* too_many() { return make_error(13, "a fault of this plugin: so many threads"); }

// The function refuses from its nth thread on.
template <class A, std::size_t kThreads>
void refuse_threads(abi::Api& api) {
  instead<A>(api, [](auto* a) {
    static ThreadCount threads;
    return threads.enter() >= kThreads ? too_many() : healthy(a);
  });
}

ThreadCount putting, launching;
std::mutex mutex;
std::map<abi::Event*, std::set<std::thread::id>> asking;

}  // namespace

Faults thread_faults() {
  return {
      {"threads.describe",
       [](abi::Api& api) {
         after<abi::ClientPlatformNameArgs>(api, [](auto* a) {
           static ThreadCount threads;
           if (threads.enter() >= kManyThreads) a->platform_name_size = 3;
         });
       }},
      {"threads.put",
       [](abi::Api& api) {
         after<abi::ClientBufferFromHostBufferArgs>(api, [](auto* a) {
           if (putting.enter() >= kManyThreads) spoil_contents(a->buffer);
         });
       }},
      {"threads.read", &refuse_threads<abi::BufferToHostBufferArgs, kManyThreads>},
      {"threads.compile", &refuse_threads<abi::ClientCompileArgs, kManyThreads>},
      {"threads.execute", &refuse_threads<abi::LoadedExecutableExecuteArgs, kManyThreads>},
      {"threads.await", &refuse_threads<abi::EventAwaitArgs, kManyThreads>},
      {"threads.callbacks",
       [](abi::Api& api) {
         instead<abi::EventOnReadyArgs>(api, [](auto* a) {
           {
             const std::scoped_lock lock(mutex);
             auto& threads = asking[a->event];
             threads.insert(std::this_thread::get_id());
             if (threads.size() >= kManyThreads) return too_many();
           }
           return healthy(a);
         });
         instead<abi::EventDestroyArgs>(api, [](auto* a) {
           {
             const std::scoped_lock lock(mutex);
             asking.erase(a->event);
           }
           return healthy(a);
         });
       }},
      {"threads.destroy", &refuse_threads<abi::BufferDestroyArgs, kManyThreads>},
      {"threads.delete_race", &refuse_threads<abi::BufferDeleteArgs, 3>},
      {"threads.mixed",
       [](abi::Api& api) {
         instead<abi::ClientBufferFromHostBufferArgs>(api, [](auto* a) {
           putting.enter();
           return healthy(a);
         });
         instead<abi::LoadedExecutableExecuteArgs>(api, [](auto* a) {
           const bool many = launching.enter() >= kManyThreads && putting.count() >= kManyThreads;
           return many ? too_many() : healthy(a);
         });
       }},
      {"threads.clients", &refuse_threads<abi::ClientCreateArgs, 3>},
  };
}

}  // namespace millrace::faulty_plugin
