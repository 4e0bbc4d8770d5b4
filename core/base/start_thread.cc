#include "millrace/core/base/start_thread.h"

#include <pthread.h>

#include <latch>
#include <system_error>
#include <utility>
#include <vector>

#include "millrace/core/base/fault_point.h"

namespace millrace {

void set_thread_name(const std::string& name) {
  constexpr std::size_t kLimit = 15;
  const std::string kept = name.size() > kLimit ? name.substr(name.size() - kLimit) : name;
  pthread_setname_np(pthread_self(), kept.c_str());
}

std::thread start_thread(const std::string& name, std::function<void()> work) {
  const auto refused = [&name](const std::error_code& why) {
    return std::system_error(why, "cannot start the thread " + name);
  };
  if (!fault_point("core.start_thread"))
    throw refused(std::make_error_code(std::errc::resource_unavailable_try_again));
  try {
    return std::thread([name, work = std::move(work)] {
      set_thread_name(name);
      work();
    });
  } catch (const std::system_error& error) {
    throw refused(error.code());
  }
}

void check_threads_start(int threads, const std::string& name) {
  std::latch over(1);
  std::vector<std::thread> started;
  started.reserve(static_cast<std::size_t>(threads));
  const auto end = [&] {
    over.count_down();
    for (std::thread& thread : started) thread.join();
  };
  try {
    for (int i = 0; i < threads; ++i)
      started.push_back(start_thread(name + "-" + std::to_string(i), [&over] { over.wait(); }));
  } catch (...) {
    end();
    throw;
  }
  end();
}

}  // namespace millrace
