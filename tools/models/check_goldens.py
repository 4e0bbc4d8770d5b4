#!/usr/bin/env python3
"""Makes the exported programs and golden values again and compares them with the committed ones.

    tools/peers && .venv-peers/bin/python tools/models/check_goldens.py

Programs must be the same text; golden values may differ by rounding, since another processor or
number of threads adds in another order. Exits 1 and names every difference.
"""

from __future__ import annotations

import json
import pathlib
import sys

import export_mnist as export
import golden_mnist as golden
import numpy as np

TOLERANCE = 1e-5


def program_differences(folder: pathlib.Path) -> list[str]:
    manifest_path = folder / "manifest.json"
    manifest = json.loads(manifest_path.read_text())
    rows: dict[str, list[int]] = {"grad": [], "eval": [], "predict": []}
    for entry in manifest["programs"]:
        if entry["kind"] in rows:
            rows[entry["kind"]].append(entry["rows"])
    programs = export.all_programs(rows["grad"], rows["eval"], rows["predict"])
    expected = {folder / f"{program.name}.mlir": export.lower(program) for program in programs}
    expected[manifest_path] = export.manifest_text(programs)
    return [
        f"{path}: differs from what JAX exports now"
        for path, text in expected.items()
        if not path.exists() or path.read_text() != text
    ]


def value_differences(path: str, committed: object, made: object) -> list[str]:
    """Compares JSON values; floats to TOLERANCE, relative."""
    if isinstance(committed, dict) and isinstance(made, dict) and committed.keys() == made.keys():
        pairs = [(f"{path}.{key}", committed[key], made[key]) for key in made]
    elif isinstance(committed, list) and isinstance(made, list) and len(committed) == len(made):
        pairs = [
            (f"{path}[{i}]", *pair) for i, pair in enumerate(zip(committed, made, strict=True))
        ]
    elif isinstance(committed, float) and isinstance(made, float):
        same = abs(committed - made) <= TOLERANCE * abs(made)
        return [] if same else [f"{path}: {committed} is committed, JAX gives {made}"]
    else:
        same = committed == made
        return [] if same else [f"{path}: {committed!r} is committed, JAX gives {made!r}"]
    return [line for pair in pairs for line in value_differences(*pair)]


def tensor_differences(folder: pathlib.Path, tensors: golden.Tensors) -> list[str]:
    """Compares .npy files; the difference to TOLERANCE of the tensor's norm."""
    result = []
    for name, made in tensors.items():
        path = folder / f"{name}.npy"
        committed = np.load(path) if path.exists() else np.zeros(0, np.float32)
        if committed.shape != made.shape or committed.dtype != made.dtype:
            result.append(f"{path}: missing, or of another shape or type")
        elif np.linalg.norm(committed - made) > TOLERANCE * np.linalg.norm(made):
            result.append(f"{path}: off by {np.linalg.norm(committed - made):.3g}")
    return result


def main() -> int:
    folder = export.DEFAULT_OUT
    differences = program_differences(folder)
    scalars, folders = golden.make()
    committed = json.loads((folder / "golden" / "golden.json").read_text())
    differences += value_differences("golden.json", committed, json.loads(json.dumps(scalars)))
    for name, tensors in folders.items():
        differences += tensor_differences(folder / "golden" / name, tensors)
    for line in differences:
        print(line, file=sys.stderr)
    if not differences:
        print("programs and golden values are what JAX makes")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
