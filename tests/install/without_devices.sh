#!/usr/bin/env bash
# Builds Millrace without the CPU device and without the client of plugins, and asks what is missing: it is said in words, and
# oneDNN and LAPACK are not linked. Takes minutes: tools/check --long.
# usage: without_devices.sh FOLDER         (where it is built, kept for the next time)
set -euo pipefail
cd "$(dirname "$0")/../.."
folder="$1"
mkdir -p "$folder"

cmake=/usr/bin/cmake
[[ -x "$cmake" ]] || cmake=cmake
"$cmake" -S . -B "$folder" -G Ninja -DMILLRACE_CPU_DEVICE=OFF -DMILLRACE_PLUGIN_CLIENT=OFF -DMILLRACE_TESTS=OFF \
  -DMILLRACE_WERROR=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 > "$folder/log" 2>&1 ||
  { cat "$folder/log"; exit 1; }
"$cmake" --build "$folder" --target millrace millrace_shared millrace_c > "$folder/log" 2>&1 ||
  { tail -50 "$folder/log"; exit 1; }

says() {  # says WORDS COMMAND...: it fails, with these words
  local words="$1" said; shift
  if said="$("$@" 2>&1)"; then echo "FAILED: '$*' ends well: $said"; exit 1; fi
  grep -qF -- "$words" <<< "$said" || { echo "FAILED: '$*' does not say '$words': $said"; exit 1; }
}
millrace="$folder/bin/millrace"
program="$(find tools/models/mnist -name '*.mlir' | sort | head -n 1)"
says '-DMILLRACE_CPU_DEVICE=OFF' "$millrace" inspect "$program"
says '-DMILLRACE_CPU_DEVICE=OFF' env PJRT_DEVICE=CPU "$millrace" run "$program"
says '-DMILLRACE_PLUGIN_CLIENT=OFF' "$millrace" conform some.so
says '-DMILLRACE_PLUGIN_CLIENT=OFF' "$millrace" run "$program" --plugin some=/lib/x86_64-linux-gnu/libc.so.6
for file in "$millrace" "$folder/lib/libmillrace.so" "$folder/lib/libmillrace_c.so"; do
  if readelf -d "$file" | grep -E 'NEEDED.*(dnnl|lapack|blas)'; then echo "FAILED: $file links these"; exit 1; fi
done
echo "without devices: built, and says what is missing"
