#!/usr/bin/env python3
"""Stock clients for serve_peers.cc: so many processes of tritonclient, each with one request at a time.

    tools/peers --triton && .venv-peers/bin/python bench/peers_serve_clients.py CLIENTS SECONDS

Says "ready". Answers each line on stdin, a port, with the requests per second that a server there has answered.
"""

from __future__ import annotations

import multiprocessing
import sys
import time

try:
    import numpy as np
    import tritonclient.http as triton
except ImportError:
    sys.exit(77)


def ask_for(port: int, seconds: float) -> int:
    """The requests that it has answered in that time."""
    client = triton.InferenceServerClient(f"127.0.0.1:{port}")
    images = triton.InferInput("images", [1, 28, 28], "UINT8")
    images.set_data_from_numpy(np.zeros((1, 28, 28), np.uint8))
    answers, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        client.infer("demo", [images]).as_numpy("log_probs")
        answers += 1
    client.close()
    return answers


def main() -> None:
    clients, seconds = int(sys.argv[1]), float(sys.argv[2])
    with multiprocessing.get_context("fork").Pool(clients) as pool:
        print("ready", flush=True)
        for line in sys.stdin:
            ports = [(int(line), seconds)] * clients
            print(sum(pool.starmap(ask_for, ports, chunksize=1)) / seconds, flush=True)


if __name__ == "__main__":
    main()
