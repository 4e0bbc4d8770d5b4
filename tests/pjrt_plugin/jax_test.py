#!/usr/bin/env python3
"""Stock JAX on the plugin gives what it gives on its own CPU backend, each in a process of its own.

usage: jax_test.py LIBRARY [CASE...]"""

import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY, NAMES = os.path.abspath(sys.argv[1]), sys.argv[2:]

# What JAX says of every plugin that is not its own.
EXPERIMENTAL = "Platform 'cpu' is experimental and not all JAX functionality may be correctly supported!\n"


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(('JAX_', 'PJRT_', 'XLA_'))}
    return {**clean, 'JAX_PLATFORMS': 'cpu', **more}


def on_plugin(**more):
    return environment(PJRT_NAMES_AND_LIBRARY_PATHS='cpu:' + LIBRARY, **more)


def run(code, env):
    return subprocess.run([sys.executable, '-c', code], env=env, capture_output=True, text=True, timeout=600)


def run_cases(env, folder, name):
    path = os.path.join(folder, name)
    done = subprocess.run([sys.executable, os.path.join(HERE, 'jax_cases.py'), path, *NAMES], env=env,
                          capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        raise AssertionError(f'{name} ended with {done.returncode}\n{done.stdout}\n{done.stderr}')
    with open(path, 'rb') as file:
        return pickle.load(file)


class CasesTest(unittest.TestCase):
    def test_all_cases_give_what_the_own_backend_gives(self):
        from jax_cases import CASES
        with tempfile.TemporaryDirectory() as folder:
            wanted = run_cases(environment(), folder, 'own')
            found = run_cases(on_plugin(), folder, 'plugin')
        self.assertEqual(list(wanted), list(found))
        for name, values in wanted.items():
            self.assertNotIsInstance(values, str, f'{name} fails on the own backend')
            with self.subTest(case=name):
                self.assertNotIsInstance(found[name], str, found[name])
                self.assertEqual(list(values), list(found[name]))
            tolerance = CASES[name][0]
            for path, value in values.items():
                with self.subTest(case=name, value=path):
                    other = found[name][path]
                    self.assertEqual((value.dtype, value.shape), (other.dtype, other.shape))
                    if tolerance == 0:
                        np.testing.assert_array_equal(other, value)
                    else:
                        scale = max(1.0, float(np.max(np.abs(value), initial=0)))
                        np.testing.assert_allclose(other, value, rtol=tolerance, atol=tolerance * scale)


@unittest.skipIf(NAMES, 'cases were named')
class BackendTest(unittest.TestCase):
    def test_it_is_the_default_backend_under_its_name(self):
        done = run('import jax, jax.extend; print(jax.default_backend(), jax.devices(), jax.extend.backend.get_backend().platform_version)',
                   on_plugin())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), 'cpu [CpuDevice(id=0)] PJRT C API\nmillrace 0.1')

    def test_variables_say_how_many_devices(self):
        code = ('import jax, jax.numpy as jnp, numpy as np; d = jax.devices(); x = jax.device_put(jnp.arange(4.), d[-1]);'
                'y = jax.device_put(x + 1, d[0]); print(len(d), x.device.id, y.device.id, np.asarray(y))')
        for variables in ({'CPU_NUM_DEVICES': '3'}, {'JAX_NUM_CPU_DEVICES': '3'},
                          {'XLA_FLAGS': '--xla_force_host_platform_device_count=3'},
                          {'JAX_PJRT_CLIENT_CREATE_OPTIONS': 'num_devices:3'}):
            with self.subTest(**variables):
                done = run(code, on_plugin(**variables))
                self.assertEqual(done.stdout.strip(), '3 2 0 [1. 2. 3. 4.]', done.stderr)

    def test_a_step_runs_on_parts_of_a_batch(self):
        code = ('import jax, jax.numpy as jnp, numpy as np; from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\n'
                'mesh = Mesh(np.array(jax.devices()), ("batch",)); print(len(jax.devices()))\n'
                'step = jax.jit(lambda w, x, y: (jnp.mean((x @ w - y) ** 2), w - 0.1 * (2 / y.size) * x.T @ (x @ w - y)), donate_argnums=0)\n'
                'x = np.arange(12, dtype=np.float32).reshape(4, 3); y = np.ones((4, 2), np.float32)\n'
                'w = jax.device_put(np.zeros((3, 2), np.float32), NamedSharding(mesh, P()))\n'
                'parts = jax.device_put((x, y), NamedSharding(mesh, P("batch")))\n'
                'for _ in range(2): loss, w = step(w, *parts)\n'
                'a = np.zeros((3, 2), np.float32)\n'
                'for _ in range(2): wanted, a = np.mean((x @ a - y) ** 2), a - 0.1 * (2 / y.size) * x.T @ (x @ a - y)\n'
                'print(np.allclose(w, a, rtol=1e-4), np.allclose(loss, wanted, rtol=1e-4), w.sharding.is_fully_replicated)\n'
                'summed = jax.shard_map(lambda v: jax.lax.psum(v, "batch"), mesh=mesh, in_specs=P("batch"), out_specs=P())\n'
                'print(np.asarray(jax.jit(summed)(jnp.arange(4.))), np.asarray(jax.pmap(lambda v: jax.lax.psum(v, "i"), "i")(jnp.arange(2.))))')
        done = run(code, on_plugin(CPU_NUM_DEVICES='2'))
        self.assertEqual(done.stdout, '2\nTrue True True\n[2. 4.] [1. 1.]\n', done.stderr)

    def test_an_unknown_option_is_refused(self):
        done = run('import jax; jax.devices()', on_plugin(JAX_PJRT_CLIENT_CREATE_OPTIONS='foo:bar'))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the option 'foo' is not known: there are num_devices, threads and platform_name", done.stderr)

    def test_the_cache_serves_a_second_process(self):
        code = ('import jax, jax.numpy as jnp, jax.monitoring as m; hits = [];'
                'm.register_event_listener(lambda name, **k: hits.append(name));'
                'print(jax.jit(lambda x: jnp.sin(x) @ x)(jnp.ones((4, 4)))[0, 0]);'
                'print(hits.count("/jax/compilation_cache/cache_hits") > 0)')
        with tempfile.TemporaryDirectory() as folder:
            env = on_plugin(JAX_COMPILATION_CACHE_DIR=folder, JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS='0',
                            JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES='-1')
            first, second = run(code, env), run(code, env)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout.split()[1], 'False', first.stderr)
        self.assertEqual(second.stdout.split()[1], 'True', second.stderr)
        self.assertEqual(first.stdout.split()[0], second.stdout.split()[0])

    def test_a_profile_shows_the_runs_of_each_device(self):
        code = ('import glob, gzip, json, sys, jax, jax.numpy as jnp; f = jax.jit(lambda x: jnp.sin(x) @ x);'
                'x = [jax.device_put(jnp.ones((64, 64)), d) for d in jax.devices()]; jax.block_until_ready([f(x[0]), f(x[1])])\n'
                'for run in range(2):\n'
                '  with jax.profiler.trace(sys.argv[1] + str(run)):\n'
                '    jax.block_until_ready([f(x[0]), f(x[1]), f(x[1])])\n'
                '  path, = glob.glob(sys.argv[1] + str(run) + "/**/*.xplane.pb", recursive=True)\n'
                '  for plane in jax.profiler.ProfileData.from_file(path).planes:\n'
                '    for line in plane.lines:\n'
                '      if not plane.name.startswith("/device:"): continue\n'
                '      for e in line.events:\n'
                '        print(plane.name, line.name, e.name, e.duration_ns > 0, dict(e.stats)["device_ordinal"], sep=",")\n'
                '  path, = glob.glob(sys.argv[1] + str(run) + "/**/*.trace.json.gz", recursive=True)\n'
                '  print(sum(e.get("name") == "jit__lambda" for e in json.load(gzip.open(path))["traceEvents"]))\n')
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, '-c', code, os.path.join(folder, 'run')],
                                  env=on_plugin(CPU_NUM_DEVICES='2'), capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        once = ['/device:CUSTOM:CPU:0,Programs,jit__lambda,True,0'] + ['/device:CUSTOM:CPU:1,Programs,jit__lambda,True,1'] * 2
        self.assertEqual(sorted(done.stdout.split()), sorted(['3', '3', *once, *once]))

    def test_an_exit_with_work_pending_is_clean(self):
        code = ('import jax, jax.numpy as jnp; f = jax.jit(lambda x: jax.lax.fori_loop(0, 300, lambda i, x: jnp.tanh(x @ x), x));'
                'y = f(jnp.ones((200, 200)));'
                '[f(y) for _ in range(3)]')
        done = run(code, on_plugin())
        self.assertEqual((done.returncode, done.stderr.replace(EXPERIMENTAL, '')), (0, ''))

    def test_several_clients_one_after_another(self):
        code = ('import jax, jax.numpy as jnp\n'
                'for i in range(3):\n'
                '  x = jnp.arange(4.) + i\n'
                '  print(float(x.sum()))\n'
                '  jax.clear_caches(); jax.extend.backend.clear_backends()\n')
        done = run('import jax.extend.backend\n' + code, on_plugin())
        self.assertEqual(done.stdout.split(), ['6.0', '10.0', '14.0'], done.stderr)


if __name__ == '__main__':
    sys.path.insert(0, HERE)
    unittest.main(argv=sys.argv[:1])
