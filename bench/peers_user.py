#!/usr/bin/env python3
"""What the calls of user.cc take from Python, on JAX's own CPU backend.

    tools/peers && .venv-peers/bin/python bench/peers_user.py

Answers each line on stdin with a number on stdout, the median over calls: dispatch, chain (per step), put_fetch and
fetch_64MiB in microseconds, put_64MiB in milliseconds. p99: that of the calls before, 0 where there is none.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np

from timed_calls import CHAIN, CHAINS, LARGE, LARGE_CALLS, Calls


def main() -> None:
    calls = Calls()
    increment = jax.jit(lambda x: x + 1)
    x = jnp.arange(4, dtype=jnp.float32)
    increment(x).block_until_ready()
    one, large = np.ones(1, np.float32), np.ones(LARGE, np.float32)

    def chain() -> None:
        y = x
        for _ in range(CHAIN):
            y = increment(y)
        y.block_until_ready()

    # Each array is one whose bytes the host has not seen: JAX keeps what it gave. In place, as ours.
    def fetch() -> float:
        fresh = [jax.device_put(np.full(LARGE, i, np.float32)) for i in range(LARGE_CALLS)]
        jax.block_until_ready(fresh)
        seen: list[np.ndarray] = []
        return calls.median_us(lambda: seen.append(np.asarray(fresh[len(seen)])), LARGE_CALLS)

    # May not lend the bytes to the array for good, as ours.
    def put() -> float:
        return calls.median_us(lambda: jax.device_put(large, may_alias=False).block_until_ready(), LARGE_CALLS) / 1e3

    answers = {
        "dispatch": lambda: calls.median_us(lambda: increment(x).block_until_ready()),
        "chain": lambda: calls.median_us(chain, CHAINS) / CHAIN,
        "put_fetch": lambda: calls.median_us(lambda: np.asarray(jax.device_put(one))),
        "put_64MiB": put,
        "fetch_64MiB": fetch,
        "p99": lambda: calls.p99,
    }
    for line in sys.stdin:
        print(answers[line.strip()](), flush=True)


if __name__ == "__main__":
    main()
