// Opens a runtime where the process may have only so many descriptors or threads:
//   c_open_limited descriptors|threads N
// Twice: prints what became of it, and how many descriptors the second time left (at the first,
// libraries make some once and keep them). Exits with 0, unless it is ended.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "millrace/c_api.h"

// Not by /proc/self/fd: the user whose threads are limited may have no way into the root folder.
static int descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static void open_once(void) {
  millrace_runtime runtime = 0;
  millrace_error* const error = millrace_open(NULL, &runtime);
  if (error == NULL) {
    printf("opened\n");
    if (millrace_close(runtime, NULL) != NULL) exit(2);
  } else {
    printf("%d %s\n", (int)millrace_error_code(error), millrace_error_message(error));
    millrace_error_destroy(error);
  }
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const int threads = strcmp(words[1], "threads") == 0;
  const int resource = threads ? RLIMIT_NPROC : RLIMIT_NOFILE;
  // The number of threads is no limit for root, and counts those of all processes of the user.
  if (threads && geteuid() == 0 && setresuid(65533, 65533, 65533) != 0) return 2;
  struct rlimit old;
  if (getrlimit((__rlimit_resource_t)resource, &old) != 0) return 2;
  struct rlimit limited = old;
  limited.rlim_cur = (rlim_t)strtoul(words[2], NULL, 10);
  if (setrlimit((__rlimit_resource_t)resource, &limited) != 0) return 2;
  open_once();
  if (setrlimit((__rlimit_resource_t)resource, &old) != 0) return 2;
  const int before = descriptors();
  if (setrlimit((__rlimit_resource_t)resource, &limited) != 0) return 2;
  open_once();
  if (setrlimit((__rlimit_resource_t)resource, &old) != 0) return 2;
  printf("left %d\n", descriptors() - before);
  return 0;
}
