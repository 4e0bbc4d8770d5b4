#!/usr/bin/env python3
"""What jax_test.py runs on two backends. Writes what each case gives to a file: jax_cases.py FILE [NAME...]

A case is a function that gives a tree of arrays; its tolerance is relative, 0 for equal bits."""

import pickle
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np

CASES = {}


def case(tolerance):
    def add(function):
        CASES[function.__name__] = (tolerance, function)
        return function
    return add


def key(i=0):
    return jax.random.PRNGKey(i)


def normal(i, *shape):
    return jax.random.normal(key(i), shape)


@case(0)
def random_bits():
    k = key(42)
    new = jax.random.key(7)
    return {
        'bits': jax.random.bits(k, (1000,)), 'split': jax.random.split(k, 5), 'fold': jax.random.fold_in(k, 3),
        'randint': jax.random.randint(k, (100,), -50, 50), 'permutation': jax.random.permutation(k, 64),
        'choice': jax.random.choice(k, 10, (20,)), 'bernoulli': jax.random.bernoulli(k, 0.3, (64,)),
        'uniform': jax.random.uniform(k, (1000,)), 'typed': jax.random.bits(new, (16,)),
        'rbg': jax.random.bits(jax.random.key(5, impl='rbg'), (100,)),
        'u8': jax.random.bits(k, (33,), 'uint8'), 'u16': jax.random.bits(k, (33,), 'uint16'),
    }


@case(2e-5)
def random_floats():
    k = key(3)
    return {'normal': jax.random.normal(k, (1000,)), 'gumbel': jax.random.gumbel(k, (100,)),
            'gamma': jax.random.gamma(k, 2.0, (50,)), 'truncated': jax.random.truncated_normal(k, -1, 1, (100,)),
            'exponential': jax.random.exponential(k, (100,)), 'laplace': jax.random.laplace(k, (100,)),
            'categorical': jax.random.categorical(k, normal(1, 20, 7)), 'beta': jax.random.beta(k, 2., 3., (50,))}


# Functions of one array of positive numbers, with their gradients.
FUNCTIONS = {
    'exp': jnp.exp, 'log': jnp.log, 'sin': jnp.sin, 'cos': jnp.cos, 'tan': jnp.tan, 'tanh': jnp.tanh, 'sqrt': jnp.sqrt,
    'square': jnp.square, 'abs': jnp.abs, 'arctan': jnp.arctan, 'sinh': jnp.sinh, 'cosh': jnp.cosh, 'log1p': jnp.log1p,
    'expm1': jnp.expm1, 'arcsinh': jnp.arcsinh, 'cbrt': jnp.cbrt, 'sum': jnp.sum, 'mean': jnp.mean, 'prod': jnp.prod,
    'max': jnp.max, 'min': jnp.min, 'std': jnp.std, 'var': jnp.var, 'cumsum': jnp.cumsum, 'cumprod': jnp.cumprod,
    'sort': jnp.sort, 'flip': jnp.flip, 'transpose': jnp.transpose, 'roll': lambda x: jnp.roll(x, 2),
    'pad': lambda x: jnp.pad(x, 1), 'reshape': lambda x: x.reshape(-1), 'tile': lambda x: jnp.tile(x, (2, 2)),
    'where': lambda x: jnp.where(x > 1, x, -x), 'clip': lambda x: jnp.clip(x, 0.5, 1.5),
    'take': lambda x: jnp.take(x, jnp.array([0, 2, 1]), axis=0), 'dot': lambda x: x @ x.T,
    'einsum': lambda x: jnp.einsum('ij,kj->ik', x, x), 'concatenate': lambda x: jnp.concatenate([x, x * 2]),
    'stack': lambda x: jnp.stack([x, x]), 'outer': lambda x: jnp.outer(x[0], x[1]), 'power': lambda x: x ** 1.7,
    'logsumexp': lambda x: jax.scipy.special.logsumexp(x, axis=0), 'softmax': jax.nn.softmax, 'gelu': jax.nn.gelu,
    'relu': jax.nn.relu, 'sigmoid': jax.nn.sigmoid, 'diagonal': lambda x: jnp.diagonal(x), 'tril': jnp.tril,
    'convolve': lambda x: jnp.convolve(x[0], x[1]), 'interp': lambda x: jnp.interp(x, jnp.arange(4.), jnp.arange(4.) ** 2),
    'gammaln': jax.scipy.special.gammaln, 'erf': jax.scipy.special.erf, 'digamma': jax.scipy.special.digamma,
}


