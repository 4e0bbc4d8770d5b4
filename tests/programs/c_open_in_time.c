// Opens runtimes that may take only so long:
//   c_open_in_time DEVICE SECONDS [DEVICE SECONDS]...
// Prints what became of each, and whether a thread was left behind by then. Exits with 0, unless it
// is ended.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "millrace/c_api.h"

static void open_once(const char* device, double seconds) {
  const millrace_open_options options = {
      .struct_size = sizeof options, .device = device, .threads = 1, .seconds = seconds};
  millrace_runtime runtime = 0;
  millrace_error* const error = millrace_open(&options, &runtime);
  if (error == NULL) {
    printf("opened\n");
    if (millrace_close(runtime, NULL) != NULL) exit(2);
  } else {
    printf("%d %s\n", (int)millrace_error_code(error), millrace_error_message(error));
    millrace_error_destroy(error);
  }
  printf("left behind %d\n", (int)millrace_left_behind());
}

int main(int count, char** words) {
  if (count < 3 || count % 2 == 0) return 2;
  alarm(500);  // a hang is a death by signal
  for (int i = 1; i < count; i += 2) open_once(words[i], strtod(words[i + 1], NULL));
  fflush(stdout);
  if (millrace_left_behind()) _exit(0);
  return 0;
}
