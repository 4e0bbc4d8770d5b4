// Faults that leave objects behind.
#include <unistd.h>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {

Faults leak_faults() {
  return {
      {"leaks.executions", after<[](abi::LoadedExecutableExecuteArgs* /*a*/) { leak(); }>},
      {"leaks.transfers", after<[](abi::ClientBufferFromHostBufferArgs* /*a*/) { leak(); }>},
      {"leaks.events", after<[](abi::BufferReadyEventArgs* /*a*/) { leak(); }>},
      {"leaks.errors", [](abi::Api& api) { api.set([](abi::ErrorDestroyArgs* /*a*/) {}); }},
      {"leaks.event_errors", instead<[](abi::EventOnReadyArgs* a) {
         const EventRef state = a->event->state;  // a callback may destroy the event
         abi::Error* error = healthy(a);
         if (error == nullptr && state->ready() && state->wait().code != 0) leak();
         return error;
       }>},
      {"leaks.refused", instead<[](abi::LoadedExecutableExecuteArgs* a) {
         abi::Error* error = healthy(a);
         if (error != nullptr) leak();
         return error;
       }>},
      {"leaks.descriptions", after<[](abi::ExecutableDestroyArgs* /*a*/) { leak(); }>},
      {"leaks.clients", after<[](abi::ClientDestroyArgs* /*a*/) {
         std::thread([] {
           while (true) ::pause();
         }).detach();
       }>},
  };
}

}  // namespace millrace::faulty_plugin
