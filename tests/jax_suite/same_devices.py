"""A plugin of pytest for the runs of tests/jax_suite/run: JAX has as many devices on either backend, and where
MILLRACE_ONE_IN says 8, one test in eight runs, the same ones every time."""

import os
import zlib

from jax._src import test_util

# Files that want several devices ask for them when they are imported; then only JAX's own backend would have them.
test_util.request_cpu_devices = lambda *_: None


def pytest_collection_modifyitems(config, items):
    one_in = int(os.environ.get('MILLRACE_ONE_IN', '1'))
    dropped = [item for item in items if zlib.adler32(item.name.encode()) % one_in != 0]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if zlib.adler32(item.name.encode()) % one_in == 0]
