"""Labelled images made by an integer formula, the same on every machine and in every language.

    mix(x)            the 32-bit finaliser of MurmurHash3: x ^= x >> 16, x *= 0x85EBCA6B,
                      x ^= x >> 13, x *= 0xC2B2AE35, x ^= x >> 16, all modulo 2^32
    class(i)          mix(i) % 10
    label(i)          (mix(i) / 1024) % 10 where (mix(i) / 65536) % 8 == 0, otherwise class(i)
    pattern(c, y, x)  mix(0x10000000 + c * 49 + (y / 4) * 7 + x / 4) % 64
    noise(i, y, x)    mix(0x20000000 + i * 784 + y * 28 + x) % 192
    pixel(i, y, x)    pattern(class(i), y, x) + noise(i, y, x)

One label in nine is wrong on purpose: the loss falls but not towards zero, where a comparison of
relative errors would mean nothing.
README.md here repeats the formula for the C++ side.
"""

from __future__ import annotations

import numpy as np

SIZE = 28


def mix(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(13)
    x *= np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def make(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Images ui8 [count, 28, 28] and labels ui8 [count] of the indices first, first + 1, ..."""
    index = np.arange(first, first + count, dtype=np.uint32)
    hashed = mix(index)
    classes = hashed % np.uint32(10)
    labels = np.where((hashed >> 16) % 8 == 0, (hashed >> 10) % 10, classes)
    y, x = np.indices((SIZE, SIZE), dtype=np.uint32)
    block = (y // 4) * 7 + x // 4
    pattern = mix(np.uint32(0x10000000) + classes[:, None, None] * np.uint32(49) + block) % 64
    place = index[:, None, None] * np.uint32(SIZE * SIZE) + y * SIZE + x
    noise = mix(np.uint32(0x20000000) + place) % 192
    return (pattern + noise).astype(np.uint8), labels.astype(np.uint8)
