#!/usr/bin/env python3
"""Writes the programs of this folder, with JAX and Shardy on a mesh of one device.

usage: .venv-peers/bin/python tests/devices/cpu/sharding/make_programs.py
Each is written as text (NAME.mlir) and as the portable artifact that jax.export makes (NAME.mlir.bc), with JAX's own
results: NAME.txt has one array per line, two arguments and then the results.
"""

import math
import pathlib
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src import shard_map as shard_map_module
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

FOLDER = pathlib.Path(__file__).parent


class Unequal(int):
    """A number that counts as itself and is not found to be one."""

    __hash__ = int.__hash__

    def __eq__(self, other):
        return False


def make_mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))


def constraints(mesh, x, w):
    """Constraints in the main function, in one that a loop calls, and with axes that are open."""
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None)))
    y = jax.lax.with_sharding_constraint(jnp.tanh(x @ w), NamedSharding(mesh, P(P.UNCONSTRAINED, "model")))

    def body(carry, _):
        halved = jax.lax.with_sharding_constraint(carry * 0.5 + 1, NamedSharding(mesh, P(("data", "model"), None)))
        return halved, carry.sum()

    return jax.lax.scan(body, y, None, length=3)


def manual(mesh, x, w):
    """A computation per device, with collectives inside."""

    def inner(x, w):
        y = jax.lax.psum(x @ w, "model")
        return y, jax.lax.all_gather(jnp.sin(y), "data", axis=0, tiled=True)

    specs = {"in_specs": (P("data", "model"), P("model", None)), "out_specs": (P("data", None), P(None, None))}
    return jax.shard_map(inner, mesh=mesh, check_vma=False, **specs)(x, w)


def write(name, function, mesh):
    x = (np.arange(12, dtype=np.float32).reshape(4, 3) - 5) / 8
    w = (np.arange(6, dtype=np.float32).reshape(3, 2) - 2) / 4
    shardings = NamedSharding(mesh, P("data", None)), NamedSharding(mesh, P(None, "model"))

    def jitted():
        return jax.jit(
            lambda x, w: function(mesh, x, w), in_shardings=shardings, out_shardings=NamedSharding(mesh, P())
        )

    results = jax.tree.leaves(jitted()(x, w))
    # JAX leaves sdy.manual_computation out where one device is all there is; it is written nevertheless.
    with mock.patch.object(shard_map_module, "prod", lambda sizes: Unequal(math.prod(sizes))):
        text, artifact = jitted().lower(x, w).as_text(), export.export(jitted())(x, w).mlir_module_serialized
    (FOLDER / f"{name}.mlir").write_text(text)
    (FOLDER / f"{name}.mlir.bc").write_bytes(artifact)
    with open(FOLDER / f"{name}.txt", "w") as out:
        for array in (x, w, *results):
            print(*(f"{v:.9g}" for v in np.asarray(array).ravel()), file=out)


def main():
    jax.config.update("jax_traceback_in_locations_limit", 0)  # no paths of this machine
    mesh = make_mesh()
    write("constraints", constraints, mesh)
    write("manual", manual, mesh)


if __name__ == "__main__":
    main()
