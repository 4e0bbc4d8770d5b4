#!/usr/bin/env python3
"""JAX's own test cases of its primitives, some 7,400, run by us and compared with what JAX gives.

usage: jax_harnesses.py [--every N] [--from K] [--vmap] [--keep DIR]
  --every N  only every Nth case, from the Kth (default: 1 and 0)
  --vmap     each under vmap, three times
  --keep     keeps the programs there

Each case becomes a program that brings its arguments and the expected results, for tools/conformance. Run it by
the Python of tools/peers. Exit codes: 0 all agree, 1 some do not, 77 no JAX here.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Results of which there are several right ones, or whose last bits are those of the order of the sums and products.
SEVERAL_RIGHT_ONES = re.compile(
    r'eig_|eigh_|svd_'                         # signs and phases of vectors
    r'|sort_.*isstable_False'                  # equal keys
    r'|approx_top_k'                           # equal values
    r'|cholesky_shape_b?float(16|32)_200'      # one whose last pivots are nearly 0
    r'|triangular_solve_.*float32_2_8_8_b_.*leftside_False'  # the same: results of 10^5 from numbers near 1
    r'|(cosh|sinh|pow|cumprod)_.*complex64'    # results of 10^4: the last bit is more than the tolerance
    r'|reduce_window_add_dtypes_shape_float16')

ELEMENTS = {'bool': 'i1', 'bfloat16': 'bf16', 'float16': 'f16', 'float32': 'f32', 'float64': 'f64',
            'complex64': 'complex<f32>', 'complex128': 'complex<f64>', 'float8_e4m3b11fnuz': 'f8E4M3B11FNUZ',
            'float8_e4m3fn': 'f8E4M3FN', 'float8_e5m2': 'f8E5M2'}
ELEMENTS |= {f'{sign}int{bits}': f'{short}{bits}' for sign, short in (('', 'i'), ('u', 'ui')) for bits in (8, 16, 32, 64)}


class Case:
    """The text of one program: JAX's, and a @main that calls it."""

    def __init__(self):
        self.lines = ['  func.func public @main() {']

    def constant(self, name, array):
        """Its lines; returns its type."""
        dims = ''.join(f'{d}x' for d in array.shape)
        of_type = f'tensor<{dims}{ELEMENTS[array.dtype.name]}>'
        stored, stored_type = array, of_type
        if array.dtype == bool:  # bits in the text, so bytes are converted
            stored, stored_type = array.astype('uint8'), f'tensor<{dims}ui8>'
        digits = f'"0x{stored.tobytes().hex().upper()}"' if array.size else ''
        self.lines.append(f'    %{name}_stored = stablehlo.constant dense<{digits}> : {stored_type}')
        self.lines.append(f'    %{name} = stablehlo.convert %{name}_stored : ({stored_type}) -> {of_type}')
        return of_type

    def write(self, path, text, arguments, results):
        takes = [self.constant(f'a{i}', a) for i, a in enumerate(arguments)]
        gives = [self.constant(f'want{i}', r) for i, r in enumerate(results)]
        names = ', '.join(f'%a{i}' for i in range(len(arguments)))
        self.lines.append(f'    %r:{len(results)} = func.call @program({names}) : ({", ".join(takes)}) -> ({", ".join(gives)})')
        for i, r in enumerate(results):
            # 3 ULP of 16 bits are more than the tolerance of almost_eq.
            check = 'eq' if r.dtype.kind in 'iub' else 'close' if r.itemsize <= 2 else 'almost_eq'
            self.lines.append(f'    stablehlo.custom_call @check.expect_{check}(%r#{i}, %want{i}) '
                              f'{{has_side_effect = true}} : ({gives[i]}, {gives[i]}) -> ()')
        self.lines.append('    return\n  }\n')
        text = text.replace('func.func public @main(', 'func.func private @program(', 1)
        end = text.rindex('}')
        path.write_text(text[:end] + '\n'.join(self.lines) + text[end:])


def write_case(harness, name, folder, under_vmap):
    import jax
    import numpy as np
    rng = np.random.RandomState(zlib.crc32(name.encode()) & 0x7fffffff)
    arguments = [np.asarray(a) for a in harness.dyn_args_maker(rng)]
    function = harness.dyn_fun
    if under_vmap:
        function, arguments = jax.vmap(function), [np.stack([a] * 3) for a in arguments]
    jitted = jax.jit(function)
    results = [np.asarray(r) for r in jax.tree.leaves(jitted(*arguments))]
    exported = jax.export.export(jitted, platforms=['cpu'])(*arguments)
    taken = [arguments[i] for i in exported.module_kept_var_idx]
    Case().write(folder / f'{name}.mlir', exported.mlir_module(), taken, results)


def write_cases(options, folder):
    """How many; what JAX itself cannot do is left out."""
    from jax._src.internal_test_util import test_harnesses
    written = 0
    for i, harness in enumerate(test_harnesses.all_harnesses):
        name = re.sub(r'[^A-Za-z0-9_]+', '_', harness.fullname)[:140] + f'_{i}'
        if i % options.every != options.first % options.every or SEVERAL_RIGHT_ONES.match(name): continue
        if not harness.filter('cpu'): continue
        try:
            write_case(harness, name, folder, options.vmap)
        except Exception as error:  # a limit of JAX's, of whatever kind
            print(f'{name}: left out: {str(error).splitlines()[0][:200]}', file=sys.stderr)
            continue
        written += 1
    return written


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n')[0])
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--from', type=int, default=0, dest='first')
    parser.add_argument('--vmap', action='store_true')
    parser.add_argument('--keep')
    options = parser.parse_args()
    os.environ |= {'JAX_ENABLE_X64': '1', 'JAX_PLATFORMS': 'cpu'}
    sys.argv = sys.argv[:1]  # JAX's test cases read flags, too
    try:
        import absl.testing  # noqa: F401
        import jax
        import jax.export
    except ImportError as error:
        print(f'skipped: {error}: tools/peers makes an environment that has it', file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        written = write_cases(options, folder)
        done = subprocess.run([ROOT / 'tools/conformance', folder, '--json', '--no-build'], stdout=subprocess.PIPE, text=True)
    if done.returncode == 2:
        return 1
    counted = json.loads(done.stdout.splitlines()[-1])
    print(f'JAX {jax.__version__}: {counted["passed"]} of {written} agree')
    return 0 if counted['passed'] == written and written > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
