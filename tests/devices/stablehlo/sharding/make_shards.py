#!/usr/bin/env python3
"""Writes shards.txt, the table of what JAX says of shardings on 8 devices.

usage: .venv-peers/bin/python tests/devices/stablehlo/sharding/make_shards.py
A line: the mesh and the sharding as Shardy prints them, the shape, the bytes of OpSharding in hex ("-" if none), then
for each device its part, begin:end of each dimension.
"""

import math
import os
import pathlib
import random

os.environ["JAX_NUM_CPU_DEVICES"] = "8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

FOLDER = pathlib.Path(__file__).parent
MESHES = [((2, 4), None), ((2, 2, 2), None), ((8,), None), ((1, 8), None), ((4, 1, 2), None), ((2, 2, 2), (0, 4, 1, 5, 2, 6, 3, 7)),
          ((2, 4), (7, 6, 5, 4, 3, 2, 1, 0))]


def specs_of(names, rng):
    """Random assignments of axes to dimensions; some axes are left out, some unreduced."""
    while True:
        rank = rng.randint(0, 3)
        dims = [[] for _ in range(rank)]
        unreduced = []
        for name in rng.sample(names, len(names)):
            place = rng.randint(-2, rank - 1)
            if place >= 0:
                dims[place].append(name)
            elif place == -2 and rng.random() < 0.3:
                unreduced.append(name)
        yield dims, [name for name in names if name in unreduced]


def line_of(sizes, ids, dims, unreduced, rng):
    names = "abc"[: len(sizes)]
    devices = np.array(jax.devices()) if ids is None else np.array(jax.devices())[list(ids)]
    mesh = Mesh(devices.reshape(sizes), tuple(names), axis_types=(AxisType.Explicit,) * len(sizes))
    sharding = NamedSharding(mesh, P(*(tuple(d) if d else None for d in dims), unreduced=set(unreduced)))
    shape = [math.prod(dict(zip(names, sizes))[n] for n in d) * rng.choice((1, 3)) for d in dims]
    told = NamedSharding(Mesh(np.array(jax.devices()).reshape(sizes), mesh.axis_names, axis_types=mesh.axis_types),
                         sharding.spec)._to_xla_hlo_sharding(len(dims))
    message = told.to_proto()
    if ids is not None and told.is_tiled():
        # JAX has no order of devices in a mesh of a program: the same, with each device by its number.
        message.tile_assignment_devices = [ids[i] for i in told.tile_assignment_devices()]
        message.iota_reshape_dims = message.iota_transpose_perm = []
    message = message.SerializeToString().hex() or "-"
    parts = []
    cut = NamedSharding(mesh, P(*sharding.spec.partitions))
    where = cut.devices_indices_map(tuple(shape))
    for device in jax.devices():
        parts.append(",".join(f"{s.indices(n)[0]}:{s.indices(n)[1]}" for s, n in zip(where[device], shape)) or ".")
    axes = ", ".join(f'"{n}"={s}' for n, s in zip(names, sizes))
    text = "<mesh<[" + axes + "]" + (f", device_ids={list(ids)}" if ids else "") + ">, ["
    text += ", ".join("{" + ", ".join(f'"{n}"' for n in d) + "}" for d in dims) + "]"
    if unreduced:
        text += ", unreduced={" + ", ".join(f'"{n}"' for n in unreduced) + "}"
    text += ">"
    return "\t".join([text, "x".join(map(str, shape)) or "scalar", message, " ".join(parts)])


def main():
    rng = random.Random(7)
    lines = []
    for sizes, ids in MESHES:
        found = specs_of(list("abc"[: len(sizes)]), rng)
        wanted = 24 if len(sizes) == 3 else 12
        mine = []
        while len(mine) < wanted:
            line = line_of(sizes, ids, *next(found), rng)
            if line not in mine or len(sizes) == 1:
                mine.append(line)
        lines += dict.fromkeys(mine)
    (FOLDER / "shards.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
