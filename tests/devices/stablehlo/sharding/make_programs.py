#!/usr/bin/env python3
"""Writes the programs of this folder as portable artifacts, with Shardy's attributes in Shardy's own encoding.

usage: .venv-peers/bin/python tests/devices/stablehlo/sharding/make_programs.py
attributes.mlir is written by hand; jit and shard_map are what JAX makes of two functions on 4 devices. Each becomes
NAME.mlir.bc, as JAX sends it to a plugin, and those of JAX also NAME.mlir, what JAX reads in these bytes.
"""

import os
import pathlib

os.environ["JAX_NUM_CPU_DEVICES"] = "4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir
from jax._src.lib import _jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from jaxlib.mlir import ir

FOLDER = pathlib.Path(__file__).parent
VERSION = "1.17.0"


def made_by_jax():
    mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    x = jax.device_put(jnp.arange(32.0).reshape(4, 8), NamedSharding(mesh, P("a", "b")))

    def jit(x):
        y = jax.lax.with_sharding_constraint(jnp.sin(x + 1), NamedSharding(mesh, P(P.UNCONSTRAINED, "b")))
        return jax.lax.fori_loop(0, 3, lambda i, c: c * 2, y)

    def shard_map(x):
        def step(i, c):
            return jax.lax.ppermute(c, "a", [(0, 1), (1, 0)]) + jax.lax.all_gather(c, "b", axis=0, tiled=True)[:2, :]

        return jax.lax.psum(jax.lax.fori_loop(0, 3, step, x), "a")

    yield "jit", jax.jit(jit, out_shardings=NamedSharding(mesh, P(None, "b"))).lower(x)
    mapped = jax.shard_map(shard_map, mesh=mesh, in_specs=P("a", "b"), out_specs=P(None, "b"))
    yield "shard_map", jax.jit(mapped).lower(x)


def artifact(text):
    return _jax.mlir.serialize_portable_artifact(str(ir.Module.parse(text)), VERSION, True)


def main():
    with mlir.make_ir_context():
        made = artifact((FOLDER / "attributes.mlir").read_text())
        (FOLDER / "attributes.mlir.bc").write_bytes(made)
        for name, lowered in made_by_jax():
            made = artifact(lowered.as_text())
            (FOLDER / f"{name}.mlir.bc").write_bytes(made)
            (FOLDER / f"{name}.mlir").write_text(str(_jax.mlir.deserialize_portable_artifact(made)))


if __name__ == "__main__":
    main()
