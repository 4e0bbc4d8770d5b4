#!/usr/bin/env python3
"""Exports training steps that are larger than the demo's: ResNet-18 and a small decoder.

    .venv-peers/bin/python tools/models/export_steps.py     # tools/models/{resnet18,decoder}/*.mlir

Two programs each, as StableHLO text: init(seed) gives the tensors, step(tensors..., batch...) gives
the loss and the tensors after the step; the tensors are donated. No weights are in the files.
"""

from __future__ import annotations

import argparse
import os
import pathlib
from types import ModuleType

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import decoder_network  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import resnet_network  # noqa: E402

MODELS = {"resnet18": resnet_network, "decoder": decoder_network}


def programs(network: ModuleType) -> dict[str, jax.stages.Lowered]:
    seed = jax.ShapeDtypeStruct((), jnp.uint32)
    tensors = jax.eval_shape(network.init, seed)
    donated = tuple(range(len(tensors)))
    return {
        "init": jax.jit(network.init).lower(seed),
        "step": jax.jit(network.step, donate_argnums=donated).lower(*tensors, *network.batch()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    args = parser.parse_args()
    for name, network in MODELS.items():
        folder = args.out / name
        folder.mkdir(parents=True, exist_ok=True)
        for program, lowered in programs(network).items():
            (folder / f"{program}.mlir").write_text(lowered.as_text())
            print(folder / f"{program}.mlir")


if __name__ == "__main__":
    main()
