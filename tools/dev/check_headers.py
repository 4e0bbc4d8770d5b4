#!/usr/bin/env python3
"""Checks that every header of ours compiles alone, and that the public ones do as a user compiles them.

usage: check_headers.py [BUILD_FOLDER]     (default: build, which must be configured)
- A header that its own source includes first is compiled alone by clang-tidy, and by a build without tests, which know no
  precompiled headers; every other one is compiled here.
- Each header of tools/dev/public_headers.txt is compiled alone by g++ and by clang++-19, with our warnings and those that users
  turn on as errors; each of its types that the list names is made by default, copied and destroyed there, if it may, and each
  value in braces is written there as a user writes it.
- An example is compiled with -O2, since g++ finds some things in headers only as it optimises what uses them.
What passed is not compiled again until it or something of ours that it includes changes.
"""

import concurrent.futures
import os
import shutil
import subprocess
import sys

import source_tree as tree

LIST = 'tools/dev/public_headers.txt'
BASE = ['-std=c++23', '-fsyntax-only', '-x', 'c++', '-Werror', '-Wall', '-Wextra']
OWN = BASE + ['-Wno-missing-field-initializers']
USERS = BASE + ['-Wpedantic', '-Wshadow', '-Wconversion']
OPTIMISED = [f for f in BASE if f != '-fsyntax-only'] + ['-O2', '-S', '-o', '/dev/null']
EXAMPLE = 'tools/examples/coroutine_on_uv.cc'
GCC, CLANG = 'g++', 'clang++-19'


def public_headers(text):
    """(header, its types and values) of each line "HEADER: TYPE TYPE{.FIELD=VALUE}" of the list."""
    lines = [line.partition('#')[0].strip() for line in text.split('\n')]
    return [(header.strip(), types.split()) for header, _, types in (line.partition(':') for line in lines if line)]


def spelled(header):
    return header if header.split('/')[0] in tree.OUTER else 'millrace/' + header


def built_alone(header):
    """Its own source includes it before anything else."""
    source = header[:-2] + '.cc'
    if not os.path.exists(os.path.join(tree.ROOT, source)):
        return False
    return next((s for _, s, _ in tree.includes(tree.read(source))), None) == spelled(header)


def made(public):
    """A source that includes the headers alone, makes, copies and destroys their types, as far as each may be, and
    writes their values."""
    words = [w for _, types in public for w in types]
    named = [w for w in words if '{' not in w]  # one type may have two names
    values = [w for w in words if '{' in w]
    return '\n'.join([*(f'#include "{spelled(header)}"' for header, _ in public), '#include <type_traits>',
                      'namespace millrace {', USE,
                      *(f'void (*use_{i})(const {t}*) = use<{t}>;' for i, t in enumerate(named)),
                      *(f'auto write_{i}() {{ return {v}; }}' for i, v in enumerate(values)), '}', ''])


USE = """template <class T>
void use([[maybe_unused]] const T* given) {
  if constexpr (std::is_default_constructible_v<T>) {
    [[maybe_unused]] T made{};
    [[maybe_unused]] T plain;
  }
  if constexpr (std::is_copy_constructible_v<T>) [[maybe_unused]] T copy(*given);
}"""


def compile_source(compiler, flags, source, build):
    done = subprocess.run(
        [compiler, *flags, '-I', os.path.join(build, 'include'), '-I', tree.ROOT, '-'],
        input=source, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(tree.ROOT, 'build'))
    for compiler in (GCC, CLANG):
        if not shutil.which(compiler):
            print(f'{compiler} is not here; tools/install_packages check installs it')
            return 1
    public = public_headers(tree.read(LIST))
    headers = [f for f in tree.cpp_files() if f.endswith('.h')]
    gone = [h for h, _ in public if tree.ours(spelled(h)) not in headers]
    for header in gone:
        print(f'{LIST}: {header}: no such header')

    # Compiler, flags, source and the header in it.
    checked = {tree.ours(spelled(h)) for h, _ in public}
    work = [(GCC, OWN, f'#include "{spelled(h)}"\n', h) for h in headers if h not in checked and not built_alone(h)]
    work += [(compiler, USERS, made([p]), p[0]) for p in public for compiler in (GCC, CLANG)]
    work.append((GCC, OPTIMISED, tree.read(EXAMPLE), 'millrace.h'))
    closures, cache = tree.Closures(), tree.Cache(os.path.join(build, 'check', 'headers'))
    work = [(*w, closures.digest(tree.ours(spelled(w[3])), *w)) for w in work]
    new = [w for w in work if not cache.has(w[4])]
    failures = len(gone)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda w: compile_source(w[0], w[1], w[2], build), new)
        for (compiler, _, _, what, digest), (good, words) in zip(new, outcomes):
            if good:
                cache.add(digest)
            else:
                failures += 1
                print(f'with {compiler}, compiled alone: {what}\n{words}')
    cache.save()
    print(f'{len(headers)} headers, {len(public)} of them public: {failures} failures ({len(new)} compiled now)')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
