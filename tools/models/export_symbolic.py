#!/usr/bin/env python3
"""Exports programs of symbolic shapes with jax.export, and what JAX computes for several shapes.

    python tools/models/export_symbolic.py    # tools/models/symbolic: NAME.mlirbc, NAME.mlir, NAME.json

NAME.json has the cases: the arguments, and the results or the error that JAX gives for them. Needs
JAX (tools/peers); making the files again is the only thing that does.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src.interpreters import mlir
from jax._src.lib import _jax
from jaxlib.mlir import ir

VERSION = "1.10.0"  # of the artifacts: old enough for every reader
PROGRAMS = {}


def program(shapes, cases, constraints=(), dtypes=(), platforms=None, donate=()):
    """shapes: one per argument, in symbols; cases: the sizes of the symbols, in order of name."""

    def add(function):
        PROGRAMS[function.__name__] = (function, shapes, cases, constraints, dtypes, platforms, donate)
        return function

    return add


def norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


@program(["b, 4", "4, 8", "8, 3"], [{"b": 1}, {"b": 3}, {"b": 8}])
def mlp(x, w1, w2):
    return jax.nn.softmax(norm(jnp.tanh(x @ w1)) @ w2)


@program(["b, l, 8", "8, 24"], [{"b": 1, "l": 1}, {"b": 2, "l": 5}, {"b": 3, "l": 4}])
def attention(x, w):
    b, l, _ = x.shape
    q, k, v = (t.reshape(b, l, 2, 4) for t in jnp.split(x @ w, 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2
    mask = jnp.arange(l)[:, None] >= jnp.arange(l)[None, :]
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, l, 8)


@program(["b, h, h, 2", "3, 3, 2, 4", "4, 5"],
         [{"b": 1, "h": 4}, {"b": 2, "h": 7}, {"b": 3, "h": 6}], constraints=["h >= 4"])
def convolutions(x, w, out):
    y = jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    y = jax.nn.relu(y)
    y = jax.lax.reduce_window(y, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")
    y = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return y.mean((1, 2)) @ out


@program(["l, 3"], [{"l": 1}, {"l": 4}, {"l": 9}])
def loops(x):
    def body(i, carried):
        total, best = carried
        return total + x[i] * (i + 1), jnp.maximum(best, x[i])

    total, best = jax.lax.fori_loop(0, x.shape[0], body, (jnp.zeros(3), x[0]))
    last, all_sums = jax.lax.scan(lambda c, row: (0.5 * c + row, c.sum()), jnp.zeros(3), x)
    halved = jax.lax.while_loop(lambda c: (c[0] > 1), lambda c: (c[0] // 2, c[1] + x), (x.shape[0], x))
    return total, best, last, all_sums, halved[1]


@program(["b, l", "l", ""], [{"b": 3, "l": 2}, {"b": 4, "l": 6}, {"b": 9, "l": 3}],
         constraints=["b >= 3", "l >= 2"], dtypes=[np.float32, np.int32, np.int32])
def indexing(x, i, start):
    rows = x[jnp.abs(i) % x.shape[0]]
    picked = jax.lax.dynamic_slice(x, (start, 0), (2, x.shape[1]))
    updated = jax.lax.dynamic_update_slice(x, picked * 2, (start, 0))
    scattered = x.at[jnp.abs(i) % x.shape[0]].add(1.0)
    ends = jnp.concatenate([x[::-1], x[::2], x[1:-1]])
    top, places = jax.lax.top_k(x, 2)
    return (rows, updated, scattered, ends, top, places, jnp.sort(x, 0), jnp.argsort(x[:, 0]),
            jnp.cumsum(x, 0), jax.lax.cummax(x, axis=1), jnp.pad(x, ((1, x.shape[1]), (0, 2))))


@program(["b, 4"], [{"b": 2}, {"b": 6}, {"b": 12}], constraints=["b >= 2", "mod(b, 2) == 0"])
def dimensions(x):
    b = x.shape[0]
    counted = jnp.arange(b // 2) * jnp.array(3 * b - 1)
    return (x.reshape(2, -1).sum(1), counted, jnp.repeat(x, 2, axis=0).sum(0) / (2 * b),
            jnp.ones((b * b + 1, 1)).sum(), x.reshape(b // 2, 8), jnp.eye(b))


@program(["b, 4", "4, 2", "b, 2"], [{"b": 2}, {"b": 5}], donate=(1,))
def train_step(x, w, y):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(w)
    return w - 0.1 * gradient, value


@program(["2", "4", "b, 3"], [{"b": 1}, {"b": 5}], dtypes=[np.uint32, np.uint32, np.float32])
def random_numbers(key, rbg, x):
    normal = jax.random.normal(jax.random.wrap_key_data(key), x.shape)
    uniform = jax.random.uniform(jax.random.wrap_key_data(rbg, impl="rbg"), x.shape)
    return normal + x, (uniform >= 0).sum(), uniform.max() < 1


@program(["b, 3", ""], [{"b": 2}, {"b": 4}], dtypes=[np.float32, np.bool_], platforms=["cpu", "cuda"])
def platforms(x, flag):
    y = jax.lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x * 2)
    return jax.lax.cond(flag, lambda y: jnp.flip(y, 0), lambda y: y - y.mean(0), y)


def value_of(name, argument, case, shape, dtype):
    """Small numbers that any language can make: only their variety matters."""
    rng = np.random.default_rng(sum(case.values()) * 101 + argument * 7 + len(name))
    if np.issubdtype(dtype, np.floating):
        return np.round(rng.normal(size=shape), 3).astype(dtype)
    if dtype == np.bool_:
        return np.asarray(sum(case.values()) % 4 == 0)
    return np.asarray(rng.integers(0, 5, size=shape)).astype(dtype)


def array_json(array):
    array = np.asarray(array)
    kind = array.dtype.kind
    values = [bool(v) for v in array.flat] if kind == "b" else \
        [float(f"{v:.9g}") for v in array.flat] if kind == "f" else [int(v) for v in array.flat]
    return {"dtype": str(array.dtype), "dims": list(array.shape), "values": values}


def plain_text(module):
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        return ir.Module.parse(module).operation.get_asm(enable_debug_info=False)


def concrete(shape, case):
    return tuple(case[d] if d in case else int(d) for d in re.findall(r"\w+", shape))


def make(name, out):
    function, shapes, cases, constraints, dtypes, platforms, donate = PROGRAMS[name]
    dtypes = list(dtypes) or [np.float32] * len(shapes)
    scope = export.SymbolicScope(list(constraints))
    specs = [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), t) for s, t in zip(shapes, dtypes)]
    jitted = jax.jit(function, donate_argnums=donate)
    exported = export.export(jitted, platforms=platforms)(*specs)
    text = plain_text(exported.mlir_module())
    (out / f"{name}.mlir").write_text(text)
    (out / f"{name}.mlirbc").write_bytes(_jax.mlir.serialize_portable_artifact(text, VERSION))
    made = []
    for case in cases:
        arguments = [value_of(name, i, case, concrete(s, case), t)
                     for i, (s, t) in enumerate(zip(shapes, dtypes))]
        results = jax.tree.leaves(jax.jit(function)(*[jnp.asarray(a) for a in arguments]))
        if platforms:
            arguments.insert(0, np.zeros((), np.int32))
        made.append({"inputs": [array_json(a) for a in arguments],
                     "outputs": [array_json(r) for r in results]})
    (out / f"{name}.json").write_text(
        json.dumps({"made_by": f"JAX {jax.__version__}", "cases": made}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=sorted(PROGRAMS))
    names = parser.parse_args().names
    out = pathlib.Path(__file__).parent / "symbolic"
    out.mkdir(exist_ok=True)
    for name in names:
        make(name, out)
        print(f"{name}: {(out / (name + '.mlirbc')).stat().st_size} bytes")


if __name__ == "__main__":
    main()
