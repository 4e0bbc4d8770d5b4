"""Writes a function of JAX as a StableHLO program, and an argument for it, into a folder.

usage: export_from_jax.py FOLDER
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np


def softmax(x):
    e = jnp.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


folder = pathlib.Path(sys.argv[1])
x = np.arange(6, dtype=np.float32).reshape(2, 3)
(folder / 'softmax.mlir').write_text(jax.jit(softmax).lower(x).as_text())
np.save(folder / '0.npy', x)
