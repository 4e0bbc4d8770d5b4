#!/usr/bin/env python3
"""Writes programs.mlir: programs on 8 devices, and where XLA lays their arguments and results.

usage: .venv-peers/bin/python tests/devices/stablehlo/propagate/make_programs.py [SEED COUNT > FILE]
Those of written.mlir, which are written by hand, and those of JAX functions. With arguments: as many random programs,
to stdout. Each program stands behind a line "// NAME" and is followed by
"//> arguments" and "//> results" with the bytes of OpSharding in hex, "-" for none (replicated), as the executable
of JAX's own backend tells them.
"""

import os
import pathlib
import random
import re
import sys

os.environ["JAX_NUM_CPU_DEVICES"] = "8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
from jax import lax
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from jaxlib.mlir import ir

FOLDER = pathlib.Path(__file__).parent
MESH = jax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
CUBE = jax.make_mesh((2, 2, 2), ("x", "y", "z"), axis_types=(AxisType.Auto,) * 3)
OPEN = P.UNCONSTRAINED


def at(mesh, *spec):
    return NamedSharding(mesh, P(*spec))


def want(x, *spec, mesh=MESH):
    return lax.with_sharding_constraint(x, at(mesh, *spec))


class Array:
    """An argument: shape, how it lies (None: left open), type."""

    def __init__(self, shape, *spec, mesh=MESH, dtype=jnp.float32, free=False):
        self.struct = jax.ShapeDtypeStruct(shape, dtype, sharding=None if free else at(mesh, *spec))


def x8(*spec, **more):
    return Array((8, 16), *spec, **more)


def conv(lhs, rhs, **more):
    return lax.conv_general_dilated(lhs, rhs, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)


