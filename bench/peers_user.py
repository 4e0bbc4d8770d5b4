#!/usr/bin/env python3
"""What the calls of user.cc take from Python, on JAX's own CPU backend.

    tools/peers && .venv-peers/bin/python bench/peers_user.py

Answers each line on stdin (dispatch_jax, chain_co_await, fetch_64MiB) with a number on stdout: microseconds, the last
in milliseconds; medians over calls.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

CALLS, CHAIN, LARGE = 3000, 1000, (64 << 20) // 4


def median_us(call: Callable[[], object], calls: int = CALLS) -> float:
    times = []
    for _ in range(calls):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1e3


def main() -> None:
    increment = jax.jit(lambda x: x + 1)
    x = jnp.arange(4, dtype=jnp.float32)
    increment(x).block_until_ready()

    def chain() -> None:
        y = x
        for _ in range(CHAIN):
            y = increment(y)
        y.block_until_ready()

    # Each array is one whose bytes the host has not seen: JAX keeps what it gave. In place, as ours.
    def fetch() -> float:
        fresh = [jax.device_put(np.full(LARGE, i, np.float32)) for i in range(5)]
        jax.block_until_ready(fresh)
        return median_us(lambda: np.asarray(fresh.pop()), 5) / 1e3

    answers = {
        "dispatch_jax": lambda: median_us(lambda: increment(x).block_until_ready()),
        "chain_co_await": lambda: median_us(chain, 3) / CHAIN,
        "fetch_64MiB": fetch,
    }
    for line in sys.stdin:
        print(answers[line.strip()](), flush=True)


if __name__ == "__main__":
    main()
