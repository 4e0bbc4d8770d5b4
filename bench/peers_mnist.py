#!/usr/bin/env python3
"""What JAX and PyTorch make of the demo's network on this machine: time per step, and accuracy.

    tools/peers --torch && .venv-peers/bin/python bench/peers_mnist.py            # ms per step
    .venv-peers/bin/python bench/peers_mnist.py --accuracy                        # of JAX, 3 epochs

A step is forward, backward and update at batch 128. Every measurement is a process of its own,
bound to its cores before the library starts: that is why libraries are imported inside functions.
Words go to stderr, the last line on stdout is JSON. train.cc asks workers itself, with --serve: each
line on stdin is answered with the median of the next steps.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools" / "models"))

import generated_images  # noqa: E402

BATCH = 128
IDX_NAMES = ("images-idx3-ubyte", "labels-idx1-ubyte")
WARM_UP = 5
PEERS = {
    "jax": "JAX, one program per step",
    "jax-split": "JAX, grad and update as the exported programs",
    "torch": "PyTorch, eager",
}
DDP = "torch-ddp"  # two processes of PyTorch's DistributedDataParallel, each with half of the batch
DDP_RANKS = 2


def measure(step: Callable[[], None], repeat: int) -> dict[str, float]:
    """Milliseconds of `step`, which returns when its work is done."""
    start = time.perf_counter()
    step()
    first = time.perf_counter() - start
    for _ in range(WARM_UP):
        step()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1e3)
    return {
        "first_ms": round(first * 1e3, 1),
        "best_ms": round(min(times), 2),
        "median_ms": round(statistics.median(times), 3),
        "worst_ms": round(max(times), 2),
    }


def whole(params, momentum, state, images, labels):  # type: ignore[no-untyped-def]
    """A step as one function: the loss, and what comes after the step."""
    import mnist_network as network

    loss, grads, state = network.grad(params, state, images, labels)
    return (loss, *network.update(params, momentum, grads), state)


def jax_step(split: bool) -> Callable[[], None]:
    import jax
    import jax.numpy as jnp
    import mnist_network as network

    params, momentum, state = jax.jit(network.init)(jnp.uint32(1))
    images, labels = generated_images.make(0, BATCH)
    grad = jax.jit(network.grad)
    update = jax.jit(network.update, donate_argnums=(0, 1))

    whole_step = jax.jit(whole, donate_argnums=(0, 1, 2))

    def step() -> None:
        nonlocal params, momentum, state
        if split:
            loss, grads, state = grad(params, state, images, labels)
            params, momentum = update(params, momentum, grads)
        else:
            loss, params, momentum, state = whole_step(params, momentum, state, images, labels)
        jax.block_until_ready((params, momentum, state, loss))

    return step


def torch_step(threads: int, rank: int = 0, ranks: int = 1) -> Callable[[], None]:
    """Rank's share of a step; the other ranks are processes of its own, where there are any."""
    import mnist_network as network
    import torch
    from torch import nn

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model: nn.Module = nn.Sequential(
        nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(10),
        nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(20),
        nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10), nn.LogSoftmax(1),
    )  # fmt: skip
    if ranks > 1:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=network.LEARNING_RATE, momentum=network.MOMENTUM
    )
    rows = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    images, labels = (torch.from_numpy(array[rows]) for array in generated_images.make(0, BATCH))

    def step() -> None:
        optimizer.zero_grad()
        x = images.float()[:, None] / (255 * network.PIXEL_STD)
        x = x - network.PIXEL_MEAN / network.PIXEL_STD
        nn.functional.nll_loss(model(x), labels.long()).backward()
        optimizer.step()

    return step


def ddp_rank(rank: int, threads: int, repeat: int, meeting: str) -> None:
    """Rank 0 answers each line on stdin with its median step; the others step when it does."""
    import torch
    from torch import distributed

    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    distributed.init_process_group(
        "gloo", init_method="file://" + meeting, rank=rank, world_size=DDP_RANKS
    )
    step = torch_step(threads, rank, DDP_RANKS)
    goes_on = torch.ones(1)
    while True:
        if rank == 0:
            goes_on[0] = 1 if sys.stdin.readline() else 0
        distributed.broadcast(goes_on, 0)
        if goes_on[0] == 0:
            break
        measured = measure(step, repeat)
        if rank == 0:
            print(measured["median_ms"], flush=True)
    distributed.destroy_process_group()


