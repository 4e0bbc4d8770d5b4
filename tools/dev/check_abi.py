#!/usr/bin/env python3
"""Checks that programs built with libmillrace_c.so of version 0.1.0 run with that of these sources: abidiff compares its
interface with tools/install/millrace_c.abi, the dump of that version.

usage: check_abi.py [BUILD_FOLDER]            (default: build)
       check_abi.py BUILD_FOLDER --update     writes the dump

What is compared is a library made here of c_api.h, whose functions do nothing, but have their types and those of its enums,
which the real library, built without such facts, cannot show. The compiler holds the real one to the header. Functions and
numbers that are added are no difference. A struct that grows at its end is one for abidiff, not for programs, since each begins
with its size: then the dump is written anew, which shows that it is all that has changed.
"""

import os
import re
import shutil
import subprocess
import sys

import source_tree as tree

DUMP = 'tools/install/millrace_c.abi'
HEADER = 'tools/c_api/c_api.h'
_FUNCTION = re.compile(r'^(MILLRACE_(?:API|CALL)\b[^;]*);', re.M)
_FIRST_OF_ENUM = re.compile(r'^enum \{\s*(\w+)', re.M)


def run(*command, text=None):
    done = subprocess.run(command, capture_output=True, text=True, input=text)
    return done.returncode, done.stdout + done.stderr


def stand_in(header):
    """A source in C++ that defines each function of the header, and one more for each enum, whose numbers nothing else names."""
    enums = [f'MILLRACE_API void millrace_enum_of_{first}(decltype({first}) one) {{}}'
             for first in _FIRST_OF_ENUM.findall(header)]
    return '\n'.join([_FUNCTION.sub(r'\1 { __builtin_trap(); }', header), 'extern "C" {', *enums, '}', ''])


def made(header, library):
    """The library of a header's text."""
    code, words = run('g++', '-std=c++17', '-g', '-w', '-fPIC', '-shared', '-Wl,-soname,libmillrace_c.so.0', '-x', 'c++', '-',
                      '-o', library, text=stand_in(header))
    if code:
        sys.exit(words)
    return library


def differences(header, folder):
    """What abidiff says of a header beside the dump; nothing where programs do not notice."""
    code, words = run('abidiff', '--no-added-syms', os.path.join(tree.ROOT, DUMP),
                      made(header, os.path.join(folder, 'libmillrace_c.so')))
    return words or f'abidiff ends with {code}' if code else ''


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(tree.ROOT, 'build'))
    if not shutil.which('abidiff'):
        print('abidiff is not here, so the interface for C is not compared with that of 0.1.0; '
              'tools/install_packages check installs it (abigail-tools)')
        return 0
    folder = os.path.join(build, 'check', 'abi')
    os.makedirs(folder, exist_ok=True)
    header = tree.read(HEADER)
    if sys.argv[2:] == ['--update']:
        code, words = run('abidw', '--no-corpus-path', '--no-comp-dir-path', '--no-show-locs', '--out-file',
                          os.path.join(tree.ROOT, DUMP), made(header, os.path.join(folder, 'libmillrace_c.so')))
        print(words or f'{DUMP} is written')
        return code
    found = differences(header, folder)
    print(found + 'programs built with 0.1.0 may not run with this libmillrace_c.so.0. If a struct grows at its end and nothing else is '
          'said above, tools/dev/check_abi.py build --update' if found
          else 'libmillrace_c.so: programs built with 0.1.0 run with it')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
