"""The small convolutional network of the demo, as pure JAX functions.

conv 5x5 to 10 channels, max-pool 2, relu, batch norm; conv 5x5 to 20 channels, max-pool 2, relu,
batch norm; dense 320 to 50, relu, dense 50 to 10, log-softmax; SGD with momentum.

Activations are NHWC and weights HWIO, the layout the CPU device prefers. The functions use `lax`
where a `jax.numpy` helper would put a call of a private function into the exported text: what is
exported is one flat function per program. export_mnist.py turns these into StableHLO.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

Tensors = dict[str, jax.Array]

CLASSES = 10
IMAGE_SIZE = 28
LEARNING_RATE = 0.05
MOMENTUM = 0.9
BATCH_NORM_DECAY = 0.9
BATCH_NORM_EPSILON = 1e-5
# Mean and standard deviation of the 60,000 training images of Fashion-MNIST, of pixels in [0, 1].
PIXEL_MEAN = 0.2860
PIXEL_STD = 0.3530

PARAM_SHAPES: dict[str, tuple[int, ...]] = {
    "conv1.weight": (5, 5, 1, 10),
    "conv1.bias": (10,),
    "bn1.scale": (10,),
    "bn1.bias": (10,),
    "conv2.weight": (5, 5, 10, 20),
    "conv2.bias": (20,),
    "bn2.scale": (20,),
    "bn2.bias": (20,),
    "fc1.weight": (320, 50),
    "fc1.bias": (50,),
    "fc2.weight": (50, 10),
    "fc2.bias": (10,),
}
STATE_SHAPES: dict[str, tuple[int, ...]] = {
    "bn1.mean": (10,),
    "bn1.var": (10,),
    "bn2.mean": (20,),
    "bn2.var": (20,),
}


def init(seed: jax.Array) -> tuple[Tensors, Tensors, Tensors]:
    """Parameters, zero momentum and batch-norm state from a ui32 seed.

    Weights and biases are uniform within 1/sqrt(fan_in), which is kaiming-uniform with a = sqrt(5),
    PyTorch's default for these layers. Element i of all parameters together is made from word 0 of
    Threefry-2x32 with the key (seed, 0) and the counter (i, 0).
    """
    total = sum(math.prod(shape) for shape in PARAM_SHAPES.values())
    counter = lax.iota(jnp.uint32, total)
    bits, _ = threefry2x32((seed, jnp.uint32(0)), (counter, jnp.zeros_like(counter)))
    # The upper 24 bits, which f32 holds exactly, as a fraction in [0, 1).
    unit = lax.shift_right_logical(bits, jnp.full_like(bits, 8)).astype(jnp.float32) / (1 << 24)
    params: Tensors = {}
    offset = 0
    for name, shape in PARAM_SHAPES.items():
        size = math.prod(shape)
        params[name] = _init_param(name, lax.reshape(unit[offset : offset + size], shape))
        offset += size
    momentum = {name: jnp.zeros(shape, jnp.float32) for name, shape in PARAM_SHAPES.items()}
    state = {
        name: (jnp.ones if name.endswith(".var") else jnp.zeros)(shape, jnp.float32)
        for name, shape in STATE_SHAPES.items()
    }
    return params, momentum, state


def _init_param(name: str, unit: jax.Array) -> jax.Array:
    layer, kind = name.split(".")
    if layer.startswith("bn"):
        return (jnp.ones if kind == "scale" else jnp.zeros)(unit.shape, jnp.float32)
    bound = 1.0 / math.sqrt(math.prod(PARAM_SHAPES[f"{layer}.weight"][:-1]))
    return unit * jnp.float32(2.0 * bound) - jnp.float32(bound)


def threefry2x32(
    key: tuple[jax.Array, jax.Array], counter: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    """Threefry-2x32, 20 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3; 2011).

    Written out rather than taken from jax.random, whose lowering depends on the platform and
    brings loops, private functions and 64-bit integers into the program.
    """
    keys = (key[0], key[1], key[0] ^ key[1] ^ jnp.uint32(0x1BD11BDA))
    x0, x1 = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x0 = x0 + x1
            left = lax.shift_left(x1, jnp.full_like(x1, rotation))
            right = lax.shift_right_logical(x1, jnp.full_like(x1, 32 - rotation))
            x1 = (left | right) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + (keys[(group + 2) % 3] + jnp.uint32(group + 1))
    return x0, x1


def forward(
    params: Tensors, state: Tensors, images: jax.Array, train: bool
) -> tuple[jax.Array, Tensors]:
    """Log-probabilities [rows, 10] of ui8 images [rows, 28, 28], and the new batch-norm state.

    Training normalises by the statistics of the batch and moves the running ones; otherwise the
    running ones are used, so that the result of a row does not depend on the other rows.
    """
    rows = images.shape[0]
    new_state: Tensors = {}
    x = images.astype(jnp.float32) * (1.0 / (255.0 * PIXEL_STD)) - PIXEL_MEAN / PIXEL_STD
    x = lax.reshape(x, (rows, IMAGE_SIZE, IMAGE_SIZE, 1))
    for index in (1, 2):
        x = _conv(x, params[f"conv{index}.weight"]) + params[f"conv{index}.bias"]
        x = _relu(_max_pool(x))
        x = _batch_norm(x, f"bn{index}", params, state, new_state, train)
    x = lax.reshape(x, (rows, math.prod(x.shape[1:])))
    x = _relu(lax.dot(x, params["fc1.weight"]) + params["fc1.bias"])
    x = lax.dot(x, params["fc2.weight"]) + params["fc2.bias"]
    return _log_softmax(x), new_state


def _conv(x: jax.Array, weight: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(
        x,
        weight,
        window_strides=(1, 1),
        padding="VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )


def _max_pool(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _relu(x: jax.Array) -> jax.Array:
    """A select, since JAX halves the gradient of a maximum where both sides are equal."""
    zero = jnp.zeros_like(x)
    return lax.select(x > zero, x, zero)


def _batch_norm(
    x: jax.Array, name: str, params: Tensors, state: Tensors, new_state: Tensors, train: bool
) -> jax.Array:
    """Normalises over all axes but the last; the variance is the biased one, also in the state."""
    if train:
        count = math.prod(x.shape[:-1])
        mean = jnp.sum(x, axis=(0, 1, 2)) / count
        centred = x - mean
        var = jnp.sum(centred * centred, axis=(0, 1, 2)) / count
        new_state[f"{name}.mean"] = _running(state[f"{name}.mean"], mean)
        new_state[f"{name}.var"] = _running(state[f"{name}.var"], var)
    else:
        centred = x - state[f"{name}.mean"]
        var = state[f"{name}.var"]
    gain = lax.rsqrt(var + BATCH_NORM_EPSILON) * params[f"{name}.scale"]
    return centred * gain + params[f"{name}.bias"]


def _running(old: jax.Array, new: jax.Array) -> jax.Array:
    return BATCH_NORM_DECAY * old + (1.0 - BATCH_NORM_DECAY) * new


def _log_softmax(x: jax.Array) -> jax.Array:
    shifted = x - jnp.max(lax.stop_gradient(x), axis=1, keepdims=True)
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=1, keepdims=True))


def _negative_log_likelihood(log_probs: jax.Array, labels: jax.Array) -> jax.Array:
    """Per row; a label that names no class gives 0 (the reader of the labels must refuse it)."""
    hit = lax.broadcasted_iota(jnp.int32, log_probs.shape, 1) == labels.astype(jnp.int32)[:, None]
    return -jnp.sum(lax.select(hit, log_probs, jnp.zeros_like(log_probs)), axis=1)


def grad(
    params: Tensors, state: Tensors, images: jax.Array, labels: jax.Array
) -> tuple[jax.Array, Tensors, Tensors]:
    """Mean loss of the rows, its gradients, and the new batch-norm state."""

    def loss(params: Tensors) -> tuple[jax.Array, Tensors]:
        log_probs, new_state = forward(params, state, images, train=True)
        return jnp.sum(_negative_log_likelihood(log_probs, labels)) / images.shape[0], new_state

    (value, new_state), grads = jax.value_and_grad(loss, has_aux=True)(params)
    return value, grads, new_state


def update(params: Tensors, momentum: Tensors, grads: Tensors) -> tuple[Tensors, Tensors]:
    """One step of SGD with momentum: m = 0.9 m + g, p = p - 0.05 m."""
    new_momentum = {name: MOMENTUM * momentum[name] + grads[name] for name in params}
    new_params = {name: params[name] - LEARNING_RATE * new_momentum[name] for name in params}
    return new_params, new_momentum


def evaluate(
    params: Tensors, state: Tensors, images: jax.Array, labels: jax.Array, rows: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Correct predictions and sum of the loss over the first `rows` rows; the others do not count.

    The prediction is the first class of highest probability; a row with a NaN is never correct.
    """
    log_probs, _ = forward(params, state, images, train=False)
    classes = lax.broadcasted_iota(jnp.int32, log_probs.shape, 1)
    best = log_probs == jnp.max(log_probs, axis=1, keepdims=True)
    predicted = jnp.min(lax.select(best, classes, jnp.full_like(classes, CLASSES)), axis=1)
    valid = lax.broadcasted_iota(jnp.int32, labels.shape, 0) < rows
    correct = (predicted == labels.astype(jnp.int32)) & valid
    loss = _negative_log_likelihood(log_probs, labels)
    loss_sum = jnp.sum(lax.select(valid, loss, jnp.zeros_like(loss)))
    return jnp.sum(correct.astype(jnp.int32)), loss_sum


def predict(params: Tensors, state: Tensors, images: jax.Array) -> jax.Array:
    """Log-probabilities [rows, 10]."""
    return forward(params, state, images, train=False)[0]
