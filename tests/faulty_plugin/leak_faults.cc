// Of what stays behind.
#include <unistd.h>

#include "tests/faulty_plugin/faults.h"

namespace millrace::faulty_plugin {

Faults leak_faults() {
  return {
      {"leaks.executions",
       [](abi::Api& api) {
         after<abi::LoadedExecutableExecuteArgs>(api, [](auto* /*a*/) { leak(); });
       }},
      {"leaks.transfers",
       [](abi::Api& api) {
         after<abi::ClientBufferFromHostBufferArgs>(api, [](auto* /*a*/) { leak(); });
       }},
      {"leaks.events",
       [](abi::Api& api) { after<abi::BufferReadyEventArgs>(api, [](auto* /*a*/) { leak(); }); }},
      {"leaks.errors", [](abi::Api& api) { set(api, +[](abi::ErrorDestroyArgs* /*a*/) {}); }},
      {"leaks.event_errors",
       [](abi::Api& api) {
         instead<abi::EventOnReadyArgs>(api, [](auto* a) {
           const EventRef state = a->event->state;  // a callback may destroy the event
           abi::Error* error = healthy(a);
           if (error == nullptr && state->ready() && state->wait().code != 0) leak();
           return error;
         });
       }},
      {"leaks.refused",
       [](abi::Api& api) {
         instead<abi::LoadedExecutableExecuteArgs>(api, [](auto* a) {
           abi::Error* error = healthy(a);
           if (error != nullptr) leak();
           return error;
         });
       }},
      {"leaks.descriptions",
       [](abi::Api& api) { after<abi::ExecutableDestroyArgs>(api, [](auto* /*a*/) { leak(); }); }},
      {"leaks.clients",
       [](abi::Api& api) {
         after<abi::ClientDestroyArgs>(api, [](auto* /*a*/) {
           std::thread([] {
             while (true) ::pause();
           }).detach();
         });
       }},
  };
}

}  // namespace millrace::faulty_plugin
