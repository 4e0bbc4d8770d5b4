#include "millrace/core/thread_name.h"

#include <pthread.h>

namespace millrace {

void set_thread_name(const std::string& name) {
  constexpr std::size_t kLimit = 15;
  const std::string kept = name.size() > kLimit ? name.substr(name.size() - kLimit) : name;
  pthread_setname_np(pthread_self(), kept.c_str());
}

}  // namespace millrace
