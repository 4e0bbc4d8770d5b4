"""A small decoder transformer (Vaswani et al., Attention is all you need, 2017; the norm in front
of each part) and a training step of it with Adam (Kingma and Ba, 2014).

The layers are one lax.scan over stacked parameters, as large models are written in JAX.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import random_tensors
from jax import lax

Tensors = dict[str, jax.Array]

ROWS, LENGTH, VOCABULARY = 8, 128, 4096
LAYERS, WIDTH, HEADS = 4, 256, 8
HIDDEN = 4 * WIDTH
LEARNING_RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8

WEIGHTS: random_tensors.Shapes = {
    "tokens": (VOCABULARY, WIDTH),
    "positions": (LENGTH, WIDTH),
    "layer.qkv": (LAYERS, WIDTH, 3 * WIDTH),
    "layer.out": (LAYERS, WIDTH, WIDTH),
    "layer.up": (LAYERS, WIDTH, HIDDEN),
    "layer.down": (LAYERS, HIDDEN, WIDTH),
    "logits": (WIDTH, VOCABULARY),
}
SCALES: random_tensors.Shapes = {
    "layer.norm1": (LAYERS, WIDTH),
    "layer.norm2": (LAYERS, WIDTH),
    "norm": (WIDTH,),
}


def init(seed: jax.Array) -> tuple[Tensors, Tensors, Tensors, jax.Array]:
    """Parameters, zero first and second moments, and the number of steps taken."""
    bounds = {name: 1 / math.sqrt(shape[-2]) for name, shape in WEIGHTS.items()}
    bounds["tokens"] = bounds["positions"] = 0.05
    params = random_tensors.uniform(seed, WEIGHTS, bounds)
    params |= {name: jnp.ones(shape, jnp.float32) for name, shape in SCALES.items()}
    zeros = {name: jnp.zeros(value.shape, jnp.float32) for name, value in params.items()}
    return params, zeros, dict(zeros), jnp.int32(0)


def _norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    mean = jnp.mean(x, -1, keepdims=True)
    var = jnp.mean(lax.square(x - mean), -1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale


def _layer(x: jax.Array, layer: Tensors) -> jax.Array:
    rows, length, _ = x.shape
    qkv = _norm(x, layer["norm1"]) @ layer["qkv"]
    q, k, v = (
        part.reshape(rows, length, HEADS, WIDTH // HEADS) for part in jnp.split(qkv, 3, axis=-1)
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(WIDTH // HEADS)
    causal = lax.broadcasted_iota(jnp.int32, (length, length), 0) >= lax.broadcasted_iota(
        jnp.int32, (length, length), 1
    )
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e30), axis=-1)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(rows, length, WIDTH)
    x = x + mixed @ layer["out"]
    return x + jax.nn.gelu(_norm(x, layer["norm2"]) @ layer["up"]) @ layer["down"]


def forward(params: Tensors, tokens: jax.Array) -> jax.Array:
    """Logits [rows, length, vocabulary] of i32 tokens [rows, length]."""
    x = params["tokens"][tokens] + params["positions"][None, : tokens.shape[1]]
    stacked = {
        name.removeprefix("layer."): value
        for name, value in params.items()
        if name.startswith("layer.")
    }
    x, _ = lax.scan(lambda x, layer: (_layer(x, layer), None), x, stacked)
    return _norm(x, params["norm"]) @ params["logits"]


def step(
    params: Tensors, first: Tensors, second: Tensors, count: jax.Array, tokens: jax.Array
) -> tuple[jax.Array, Tensors, Tensors, Tensors, jax.Array]:
    """Mean cross-entropy of each next token, tokens being i32 [rows, length + 1]."""

    def loss_of(params: Tensors) -> jax.Array:
        logits = forward(params, tokens[:, :-1])
        log_probs = jax.nn.log_softmax(logits, axis=-1)
        chosen = jnp.take_along_axis(log_probs, tokens[:, 1:, None], axis=-1)
        return -jnp.mean(chosen)

    loss, grads = jax.value_and_grad(loss_of)(params)
    count = count + 1
    time = count.astype(jnp.float32)
    rate = LEARNING_RATE * jnp.sqrt(1 - BETA2**time) / (1 - BETA1**time)
    first = {name: BETA1 * first[name] + (1 - BETA1) * grads[name] for name in params}
    second = {name: BETA2 * second[name] + (1 - BETA2) * lax.square(grads[name]) for name in params}
    params = {
        name: value - rate * first[name] / (jnp.sqrt(second[name]) + EPSILON)
        for name, value in params.items()
    }
    return loss, params, first, second, count


def batch() -> tuple[jax.ShapeDtypeStruct, ...]:
    """What a step takes beside the tensors of init."""
    return (jax.ShapeDtypeStruct((ROWS, LENGTH + 1), jnp.int32),)
