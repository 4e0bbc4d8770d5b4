#!/usr/bin/env python3
"""Runs clang-tidy-19 with the checks of .clang-tidy over our sources, two or more at a time.

usage: check_tidy.py [BUILD_FOLDER] [--changed BASE] [FILE...]
  BUILD_FOLDER       has compile_commands.json (default: build)
  --changed BASE     only sources that differ from the commit BASE, or include a header that does
Up to twenty sources of a room that are compiled alike are read as one, since most of the time goes into what they include.
Where they do not compile together, as with names of their own that are the same, each half is read as one, down to one source;
groups are made such that few do not. A group that passed is not checked again until a source of it, something of ours that it
includes, a .clang-tidy or its compile command changes; headers are checked with it. The largest groups come first. FILEs are
read alone. Where MILLRACE_LONG is set, as tools/check --long does, tests and bench are checked too, and the analyzer and the
checks of performance run.
This proves of the first source of a group alone that it includes all that it uses; of headers, check_headers.py does.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

import source_groups
import source_tree as tree

TIDY = 'clang-tidy-19'
LONG = bool(os.environ.get('MILLRACE_LONG'))
# What the analyzer finds in the functions that a run reaches, the sanitizers find as well. The checks of performance take a
# third of the time and find what is slow, not what is wrong.
CHECKS = [] if LONG else ['--checks=-clang-analyzer-*,-performance-*']
GROUP = 20
# Where the analyzer takes what a source includes for a part of it: clang looks for this word in its path.
UNIFIED = 'UnifiedSource'
PLACE = re.compile(r'\S+:\d+:\d+: (warning|error)')


def sources_of(path):
    """The sources that CMake has compiled as one, or the one."""
    if os.path.basename(os.path.dirname(path)) != 'groups':
        return [path]
    with open(path, encoding='utf-8') as f:
        return [os.path.join(tree.ROOT, f) for f in re.findall(r'^#include "(.*)"$', f.read(), re.M)]


def room_of(source):
    return source.split('/')[0]


def commands(build):
    """How each source is compiled, in (folder, command) pairs without its name and without g++'s precompiled headers."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        entries = json.load(f)
    known = collections.defaultdict(set)
    for entry in entries:
        command = re.sub(r' -(Winvalid-pch|fpch-preprocess|-param=\S+|include \S*cmake_pch\.hxx)', '', entry['command'])
        for f in sources_of(entry['file']):
            known[os.path.relpath(f, tree.ROOT)].add((entry['directory'], command.partition(' -o ')[0]))
    return {f: sorted(pairs) for f, pairs in known.items()}


def unified(folder, source):
    return os.path.join(folder, UNIFIED, source)


def unify(folder, group):
    """Writes a source that is all of the group, at the place of its first one, and gives its path."""
    path = unified(folder, group[0])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(f'#include "{os.path.join(tree.ROOT, source)}"  // NOLINT(bugprone-suspicious-include)\n'
                     for source in group)
    return path


def write_input(folder, groups, known):
    """Fills the folder with copies of the .clang-tidy of each place, and with the commands of the sources and of what unify()
    writes."""
    shutil.rmtree(folder, ignore_errors=True)
    for rules in tree.files('.clang-tidy'):
        copy = unified(folder, rules)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(os.path.join(tree.ROOT, rules), copy)
    entries = [{'directory': d, 'command': f'{command} -c {shlex.quote(path)}', 'file': path}
               for group in groups for source in group
               for path in (unified(folder, source), os.path.join(tree.ROOT, source))
               for d, command in known[source]]
    with open(os.path.join(folder, 'compile_commands.json'), 'w', encoding='utf-8') as f:
        json.dump(entries, f)


def changed_since(base):
    out = subprocess.run(['git', '-C', tree.ROOT, 'diff', '--name-only', base, '--'],
                         check=True, capture_output=True, text=True).stdout
    return set(out.split())


