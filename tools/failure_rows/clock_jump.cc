// For LD_PRELOAD: a clock of the calendar that goes an hour back and forth, one second after the
// other. Clocks that only go forward are the system's.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    struct timespec* time) {
  const long result = ::syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_REALTIME && time->tv_sec % 2 == 1)
    time->tv_sec += ::getpid() % 2 == 1 ? 3600 : -3600;
  return static_cast<int>(result);
}
