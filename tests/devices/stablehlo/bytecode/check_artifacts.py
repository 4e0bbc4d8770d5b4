#!/usr/bin/env python3
"""Has JAX's own reader read artifacts of ours, and compares what it makes of them with expected text.

usage: check_artifacts.py OURS EXPECTED

For each OURS/**/NAME.mlir.bc, EXPECTED/**/NAME.mlir is the text; where there is none, that it reads and
verifies is all. Exit code 1 if one differs.
"""
import pathlib
import sys


def main():
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jaxlib.mlir import ir

    ours, expected = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    bad = count = 0
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        for artifact in sorted(ours.rglob("*.mlir.bc")):
            count += 1
            known = (expected / artifact.relative_to(ours)).with_suffix("")
            text = known.read_text() if known.exists() else None
            try:
                read = str(_jax.mlir.deserialize_portable_artifact(artifact.read_bytes()))
                if text is None and ir.Module.parse(read).operation.verify():
                    continue
            except Exception as error:
                read = str(error)
            text = text or "a module"
            if read == text or (known.exists() and read == str(ir.Module.parse(text))):
                continue
            bad += 1
            if bad > 10:
                continue
            lines = zip(read.splitlines(), text.splitlines())
            where = next(((a, b) for a, b in lines if a != b), ("", ""))
            print(f"{artifact.name}:\n  ours     {where[0][:300]}\n  expected {where[1][:300]}")
    print(f"{bad} of {count} artifacts are read as something else")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
