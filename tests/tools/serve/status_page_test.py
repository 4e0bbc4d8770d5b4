#!/usr/bin/env python3
"""The status page of `millrace serve` in headless Chromium: what it shows, on a desk and on a phone, light
and dark, by keyboard alone, behind a token; and that it reaches nothing but its server.

Usage: status_page_test.py MILLRACE [--screenshots FOLDER]. Exits 77 where chromium is not there.
"""

import argparse
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

TOKEN = '0123456789abcdef'
PROGRAM = '''func.func @main(%s: tensor<2xf32>, %x: tensor<ROWSx2xf32>) -> tensor<ROWSx2xf32> {
  %0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<ROWSx2xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<ROWSx2xf32>
  return %1 : tensor<ROWSx2xf32>
}
'''


def write_model(folder):
    programs = []
    for rows in (1, 4, 16):
        with open(os.path.join(folder, f'p{rows}.mlir'), 'w') as out:
            out.write(PROGRAM.replace('ROWS', str(rows)))
        programs.append({'name': f'p{rows}', 'kind': 'predict', 'rows': rows, 'file': f'p{rows}.mlir', 'inputs': [
            {'name': 'scale', 'role': 'param', 'shape': [2], 'dtype': 'f32'},
            {'name': 'x', 'role': 'input', 'shape': [rows, 2], 'dtype': 'f32'}],
            'outputs': [{'name': 'y', 'role': 'output', 'shape': [rows, 2], 'dtype': 'f32'}]})
    with open(os.path.join(folder, 'manifest.json'), 'w') as out:
        json.dump({'schema': 1, 'model': {'name': 'scaler'}, 'programs': programs}, out)
    header = json.dumps({'scale': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}}).encode()
    with open(os.path.join(folder, 'weights.safetensors'), 'wb') as out:
        out.write(len(header).to_bytes(8, 'little') + header + bytes(8))


class Browser:
    """Chromium by its debugging pipe: JSON that ends with a zero byte."""

    def __init__(self, chromium, folder):
        to_read, self.to = os.pipe()
        self.come, from_write = os.pipe()
        words = [chromium, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                 '--remote-debugging-pipe', f'--user-data-dir={folder}', 'about:blank']

        def place():  # the pipes are the descriptors 3 and 4
            kept = os.dup(to_read), os.dup(from_write)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)
        self.process = subprocess.Popen(words, preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.number, self.events, self.session = b'', 0, [], None
        target = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(domain + '.enable')

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.take()
            if answer.get('id') == self.number:
                assert 'error' not in answer, (method, answer)
                return answer['result']
            self.events.append(answer)

    def take(self):
        while b'\0' not in self.buffer:
            assert select.select([self.come], [], [], 120)[0], 'the browser says nothing'
            got = os.read(self.come, 1 << 16)
            assert got, 'the browser has ended'
            self.buffer += got
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def evaluate(self, text):
        result = self.call('Runtime.evaluate', expression=text, returnByValue=True, awaitPromise=True)
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def until(self, text):
        """Until the expression is true; the page asks once a second."""
        end = time.monotonic() + 120
        while not self.evaluate(text):
            assert time.monotonic() < end, (text, self.evaluate('document.body.innerText'))
            self.evaluate('new Promise(done => setTimeout(done, 100))')

    def key(self, name, code, text=None):
        more = {'text': text} if text else {}
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=name, code=name, windowsVirtualKeyCode=code, **more)

    def write(self, text):
        self.call('Input.insertText', text=text)

    def look(self, width, height, dark, phone):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, mobile=phone,
                  deviceScaleFactor=2 if phone else 1)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def picture(self, file):
        made = self.call('Page.captureScreenshot', captureBeyondViewport=True)
        with open(file, 'wb') as out:
            out.write(base64.b64decode(made['data']))

    def close(self):
        self.process.kill()
        self.process.wait()


def ask(port, stopped, batch):
    """Requests of one client, until it is stopped."""
    body = json.dumps({'inputs': [{'name': 'x', 'datatype': 'FP32', 'shape': [batch, 2],
                                   'data': [1.0] * (2 * batch)}]}).encode()
    while not stopped.wait(0.02):
        request = urllib.request.Request(f'http://127.0.0.1:{port}/v2/models/m/infer', body,
                                         {'Authorization': 'Bearer ' + TOKEN})
        urllib.request.urlopen(request).read()


# Text against what is behind it, as WCAG counts it.
CONTRAST = '''(() => {
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(v => v / 255).map(
      v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
      if (!c.endsWith(', 0)')) return c; } return 'rgb(255,255,255)'; };
  return [...document.querySelectorAll('body *')].filter(e => e.children.length === 0 && e.textContent.trim() &&
      e.checkVisibility() && !['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName)).map(e => {
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
    return [(a + .05) / (b + .05), e.textContent]; }).filter(([ratio]) => ratio < 4.5);
})()'''


