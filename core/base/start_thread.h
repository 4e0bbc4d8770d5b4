// start_thread: the one place where a thread begins, and its name (debuggers, perf, traces).
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace millrace {

// Names the calling thread. Linux keeps 15 characters: a longer name keeps its end (the number).
void set_thread_name(const std::string& name);

// A thread of that name. Throws what std::thread throws where the process may have
// no more of them, with the name in its text: std::system_error; Runtime::create turns it
// into an Error. Fault point "core.start_thread" is such a refusal. Thread-safe.
std::thread start_thread(const std::string& name, std::function<void()> work);

// Throws the same unless so many more threads may be started now: for libraries that start theirs
// where a refusal ends the process.
void check_threads_start(int threads, const std::string& name);

}  // namespace millrace
