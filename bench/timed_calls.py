"""Medians of calls, and how many of them the figures of user.cc, plugin.cc and jax.cc take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

CALLS, CHAIN, CHAINS, LARGE_CALLS, LARGE = 3000, 1000, 3, 5, (64 << 20) // 4


class Calls:
    """Calls, each timed."""

    p99 = 0.0  # of the last ones, if they were CALLS

    def median_us(self, call: Callable[[], object], calls: int = CALLS) -> float:
        times = []
        for _ in range(calls):
            start = time.perf_counter_ns()
            call()
            times.append((time.perf_counter_ns() - start) / 1e3)
        times.sort()
        self.p99 = times[int(0.99 * (calls - 1) + 0.5)] if calls == CALLS else 0.0
        return statistics.median(times)
