#!/usr/bin/env python3
"""A project of a user's own that adds Millrace as a folder compiles its sources without options of ours.

usage: user_project_test.py CMAKE NINJA
"""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_subdirectory({ROOT} millrace)
add_executable(program user_main.cc)
target_link_libraries(program PRIVATE millrace::millrace)
"""
# The language, where headers are, what it is compiled to; what CMake asks for by itself. The project has no build type, so
# that nothing optimises it or takes its assertions out.
EXPECTED = re.compile(r'-(std=|isystem$|I|o$|c$|D(?!NDEBUG)|fPIC$|fPIE$)')


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as f:
            f.write(PROJECT)
        with open(os.path.join(folder, 'user_main.cc'), 'w', encoding='utf-8') as f:
            f.write('int main() {}\n')
        done = subprocess.run([sys.argv[1], '-G', 'Ninja', f'-DCMAKE_MAKE_PROGRAM={sys.argv[2]}',
                               '-S', folder, '-B', os.path.join(folder, 'build')], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stdout + done.stderr)
            return 1
        with open(os.path.join(folder, 'build', 'compile_commands.json'), encoding='utf-8') as f:
            commands = {os.path.basename(e['file']): e['command'].split() for e in json.load(f)}
    ours = [word for word in commands['user_main.cc'] if word.startswith('-') and not EXPECTED.match(word)]
    if ours:
        print(f'a user of millrace::millrace gets these options: {" ".join(ours)}')
    missing = {'-Wall', '-O3', '-DNDEBUG'} - set(commands['future.cc'])
    if missing:
        print(f'our own sources are compiled without {" ".join(missing)}')
        return 1
    return 1 if ours else 0


if __name__ == '__main__':
    sys.exit(main())
