"""ResNet-18 (He et al., Deep residual learning for image recognition, 2015) and a training step of
it: 224x224 images, batch norm with the statistics of the batch, SGD with momentum.

Activations are NHWC and weights HWIO.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import random_tensors
from jax import lax

Tensors = dict[str, jax.Array]

ROWS, SIZE, CLASSES = 8, 224, 1000
LEARNING_RATE, MOMENTUM = 0.01, 0.9
DECAY, EPSILON = 0.9, 1e-5
# Width and stride of the first block of each stage of two blocks.
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))


def _blocks() -> list[tuple[str, int, int, int]]:
    """Name, channels in, channels out, stride."""
    blocks, channels = [], 64
    for index, (width, stride) in enumerate(STAGES, 1):
        blocks += [
            (f"stage{index}.a", channels, width, stride),
            (f"stage{index}.b", width, width, 1),
        ]
        channels = width
    return blocks


def _weights() -> random_tensors.Shapes:
    shapes: random_tensors.Shapes = {"stem.weight": (7, 7, 3, 64)}
    for name, fan_in, width, stride in _blocks():
        shapes[f"{name}.conv1.weight"] = (3, 3, fan_in, width)
        shapes[f"{name}.conv2.weight"] = (3, 3, width, width)
        if stride != 1 or fan_in != width:
            shapes[f"{name}.project.weight"] = (1, 1, fan_in, width)
    shapes["dense.weight"] = (512, CLASSES)
    return shapes


WEIGHTS = _weights()
NORMS = {name.removesuffix(".weight"): shape[-1] for name, shape in WEIGHTS.items() if len(shape) == 4}


def init(seed: jax.Array) -> tuple[Tensors, Tensors, Tensors]:
    """Parameters (kaiming-uniform, fan in), zero momentum, batch-norm state."""
    bounds = {name: math.sqrt(6 / math.prod(shape[:-1])) for name, shape in WEIGHTS.items()}
    params = random_tensors.uniform(seed, WEIGHTS, bounds)
    params["dense.bias"] = jnp.zeros(CLASSES, jnp.float32)
    state: Tensors = {}
    for name, width in NORMS.items():
        params[f"{name}.scale"] = jnp.ones(width, jnp.float32)
        params[f"{name}.bias"] = jnp.zeros(width, jnp.float32)
        state[f"{name}.mean"] = jnp.zeros(width, jnp.float32)
        state[f"{name}.var"] = jnp.ones(width, jnp.float32)
    momentum = {name: jnp.zeros(value.shape, jnp.float32) for name, value in params.items()}
    return params, momentum, state


def _conv_norm(
    params: Tensors, state: Tensors, new_state: Tensors, name: str, x: jax.Array, stride: int
) -> jax.Array:
    weight = params[f"{name}.weight"]
    pad = weight.shape[0] // 2
    x = lax.conv_general_dilated(
        x, weight, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    mean = jnp.mean(x, (0, 1, 2))
    var = jnp.mean(lax.square(x), (0, 1, 2)) - lax.square(mean)
    new_state[f"{name}.mean"] = DECAY * state[f"{name}.mean"] + (1 - DECAY) * mean
    new_state[f"{name}.var"] = DECAY * state[f"{name}.var"] + (1 - DECAY) * var
    scale = params[f"{name}.scale"] * lax.rsqrt(var + EPSILON)
    return (x - mean) * scale + params[f"{name}.bias"]


def forward(params: Tensors, state: Tensors, images: jax.Array) -> tuple[jax.Array, Tensors]:
    """Logits [rows, classes] of f32 images [rows, 224, 224, 3], and the new batch-norm state."""
    new_state: Tensors = {}

    def conv_norm(name: str, x: jax.Array, stride: int) -> jax.Array:
        return _conv_norm(params, state, new_state, name, x, stride)

    x = jnp.maximum(conv_norm("stem", images, 2), 0.0)
    x = lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))
    )
    for name, fan_in, width, stride in _blocks():
        inner = jnp.maximum(conv_norm(f"{name}.conv1", x, stride), 0.0)
        inner = conv_norm(f"{name}.conv2", inner, 1)
        if stride != 1 or fan_in != width:
            x = conv_norm(f"{name}.project", x, stride)
        x = jnp.maximum(inner + x, 0.0)
    x = jnp.mean(x, (1, 2))
    return x @ params["dense.weight"] + params["dense.bias"], new_state


def step(
    params: Tensors, momentum: Tensors, state: Tensors, images: jax.Array, labels: jax.Array
) -> tuple[jax.Array, Tensors, Tensors, Tensors]:
    """Mean cross-entropy of i32 labels [rows], and what the step makes of the first three."""

    def loss_of(params: Tensors) -> tuple[jax.Array, Tensors]:
        logits, new_state = forward(params, state, images)
        logits = logits - lax.stop_gradient(jnp.max(logits, 1, keepdims=True))
        log_probs = logits - jnp.log(jnp.sum(jnp.exp(logits), 1, keepdims=True))
        chosen = labels[:, None] == lax.broadcasted_iota(jnp.int32, log_probs.shape, 1)
        return -jnp.sum(jnp.where(chosen, log_probs, 0.0)) / labels.shape[0], new_state

    (loss, state), grads = jax.value_and_grad(loss_of, has_aux=True)(params)
    momentum = {name: MOMENTUM * value + grads[name] for name, value in momentum.items()}
    params = {name: value - LEARNING_RATE * momentum[name] for name, value in params.items()}
    return loss, params, momentum, state


def batch() -> tuple[jax.ShapeDtypeStruct, ...]:
    """What a step takes beside the tensors of init."""
    images = jax.ShapeDtypeStruct((ROWS, SIZE, SIZE, 3), jnp.float32)
    return images, jax.ShapeDtypeStruct((ROWS,), jnp.int32)