def ddp(threads: int, repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = ["--worker", DDP, "--threads", str(threads), "--repeat", str(repeat)]
        words += ["--meeting", folder + "/meeting", "--serve"]
        others = [
            subprocess.Popen(
                [sys.executable, __file__, *words, "--rank", str(rank)], stdin=subprocess.DEVNULL
            )
            for rank in range(1, DDP_RANKS)
        ]
        ddp_rank(0, threads, repeat, folder + "/meeting")
        for other in others:
            other.wait()


def worker(peer: str, threads: int, repeat: int, serve: bool) -> None:
    """Binds this process to its cores, then measures and prints one line of JSON."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    step = torch_step(threads) if peer == "torch" else jax_step(peer == "jax-split")
    if serve:
        for _ in sys.stdin:
            print(measure(step, repeat)["median_ms"], flush=True)
    else:
        print(json.dumps(measure(step, repeat)))


def run_worker(peer: str, threads: int, repeat: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--worker", peer, "--threads", str(threads)]
    command += ["--repeat", str(repeat)]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(made.stdout.splitlines()[-1])


def compare(threads: list[int], repeat: int) -> None:
    results = []
    for peer, words in PEERS.items():
        if importlib.util.find_spec(peer.split("-")[0]) is None:
            print(f"{words}: not installed, left out (tools/peers --torch)", file=sys.stderr)
            continue
        for count in threads:
            figures = run_worker(peer, count, repeat)
            results.append({"peer": peer, "threads": count} | figures)
            print(
                f"{words}, {count} thread(s): best {figures['best_ms']} ms, median "
                f"{figures['median_ms']} ms, worst {figures['worst_ms']} ms of {repeat}",
                file=sys.stderr,
            )
    print(json.dumps({"bench": "mnist_step", "batch": BATCH, "repeat": repeat, "results": results}))


def read_idx(path: pathlib.Path) -> np.ndarray:
    """A gzip file of bytes in IDX format, of any number of dimensions."""
    data = gzip.decompress(path.read_bytes())
    dimensions = data[3]
    shape = np.frombuffer(data, ">u4", dimensions, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def accuracy(folder: pathlib.Path, epochs: int, seed: int, shards: int = 2) -> None:
    """Data-parallel training as Millrace does it: equal shards, mean gradients, mean state."""
    import jax
    import jax.numpy as jnp
    import mnist_network as network

    images, labels = (read_idx(folder / f"train-{name}.gz") for name in IDX_NAMES)
    params, momentum, state = jax.jit(network.init)(jnp.uint32(seed))
    grad, update = jax.jit(network.grad), jax.jit(network.update, donate_argnums=(0, 1))
    mean = jax.jit(lambda *trees: jax.tree.map(lambda *leaves: sum(leaves) / len(leaves), *trees))
    order = np.random.default_rng(seed)
    results = []
    for epoch in range(1, epochs + 1):
        start = time.perf_counter()
        whole_batches = order.permutation(len(images))[: len(images) // BATCH * BATCH]
        for batch in whole_batches.reshape(-1, shards, BATCH // shards):
            made = [grad(params, state, images[shard], labels[shard]) for shard in batch]
            _, grads, state = mean(*made)
            params, momentum = update(params, momentum, grads)
        seconds = time.perf_counter() - start
        percent = test_accuracy(folder, params, state)
        results.append(percent)
        print(f"epoch {epoch}: {percent:.2f} %, trained in {seconds:.1f} s", file=sys.stderr)
    facts = {"bench": "mnist_accuracy", "seed": seed, "shards": shards, "percent": results}
    print(json.dumps(facts))


def test_accuracy(folder: pathlib.Path, params: object, state: object) -> float:
    import jax
    import mnist_network as network

    images, labels = (read_idx(folder / f"t10k-{name}.gz") for name in IDX_NAMES)
    evaluate, correct, batch = jax.jit(network.evaluate), 0, 1000
    for first in range(0, len(images), batch):
        part = slice(first, first + batch)
        correct += int(evaluate(params, state, images[part], labels[part], np.int32(batch))[0])
    return 100.0 * correct / len(images)


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, min(2, cores)}))
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--accuracy", action="store_true", help="train and test instead")
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", choices=[*PEERS, DDP], help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--meeting", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    args = parse_args()
    if args.worker == DDP and args.rank:
        ddp_rank(args.rank, args.threads[0], args.repeat, args.meeting)
    elif args.worker == DDP:
        ddp(args.threads[0], args.repeat)
    elif args.worker:
        worker(args.worker, args.threads[0], args.repeat, args.serve)
    elif args.accuracy:
        accuracy(args.data, args.epochs, args.seed)
    else:
        compare(args.threads, args.repeat)


if __name__ == "__main__":
    main()
