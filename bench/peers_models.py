#!/usr/bin/env python3
"""What JAX makes of the training steps of tools/models/export_steps.py on this machine.

    tools/peers && .venv-peers/bin/python bench/peers_models.py resnet18 step --threads 2

Answers each line on stdin with a number on stdout, as models.cc asks for it. step: milliseconds of
a step; compile: until the step is compiled anew; memory: MiB, the most that the process took.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import resource
import sys
import time
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools" / "models"))

STEPS = 2


def make_step(model: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """A function that runs a step to its end, and one that compiles it."""
    import export_steps
    import jax
    import jax.numpy as jnp
    import step_batch

    network = export_steps.MODELS[model]
    tensors = jax.jit(network.init)(jnp.uint32(1))
    donated = tuple(range(len(tensors)))
    batch = step_batch.make(network.batch())
    whole = jax.jit(network.step, donate_argnums=donated)

    def step() -> None:
        nonlocal tensors
        loss, *tensors = whole(*tensors, *batch)
        jax.block_until_ready((loss, tensors))

    def compile_again() -> None:
        jax.clear_caches()
        jax.jit(network.step, donate_argnums=donated).lower(*tensors, *batch).compile()

    return step, compile_again


def milliseconds(work: Callable[[], None], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) * 1e3 / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("what", choices=["step", "compile", "memory"])
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    # Before JAX makes its threads.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
    step, compile_again = make_step(args.model)
    if args.what != "compile":
        milliseconds(step, STEPS)
    for _ in sys.stdin:
        if args.what == "step":
            answer = milliseconds(step, STEPS)
        elif args.what == "compile":
            answer = milliseconds(compile_again, 1)
        else:
            answer = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(answer, flush=True)


if __name__ == "__main__":
    main()
