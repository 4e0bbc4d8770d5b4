// Faults of the faulty plugin: each is named after the check of `millrace conform` that it makes
// fail, and spoils a healthy table (tests/plugins/healthy) in one place, so that no other check
// fails. The variable MILLRACE_FAULT chooses; without it the plugin is healthy. An unknown name
// gives no table at all. Read next: table_faults.cc; tests/tools/conform/fault_test.cc.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/plugins/healthy/objects.h"

namespace millrace::faulty_plugin {

using namespace memory_plugin;  // NOLINT(google-build-using-namespace): made of its parts

struct Fault {
  std::string_view name;
  void (*spoil)(abi::Api& api);
};
using Faults = std::vector<Fault>;

Faults table_faults();
Faults description_faults();
Faults host_faults();
Faults program_faults();
Faults event_faults();
Faults buffer_faults();
Faults lifetime_faults();
Faults thread_faults();
Faults leak_faults();
Faults create_faults();
Faults crash_faults();
Faults stuck_faults();
Faults lacking_faults();

const abi::Api& healthy_api();

template <class A>
abi::Error* healthy(A* a) {
  return healthy_api().function<A>()(a);
}

// g++ 12 ends a list of template arguments at a ">" in the body of a lambda, so these say "1 < x".

// What a lambda without captures takes.
template <class R, class A>
A argument_of(R (*)(A*));
template <auto kLambda>
using ArgumentOf = decltype(argument_of(+kLambda));

// The function becomes: the healthy one, and then this, where that went well.
template <auto kThen>
void after(abi::Api& api) {
  api.set([](ArgumentOf<kThen>* a) -> abi::Error* {
    abi::Error* error = healthy(a);
    if (error == nullptr) kThen(a);
    return error;
  });
}
// The function becomes: this, and then the healthy one.
template <auto kFirst>
void before(abi::Api& api) {
  api.set([](ArgumentOf<kFirst>* a) -> abi::Error* {
    kFirst(a);
    return healthy(a);
  });
}
// The function becomes this.
template <auto kFunction>
void instead(abi::Api& api) {
  api.set([](ArgumentOf<kFunction>* a) -> abi::Error* { return kFunction(a); });
}
// The function becomes one that refuses everything.
template <class A>
void refuse(abi::Api& api) {
  api.set([](A* /*a*/) -> abi::Error* { return make_error(13, "a fault of this plugin"); });
}

inline std::string_view name_of(const abi::LoadedExecutable* executable) {
  return executable->compiled->program.name;
}
// Waits for the data and writes a wrong first element.
void spoil_contents(abi::Buffer* buffer);
// Another handle of the same data.
abi::Buffer* clone(abi::Buffer* buffer);

// Counts the threads that have been here.
class ThreadCount {
 public:
  std::size_t enter() {
    const std::scoped_lock lock(mutex_);
    seen_.insert(std::this_thread::get_id());
    return seen_.size();
  }
  std::size_t count() {
    const std::scoped_lock lock(mutex_);
    return seen_.size();
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
};
inline constexpr std::size_t kManyThreads = 8;

void leak();  // some bytes

}  // namespace millrace::faulty_plugin
