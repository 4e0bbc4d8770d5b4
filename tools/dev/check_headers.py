#!/usr/bin/env python3
"""Checks that the public headers compile alone as a user compiles them, and with MILLRACE_LONG=1 that each of ours does.

usage: check_headers.py [BUILD_FOLDER]     (default: build, which must be configured)
- No other stage of tools/check proves that a header compiles alone: the build has precompiled headers, and clang-tidy reads
  several sources at once. So g++ compiles each here; those that no user sees, which take three minutes, by --long alone.
  They come in chains: a header after those of the chain that it includes itself, so that it sees what it would see alone.
  There are half as many chains as headers.
- Each header of tools/dev/public_headers.txt is compiled so by g++ and by clang++-19, with our warnings and those that users
  turn on as errors; each of its types that the list names is made by default, copied and destroyed behind it, if it may, and
  each value in braces is written there as a user writes it.
- A struct that is written in braces has no member that owns something, unless it is Braced (core/base/braced.h): where such
  braces stand in an awaited expression, g++ 12 destroys that member twice.
- An example is compiled with -O2, since g++ finds some things in headers only as it optimises what uses them.
What passed is not compiled again until it or something of ours that it includes changes.
"""

import collections
import concurrent.futures
import os
import re
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


OWNS = re.compile(r'std::optional<(?P<inner>.*)>$|'
                  r'std::(string(?!_view)|vector|map|set|deque|function|shared_ptr|unique_ptr|stop_token|stop_source|any)\b|'
                  r'(\w+::)*(ListOf|PooledVector|Ref|Future|Promise|Owner|Error|HostArray|Buffers?|Device|Executable|Program)\b')


def owns(type_name):
    found = OWNS.match(type_name.strip())
    return bool(found) and (found['inner'] is None or owns(found['inner']))


def owning_members(text, name):
    """"TYPE MEMBER" of each member of `struct name` that owns something and is not Braced; none where the text has no such struct."""
    body = re.search(r'^struct %s(?: final)? \{\n(.*?)^\};' % name, text, re.S | re.M)
    if not body:
        return []
    code = re.sub(r'//[^\n]*', '', body[1])
    return [f'{kind} {member}' for kind, member in
            re.findall(r'^  ((?:[\w:]|<[^;={}]*>|[*&]| (?=[\w*&<]))+?) (\w+)\s*(?:=[^;]*)?;', code, re.M)
            if not kind.startswith(('static', 'using', 'return')) and owns(kind)]


def spelled(header):
    return header if header.split('/')[0] in tree.OUTER else 'millrace/' + header


def chains(headers, closures):
    """The headers in as few lists as there can be, in each of which a header includes, itself or by others, all before it.

    Each header of ours that another includes is checked as well, and so compiles alone. The other's own lines then see after
    its list what they see alone. The lists are a cover of the graph of includes by paths, from a largest matching.
    """
    reach = {h: closures.reach(h) for h in headers}
    below = {h: [g for g in headers if g in reach[h] and h not in reach[g]] for h in headers}
    next_of = {}

    def follow(header, tried):
        for g in below[header]:
            if g not in tried:
                tried.add(g)
                if g not in next_of or follow(next_of[g], tried):
                    next_of[g] = header
                    return True
        return False

    after_another = {h for h in headers if follow(h, set())}
    lists = [[h] for h in headers if h not in after_another]
    for chain in lists:
        while chain[-1] in next_of:
            chain.append(next_of[chain[-1]])
    return lists


def made(header, words):
    """A source that includes the header alone, makes, copies and destroys its types, as far as each may be, and writes its
    values. Several such sources are one, too."""
    types = [w for w in words if '{' not in w]  # one type may have two names
    values = [w for w in words if '{' in w]
    own_space = re.sub(r'\W', '_', header)
    return '\n'.join([f'#include "{spelled(header)}"', '#include <type_traits>', USE,
                      f'namespace millrace::{own_space} {{',
                      *(f'void (*use_{i})(const {t}*) = use<{t}>;' for i, t in enumerate(types)),
                      *(f'auto write_{i}() {{ return {v}; }}' for i, v in enumerate(values)), '}', ''])


USE = """#ifndef MILLRACE_USE
#define MILLRACE_USE
namespace millrace {
template <class T>
void use([[maybe_unused]] const T* given) {
  if constexpr (std::is_default_constructible_v<T>) {
    [[maybe_unused]] T made{};
    [[maybe_unused]] T plain;
  }
  if constexpr (std::is_copy_constructible_v<T>) [[maybe_unused]] T copy(*given);
}
}
#endif"""


def compile_source(compiler, flags, source, build):
    done = subprocess.run(
        [compiler, *flags, '-I', os.path.join(build, 'include'), '-I', tree.ROOT, '-'],
        input=source, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def own(header):
    return GCC, OWN, f'#include "{spelled(header)}"\n', header


def batches(work, closures):
    """What is compiled at once: the headers of a chain, or what else there is alone."""
    alike = collections.defaultdict(dict)  # by compiler and flags
    for w in work:
        alike[w[0], *w[1]][tree.ours(spelled(w[3]))] = w
    return [[same[h] for h in chain] for same in alike.values() for chain in chains(list(same), closures)]


def compile_batch(batch, build):
    """(work, was it good, the compiler's words) of each: one by one where they fail together, to say which one it is."""
    compiler, flags = batch[0][:2]
    good, words = compile_source(compiler, flags, ''.join(w[2] for w in batch), build)
    if good or len(batch) == 1:
        return [(w, good, words) for w in batch]
    return [(w, *compile_source(compiler, flags, w[2], build)) for w in batch]


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

    named = {(tree.ours(spelled(header)), w.partition('{')[0].split('::')[-1]) for header, words in public for w in words if '{' in w}
    unbraced = [(name, member) for header, name in sorted(named) if header in headers
                for member in owning_members(tree.read(header), name)]
    for name, member in unbraced:
        print(f'{name} is written in braces, and its member "{member}" owns something: make it Braced (core/base/braced.h)')

    # Compiler, flags, source and the header in it.
    checked = {tree.ours(spelled(h)) for h, _ in public}
    others = [h for h in headers if h not in checked] if os.environ.get('MILLRACE_LONG') else []
    work = [own(h) for h in others]
    work += [(compiler, USERS, made(*p), p[0]) for p in public for compiler in (GCC, CLANG)]
    work.append((GCC, OPTIMISED, tree.read(EXAMPLE), 'millrace.h'))
    closures, cache = tree.Closures(), tree.Cache(os.path.join(build, 'check', 'headers'))
    work = [(*w, closures.digest(tree.ours(spelled(w[3])), *w)) for w in work]
    new = [w for w in work if not cache.has(w[4])]
    failures = len(gone) + len(unbraced)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcomes in pool.map(lambda batch: compile_batch(batch, build), batches(new, closures)):
            for (compiler, _, _, what, digest), good, words in outcomes:
                if good:
                    cache.add(digest)
                else:
                    failures += 1
                    print(f'with {compiler}, compiled alone: {what}\n{words}')
    cache.save()
    print(f'{len(checked) + len(others)} of {len(headers)} headers, {len(public)} of them public: {failures} failures '
          f'({len(new)} compiled now)')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
