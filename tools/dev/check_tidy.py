#!/usr/bin/env python3
"""Runs clang-tidy-19 with the checks of .clang-tidy over our sources, two or more at a time.

usage: check_tidy.py [BUILD_FOLDER] [--changed BASE] [FILE...]
  BUILD_FOLDER       has compile_commands.json (default: build)
  --changed BASE     only sources that differ from the commit BASE, or include a header that does
A source that passed is not checked again until it, something of ours that it includes, .clang-tidy or
its compile command changes; its headers are checked with it. The largest sources come first. Where MILLRACE_LONG is
set, as tools/check --long does, tests and bench are checked too, and the analyzer and the checks of
performance run.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

import source_tree as tree

TIDY = 'clang-tidy-19'
LONG = bool(os.environ.get('MILLRACE_LONG'))
# What the analyzer finds in the functions that a run reaches, the sanitizers find as well. The checks of performance take a
# third of the time and find what is slow, not what is wrong.
CHECKS = [] if LONG else ['--checks=-clang-analyzer-*,-performance-*']


def commands(build, folder):
    """The commands of the sources; in the folder they are for clang-tidy, without g++'s precompiled headers."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        entries = json.load(f)
    for entry in entries:
        entry['command'] = re.sub(r' -(Winvalid-pch|fpch-preprocess|-param=\S+|include \S*cmake_pch\.hxx)', '', entry['command'])
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'compile_commands.json'), 'w', encoding='utf-8') as f:
        json.dump(entries, f)
    return {os.path.relpath(e['file'], tree.ROOT): e['command'] for e in entries}


def changed_since(base):
    out = subprocess.run(['git', '-C', tree.ROOT, 'diff', '--name-only', base, '--'],
                         check=True, capture_output=True, text=True).stdout
    return set(out.split())


def run_tidy(source, folder):
    started = time.monotonic()
    done = subprocess.run(
        [TIDY, '-p', folder, '--quiet', '--warnings-as-errors=*',
         '--extra-arg=-Wno-unknown-warning-option', '--extra-arg=-Wno-deprecated-declarations', *CHECKS,
         os.path.join(tree.ROOT, source)],
        cwd=tree.ROOT, capture_output=True, text=True)
    words = [l for l in done.stdout.split('\n') if l]
    if done.returncode != 0 and not words:
        words = done.stderr.split('\n')
    return done.returncode == 0, words, time.monotonic() - started


def diagnostics(words):
    """Groups of lines, one per warning: a header's is printed by every source that includes it."""
    groups = []
    for line in words:
        if re.match(r'\S+:\d+:\d+: (warning|error)', line) or not groups:
            groups.append([])
        groups[-1].append(line)
    return ['\n'.join(g).replace(tree.ROOT + '/', '') for g in groups]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('build', nargs='?', default=os.path.join(tree.ROOT, 'build'))
    parser.add_argument('files', nargs='*')
    parser.add_argument('--changed')
    parser.add_argument('--slow', action='store_true', help='print the ten slowest')
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    folder = os.path.join(build, 'check', 'tidy_commands')
    known = commands(build, folder)
    closures, cache = tree.Closures(), tree.Cache(os.path.join(build, 'check', 'tidy'))

    sources = [f for f in tree.cpp_files() if f.endswith('.cc') and f in known]
    if not LONG and not args.files:
        sources = [f for f in sources if f.split('/')[0] not in tree.OUTER]
    if args.files:
        sources = [f for f in sources if f in {os.path.relpath(x, tree.ROOT) for x in args.files}]
    if args.changed:
        changed = changed_since(args.changed)
        sources = [f for f in sources if closures.reach(f) & changed]
    version = subprocess.run([TIDY, '--version'], check=True, capture_output=True, text=True).stdout
    rules = tree.read('.clang-tidy')
    work = [(f, closures.digest(f, version, rules, str(CHECKS), known[f])) for f in sources]
    new = [w for w in work if not cache.has(w[1])]
    new.sort(key=lambda w: -os.path.getsize(os.path.join(tree.ROOT, w[0])))

    seen, times, failures = set(), [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda item: run_tidy(item[0], folder), new)
        for (f, digest), (good, words, seconds) in zip(new, outcomes):
            times.append((seconds, f))
            if good:
                cache.add(digest)
                continue
            failures += 1
            for group in diagnostics(words):
                if group not in seen:
                    seen.add(group)
                    print(group, flush=True)
    cache.save(complete=not (args.changed or args.files))
    if args.slow:
        print('\n'.join(f'{seconds:6.1f} s {f}' for seconds, f in sorted(times, reverse=True)[:10]))
    print(f'{len(sources)} sources: {failures} with findings, {len(new)} checked now, {len(work) - len(new)} unchanged')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
