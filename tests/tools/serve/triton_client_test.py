#!/usr/bin/env python3
"""`millrace serve` by the stock tritonclient[http] from PyPI, unmodified (tools/peers --triton).

Usage: triton_client_test.py MILLRACE. Exits 77 where tritonclient is not there.
"""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
MODEL = os.path.join(ROOT, 'tools', 'models', 'mnist')

try:
    import numpy as np
    import tritonclient.http as triton
except ImportError:
    sys.exit(77)


def write_weights(path):
    """The golden parameters and state as one safetensors file."""
    header, data = {}, b''
    for file in sorted(glob.glob(os.path.join(MODEL, 'golden', 'final', '*.npy'))):
        array = np.load(file)
        begin = len(data)
        data += array.tobytes()
        header[os.path.basename(file)[:-4]] = {'dtype': 'F32', 'shape': list(array.shape),
                                               'data_offsets': [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, 'wb') as out:
        out.write(len(text).to_bytes(8, 'little') + text + data)


def check(port):
    client = triton.InferenceServerClient(f'127.0.0.1:{port}', concurrency=4)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready('mnist')
    assert client.get_server_metadata()['name'] == 'millrace'
    metadata = client.get_model_metadata('mnist')
    assert metadata['inputs'] == [{'name': 'images', 'datatype': 'UINT8', 'shape': [-1, 28, 28]}], metadata

    images = np.random.default_rng(1).integers(0, 256, (3, 28, 28)).astype(np.uint8)

    def make_input(binary=True):
        made = triton.InferInput('images', images.shape, 'UINT8')
        made.set_data_from_numpy(images, binary_data=binary)
        return made

    def ask(binary_in=True, binary_out=True, **more):
        output = triton.InferRequestedOutput('log_probs', binary_data=binary_out)
        answer = client.infer('mnist', [make_input(binary_in)], outputs=[output], request_id='7', **more)
        assert answer.get_response()['id'] == '7'
        return answer.as_numpy('log_probs')

    expected = ask()
    assert expected.shape == (3, 10)
    assert np.allclose(np.exp(expected).sum(axis=1), 1, atol=1e-5)
    for binary_in in (True, False):
        for binary_out in (True, False):
            assert np.allclose(ask(binary_in, binary_out), expected, atol=1e-6), (binary_in, binary_out)
    for algorithm in ('gzip', 'deflate'):
        assert np.allclose(ask(request_compression_algorithm=algorithm), expected, atol=1e-6), algorithm
    pending = [client.async_infer('mnist', [make_input()]) for _ in range(50)]
    for answer in pending:
        assert np.allclose(answer.get_result().as_numpy('log_probs'), expected, atol=1e-5)
    stats = client.get_inference_statistics('mnist')['model_stats'][0]
    assert stats['inference_stats']['success']['count'] == 57, stats

    wrong = triton.InferInput('images', [1, 5], 'UINT8')
    wrong.set_data_from_numpy(np.zeros((1, 5), np.uint8))
    for model, inputs, said in (('none', [make_input()], "no model 'none'"),
                                ('mnist', [wrong], "input 'images'"), ('mnist', [], "input 'images' is missing")):
        try:
            client.infer(model, inputs)
        except triton.InferenceServerException as error:
            assert said in str(error), error
        else:
            raise AssertionError(f'{said}: it was answered')


def main():
    with tempfile.TemporaryDirectory() as folder:
        weights = os.path.join(folder, 'weights.safetensors')
        write_weights(weights)
        server = subprocess.Popen([sys.argv[1], 'serve', f'mnist={MODEL}', '--checkpoint', f'mnist={weights}',
                                   '--listen', '127.0.0.1:0', '--json'], stdout=subprocess.PIPE, text=True)
        try:
            port = json.loads(server.stdout.readline())['port']
            assert json.loads(server.stdout.readline())['event'] == 'ready'
            check(port)
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=60) == 0
        finally:
            server.kill()


if __name__ == '__main__':
    main()
