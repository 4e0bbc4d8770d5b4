#!/usr/bin/env python3
"""Checks the arrows of the house: who may include whom. Reads include lines only; takes no arguments.

- A room includes itself and the rooms below it: core <- actors <- devices <- transfer <- collectives <- tools.
- Nothing includes tests or bench. Every include of ours names a file that exists, by its one spelling.
- The units of a room, a .h and its .cc each, form no cycle. INNER has the arrows inside of a room: of core's folders,
  of the language (stablehlo), which needs shapes alone, of what devices have in common and of the CPU device.
- Third-party headers stay in .cc files, save for the adaptors of BRIDGES; some stay in named files.
- Threads, sleeping and the clock of the system belong to core (and to programs of their own).
- JSON is written by core/base/json_text.h alone: any other way ends the process at bytes that are no UTF-8.
"""

import os
import re
import sys

import source_tree as tree

# A header that only users of that event loop include.
BRIDGES = {
    'core/loop/asio_bridge.h': {'asio.hpp'},
}
# Libraries that have one home: prefix of the include -> path prefixes of the files that may use it.
HOMES = {
    'oneapi/tbb': ('core/exec/executor_tbb',),
    'tbb/': ('core/exec/executor_tbb',),
    'concurrentqueue/': ('core/exec/executor_threads',),
    'uv.h': ('core/', 'tools/examples/'),
    'event2/': ('core/', 'tools/examples/', 'tools/serve/', 'tools/load/', 'tools/commands/serve'),
    'spdlog/': ('core/observe/log',),
    'zlib.h': ('transfer/formats/', 'tools/serve/unpack_body'),
    'openssl/': ('core/net/handshake', 'tools/serve/tls'),
    'CLI/': ('tools/',),
    'dnnl': ('devices/cpu/',),
    'oneapi/dnnl': ('devices/cpu/',),
}
# Folders inside a room: which files -> what of ours they may include.
INNER = [
    (re.compile(r'core/base/'), re.compile(r'core/base/')),
    (re.compile(r'core/observe/'), re.compile(r'core/(base|observe)/')),
    (re.compile(r'core/async/'), re.compile(r'core/(base|observe|async)/')),
    (re.compile(r'core/exec/'), re.compile(r'core/(base|observe|async|exec)/')),
    (re.compile(r'core/loop/'), re.compile(r'core/(base|observe|async|loop)/')),
    (re.compile(r'core/net/'), re.compile(r'core/(base|observe|async|loop|net)/')),
    (re.compile(r'devices/stablehlo/'), re.compile(r'core/|devices/(stablehlo/|shape\.h)')),
    (re.compile(r'devices/stablehlo/ir/'), re.compile(r'core/|devices/(stablehlo/ir/|shape\.h)')),
    (re.compile(r'devices/stablehlo/expand/'), re.compile(r'core/|devices/(stablehlo/(ir|expand)/|shape\.h)')),
    (re.compile(r'devices/[^/]+$'), re.compile(r'(?!devices/cpu/)')),
]
# The floors of devices/cpu, from below: each includes itself and those before it.
CPU_FLOORS = [r'kernels/base/', r'kernels/functions/', r'kernels/[^/]+$', r'kernels/(contraction|movement)/',
              r'kernels/(convolution|fourier|random|reduce)/', r'kernels/elementwise/', r'linalg/', r'choose/',
              r'compile/', r'[^/]+$']
INNER += [(re.compile(f'devices/cpu/{floor}'),
           re.compile(f'(?!devices/cpu/)|devices/cpu/({"|".join(CPU_FLOORS[:i + 1])})'))
          for i, floor in enumerate(CPU_FLOORS)]
# Headers of the C++ library have no suffix and no slash; these are those of C and of the system.
SYSTEM = re.compile(r'^([a-z0-9_]+|(sys|linux|arpa|netinet|net|asm)/[a-z0-9_]+\.h|'
                    r'(cpuid|cxxabi|dirent|dlfcn|elf|errno|execinfo|fcntl|immintrin|limits|link|netdb|poll|'
                    r'pthread|pwd|sched|signal|spawn|stddef|stdint|stdio|stdlib|string|termios|time|'
                    r'ucontext|unistd|x86intrin|arm_neon)\.h)$')
