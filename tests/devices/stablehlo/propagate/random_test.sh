#!/bin/sh
# Where tools/peers was run: random programs on 8 devices, which JAX's own backend compiles; their
# arrays lie where XLA lays them. Exit code 77: skipped.
# usage: random_test.sh DEVICES_TESTS OUT [SEED COUNT]
set -eu
cd "$(dirname "$0")/../../../.."
python=.venv-peers/bin/python
test -x $python || exit 77
$python tests/devices/stablehlo/propagate/make_programs.py "${3:-1}" "${4:-100}" > "$2" 2> /dev/null
MILLRACE_SHARDED_PROGRAMS="$2" exec "$1" --gtest_filter=Propagate.RandomProgramsLieWhereXlaLaysThem
