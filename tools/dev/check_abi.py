#!/usr/bin/env python3
"""Checks that programs built with libmillrace_c.so of version 0.1.0 run with that of these sources: abidiff compares it with
tools/install/millrace_c.abi, the dump of that version.

usage: check_abi.py [BUILD_FOLDER]            (default: build, which must be configured)
       check_abi.py BUILD_FOLDER --update     writes the dump: for the first version of a soname alone

The sources of tools/c_api are compiled here with what abidiff reads, the types, which the build leaves out. Functions that are
added and structs that grow at their end are no difference (millrace_c.suppr). What passed is not compared again until the
sources change.
"""

import os
import shutil
import subprocess
import sys

import source_tree as tree

DUMP = 'tools/install/millrace_c.abi'
SUPPRESSED = 'tools/install/millrace_c.suppr'
SYMBOLS = 'tools/c_api/millrace_c.map'
HEADERS = 'tools/c_api'


def run(*command):
    return subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True)


def compiled(build, folder, sources):
    """The library's own part, with its types; what it calls of the runtime stays undefined."""
    library = os.path.join(folder, 'libmillrace_c.so')
    done = run('g++', '-std=c++23', '-g', '-O0', '-fPIC', '-shared', '-fvisibility=hidden', '-I', os.path.join(build, 'include'),
               f'-ffile-prefix-map={build}/include/millrace/=', f'-Wl,--version-script={SYMBOLS}',
               '-Wl,-soname,libmillrace_c.so.0', *sources, '-o', library)
    if done.returncode:
        sys.exit(done.stderr)
    return library


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(tree.ROOT, 'build'))
    if not shutil.which('abidiff'):
        print('abidiff is not here, so the interface for C is not compared with that of 0.1.0; '
              'tools/install_packages check installs it (abigail-tools)')
        return 0
    sources = [f for f in tree.files('.cc') if f.startswith('tools/c_api/')]
    folder = os.path.join(build, 'check', 'abi')
    os.makedirs(folder, exist_ok=True)
    if sys.argv[2:] == ['--update']:
        done = run('abidw', '--headers-dir', HEADERS, '--drop-private-types', '--no-show-locs', '--no-corpus-path',
                   '--no-comp-dir-path', '--out-file', DUMP, compiled(build, folder, sources))
        print(done.stdout + done.stderr or f'{DUMP} is written')
        return done.returncode
    closures, cache = tree.Closures(), tree.Cache(os.path.join(folder, 'passed'))
    salt = [tree.read(f) for f in (DUMP, SUPPRESSED, SYMBOLS)]
    digests = [closures.digest(f, *salt) for f in sources]
    if not all([cache.has(d) for d in digests]):
        done = run('abidiff', '--headers-dir2', HEADERS, '--drop-private-types', '--no-added-syms', '--no-show-locs',
                   '--suppressions', SUPPRESSED, DUMP, compiled(build, folder, sources))
        if done.returncode:
            print(done.stdout + done.stderr)
            print('programs built with 0.1.0 would not run with this libmillrace_c.so.0: c_api.h, Versions')
            return 1
        for digest in digests:
            cache.add(digest)
        cache.save()
    print('libmillrace_c.so: programs built with 0.1.0 run with it')
    return 0


if __name__ == '__main__':
    sys.exit(main())
