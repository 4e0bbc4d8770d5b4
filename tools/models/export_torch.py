#!/usr/bin/env python3
"""Exports a small PyTorch network through torch_xla: convolution, batch norm, GELU, attention.

    python tools/models/export_torch.py    # tools/models/torch: forward.mlir, forward.mlirbc, *.npy

Weights are arguments, so that the program stays small: inputs/N.npy is argument N, output.npy what
eager PyTorch computes. Needs torch and torch_xla 2.9.0 (PyPI, CPU only, PJRT_DEVICE=CPU); making the
files again is the only thing that does.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np
import torch
from torch_xla.stablehlo import VariableType, exported_program_to_stablehlo


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.pool = torch.nn.MaxPool2d(2)
        self.embed = torch.nn.Linear(16, 16)
        self.layer_norm = torch.nn.LayerNorm(16)
        self.attention = torch.nn.MultiheadAttention(16, 4, batch_first=True)
        self.out = torch.nn.Linear(16, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.pool(torch.nn.functional.gelu(self.norm(self.conv(images))))
        tokens = self.layer_norm(self.embed(x.reshape(x.shape[0], -1, 16)))
        mixed, _ = self.attention(tokens, tokens, tokens, need_weights=False)
        return torch.log_softmax(self.out((tokens + mixed).mean(1)), -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "torch")
    args = parser.parse_args()
    torch.manual_seed(0)
    network = Network()
    network.train()(torch.randn(16, 1, 8, 8))  # running statistics that are not 0 and 1
    network.eval()
    images = torch.randn(2, 1, 8, 8)
    module = exported_program_to_stablehlo(torch.export.export(network, (images,)))
    (args.out / "inputs").mkdir(parents=True, exist_ok=True)
    (args.out / "forward.mlir").write_text(module.get_stablehlo_text("forward"))
    (args.out / "forward.mlirbc").write_bytes(module.get_stablehlo_bytecode("forward"))
    bundle = module._bundle  # noqa: SLF001: nothing public tells the order of the arguments
    for place, where in enumerate(bundle.stablehlo_funcs[0].meta.input_locations):
        if where.type_ == VariableType.INPUT_ARG:
            value = images.numpy()
        elif where.type_ == VariableType.PARAMETER:
            value = bundle.state_dict[where.name]
        else:
            value = bundle.additional_constants[where.position]
        np.save(args.out / "inputs" / f"{place}.npy", np.asarray(value))
    with torch.no_grad():
        np.save(args.out / "output.npy", network(images).numpy())
    print(args.out)


if __name__ == "__main__":
    main()
