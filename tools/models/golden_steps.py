#!/usr/bin/env python3
"""Writes the losses of the first steps of the larger models, as JAX computes them.

    .venv-peers/bin/python tools/models/golden_steps.py    # tools/models/{resnet18,decoder}/golden.json

From init(1), always on the batch of step_batch.py, computed in f64. A tolerance is twice what JAX
itself is off by in f32, where a few updates make much of a rounding, and 1e-5 of the loss.
"""

from __future__ import annotations

import json
import pathlib
from types import ModuleType

import export_steps
import jax
import jax.numpy as jnp
import numpy as np
import step_batch

STEPS = 3
FOLDER = pathlib.Path(__file__).parent


def losses(network: ModuleType, dtype: type[np.floating]) -> list[float]:
    with jax.enable_x64(False):
        tensors = jax.tree.map(np.asarray, jax.jit(network.init)(jnp.uint32(1)))

    def cast(array: np.ndarray) -> np.ndarray:
        return array.astype(dtype) if np.issubdtype(array.dtype, np.floating) else array

    made = []
    with jax.enable_x64(True):
        tensors = jax.tree.map(cast, tensors)
        batch = [cast(array) for array in step_batch.make(network.batch())]
        step = jax.jit(network.step)
        for _ in range(STEPS):
            loss, *tensors = step(*tensors, *batch)
            made.append(float(loss))
    return made


def main() -> None:
    for name, network in export_steps.MODELS.items():
        exact, single = losses(network, np.float64), losses(network, np.float32)
        tolerances = [2 * abs(a - b) + 1e-5 * a for a, b in zip(exact, single, strict=True)]
        golden = {"jax": jax.__version__, "losses": exact, "tolerances": tolerances}
        path = FOLDER / name / "golden.json"
        path.write_text(json.dumps(golden) + "\n")
        print(path, path.read_text().strip())


if __name__ == "__main__":
    main()
