#!/usr/bin/env python3
"""Checks the arrows of the house: who may include whom. Reads include lines only; takes no arguments.

- A room includes itself and the rooms below it: core <- actors <- devices <- transfer <- collectives <- tools.
- Nothing includes tests or bench. Every include of ours names a file that exists, by its one spelling.
- The files of a room form no cycle.
- Third-party headers stay in .cc files, save for the adaptors of BRIDGES; some stay in named files.
- Threads, sleeping and the clock of the system belong to core (and to programs of their own).
"""

import os
import re
import sys

import source_tree as tree

# A header that only users of that event loop include.
BRIDGES = {
    'core/asio_bridge.h': {'asio.hpp'},
}
# Libraries that have one home: prefix of the include -> path prefixes of the files that may use it.
HOMES = {
    'oneapi/tbb': ('core/executor_tbb',),
    'tbb/': ('core/executor_tbb',),
    'uv.h': ('core/', 'tools/examples/'),
    'event2/': ('core/', 'tools/examples/'),
    'spdlog/': ('core/log',),
    'zlib.h': ('transfer/formats/',),
    'CLI/': ('tools/',),
    'dnnl': ('devices/cpu/',),
    'oneapi/dnnl': ('devices/cpu/',),
}
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


def find_cycle(edges):
    """One cycle of a graph {node: set of nodes} as a list of nodes, or None."""
    done, path, on_path = set(), [], set()

    def visit(node):
        if node in on_path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        on_path.add(node)
        for next_node in sorted(edges.get(node, ())):
            cycle = visit(next_node)
            if cycle:
                return cycle
        on_path.discard(path.pop())
        done.add(node)
        return None

    for start in sorted(edges):
        cycle = visit(start)
        if cycle:
            return cycle
    return None


def check_cycles(texts, problems):
    for room in tree.ROOMS:
        edges = {}
        for path, text in texts.items():
            if path.split('/')[0] != room:
                continue
            for _, spelled, _ in tree.includes(text):
                target = tree.ours(spelled)
                if target and target.split('/')[0] == room:
                    edges.setdefault(path, set()).add(target)
        cycle = find_cycle(edges)
        if cycle:
            problems.append(f'{room}: files that include each other: {" -> ".join(cycle)}')


def check(texts):
    """The problems of a tree given as {path: text}, one sentence each."""
    problems = []
    for path, text in texts.items():
        check_includes(path, text, problems)
        check_confined(path, text, problems)
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
