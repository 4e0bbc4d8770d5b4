#!/usr/bin/env python3
"""The peers of idx_images.cc: an epoch of Fashion-MNIST by PyTorch's DataLoader or by SPDL.

    .venv-peers/bin/python bench/peers_loader.py torch|spdl FOLDER

Each line on stdin is answered with the images per second of shuffled epochs (the median of three), in
batches of 128 tensors. The files are read and inflated before the first. Both get what makes them fast on arrays in
memory: a batch is fetched by one index operation, not image by image; of several numbers of workers
(DataLoader) and threads (SPDL) the best of a first epoch each is taken, which is printed to stderr.
"""

from __future__ import annotations

import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import peers_mnist
import torch

BATCH = 128
EPOCHS = 3  # of an answer


class Images(torch.utils.data.Dataset):
    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        self.images = torch.from_numpy(images.copy())
        self.labels = torch.from_numpy(labels.copy())

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.images[index], self.labels[index]

    def __getitems__(self, indices: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        return self.images[indices], self.labels[indices]


def torch_epochs(data: Images, workers: int) -> Callable[[], int]:
    loader = torch.utils.data.DataLoader(
        data,
        batch_size=BATCH,
        shuffle=True,
        num_workers=workers,
        persistent_workers=workers > 0,
        collate_fn=lambda batch: batch,
    )

    def epoch() -> int:
        return sum(len(labels) for _, labels in loader)

    return epoch


def spdl_epochs(data: Images, threads: int) -> Callable[[], int]:
    from spdl.pipeline import PipelineBuilder

    def batches() -> Iterator[torch.Tensor]:
        yield from torch.randperm(len(data)).split(BATCH)

    def fetch(indices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return data.images[indices], data.labels[indices]

    def epoch() -> int:
        builder = PipelineBuilder().add_source(batches()).pipe(fetch, concurrency=threads)
        pipeline = builder.add_sink(4).build(num_threads=threads)
        with pipeline.auto_stop():
            return sum(len(labels) for _, labels in pipeline.get_iterator())

    return epoch


def images_per_second(epoch: Callable[[], int]) -> float:
    start = time.perf_counter()
    images = epoch()
    return images / (time.perf_counter() - start)


def main() -> None:
    peer, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    torch.set_num_threads(1)  # batches are small: a team per batch would only cost
    names = [f"train-{name}.gz" for name in peers_mnist.IDX_NAMES]
    data = Images(*(peers_mnist.read_idx(folder / name) for name in names))
    make, choices = (torch_epochs, (0, 1, 2)) if peer == "torch" else (spdl_epochs, (1, 2))
    best, best_rate = None, 0.0
    for choice in choices:
        epoch = make(data, choice)
        epoch()  # workers start
        rate = images_per_second(epoch)
        print(f"peers_loader: {peer} with {choice}: {rate:.0f} images/s", file=sys.stderr)
        if rate > best_rate:
            best, best_rate = epoch, rate
    assert best is not None
    for _ in sys.stdin:
        print(statistics.median(images_per_second(best) for _ in range(EPOCHS)), flush=True)


if __name__ == "__main__":
    main()
