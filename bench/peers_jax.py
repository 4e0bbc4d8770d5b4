#!/usr/bin/env python3
"""Stock JAX on Millrace's plugin, or on its own CPU backend: both sides of jax.cc.

    .venv-peers/bin/python bench/peers_jax.py calls [--plugin build/lib/libmillrace_pjrt.so]

Answers each line on stdin with a number on stdout. Of `calls`: dispatch, chain (a step), put_4B, fetch_4B and
fetch_64MiB in microseconds, put_64MiB in milliseconds. Of mnist, resnet18 and transformer: step, and first, which is
a call after all caches were cleared (tracing, compiling, one step), in milliseconds. Of `several`, on as many devices as
--devices says: pmap_dispatch and all_reduce_4B in microseconds, all_reduce_64MiB in milliseconds (so many bytes on each). Of
sharded_transformer: step, of a batch that is shared out over the devices. Of `functions`: elementwise, reductions, sorting,
indexing and random, each the geometric mean of what a dozen functions or fewer take, in microseconds. result: what both
sides must agree on.
p99: of the answer before, 0 where there is none. `start` answers nothing: it imports JAX, asks for its devices, and ends.

--threads N binds the process to N cores before JAX is imported: JAX's own backend makes as many threads as the process
may use cores. The plugin does so too, and is told the number besides, by its create option.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np

from timed_calls import CALLS, CHAIN, CHAINS, LARGE, LARGE_CALLS, Calls

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools" / "models"))

RESULT_STEPS = 2
FUNCTION_CALLS = 21
STEPS = {"mnist": 20, "resnet18": 2, "transformer": 2, "sharded_transformer": 2}  # of an answer
Answers = dict[str, Callable[[], float]]


def answers_of_calls(times: Calls) -> Answers:
    import jax
    import jax.numpy as jnp

    increment = jax.jit(lambda x: x + 1)
    x = jnp.arange(4, dtype=jnp.float32)
    increment(x).block_until_ready()
    one, large = np.ones(1, np.float32), np.ones(LARGE, np.float32)
    on_device = jax.device_put(np.ones(LARGE, np.float32))
    increment(on_device).block_until_ready()

    def chain_once() -> None:
        y = x
        for _ in range(CHAIN):
            y = increment(y)
        y.block_until_ready()

    def fetch(of: jax.Array, calls: int) -> float:
        # Each array is one that the host has not seen: JAX keeps what it gave.
        fresh = [increment(of) for _ in range(calls)]
        jax.block_until_ready(fresh)
        left = iter(fresh)
        seen: list[np.ndarray] = []
        return times.median_us(lambda: seen.append(np.asarray(next(left))), calls)

    def put_large() -> float:
        return times.median_us(lambda: jax.device_put(large).block_until_ready(), LARGE_CALLS) / 1e3

    return {
        "dispatch": lambda: times.median_us(lambda: increment(x).block_until_ready()),
        "chain": lambda: times.median_us(chain_once, CHAINS) / CHAIN,
        "put_4B": lambda: times.median_us(lambda: jax.device_put(one).block_until_ready()),
        "put_64MiB": put_large,
        "fetch_4B": lambda: fetch(x[:1], CALLS),
        "fetch_64MiB": lambda: fetch(on_device, LARGE_CALLS),
        "result": lambda: float(np.asarray(increment(increment(x))).sum()),
    }


def answers_of_several(times: Calls) -> Answers:
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = jax.device_count()
    mesh = Mesh(np.array(jax.devices()), ("i",))
    parts = PartitionSpec("i")
    increment = jax.pmap(lambda x: x + 1)
    x = increment(np.arange(devices, dtype=np.float32))
    add = jax.jit(
        jax.shard_map(lambda a: jax.lax.psum(a, "i"), mesh=mesh, in_specs=parts, out_specs=PartitionSpec())
    )

    def arrays(elements: int) -> jax.Array:
        host = np.arange(devices * elements, dtype=np.float32).reshape(devices, elements)
        return jax.block_until_ready(jax.device_put(host, NamedSharding(mesh, parts)))

    one, large = arrays(1), arrays(LARGE)
    sums = [float(jnp.sum(add(one))), float(add(large)[0, -1])]
    return {
        "pmap_dispatch": lambda: times.median_us(lambda: increment(x).block_until_ready()),
        "all_reduce_4B": lambda: times.median_us(lambda: add(one).block_until_ready()),
        "all_reduce_64MiB": lambda: times.median_us(lambda: add(large).block_until_ready(), LARGE_CALLS) / 1e3,
        "result": lambda: float(np.asarray(increment(x)).sum()) + sum(sums),
    }


def functions() -> dict[str, dict[str, Callable]]:
    """What a user may call on an array of 512 x 512 numbers in (0, 1), by families.

    Kernels were mended by this list, so it shows what has become slow, and not how fast a function is that is not in it.
    """
    import jax
    import jax.numpy as jnp
    from jax import lax, nn, random
    from jax.scipy import special

    def scattered(x: jax.Array) -> jax.Array:
        return jax.ops.segment_sum(x, jnp.arange(len(x)) % 16, 16)

    def ids(x: jax.Array) -> jax.Array:
        return (x[0] * 100).astype(jnp.int32)

    key = random.key(0)
    return {
        "elementwise": {
            "tanh": jnp.tanh, "exp": jnp.exp, "log1p": jnp.log1p, "sqrt": jnp.sqrt, "sin": jnp.sin, "tan": jnp.tan,
            "floor": jnp.floor, "gelu": nn.gelu, "erf": special.erf, "sigmoid": nn.sigmoid, "softplus": nn.softplus,
            "power": lambda x: x**2.5, "digamma": special.digamma, "arctan2": lambda x: jnp.arctan2(x, 1 - x),
            "integers": lambda x: (x * 1000).astype(jnp.int32) // 7, "clip": lambda x: jnp.clip(x, 0.1, 0.9),
        },
        "reductions": {
            "softmax": nn.softmax, "logsumexp": nn.logsumexp, "variance": lambda x: x.var(-1),
            "argmax": lambda x: jnp.argmax(x, -1), "cumsum": lambda x: jnp.cumsum(x, 0),
            "cumprod": lambda x: jnp.cumprod(x + 0.5, 1), "gradient": jax.grad(lambda x: nn.logsumexp(x)),
        },
        "sorting": {
            "sort": jnp.sort, "argsort": jnp.argsort, "median": lambda x: jnp.median(x, 1),
            "top_k": lambda x: lax.top_k(x, 8)[0], "columns": lambda x: jnp.sort(x, 0),
        },
        "indexing": {
            "reverse": lambda x: x[jnp.arange(511, -1, -1)], "segment_sum": scattered, "transpose": lambda x: x.T + 1,
            "one_hot": lambda x: nn.one_hot(ids(x), 512), "histogram": lambda x: jnp.histogram(x, 64)[0],
            "take": lambda x: x[ids(x)],
        },
        "random": {
            "bits": lambda x: random.bits(key, x.shape) % 1000, "uniform": lambda x: random.uniform(key, x.shape),
            "normal": lambda x: random.normal(key, x.shape), "dropout": lambda x: x * random.bernoulli(key, 0.9, x.shape),
            "permutation": lambda x: random.permutation(key, x),
        },
    }


def answers_of_functions(times: Calls) -> Answers:
    import jax
    import jax.numpy as jnp

    x = jax.device_put(np.random.default_rng(1).uniform(0.01, 1, (512, 512)).astype(np.float32))
    families = {name: [jax.jit(f) for f in family.values()] for name, family in functions().items()}

    def mean_us(family: list[Callable]) -> float:
        taken = [times.median_us(lambda f=f: f(x).block_until_ready(), FUNCTION_CALLS) for f in family]
        return float(np.exp(np.log(taken).mean()))

    def result() -> float:
        return sum(float(jnp.mean(f(x).astype(jnp.float32))) for family in families.values() for f in family)

    answers: Answers = {name: lambda family=family: mean_us(family) for name, family in families.items()}
    return answers | {"result": result}


def network_of(model: str) -> tuple[ModuleType, Callable[..., tuple], list[np.ndarray]]:
    """The module, its step (tensors and batch to loss and tensors), and a batch."""
    if model == "mnist":
        import generated_images
        import mnist_network
        import peers_mnist

        return mnist_network, peers_mnist.whole, list(generated_images.make(0, peers_mnist.BATCH))
    import decoder_network
    import resnet_network
    import step_batch

    network = resnet_network if model == "resnet18" else decoder_network
    return network, network.step, step_batch.make(network.batch())


def answers_of_steps(model: str, times: Calls) -> Answers:
    import jax
    import jax.numpy as jnp

    network, function, batch = network_of(model)
    initial = jax.tree.map(np.asarray, jax.jit(network.init)(jnp.uint32(1)))
    donated = tuple(range(len(initial)))
    steps = jax.jit(function, donate_argnums=donated)
    if model == "sharded_transformer":
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(np.array(jax.devices()), ("batch",))
        tensors = jax.device_put(initial, NamedSharding(mesh, PartitionSpec()))
        batch = jax.device_put(batch, NamedSharding(mesh, PartitionSpec("batch")))
    else:
        tensors = jax.device_put(initial)
    loss = jnp.zeros(())

    def step() -> None:
        nonlocal loss, tensors
        loss, *tensors = steps(*tensors, *batch)
        jax.block_until_ready((loss, tensors))

    for _ in range(RESULT_STEPS):
        step()
    result = float(loss)

    def first() -> float:
        nonlocal steps, tensors
        jax.clear_caches()
        tensors = jax.device_put(initial)
        jax.block_until_ready(tensors)
        steps = jax.jit(function, donate_argnums=donated)
        return times.median_us(step, 1) / 1e3

    return {
        "step": lambda: times.median_us(step, STEPS[model]) / 1e3,
        "first": first,
        "result": lambda: result,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", choices=["calls", "several", "functions", "start", *STEPS])
    parser.add_argument("--plugin", help="of Millrace; left out: JAX's own CPU backend")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="0: as many as there are cores")
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if args.threads > 0:
        cores = cores[: args.threads]
        os.sched_setaffinity(0, cores)
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_NUM_CPU_DEVICES"] = str(args.devices)
    for name in ("PJRT_NAMES_AND_LIBRARY_PATHS", "JAX_PJRT_CLIENT_CREATE_OPTIONS", "XLA_FLAGS"):
        os.environ.pop(name, None)
    if args.plugin:
        os.environ["PJRT_NAMES_AND_LIBRARY_PATHS"] = f"cpu:{args.plugin}"
        os.environ["JAX_PJRT_CLIENT_CREATE_OPTIONS"] = f"threads:{len(cores)}"
    import jax

    if bool(args.plugin) != ("illrace" in jax.devices()[0].client.platform_version):
        sys.exit(f"peers_jax: JAX runs on {jax.devices()[0].client.platform_version}")
    if args.program == "start":
        return
    times = Calls()
    of_calls = {"calls": answers_of_calls, "several": answers_of_several, "functions": answers_of_functions}
    make = of_calls.get(args.program, lambda times: answers_of_steps(args.program, times))
    made = make(times)
    answers = made | {"p99": lambda: times.p99}
    for line in sys.stdin:
        print(answers[line.strip()](), flush=True)


if __name__ == "__main__":
    main()
