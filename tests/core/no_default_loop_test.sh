#!/bin/sh
# Whatever core calls of libuv and libevent, the loop that a process has by default is not in it, and
# libevent's thread support is neither needed nor turned on.
# usage: no_default_loop_test.sh NM ARCHIVE
set -eu
called="$("$1" --undefined-only "$2" | sed -n 's/^ *U //p')"
for needed in uv_poll_init event_base_loop; do  # or this looks at the wrong file
  echo "$called" | grep -qx "$needed" || { echo "$2 does not call $needed" >&2; exit 1; }
done
if echo "$called" | grep -E '^(uv_default_loop|evthread_use_.*|event_init|event_dispatch)$'; then
  echo "$2 must not call these" >&2
  exit 1
fi