@case(3e-5)
def functions_and_gradients():
    x = jnp.abs(normal(11, 5, 5)) + 0.3
    out = {}
    for name, f in FUNCTIONS.items():
        out[name] = jax.jit(f)(x)
        out['grad ' + name] = jax.jit(jax.grad(lambda x, f=f: jnp.sum(jnp.sin(f(x)))))(x)
    return out


@case(0)
def integers():
    x = jnp.arange(-20, 20, dtype=jnp.int32)
    a = jnp.array([[3, 1], [2, 7]], dtype=jnp.int8)
    return {'floor': x // 7, 'mod': x % 7, 'shift': x << 2, 'bits': x & 12, 'xor': x ^ 5, 'sort': jnp.sort(-x),
            'argsort': jnp.argsort(x % 7), 'unique': jnp.unique(x % 5), 'searchsorted': jnp.searchsorted(x, 3),
            'bincount': jnp.bincount(jnp.abs(x), length=25), 'nonzero': jnp.nonzero(x % 3 == 0)[0],
            'dot': a @ a, 'u8': x.astype(jnp.uint8), 'bool': x > 3, 'int4': x.astype(jnp.int4).astype(jnp.int32),
            'empty': jnp.zeros((0, 3), jnp.int32), 'scalar': jnp.int32(5) + 1}


@case(2e-4)
def linear_algebra():
    a = normal(1, 6, 6)
    s = a @ a.T + 6 * jnp.eye(6)
    b = normal(2, 6, 3)
    w, v = jnp.linalg.eigh(s)
    u, d, vt = jnp.linalg.svd(a)
    q, r = jnp.linalg.qr(a)
    lu, piv = jax.scipy.linalg.lu_factor(a)
    return {'cholesky': jnp.linalg.cholesky(s), 'solve': jnp.linalg.solve(s, b), 'inv': jnp.linalg.inv(s),
            'det': jnp.linalg.det(a), 'slogdet': jnp.linalg.slogdet(a), 'eigh': w, 'eigh back': (v * w) @ v.T,
            'svd': d, 'svd back': (u * d) @ vt, 'qr back': q @ r, 'triangular': jax.scipy.linalg.solve_triangular(r, b),
            'lu': lu, 'pivots': piv, 'expm': jax.scipy.linalg.expm(a * 0.1), 'lstsq': jnp.linalg.lstsq(a, b)[0],
            'pinv': jnp.linalg.pinv(a), 'eig': jnp.sort(jnp.abs(jnp.linalg.eigvals(a))),
            'norm': jnp.linalg.norm(a), 'fft': jnp.fft.fft(a[0]), 'rfft': jnp.fft.rfft2(a), 'ifft': jnp.fft.ifft(a[0]),
            'grad cholesky': jax.grad(lambda s: jnp.sum(jnp.linalg.cholesky(s)))(s),
            'grad eigh': jax.grad(lambda s: jnp.sum(jnp.linalg.eigh(s)[0] ** 2))(s)}


@case(1e-5)
def sparse_products():
    from jax.experimental import sparse
    out = {}
    for name, dtype in (('f32', jnp.float32), ('c64', jnp.complex64), ('s32', jnp.int32)):
        dense = jnp.where(normal(51, 20, 13) > 0.7, jnp.round(normal(52, 20, 13) * 8), 0).astype(dtype)
        matrix, vector = jnp.round(normal(53, 13, 6) * 8).astype(dtype), jnp.arange(13).astype(dtype)
        compressed = sparse.BCSR.fromdense(dense)
        padded = sparse.BCSR.fromdense(dense, nse=int((dense != 0).sum()) + 5)
        out[name] = [compressed @ vector, compressed @ matrix, padded @ matrix, jax.jit(lambda a, b: a @ b)(compressed, matrix)]
        out[name + ' rows'] = [sparse.CSR.fromdense(dense) @ vector, sparse.CSR.fromdense(dense) @ matrix,
                               sparse.CSR.fromdense(dense).T @ jnp.ones((20, 3), dtype)]
    batch = jnp.where(normal(54, 3, 8, 7) > 0.5, normal(55, 3, 8, 7), 0)
    out['batch'] = sparse.bcsr_dot_general(sparse.BCSR.fromdense(batch, n_batch=1), normal(56, 3, 7, 5),
                                           dimension_numbers=(((2,), (1,)), ((0,), (0,))))
    return out


