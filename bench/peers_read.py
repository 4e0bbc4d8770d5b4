#!/usr/bin/env python3
"""Milliseconds in which MLIR's own parser, as jaxlib has it, reads a program.

Each line on stdin is the path of a text; read.cc asks.
"""

from __future__ import annotations

import pathlib
import sys
import time

from jax._src.interpreters import mlir  # a context with all dialects that JAX writes
from jaxlib.mlir import ir


def main() -> None:
    for line in sys.stdin:
        text = pathlib.Path(line.strip()).read_text()
        with mlir.make_ir_context():
            start = time.perf_counter()
            ir.Module.parse(text)
            print((time.perf_counter() - start) * 1e3, flush=True)


if __name__ == "__main__":
    main()
