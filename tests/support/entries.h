// What this process has, as the system lists it: the entries of /proc/self/fd and /proc/self/task.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <thread>

namespace millrace::testing {

inline std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

// The threads, once they are no more than that, or after minutes: one is listed a moment after it
// was joined.
inline std::size_t threads_down_to(std::size_t most) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  std::size_t count = entries("/proc/self/task");
  while (count > most && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    count = entries("/proc/self/task");
  }
  return count;
}

}  // namespace millrace::testing