CONFINED = [
    (re.compile(r'\bstd::(jthread|thread)\b(?!::(id|hardware_concurrency))'), 'starts a thread: take an Executor'),
    (re.compile(r'\b(steady|system|high_resolution)_clock::now\b'), 'asks the system for the time: take a Clock'),
    (re.compile(r'\bthis_thread::sleep_|\b(nano|u)?sleep\('), 'sleeps: wait on a Clock'),
]
CONFINED_ROOMS = ['actors', 'devices', 'transfer', 'collectives']
WRITES_JSON = re.compile(r'(\.|->)dump\(')
JSON_WRITERS = ['core/base/json_text.h']


def check_includes(path, text, problems):
    room = path.split('/')[0]
    for line, spelled, angle in tree.includes(text):
        def bad(words, line=line, spelled=spelled):
            problems.append(f'{path}:{line}: {spelled}: {words}')
        target = tree.ours(spelled)
        if target is not None:
            if not os.path.exists(os.path.join(tree.ROOT, target)):
                bad('no such file')
                continue
            if angle and room in tree.ROOMS:
                bad('our own headers are included with quotes')
            other = target.split('/')[0]
            if other in tree.OUTER and room in tree.ROOMS:
                bad(f'{room} includes {other}, which nothing may include')
            elif room in tree.ROOMS and tree.ROOMS.index(other) > tree.ROOMS.index(room):
                bad(f'{room} includes {other}: an arrow that runs up')
            for files, below in INNER:
                if files.match(path) and not below.match(target):
                    bad(f'{os.path.dirname(path)} includes what lies above it')
            continue
        if not angle and os.path.exists(os.path.join(tree.ROOT, os.path.dirname(path), spelled)):
            bad('spell it from the top: "millrace/<room>/<file>"')
            continue
        if SYSTEM.match(spelled):
            continue
        if room in tree.ROOMS and path.endswith('.h') and spelled not in BRIDGES.get(path, ()):
            bad('a third-party header in a header of ours: move it to the .cc')
        for prefix, homes in HOMES.items():
            if spelled.startswith(prefix) and room in tree.ROOMS and not path.startswith(homes):
                if path not in BRIDGES:
                    bad(f'only {", ".join(homes)}* includes this library')


def check_confined(path, text, problems):
    if path.split('/')[0] not in CONFINED_ROOMS:
        return
    for number, line in enumerate(text.split('\n'), 1):
        code = line.split('//')[0]
        for pattern, words in CONFINED:
            if pattern.search(code):
                problems.append(f'{path}:{number}: {words}')


def check_json(path, text, problems):
    if path.split('/')[0] == 'tests' or path in JSON_WRITERS:
        return
    for number, line in enumerate(text.split('\n'), 1):
        if WRITES_JSON.search(line.split('//')[0]):
            problems.append(f'{path}:{number}: writes JSON in a way of its own: take json_text()')


def rings(edges):
    """The sets of nodes of a graph {node: set of nodes} that lie on a cycle together."""
    def reach(node):
        seen, todo = set(), [node]
        while todo:
            new = edges.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        return seen

    reached = {node: reach(node) for node in edges}
    return {frozenset(other for other in reached[node] if node in reached.get(other, ()))
            for node in edges if node in reached[node]}


def unit_of(path, text, targets):
    """The header that a source implements, which it includes first and apart, without its suffix; else the file itself."""
    first = text.split('#include', 1)[-1].split('\n\n')[0]
    if path.endswith('.cc') and first.startswith(' "millrace/') and first.count('#include') == 0:
        if os.path.dirname(targets[0]) == os.path.dirname(path):
            path = targets[0]
    return os.path.splitext(path)[0]


def check_cycles(texts, problems):
    edges = {}
    for path, text in texts.items():
        targets = [t for _, spelled, _ in tree.includes(text) if (t := tree.ours(spelled))]
        unit, room = unit_of(path, text, targets), path.split('/')[0]
        if room in tree.ROOMS:
            units = {os.path.splitext(t)[0] for t in targets if t.split('/')[0] == room}
            edges.setdefault(unit, set()).update(units - {unit})
    for ring in rings(edges):
        problems.append(f'units that include each other: {" ".join(sorted(ring))}')


def check(texts):
    """The problems of a tree given as {path: text}, one sentence each."""
    problems = []
    for path, text in texts.items():
        check_includes(path, text, problems)
        check_confined(path, text, problems)
        check_json(path, text, problems)
        if path.endswith('.h') and '#pragma once' not in text:
            problems.append(f'{path}: no #pragma once')
    check_cycles(texts, problems)
    return problems


def main():
    texts = {path: tree.read(path) for path in tree.cpp_files()}
    problems = check(texts)
    print('\n'.join(problems) if problems else f'{len(texts)} files: every arrow points down')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
