"""Tensors from a seed, the same ones wherever the exported program runs."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import mnist_network
from jax import lax

Shapes = dict[str, tuple[int, ...]]


def uniform(seed: jax.Array, shapes: Shapes, bounds: dict[str, float]) -> dict[str, jax.Array]:
    """One tensor per name, uniform within its bound; element i of all together is made from word 0
    of Threefry-2x32 with the key (seed, 0) and the counter (i, 0)."""
    total = sum(math.prod(shape) for shape in shapes.values())
    counter = lax.iota(jnp.uint32, total)
    bits, _ = mnist_network.threefry2x32(
        (seed, jnp.uint32(0)), (counter, jnp.zeros_like(counter))
    )
    unit = lax.shift_right_logical(bits, jnp.full_like(bits, 8)).astype(jnp.float32) / (1 << 24)
    made, offset = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        part = lax.reshape(lax.slice(unit, (offset,), (offset + size,)), shape)
        made[name] = part * jnp.float32(2.0 * bounds[name]) - jnp.float32(bounds[name])
        offset += size
    return made
