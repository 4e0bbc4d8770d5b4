"""The batch on which the larger training steps are measured and their golden losses are made.

bench/step_model.cc makes the same one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import numpy as np


def make(specs: Sequence[jax.ShapeDtypeStruct]) -> list[np.ndarray]:
    """Element i of each array: Knuth's multiplicative hash of i without its lowest byte, scaled to
    [0, 1) as f32, modulo 1000 as i32."""
    arrays = []
    for spec in specs:
        index = np.arange(math.prod(spec.shape), dtype=np.uint32)
        mixed = (index * np.uint32(2654435761)) >> np.uint32(8)
        floats = np.issubdtype(spec.dtype, np.floating)
        values = mixed / np.float32(1 << 24) if floats else mixed % np.uint32(1000)
        arrays.append(values.astype(spec.dtype).reshape(spec.shape))
    return arrays