@case(1e-5)
def control_flow():
    def body(carry, x):
        return carry * 0.9 + x, carry
    xs = normal(5, 20, 3)
    return {'scan': jax.lax.scan(body, jnp.zeros(3), xs),
            'grad scan': jax.grad(lambda xs: jax.lax.scan(body, jnp.zeros(3), xs)[0].sum())(xs),
            'while': jax.lax.while_loop(lambda s: s[0] < 100, lambda s: (s[0] + 7, s[1] * 1.1), (0, 1.0)),
            'fori': jax.lax.fori_loop(0, 10, lambda i, x: x + i, 0),
            'cond': jax.lax.cond(xs[0, 0] > 0, lambda x: x + 1, lambda x: x - 1, xs),
            'switch': jax.lax.switch(1, [jnp.sin, jnp.cos, jnp.tan], xs),
            'map': jax.lax.map(lambda x: x.sum(), xs), 'vmap': jax.vmap(lambda x: jnp.outer(x, x))(xs),
            'vmap grad': jax.vmap(jax.grad(lambda x: (x ** 3).sum()))(xs),
            'jacobian': jax.jacfwd(lambda x: jnp.sin(x) * x[0])(xs[0]), 'hessian': jax.hessian(lambda x: (x ** 3).sum())(xs[0]),
            'associative': jax.lax.associative_scan(jnp.add, xs), 'remat': jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum()))(xs)}


@case(2e-4)
def mnist_training():
    """A convolutional net with momentum, 20 donated steps."""
    k = jax.random.split(key(0), 4)
    params = {'c1': jax.random.normal(k[0], (3, 3, 1, 8)) * 0.2, 'c2': jax.random.normal(k[1], (3, 3, 8, 16)) * 0.1,
              'w': jax.random.normal(k[2], (7 * 7 * 16, 10)) * 0.05, 'b': jnp.zeros(10)}
    x, y = normal(9, 32, 28, 28, 1), jax.random.randint(k[3], (32,), 0, 10)

    def conv(x, w):
        x = jax.lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        x = jax.nn.relu(x)
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')

    def loss(p, x, y):
        h = conv(conv(x, p['c1']), p['c2']).reshape(x.shape[0], -1)
        logits = jax.nn.log_softmax(h @ p['w'] + p['b'])
        return -jnp.mean(jnp.take_along_axis(logits, y[:, None], 1))

    def step(p, m, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
        return jax.tree.map(lambda p, m: p - 0.01 * m, p, m), m, value

    step = jax.jit(step, donate_argnums=(0, 1))
    momentum, losses = jax.tree.map(jnp.zeros_like, params), []
    for _ in range(20):
        before = params
        params, momentum, value = step(params, momentum, x, y)
        losses.append(value)
        assert all(v.is_deleted() for v in jax.tree.leaves(before))
    return {'losses': jnp.stack(losses), 'b': params['b']}


@case(2e-4)
def transformer_step():
    """Four layers under a scan, causal attention, Adam by hand."""
    d, heads, layers, t, batch, words = 32, 4, 4, 16, 4, 50
    k = jax.random.split(key(1), 8)
    init = lambda i, *s: jax.random.normal(k[i], s) * 0.1
    params = {'embed': init(0, words, d), 'qkv': init(1, layers, d, 3 * d), 'out': init(2, layers, d, d),
              'up': init(3, layers, d, 4 * d), 'down': init(4, layers, 4 * d, d)}
    tokens = jax.random.randint(k[5], (batch, t + 1), 0, words)

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def layer(x, p):
        q, kk, v = jnp.split(norm(x) @ p['qkv'], 3, -1)
        split = lambda a: a.reshape(batch, t, heads, d // heads).transpose(0, 2, 1, 3)
        scores = split(q) @ split(kk).transpose(0, 1, 3, 2) / (d // heads) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9)
        mixed = (jax.nn.softmax(scores) @ split(v)).transpose(0, 2, 1, 3).reshape(batch, t, d)
        x = x + mixed @ p['out']
        return x + jax.nn.gelu(norm(x) @ p['up']) @ p['down'], None

    def loss(p, tokens):
        x = p['embed'][tokens[:, :-1]]
        x, _ = jax.lax.scan(layer, x, {n: p[n] for n in ('qkv', 'out', 'up', 'down')})
        logits = jax.nn.log_softmax(norm(x) @ p['embed'].T)
        return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], -1))

    @jax.jit
    def step(p, tokens):
        value, g = jax.value_and_grad(loss)(p, tokens)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, g), value
    losses = []
    for _ in range(10):
        params, value = step(params, tokens)
        losses.append(value)
    return {'losses': jnp.stack(losses), 'embed': params['embed']}