def run_tidy(path, folder, *options):
    done = subprocess.run(
        [TIDY, '-p', folder, '--quiet', '--warnings-as-errors=*',
         '--extra-arg=-Wno-unknown-warning-option', '--extra-arg=-Wno-deprecated-declarations', *CHECKS, *options, path],
        cwd=tree.ROOT, capture_output=True, text=True)
    words = [l for l in done.stdout.split('\n') if l]
    if done.returncode != 0 and not words:
        words = done.stderr.split('\n')
    return done.returncode == 0, words


def read_group(group, folder, headers):
    """(was it good, clang-tidy's words, how often a part of it was read by halves)"""
    if len(group) == 1:
        return *run_tidy(os.path.join(tree.ROOT, group[0]), folder), 0
    sources = '|'.join(re.escape(f) for f in group)
    good, words = run_tidy(unify(folder, group), folder, f'--header-filter={headers}|/({sources})$')
    # What the compiler says may come of the names of another source of the group; a crash names no place.
    if good or (any(map(PLACE.match, words)) and not any('[clang-diagnostic-' in l for l in words)):
        return good, words, 0
    halves = [read_group(half, folder, headers) for half in (group[:len(group) // 2], group[len(group) // 2:])]
    return all(h[0] for h in halves), halves[0][1] + halves[1][1], 1 + halves[0][2] + halves[1][2]


def check_group(group, folder, headers):
    """What read_group() gives, and the seconds."""
    started = time.monotonic()
    return *read_group(group, folder, headers), time.monotonic() - started


def diagnostics(words):
    """Groups of lines, one per warning: a header's is printed by every source that includes it."""
    groups = []
    for line in words:
        if PLACE.match(line) or not groups:
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
    known = commands(build)
    closures, cache = tree.Closures(), tree.Cache(os.path.join(build, 'check', 'tidy'))

    sources = [f for f in tree.cpp_files() if f.endswith('.cc') and f in known]
    if not LONG and not args.files:
        sources = [f for f in sources if f.split('/')[0] not in tree.OUTER]
    if args.files:
        sources = [f for f in sources if f in {os.path.relpath(x, tree.ROOT) for x in args.files}]
    groups = [[f] for f in sources] if args.files else source_groups.grouped(sources, GROUP, known.get, room_of)
    if args.changed:
        changed = changed_since(args.changed)
        groups = [g for g in groups if any(closures.reach(f) & changed for f in g)]
    version = subprocess.run([TIDY, '--version'], check=True, capture_output=True, text=True).stdout
    rules = {f: tree.read(f) for f in tree.files('.clang-tidy')}
    headers = re.search(r"^HeaderFilterRegex: '(.*)'$", rules['.clang-tidy'], re.M)[1]

    def digest(group):
        parts = [closures.digest(f, version, str(rules), str(CHECKS), str(known[f])) for f in group]
        return hashlib.sha256(' '.join(parts).encode()).hexdigest()

    work = [(g, digest(g)) for g in groups]
    new = [w for w in work if not cache.has(w[1])]
    new.sort(key=lambda w: -sum(os.path.getsize(os.path.join(tree.ROOT, f)) for f in w[0]))
    write_input(folder, [g for g, _ in new], known)

    seen, times, split, failures = set(), [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda item: check_group(item[0], folder, headers), new)
        for (group, passed), (good, words, halved, seconds) in zip(new, outcomes):
            times.append((seconds, ' '.join(group) + f' (by halves: {halved})' * (halved > 0)))
            split += halved > 0
            if good:
                cache.add(passed)
                continue
            failures += 1
            for finding in diagnostics(words):
                if finding not in seen:
                    seen.add(finding)
                    print(finding, flush=True)
    cache.save(complete=not (args.changed or args.files))
    if args.slow:
        print('\n'.join(f'{seconds:6.1f} s {f}' for seconds, f in sorted(times, reverse=True)[:10]))
    print(f'{sum(len(g) for g in groups)} sources in {len(groups)} groups: {failures} with findings, {len(new)} checked now, '
          f'{split} of them by halves, {len(work) - len(new)} unchanged')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
