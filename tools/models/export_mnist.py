#!/usr/bin/env python3
"""Exports the demo's network as StableHLO text, with a manifest that names every tensor.

    .venv-peers/bin/python tools/models/export_mnist.py            # writes tools/models/mnist
    .venv-peers/bin/python tools/models/export_mnist.py --grad-rows 32 --out /tmp/mnist

The network is in mnist_network.py; README.md here describes manifest.json. Run `tools/peers` first:
it makes the Python environment. Nothing here is needed to build, run or test Millrace.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import pathlib
from collections.abc import Callable, Sequence

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import mnist_network as network  # noqa: E402

SCHEMA = 1
DEFAULT_OUT = pathlib.Path(__file__).parent / "mnist"
DTYPE_NAMES = {"float32": "f32", "int32": "i32", "uint8": "ui8", "uint32": "ui32"}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """One input or output of a program: what it is, and how shards of it are put together."""

    name: str
    role: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    combine: str | None = None

    def spec(self) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(self.shape, jnp.dtype(self.dtype))


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of flat tensors, and the names of these tensors in order."""

    name: str
    kind: str
    rows: int | None
    function: Callable[..., tuple[jax.Array, ...]]
    inputs: list[Tensor]
    outputs: list[Tensor]
    donated: tuple[int, ...] = ()


def _tensors(
    role: str, shapes: dict[str, tuple[int, ...]], combine: str | None = None
) -> list[Tensor]:
    return [Tensor(name, role, shape, combine=combine) for name, shape in shapes.items()]


PARAMS = _tensors("param", network.PARAM_SHAPES)
MOMENTUM = _tensors("momentum", network.PARAM_SHAPES)
STATE = _tensors("state", network.STATE_SHAPES)


def _images(rows: int) -> Tensor:
    return Tensor("images", "images", (rows, network.IMAGE_SIZE, network.IMAGE_SIZE), "uint8")


def _labels(rows: int) -> Tensor:
    return Tensor("labels", "labels", (rows,), "uint8")


def _named(tensors: Sequence[jax.Array], *roles: list[Tensor]) -> list[network.Tensors]:
    """Splits flat tensors into one dictionary per role."""
    result, rest = [], list(tensors)
    for role in roles:
        result.append({tensor.name: value for tensor, value in zip(role, rest, strict=False)})
        rest = rest[len(role) :]
    return result


def _flat(values: network.Tensors, order: list[Tensor]) -> tuple[jax.Array, ...]:
    return tuple(values[tensor.name] for tensor in order)


def init_program() -> Program:
    def init(seed: jax.Array) -> tuple[jax.Array, ...]:
        params, momentum, state = network.init(seed)
        return _flat(params, PARAMS) + _flat(momentum, MOMENTUM) + _flat(state, STATE)

    seed = Tensor("seed", "seed", (), "uint32")
    return Program("init", "init", None, init, [seed], PARAMS + MOMENTUM + STATE)


def grad_program(rows: int) -> Program:
    def grad(*args: jax.Array) -> tuple[jax.Array, ...]:
        params, state = _named(args, PARAMS, STATE)
        loss, grads, new_state = network.grad(params, state, args[-2], args[-1])
        return (loss,) + _flat(grads, PARAMS) + _flat(new_state, STATE)

    outputs = [Tensor("loss", "loss", (), combine="mean")]
    outputs += _tensors("grad", network.PARAM_SHAPES, "mean")
    outputs += _tensors("state", network.STATE_SHAPES, "mean")
    inputs = PARAMS + STATE + [_images(rows), _labels(rows)]
    return Program(f"grad_{rows}", "grad", rows, grad, inputs, outputs)


def update_program() -> Program:
    def update(*args: jax.Array) -> tuple[jax.Array, ...]:
        params, momentum = network.update(*_named(args, PARAMS, MOMENTUM, PARAMS))
        return _flat(params, PARAMS) + _flat(momentum, MOMENTUM)

    inputs = PARAMS + MOMENTUM + _tensors("grad", network.PARAM_SHAPES)
    donated = tuple(range(len(PARAMS) + len(MOMENTUM)))
    return Program("update", "update", None, update, inputs, PARAMS + MOMENTUM, donated)


def eval_program(rows: int) -> Program:
    def evaluate(*args: jax.Array) -> tuple[jax.Array, ...]:
        params, state = _named(args, PARAMS, STATE)
        return network.evaluate(params, state, *args[-3:])

    inputs = PARAMS + STATE + [_images(rows), _labels(rows), Tensor("rows", "rows", (), "int32")]
    outputs = [
        Tensor("correct", "correct", (), "int32", combine="sum"),
        Tensor("loss_sum", "loss_sum", (), combine="sum"),
    ]
    return Program(f"eval_{rows}", "eval", rows, evaluate, inputs, outputs)


