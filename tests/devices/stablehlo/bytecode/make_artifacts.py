#!/usr/bin/env python3
"""Makes portable artifacts of StableHLO programs with JAX's own writer, for read_artifacts_test.

usage: make_artifacts.py OUT VERSION... -- PROGRAM.mlir...

For each program and version: OUT/VERSION/NAME.mlir.bc, as a PJRT client sends it, and
OUT/VERSION/NAME.mlir, the text that JAX's reader makes of these bytes. A program with something
that a version does not have is left out of that version. Prints how many of both there are.
"""
import pathlib
import sys


def make(program, out, versions):
    from jax._src.lib import _jax
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        try:
            module = str(ir.Module.parse(program.read_text()))
        except Exception as error:  # what another version of JAX wrote
            return [(program, "", str(error).splitlines()[0])]
        missing = []
        for version in versions:
            try:
                artifact = _jax.mlir.serialize_portable_artifact(module, version)
            except Exception as error:
                missing.append((program, version, str(error).splitlines()[0]))
                continue
            folder = out / version
            folder.mkdir(parents=True, exist_ok=True)
            text = _jax.mlir.deserialize_portable_artifact(artifact)
            if not isinstance(text, str):
                text = str(text)
            (folder / (program.stem + ".mlir.bc")).write_bytes(artifact)
            (folder / (program.stem + ".mlir")).write_text(text)
        return missing


def main():
    split = sys.argv.index("--")
    out, versions = pathlib.Path(sys.argv[1]), sys.argv[2:split]
    programs = [pathlib.Path(p) for p in sys.argv[split + 1:]]
    missing = []
    for program in programs:
        missing += make(program, out, versions)
    made = len(list(out.glob("*/*.mlir.bc")))
    print(f"{made} artifacts of {len(programs)} programs, {len(missing)} left out")
    for program, version, why in missing[:10]:
        print(f"  {program.name} {version}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