def check(browser, port, screenshots):
    def picture(name):
        if screenshots:
            browser.picture(os.path.join(screenshots, name + '.png'))

    browser.look(1100, 900, dark=False, phone=False)
    browser.call('Page.navigate', url=f'http://127.0.0.1:{port}/')
    # By keyboard: the field of the token has the focus, Enter sends it.
    browser.until('document.activeElement && document.activeElement.id === "token"')
    browser.write('not the token at all')
    browser.key('Enter', 13, '\r')
    browser.until('document.getElementById("asked").textContent.includes("not the token")')
    picture('token')
    browser.until('document.getElementById("token").value === ""')
    browser.write(TOKEN)
    browser.key('Enter', 13, '\r')
    browser.until('!document.getElementById("main").hidden')
    browser.until('document.querySelectorAll("polyline").length === 1')
    text = browser.evaluate('document.body.innerText')
    for said in ('ready', 'Requests/s', 'Latency, last minute', 'p99.9', 'Rows of batches since the start',
                 '1, 4, 16', 'works', 'Queued'):
        assert said in text, (said, text)
    assert 'no answer' not in text, text
    # It is live: the number of launches grows by itself.
    launches = '''[...document.querySelectorAll('dt')].find(e => e.textContent === 'Launches').nextSibling.textContent'''
    before = browser.evaluate(launches)
    browser.until(f'{launches} !== {json.dumps(before)}')
    for name, width, height, phone in (('desk', 1100, 900, False), ('phone', 360, 740, True)):
        for dark in (False, True):
            browser.look(width, height, dark, phone)
            wide = browser.evaluate('document.documentElement.scrollWidth')
            assert wide <= width, f'{name}: the page is {wide} pixels wide, and the screen {width}'
            faint = browser.evaluate(CONTRAST)
            assert not faint, (name, dark, faint)
            picture(f'{name}_{"dark" if dark else "light"}')
    # By keyboard: Tab to the button, Enter; nothing changes while it pauses.
    browser.evaluate('document.activeElement.blur()')
    for _ in range(5):
        browser.key('Tab', 9)
        if browser.evaluate('document.activeElement.id') == 'pause':
            break
    browser.key('Enter', 13, '\r')
    assert browser.evaluate('document.getElementById("pause").getAttribute("aria-pressed")') == 'true'
    browser.evaluate('new Promise(done => setTimeout(done, 1000))')  # an answer may have been on its way
    paused = browser.evaluate('history.length > 0 && document.getElementById("models").innerText')
    browser.evaluate('new Promise(done => setTimeout(done, 2500))')
    assert browser.evaluate('document.getElementById("models").innerText') == paused
    browser.key('Enter', 13, '\r')
    browser.until(f'document.getElementById("models").innerText !== {json.dumps(paused)}')


def check_events(browser, port):
    for event in browser.events:
        if event['method'] == 'Network.requestWillBeSent':
            url = event['params']['request']['url']
            assert url.startswith(f'http://127.0.0.1:{port}/') or url.startswith('data:'), url
        assert event['method'] != 'Runtime.exceptionThrown', event
        if event['method'] == 'Log.entryAdded':  # a refusal by the policy of the page, for one
            entry = event['params']['entry']
            assert entry['level'] != 'error' or '401' in entry['text'] or 'CONNECTION' in entry['text'], entry


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('millrace')
    parser.add_argument('--screenshots')
    given = parser.parse_args()
    chromium = shutil.which('chromium')
    if chromium is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, 'model')
        os.mkdir(model)
        write_model(model)
        with open(os.path.join(folder, 'token'), 'w') as out:
            out.write(TOKEN)
        server = subprocess.Popen([given.millrace, 'serve', f'm={model}', '--listen', '127.0.0.1:0', '--json',
                                   '--token-file', os.path.join(folder, 'token')], stdout=subprocess.PIPE, text=True)
        stopped = threading.Event()
        clients, browser = [], None
        try:
            port = json.loads(server.stdout.readline())['port']
            assert json.loads(server.stdout.readline())['event'] == 'ready'
            clients = [threading.Thread(target=ask, args=(port, stopped, batch)) for batch in (1, 1, 3)]
            for client in clients:
                client.start()
            browser = Browser(chromium, os.path.join(folder, 'browser'))
            check(browser, port, given.screenshots)
            stopped.set()
            for client in clients:
                client.join()
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=60) == 0
            browser.until('document.getElementById("state").textContent.includes("no answer")')
            check_events(browser, port)
        finally:
            stopped.set()
            server.kill()
            if browser:
                browser.close()
            for client in clients:
                client.join()


if __name__ == '__main__':
    main()