@case(0)
def transfers():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    out = {'dense': jnp.asarray(x), 'fortran': jnp.asarray(np.asfortranarray(x)), 'reversed': jnp.asarray(x[:, ::-1]),
           'strided': jnp.asarray(x[:, :, ::2]), 'bool': jnp.asarray(x > 3), 'f16': jnp.asarray(x.astype(np.float16)),
           'bf16': jnp.asarray(x).astype(jnp.bfloat16).astype(jnp.float32), 'c64': jnp.asarray(x + 1j),
           'dlpack in': jnp.from_dlpack(x), 'dlpack out': np.from_dlpack(jnp.asarray(x) + 1)}
    for count in (24, 5000):
        source = np.arange(count, dtype=np.float32)
        kept = jnp.array(source)
        source[:] = -1  # a copy of its own does not see this
        out[f'copied {count}'] = kept
    big = jnp.ones((1 << 20,))
    view = np.asarray(big)
    donated = jax.jit(lambda a: a + 1, donate_argnums=0)(big)
    out['view'], out['donated'] = view[:3].copy(), donated[:3]
    return out


@case(0)
def memories():
    device = jax.devices()[0]
    out = {}
    x = jnp.arange(8.)
    for kind in ('device', 'pinned_host', 'unpinned_host'):
        there = jax.device_put(x, jax.sharding.SingleDeviceSharding(device, memory_kind=kind))
        assert there.sharding.memory_kind == kind, there.sharding
        out[kind] = there
    assert sorted(m.kind for m in device.addressable_memories()) == ['device', 'pinned_host', 'unpinned_host']
    return out


@case(0)
def threads():
    """8 threads with 1,000 calls each."""
    f = jax.jit(lambda x: x * 3 + 1)
    sums, errors = [None] * 8, []

    def run(i):
        try:
            x = jnp.full((16,), i, jnp.int32)
            for _ in range(1000):
                x = f(x) % 1009
            sums[i] = np.asarray(x)
        except Exception as error:  # noqa: BLE001: a thread's end
            errors.append(error)
    all_threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    if errors:
        raise errors[0]
    return {'sums': np.stack(sums)}


@case(0)
def errors():
    """What goes wrong is an error of JAX, and the next call is right."""
    x = jnp.arange(4.)
    twice = jax.jit(lambda a, b: a + b, donate_argnums=(0, 1))
    with np.testing.assert_raises(Exception):
        twice(x, x)
    assert not x.is_deleted()
    gone = jnp.arange(4.)
    gone.delete()
    with np.testing.assert_raises(RuntimeError):
        gone + 1
    return {'after': x + 1}


@case(0)
def compiled_facts():
    f = jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((8, 8))).compile()
    return {'called': f(jnp.zeros((8, 8))), 'memory': np.array(f.memory_analysis() is not None)}


def main():
    names = sys.argv[2:] or list(CASES)
    results = {}
    for name in names:
        try:
            tree = CASES[name][1]()
            results[name] = {jax.tree_util.keystr(path): np.asarray(leaf)
                             for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}
        except Exception as error:  # noqa: BLE001: the other cases count too
            results[name] = f'{type(error).__name__}: {error}'
        print(name, 'failed: ' + results[name] if isinstance(results[name], str) else 'ran', flush=True)
    with open(sys.argv[1], 'wb') as file:
        pickle.dump(results, file)


if __name__ == '__main__':
    main()
