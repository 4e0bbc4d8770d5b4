#!/bin/sh
# The library exports GetPjrtApi and no other symbol. Arguments: nm, the library.
set -eu
found=$("$1" -D --defined-only --format=just-symbols "$2")
[ "$found" = GetPjrtApi ] || { echo "the plugin exports: $found" >&2; exit 1; }
