// pause_core: a look that another thread's write may end. The core rests for tens of nanoseconds,
// and leaves its resources to what else runs on it.
#pragma once

namespace millrace {

inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace millrace