def programs():
    yield "add", lambda x: x + 1, [x8("a", "b")]
    yield "add_two", lambda x, y: x + y, [x8("a"), x8(None, "b")]
    yield "add_open", lambda x, y: x + y, [x8("a", "b"), x8(free=True)]
    yield "add_conflict", lambda x, y: x * y, [x8("a", "b"), x8("b", "a")]
    yield "unary_chain", lambda x: jnp.tanh(jnp.exp(x) - 2), [x8(("b", "a"))]
    yield "select", lambda x, y: jnp.where(x > y, x, 0), [x8("b"), x8("b")]
    yield "dot", lambda x, y: x @ y, [x8("a", None), Array((16, 32), None, "b")]
    yield "dot_contracted", lambda x, y: x @ y, [x8(None, "b"), Array((16, 32), "b", None)]
    yield "dot_all", lambda x, y: x @ y, [x8("a", "b"), Array((16, 32), "b", None)]
    yield "dot_conflict", lambda x, y: x @ y, [x8("a", None), Array((16, 32), None, "a")]
    yield "dot_batch", lambda x, y: jnp.einsum("bij,bjk->bik", x, y), [Array((8, 4, 16), "b"), Array((8, 16, 4), "b", None, "a")]
    yield "reduce", lambda x: x.sum(0), [x8("a", "b")]
    yield "reduce_all", lambda x: x.max(), [x8("a", "b")]
    yield "reduce_two", lambda x: (x.sum(1), x.argmax(0)), [x8("a", "b")]
    yield "broadcast", lambda x: jnp.broadcast_to(x, (4, 16)), [Array((16,), "b")]
    yield "broadcast_new", lambda x: x[:, None] * jnp.ones((16, 4)), [Array((16,), "b")]
    yield "reshape_split", lambda x: x.reshape(2, 4, 16), [x8(("a", "b"), None)]
    yield "reshape_merge", lambda x: x.reshape(128), [x8("a", "b")]
    yield "reshape_merge_outer", lambda x: x.reshape(128), [x8("b", None)]
    yield "reshape_uneven", lambda x: x.reshape(4, 32), [x8("b", "a")]
    yield "reshape_one", lambda x: x.reshape(1, 8, 1, 16), [x8("a", "b")]
    yield "reshape_prime", lambda x: x.reshape(10, 6), [Array((6, 10), "a", None)]
    yield "transpose", lambda x: x.T, [x8("a", "b")]
    yield "transpose_three", lambda x: x.transpose(2, 0, 1), [Array((4, 8, 16), "a", None, "b")]
    yield "slice", lambda x: x[:4], [x8("a", "b")]
    yield "slice_strided", lambda x: x[::2, 1:9], [x8("a", "b")]
    yield "slice_odd", lambda x: x[:3], [x8("b", "a")]
    yield "dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 16)), [x8("a", "b"), Array((), dtype=jnp.int32)]
    yield "dynamic_update", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, 0)), [x8("a", "b"), Array((2, 16), None, "b"), Array((), dtype=jnp.int32)]
    yield "pad", lambda x: jnp.pad(x, ((1, 1), (0, 0))), [x8("a", "b")]
    yield "pad_even", lambda x: jnp.pad(x, ((4, 4), (0, 8))), [x8("a", "b")]
    yield "concatenate", lambda x, y: jnp.concatenate([x, y]), [x8("a", "b"), x8("a", "b")]
    yield "concatenate_other", lambda x, y: jnp.concatenate([x, y], 1), [x8("a", "b"), x8("a", None)]
    yield "concatenate_halves", lambda x: jnp.concatenate([x[4:], x[:4]]), [x8("a", "b")]
    yield "reverse", lambda x: x[::-1], [x8("a", "b")]
    yield "gather_rows", lambda x, i: x[i], [x8(None, "b"), Array((4,), "a", dtype=jnp.int32)]
    yield "gather_cut_rows", lambda x, i: x[i], [x8("b", None), Array((4,), dtype=jnp.int32)]
    yield "take_along", lambda x, i: jnp.take_along_axis(x, i, 1), [x8("a", None), Array((8, 4), "a", None, dtype=jnp.int32)]
    yield "scatter_add", lambda x, i, y: x.at[i].add(y), [x8(None, "b"), Array((4,), dtype=jnp.int32), Array((4, 16), None, "b")]
    yield "scatter_rows", lambda x, i, y: x.at[i].set(y), [x8("a", None), Array((4,), "b", dtype=jnp.int32), Array((4, 16), "b")]
    yield "segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 4), [x8("a", "b"), Array((8,), "a", dtype=jnp.int32)]
    yield "conv_batch", conv, [Array((8, 16, 16, 4), "b"), Array((3, 3, 4, 8))]
    yield "conv_features", conv, [Array((8, 16, 16, 4), "a", None, None, "b"), Array((3, 3, 4, 8), None, None, "b", None)]
    yield "conv_out_features", conv, [Array((8, 16, 16, 4), "a"), Array((3, 3, 4, 8), None, None, None, "b")]
    yield "conv_spatial", conv, [Array((8, 16, 16, 4), None, "b"), Array((3, 3, 4, 8))]
    yield "conv_groups", lambda x, y: conv(x, y, feature_group_count=4), [Array((8, 16, 16, 4), "a", None, None, "b"), Array((3, 3, 1, 8))]
    yield "conv_grad", jax.grad(lambda y, x: conv(x, y).sum()), [Array((3, 3, 4, 8), None, None, None, "a"), Array((8, 16, 16, 4), "b")]
    yield "max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), [Array((8, 16, 16, 4), "a", "b")]
    yield "max_pool_grad", jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()), [Array((8, 16, 16, 4), "a", "b")]
    yield "sort", lambda x: jnp.sort(x), [x8("a", "b")]
    yield "sort_batch", lambda x: jnp.sort(x, axis=0), [x8("a", "b")]
    yield "sort_vector", lambda x: jnp.sort(x), [Array((16,), "b")]
    yield "argsort", lambda x: jnp.argsort(x), [x8("a", None)]
    yield "top_k", lambda x: lax.top_k(x, 4), [x8("a", "b")]
    yield "cumsum", lambda x: jnp.cumsum(x, 0), [x8("a", "b")]
    yield "fft", lambda x: jnp.fft.fft(x), [x8("a", "b")]
    yield "cholesky", lambda x: jnp.linalg.cholesky(x), [Array((8, 4, 4), "b")]
    yield "triangular", lambda a, b: jax.scipy.linalg.solve_triangular(a, b), [Array((8, 8)), x8(None, "b")]
    yield "iota", lambda x: x + jnp.arange(16.0), [x8("a", "b")]
    yield "iota_alone", lambda x: (jnp.arange(16.0), x), [x8("a", "b")]
    yield "constant_alone", lambda x: (jnp.zeros((8, 16)), x), [x8("a", "b")]
    yield "constants_shared", lambda x, y: (x + jnp.ones((8, 16)), y + jnp.ones((8, 16))), [x8("a", None), x8(None, "b")]
    yield "random", lambda k: jax.random.normal(jax.random.wrap_key_data(k), (8, 16)), [Array((2,), dtype=jnp.uint32)]
    yield "while", lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2, x), [x8("a", "b")]
    yield "while_inside", lambda x: lax.fori_loop(0, 3, lambda i, c: want(c * 2, "a", None), x), [x8(None, "b")]
    yield "while_two", lambda x, y: lax.while_loop(lambda c: c[0].sum() < 9, lambda c: (c[0] @ c[1], c[1]), (x, y)), [Array((8, 8), "a"), Array((8, 8), None, "b")]
    yield "scan", lambda x: lax.scan(lambda c, r: (c + r, c.sum()), jnp.zeros(16), x), [x8("a", "b")]
    yield "scan_weights", lambda x, w: lax.scan(lambda c, m: (jnp.tanh(c @ m), ()), x, w)[0], [Array((8, 16), "a"), Array((3, 16, 16), None, None, "b")]
    yield "cond", lambda p, x: lax.cond(p, lambda x: x * 2, lambda x: x.T.T + 1, x), [Array((), dtype=jnp.bool_), x8("a", "b")]
    yield "call", lambda x: jax.jit(lambda y: y * 3)(x) + jax.jit(lambda y: y * 3)(x + 1), [x8("a", "b")]
    yield "call_in_shardings", lambda x: jax.jit(lambda y: y * 3, in_shardings=at(MESH, "b"))(x), [x8("a")]
    yield "call_out_shardings", lambda x: jax.jit(lambda y: y * 3, out_shardings=at(MESH, "b"))(x), [x8("a")]
    yield "remat", jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(x).sum()), [x8("a", "b")]
    yield "barrier", lambda x, y: lax.optimization_barrier((x, y)), [x8("a", "b"), x8("b")]
    yield "custom_jvp", lambda x: jax.nn.relu(jax.nn.gelu(x)), [x8("a", "b")]
    yield "softmax", lambda x: jax.nn.softmax(x), [x8("a", "b")]
    yield "one_hot", lambda i: jax.nn.one_hot(i, 16), [Array((8,), "b", dtype=jnp.int32)]
    yield "layer_norm", lambda x: (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True)), [x8("a", "b")]
    yield "constraint", lambda x: want(x * 2, "b", None), [x8("a", "b")]
    yield "constraint_in_the_middle", lambda x: want(x * 2, "b", None) + 1, [x8("a", "b")]
    yield "constraint_open", lambda x: want(x * 2, OPEN, "b") + 1, [x8("a", None)]
    yield "constraint_free", lambda x: want(x * 2, OPEN, OPEN), [x8("a", None)]
    yield "constraint_backward", lambda x: want(x.T, "b", "a"), [x8(free=True)]
    yield "constraints_two", lambda x: (want(x, "a", None), want(x, None, "b")), [x8()]
    yield "constraint_twice", lambda x: want(want(x, "a"), "b") * 2, [x8()]
    yield "returns_argument", lambda x, y: (x, y), [x8("a"), x8(free=True)]
    yield "free_argument", lambda x, y: x @ y, [x8("a", "b"), Array((16, 32), free=True)]
    yield "uneven", lambda x: x[:7] * 2, [x8("b")]
    yield "cube_merge", lambda x: x.reshape(64), [Array((8, 8), "x", ("y", "z"), mesh=CUBE)]
    yield "cube_split", lambda x: x.reshape(2, 2, 2, 8), [Array((8, 8), ("z", "y", "x"), mesh=CUBE)]
    yield "cube_dot", lambda x, y: x @ y, [Array((8, 8), "x", "y", mesh=CUBE), Array((8, 8), "y", "z", mesh=CUBE)]
    yield "cube_add", lambda x, y, z: x + y + z, [Array((8, 8), "x", mesh=CUBE), Array((8, 8), "y", mesh=CUBE), Array((8, 8), None, "z", mesh=CUBE)]
    mapped = jax.shard_map(lambda x: lax.psum(x, "a"), mesh=MESH, in_specs=P("a", "b"), out_specs=P(None, "b"))
    yield "manual", lambda x: mapped(x * 2) + 1, [x8("a", "b")]
    partial = jax.shard_map(lambda x: lax.psum(jnp.sin(x), "a"), mesh=MESH, in_specs=P("a"), out_specs=P(), axis_names={"a"})
    yield "manual_partial", lambda x: partial(x) + 1, [x8("a", "b")]
    kept = jax.shard_map(lambda x: x * 2, mesh=MESH, in_specs=P("a"), out_specs=P("a"), axis_names={"a"})
    yield "manual_partial_kept", lambda x: kept(x), [x8(None, "b")]
    yield "mlp_grad", jax.grad(lambda w, v, x: (jnp.tanh(x @ w) @ v).sum(), (0, 1)), [Array((16, 32), None, "b"), Array((32, 16), "b"), x8("a")]
    yield "attention", attention, [Array((4, 8, 8, 16), "a", None, "b")] * 3
    yield "embed", lambda t, i: t[i] * 2, [Array((64, 16), "b", None), Array((8, 4), "a", dtype=jnp.int32)]


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    scores = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


