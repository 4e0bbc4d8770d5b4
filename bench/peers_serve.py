#!/usr/bin/env python3
"""Python's servers beside `millrace serve` (serve_peers.cc): the demo's network behind aiohttp and a thread pool.

    tools/peers --serve && .venv-peers/bin/python bench/peers_serve.py jax WEIGHTS.safetensors
    .venv-peers/bin/python bench/peers_serve.py onnx

It speaks the same part of the Open Inference Protocol v2: binary tensors in and out. Prints its port, then that it is
ready, and ends by SIGTERM.
"""

from __future__ import annotations

import asyncio
import json
import pathlib
import signal
import sys
from collections.abc import Callable

import numpy as np
from aiohttp import web

MODELS = pathlib.Path(__file__).resolve().parent.parent / "tools" / "models"
HEADER_LENGTH = "Inference-Header-Content-Length"
METADATA = {
    "name": "demo",
    "versions": ["1"],
    "platform": "peer",
    "inputs": [{"name": "images", "datatype": "UINT8", "shape": [-1, 28, 28]}],
    "outputs": [{"name": "log_probs", "datatype": "FP32", "shape": [-1, 10]}],
}
Network = Callable[[np.ndarray], np.ndarray]


def jax_network(weights: str) -> Network:
    sys.path.insert(0, str(MODELS))
    import jax
    import mnist_network
    from safetensors.numpy import load_file

    tensors = {name: jax.device_put(array) for name, array in load_file(weights).items()}
    params = {name: tensors[name] for name in mnist_network.PARAM_SHAPES}
    state = {name: tensors[name] for name in mnist_network.STATE_SHAPES}
    predict = jax.jit(mnist_network.predict)
    return lambda images: np.asarray(predict(params, state, images))


def onnx_network() -> Network:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(MODELS / "mnist" / "predict.onnx"))
    return lambda images: session.run(None, {"images": images})[0]


def infer(network: Network, body: bytes, json_bytes: int) -> tuple[bytes, int]:
    """The body of the answer, and how much of it is JSON."""
    request = json.loads(body[:json_bytes])
    shape = request["inputs"][0]["shape"]
    log_probs = network(np.frombuffer(body, np.uint8, offset=json_bytes).reshape(shape))
    tail = log_probs.tobytes()
    output = {
        "name": "log_probs",
        "datatype": "FP32",
        "shape": log_probs.shape,
        "parameters": {"binary_data_size": len(tail)},
    }
    head = json.dumps({"model_name": "demo", "model_version": "1", "outputs": [output]}).encode()
    return head + tail, len(head)


async def serve(network: Network) -> None:
    loop = asyncio.get_running_loop()

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        json_bytes = int(request.headers[HEADER_LENGTH])
        made, header_bytes = await loop.run_in_executor(None, infer, network, body, json_bytes)
        return web.Response(
            body=made,
            headers={HEADER_LENGTH: str(header_bytes)},
            content_type="application/octet-stream",
        )

    async def describe(_: web.Request) -> web.Response:
        return web.json_response(METADATA)

    application = web.Application()
    application.router.add_get("/v2/models/demo", describe)
    application.router.add_post("/v2/models/demo/infer", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    print(json.dumps({"event": "listening", "port": port}, separators=(",", ":")), flush=True)
    network(np.zeros((1, 28, 28), np.uint8))  # compiles
    print('{"event":"ready"}', flush=True)
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    await runner.cleanup()


def main() -> None:
    asyncio.run(serve(jax_network(sys.argv[2]) if sys.argv[1] == "jax" else onnx_network()))


if __name__ == "__main__":
    main()