def predict_program(rows: int) -> Program:
    def predict(*args: jax.Array) -> tuple[jax.Array, ...]:
        params, state = _named(args, PARAMS, STATE)
        return (network.predict(params, state, args[-1]),)

    log_probs = Tensor("log_probs", "log_probs", (rows, network.CLASSES), combine="concat")
    inputs = PARAMS + STATE + [_images(rows)]
    return Program(f"predict_{rows}", "predict", rows, predict, inputs, [log_probs])


def lower(program: Program) -> str:
    """The StableHLO text of a program, without source locations; checks the declared outputs."""
    program.function.__name__ = program.name
    specs = [tensor.spec() for tensor in program.inputs]
    jitted = jax.jit(program.function, donate_argnums=program.donated, keep_unused=True)
    lowered = jitted.lower(*specs)
    made = [(out.shape, out.dtype.name) for out in lowered.out_info]
    declared = [(out.shape, out.dtype) for out in program.outputs]
    if made != declared:
        raise RuntimeError(f"{program.name}: JAX makes {made}, the manifest would say {declared}")
    return lowered.as_text()


def describe(program: Program) -> dict[str, object]:
    """The manifest's entry of a program. Donated input i is aliased with output i."""

    def tensor_entry(tensor: Tensor) -> dict[str, object]:
        entry: dict[str, object] = {"name": tensor.name, "role": tensor.role}
        return entry | {"shape": list(tensor.shape), "dtype": DTYPE_NAMES[tensor.dtype]}

    inputs = [
        tensor_entry(tensor) | {"donated": position in program.donated}
        for position, tensor in enumerate(program.inputs)
    ]
    outputs = [tensor_entry(tensor) | {"combine": tensor.combine} for tensor in program.outputs]
    return {
        "name": program.name,
        "kind": program.kind,
        "rows": program.rows,
        "file": f"{program.name}.mlir",
        "inputs": inputs,
        "outputs": outputs,
    }


def model_facts() -> dict[str, object]:
    """What a program cannot say of itself: for people, logs and checks of the data."""
    return {
        "name": "mnist",
        "classes": network.CLASSES,
        "image_shape": [network.IMAGE_SIZE, network.IMAGE_SIZE],
        "parameters": sum(math.prod(shape) for shape in network.PARAM_SHAPES.values()),
        "optimizer": {
            "name": "sgd",
            "learning_rate": network.LEARNING_RATE,
            "momentum": network.MOMENTUM,
        },
        "batch_norm": {"decay": network.BATCH_NORM_DECAY, "epsilon": network.BATCH_NORM_EPSILON},
    }


def manifest_text(programs: Sequence[Program]) -> str:
    """JSON with one tensor per line, so that a change of the manifest is a readable diff."""
    manifest = {
        "schema": SCHEMA,
        "model": model_facts(),
        "made_by": {
            "jax": jax.__version__,
            "command": "tools/peers && .venv-peers/bin/python tools/models/export_mnist.py",
        },
        "programs": [describe(program) for program in programs],
    }
    return readable_json(manifest) + "\n"


def readable_json(value: object, indent: int = 0) -> str:
    """Like json.dumps with an indent, except that whatever fits on a line stays on one."""
    flat = json.dumps(value)
    if len(flat) + indent <= 120 or not isinstance(value, (dict, list)):
        return flat
    inner = "  " * (indent // 2 + 1)
    if isinstance(value, dict):
        items = [
            f"{json.dumps(key)}: {readable_json(item, indent + 2)}" for key, item in value.items()
        ]
        return (
            "{\n" + ",\n".join(inner + item for item in items) + "\n" + "  " * (indent // 2) + "}"
        )
    items = [readable_json(item, indent + 2) for item in value]
    return "[\n" + ",\n".join(inner + item for item in items) + "\n" + "  " * (indent // 2) + "]"


def all_programs(
    grad_rows: Sequence[int], eval_rows: Sequence[int], predict_rows: Sequence[int]
) -> list[Program]:
    programs = [init_program(), update_program()]
    programs += [grad_program(rows) for rows in grad_rows]
    programs += [eval_program(rows) for rows in eval_rows]
    programs += [predict_program(rows) for rows in predict_rows]
    return programs


def export(out: pathlib.Path, programs: Sequence[Program]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for program in programs:
        (out / f"{program.name}.mlir").write_text(lower(program))
    (out / "manifest.json").write_text(manifest_text(programs))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=DEFAULT_OUT)
    parser.add_argument("--grad-rows", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--eval-rows", type=int, nargs="+", default=[128])
    parser.add_argument("--predict-rows", type=int, nargs="+", default=[1, 4, 16, 64])
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    programs = all_programs(args.grad_rows, args.eval_rows, args.predict_rows)
    export(args.out, programs)
    print(f"{len(programs)} programs and manifest.json in {args.out}")


if __name__ == "__main__":
    main()
