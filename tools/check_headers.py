#!/usr/bin/env python3
"""Checks that every header of ours compiles alone, with g++ and where it is there with clang++-19.

usage: check_headers.py [BUILD_FOLDER]     (default: build, which must be configured)
A header that passed is not compiled again until it or something of ours that it includes changes.
"""

import concurrent.futures
import os
import shutil
import subprocess
import sys

import source_tree as tree

FLAGS = ['-std=c++23', '-fsyntax-only', '-x', 'c++', '-Wall', '-Wextra', '-Werror',
         '-Wno-missing-field-initializers', '-Wno-pragma-once-outside-header']
COMPILERS = {'g++': [], 'clang++-19': ['-Wthread-safety']}


def compile_alone(compiler, header, build):
    flags = [f for f in FLAGS if compiler != 'g++' or 'pragma-once' not in f] + COMPILERS[compiler]
    source = f'#include "{"millrace/" if header.split("/")[0] not in tree.OUTER else ""}{header}"\n'
    done = subprocess.run(
        [compiler, *flags, '-I', os.path.join(build, 'include'), '-I', tree.ROOT, '-'],
        input=source, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(tree.ROOT, 'build'))
    headers = [f for f in tree.cpp_files() if f.endswith('.h')]
    compilers = [c for c in COMPILERS if shutil.which(c)]
    closures, cache = tree.Closures(), tree.Cache(os.path.join(build, 'check', 'headers'))
    work = [(c, h, closures.digest(h, c, FLAGS, COMPILERS[c])) for h in headers for c in compilers]
    new = [w for w in work if not cache.has(w[2])]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (c, h, digest), (good, words) in zip(
                new, pool.map(lambda w: compile_alone(w[0], w[1], build), new)):
            if good:
                cache.add(digest)
            else:
                failures += 1
                print(f'{h}: does not compile alone with {c}\n{words}')
    cache.save()
    print(f'{len(headers)} headers x {", ".join(compilers)}: {failures} failures ({len(new)} compiled now)')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
