#!/usr/bin/env python3
"""`millrace serve` at its end, under load: SIGTERM loses no request that it was sent, and after kill -9 it is
ready again within a bound.

Usage: drain_test.py MILLRACE [--times N] [--clients N] [--ready-within SECONDS]
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from status_page_test import write_model  # noqa: E402

BODY = json.dumps({'inputs': [{'name': 'x', 'datatype': 'FP32', 'shape': [1, 2], 'data': [1, 2]}]}).encode()
REQUEST = (b'POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: ' + str(len(BODY)).encode() +
           b'\r\n\r\n' + BODY)


class Server:
    def __init__(self, millrace, model, port=0):
        self.begun = time.monotonic()
        self.process = subprocess.Popen([millrace, 'serve', f'm={model}', '--listen', f'127.0.0.1:{port}', '--json'],
                                        stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())['port']
        assert json.loads(self.process.stdout.readline())['event'] == 'ready'
        self.ready_after = time.monotonic() - self.begun

    def end(self, which):
        self.process.send_signal(which)
        return self.process.wait(timeout=60)


class Client(threading.Thread):
    """Sends requests over one connection, until the server says that it closes it."""

    def __init__(self, port, answered):
        super().__init__()
        self.port, self.answered = port, answered
        self.answers, self.lost = 0, None

    def run(self):
        connection = socket.create_connection(('127.0.0.1', self.port))
        file = connection.makefile('rb')
        while True:
            try:
                connection.sendall(REQUEST)
                status = file.readline()
                headers = {}
                while (line := file.readline()) not in (b'\r\n', b''):
                    name, value = line.decode().split(':', 1)
                    headers[name.lower()] = value.strip()
                file.read(int(headers.get('content-length', '0')))
            except OSError as error:
                self.lost = str(error)
                return
            if not status:
                self.lost = 'the connection ended without an answer'
                return
            code = int(status.split()[1])
            if code == 200:
                self.answers += 1
                self.answered.release()
            elif code != 503:
                self.lost = f'status {code}'
                return
            if headers.get('connection') == 'close':
                return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('millrace')
    parser.add_argument('--times', type=int, default=5)
    parser.add_argument('--clients', type=int, default=8)
    parser.add_argument('--ready-within', type=float, default=60, help='of a start after kill -9')
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as model:
        write_model(model)
        answers = 0
        for turn in range(given.times):
            server = Server(given.millrace, model)
            answered = threading.Semaphore(0)
            clients = [Client(server.port, answered) for _ in range(given.clients)]
            for client in clients:
                client.start()
            for _ in range(random.Random(turn).randrange(1, 300)):
                assert answered.acquire(timeout=60)
            code = server.end(signal.SIGTERM)
            for client in clients:
                client.join()
            lost = [client.lost for client in clients if client.lost]
            assert not lost and code == 0, f'turn {turn}: exit {code}, lost {lost}'
            answers += sum(client.answers for client in clients)
        print(f'{given.times} times SIGTERM: {answers} answers, none lost')
        server = Server(given.millrace, model)
        server.end(signal.SIGKILL)
        server = Server(given.millrace, model, server.port)
        print(f'ready {server.ready_after:.3f} s after the start that followed kill -9')
        assert server.ready_after < given.ready_within
        assert server.end(signal.SIGTERM) == 0


if __name__ == '__main__':
    main()
