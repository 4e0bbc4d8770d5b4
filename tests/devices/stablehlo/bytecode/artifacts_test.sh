#!/bin/sh
# Where tools/peers was run: JAX writes the conformance programs as artifacts of several versions,
# and ReadArtifacts compares what we read of them with what JAX reads, and writes them again for JAX
# to read. Exit code 77: skipped.
# usage: artifacts_test.sh DEVICES_TESTS PROGRAMS OUT
set -eu
cd "$(dirname "$0")/../../../.."
python=.venv-peers/bin/python
test -x $python || exit 77
test -d "$2" || exit 77
rm -rf "$3" "$3.ours"
$python tests/devices/stablehlo/bytecode/make_artifacts.py "$3" 0.9.0 1.17.0 -- "$2"/*.mlir 2> /dev/null
MILLRACE_ARTIFACTS="$3" MILLRACE_REWRITTEN="$3.ours" "$1" --gtest_filter='ReadArtifacts.*'
exec $python tests/devices/stablehlo/bytecode/check_artifacts.py "$3.ours" "$3"
