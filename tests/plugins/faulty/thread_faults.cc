// Faults of calls from many threads: they show at the eighth thread or so.
#include <map>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

abi::Error* too_many() { return make_error(13, "a fault of this plugin: so many threads"); }

// The function refuses from its nth thread on.
template <class A, std::size_t kThreads>
void refuse_threads(abi::Api& api) {
  api.set([](A* a) -> abi::Error* {
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
      {"threads.describe", after<[](abi::ClientPlatformNameArgs* a) {
         static ThreadCount threads;
         if (threads.enter() >= kManyThreads) a->platform_name_size = 3;
       }>},
      {"threads.put", after<[](abi::ClientBufferFromHostBufferArgs* a) {
         if (putting.enter() >= kManyThreads) spoil_contents(a->buffer);
       }>},
      {"threads.read", &refuse_threads<abi::BufferToHostBufferArgs, kManyThreads>},
      {"threads.compile", &refuse_threads<abi::ClientCompileArgs, kManyThreads>},
      {"threads.execute", &refuse_threads<abi::LoadedExecutableExecuteArgs, kManyThreads>},
      {"threads.await", &refuse_threads<abi::EventAwaitArgs, kManyThreads>},
      {"threads.callbacks",
       [](abi::Api& api) {
         instead<[](abi::EventOnReadyArgs* a) {
           {
             const std::scoped_lock lock(mutex);
             auto& threads = asking[a->event];
             threads.insert(std::this_thread::get_id());
             if (threads.size() >= kManyThreads) return too_many();
           }
           return healthy(a);
         }>(api);
         before<[](abi::EventDestroyArgs* a) {
           const std::scoped_lock lock(mutex);
           asking.erase(a->event);
         }>(api);
       }},
      {"threads.destroy", &refuse_threads<abi::BufferDestroyArgs, kManyThreads>},
      {"threads.delete_race", &refuse_threads<abi::BufferDeleteArgs, 3>},
      {"threads.mixed",
       [](abi::Api& api) {
         before<[](abi::ClientBufferFromHostBufferArgs* /*a*/) { putting.enter(); }>(api);
         instead<[](abi::LoadedExecutableExecuteArgs* a) {
           const bool many = launching.enter() >= kManyThreads && putting.count() >= kManyThreads;
           return many ? too_many() : healthy(a);
         }>(api);
       }},
      {"threads.clients", &refuse_threads<abi::ClientCreateArgs, 3>},
  };
}

}  // namespace millrace::faulty_plugin