class Random:
    """A program of random operations on arrays of a few shapes."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.mesh = self.rng.choice((MESH, CUBE))

    def spec(self, shape):
        sizes = dict(self.mesh.shape)
        left = list(shape)
        dims = [[] for _ in shape]
        for name in self.rng.sample(list(sizes), len(sizes)):
            d = self.rng.randint(-1, len(shape) - 1)
            if d >= 0 and left[d] % sizes[name] == 0:
                left[d] //= sizes[name]
                dims[d].append(name)
        return [tuple(d) or None for d in dims]

    def argument(self):
        shape = self.rng.choice(((8, 16), (16, 8), (8, 8), (16, 16), (16,), (8,)))
        free = self.rng.random() < 0.15
        return Array(shape, *self.spec(shape), mesh=self.mesh, free=free)

    def make(self):
        arguments = [self.argument() for _ in range(self.rng.randint(1, 3))]
        seed, steps = self.rng.random(), self.rng.randint(1, 6)

        def f(*xs):
            rng = random.Random(seed)
            values = list(xs)
            for _ in range(steps):
                values.append(self.step(rng, values))
            return tuple(rng.sample(values[len(xs):], min(2, steps)))

        return f, arguments

    def step(self, rng, values):
        x = rng.choice(values)
        like = [v for v in values if v.shape == x.shape]
        kind = rng.choice(("unary", "binary", "binary", "dot", "dot", "reduce", "transpose", "reshape", "broadcast", "slice",
                           "concatenate", "want", "loop", "cond", "sort", "gather", "scatter", "scan", "update", "manual", "pad", "norm"))
        if kind == "binary":
            return x + rng.choice(like)
        if kind == "dot" and x.ndim == 2:
            fits = [v for v in values if v.shape and v.shape[0] == x.shape[1]]
            if fits:
                return x @ rng.choice(fits)
        if kind == "reduce" and x.ndim:
            return x.sum(rng.randrange(x.ndim))
        if kind == "transpose":
            return x.T
        if kind == "reshape" and x.size >= 8:
            return x.reshape(rng.choice(((-1,), (8, -1), (x.size // 8, 8), (2, x.size // 4, 2), (4, -1))))
        if kind == "broadcast" and x.ndim < 3:
            return jnp.broadcast_to(x, (8,) + x.shape)
        if kind == "slice" and x.ndim and x.shape[0] >= 2:
            return x[: x.shape[0] // 2]
        if kind == "concatenate" and x.ndim:
            return jnp.concatenate([x, rng.choice(like)])
        if kind == "want" and x.ndim:
            mine = Random(rng.random())
            mine.mesh = self.mesh
            return lax.with_sharding_constraint(x, at(self.mesh, *mine.spec(x.shape)))
        if kind == "loop":
            return lax.fori_loop(0, 2, lambda i, c: jnp.tanh(c) + c, x)
        if kind == "cond":
            y = rng.choice(like)
            return lax.cond(x.sum() > 0, lambda: x * 2, lambda: y + 1)
        if kind == "sort" and x.ndim:
            return jnp.sort(x)
        if kind == "gather" and x.ndim:
            return x[jnp.arange(4) % x.shape[0]] if rng.random() < 0.5 else jnp.take(x, jnp.zeros((8,), jnp.int32), 0)
        if kind == "scatter" and x.ndim == 2:
            return x.at[jnp.arange(2)].add(x[:2])
        if kind == "scan" and x.ndim:
            return lax.scan(lambda c, r: (c + r, jnp.sin(c)), jnp.zeros(x.shape[1:]), x)[1]
        if kind == "update" and x.ndim == 2:
            return lax.dynamic_update_slice(x, x[:1], (1, 0))
        if kind == "manual" and x.ndim and x.shape[0] % 2 == 0:
            name = self.mesh.axis_names[0]
            return jax.shard_map(lambda v: v + lax.psum(v, name), mesh=self.mesh, in_specs=P(name), out_specs=P(name),
                                 axis_names={name} if rng.random() < 0.5 else set(self.mesh.axis_names))(x)
        if kind == "pad" and x.ndim:
            return jnp.pad(x, [(x.shape[0] // 2,) * 2] + [(0, 0)] * (x.ndim - 1))
        if kind == "norm" and x.ndim:
            return x - x.mean(-1, keepdims=True)
        return jnp.sin(x)


def hex_of(sharding):
    message = sharding.to_proto() if hasattr(sharding, "to_proto") else sharding
    return message.SerializeToString().hex() or "-"


def record(name, program, executable):
    told = [" ".join(hex_of(s) for s in shardings or []) for shardings in (executable.get_parameter_shardings(), executable.get_output_shardings())]
    program = re.sub(r" loc\(.*?\)|jax.result_info = \"[^\"]*\",? ?|^#loc.*\n", "", program, flags=re.M)
    program = re.sub(r"(tensor<[^>]*>) \{\}", r"\1", program)
    return f"// {name}\n{program.strip()}\n//> {told[0]}\n//> {told[1]}\n"


def text_of(name, f, arguments):
    lowered = jax.jit(f).lower(*[a.struct for a in arguments])
    return record(name, lowered.as_text(), lowered.compile().runtime_executable())


def written():
    """The programs of written.mlir: all that they leave open may be chosen."""
    options = compiler.get_compile_options(num_replicas=1, num_partitions=8, device_assignment=[list(range(8))])
    choose = options.executable_build_options
    choose.use_spmd_partitioning = choose.use_shardy_partitioner = True
    choose.allow_spmd_sharding_propagation_to_parameters = choose.allow_spmd_sharding_propagation_to_output = [True]
    for part in (FOLDER / "written.mlir").read_text().split("// ")[1:]:
        name, program = part.split("\n", 1)
        with mlir.make_ir_context():
            module = ir.Module.parse(program)
            yield record(name, program, jax.devices()[0].client.compile_and_load(module, xla_client.DeviceList(tuple(jax.devices())), options))


def main():
    if len(sys.argv) > 1:
        for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
            try:
                made = text_of(f"random_{seed}", *Random(seed).make())
                if "sdy.mesh" in made:  # others are for one device
                    print(made)
            except Exception as error:
                print(f"// seed {seed}: {str(error).splitlines()[0]}", file=sys.stderr)
        return
    (FOLDER / "programs.mlir").write_text("\n".join([*written(), *(text_of(*program) for program in programs())]))


if __name__ == "__main__":
    main()
