#!/usr/bin/env python3
"""What cmake --install makes is a library that others use: with find_package, with pkg-config and from C, also where it was
moved to another folder.

usage: users_test.py CMAKE NINJA BUILD_FOLDER

It installs what the folder has built into a temporary prefix. No network is used, and nothing of the build folder: the
programs of the users see the prefix alone.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tools', 'dev'))
import exported_symbols  # noqa: E402

CMAKE, NINJA, BUILD = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3])
EXAMPLES = os.path.join(ROOT, 'tools', 'examples')
VERSION = '0.1.0'
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(Millrace 0.1 CONFIG REQUIRED)
add_executable(first_program {EXAMPLES}/first_program.cc)
target_link_libraries(first_program PRIVATE millrace::millrace)
add_executable(c_on_poll {EXAMPLES}/c_on_poll.c)
target_link_libraries(c_on_poll PRIVATE millrace::c)
"""
ALONE = f"""cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(Millrace CONFIG REQUIRED COMPONENTS core actors)
add_executable(actors_alone {EXAMPLES}/actors_alone.cc)
target_link_libraries(actors_alone PRIVATE millrace::core millrace::actors)
"""
UNKNOWN = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(Millrace CONFIG REQUIRED COMPONENTS wheels)
"""
WITHOUT_LIBRARIES = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
set(CMAKE_FIND_LIBRARY_SUFFIXES .none)
find_package(Millrace CONFIG REQUIRED COMPONENTS actors)
"""
MIXED = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(Millrace CONFIG REQUIRED COMPONENTS core)
file(WRITE ${CMAKE_BINARY_DIR}/main.cc "int main() {}")
add_executable(mixed ${CMAKE_BINARY_DIR}/main.cc)
target_link_libraries(mixed PRIVATE millrace::millrace millrace::core)
"""
HEAVY = re.compile(r'tbb|dnnl|protobuf|lapack|blas|blis|millrace|crypto')
failures = 0


def check(good, words):
    global failures
    if not good:
        failures += 1
        print(f'FAILED: {words}')


def run(*command, env=None, fails=False):
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if (done.returncode != 0) != fails:
        print(' '.join(command), done.stdout[-4000:], done.stderr[-4000:], sep='\n')
        sys.exit(1)
    return done.stdout + (done.stderr if fails else '')


def environment(prefix):
    """Of a user who has installed nothing but that prefix."""
    libs = os.path.join(prefix, 'lib')
    return {'PATH': os.environ['PATH'], 'HOME': os.environ.get('HOME', '/'), 'PKG_CONFIG_PATH': f'{libs}/pkgconfig',
            'LD_LIBRARY_PATH': libs, 'CPU_NUM_DEVICES': '1'}


def configured(text, prefix, folder, fails=False):
    os.makedirs(folder)
    with open(os.path.join(folder, 'CMakeLists.txt'), 'w', encoding='utf-8') as f:
        f.write(text)
    return run(CMAKE, '-S', folder, '-B', f'{folder}/build', '-G', 'Ninja', f'-DCMAKE_MAKE_PROGRAM={NINJA}',
               f'-DCMAKE_PREFIX_PATH={prefix}', fails=fails)


def built(text, prefix, folder):
    configured(text, prefix, folder)
    run(CMAKE, '--build', f'{folder}/build')
    return f'{folder}/build'


def says(program, prefix, own_path=False):
    """Runs a program: as a user does whose library is where the loader looks, or by what its linker has noted."""
    env = environment(prefix)
    if own_path:
        del env['LD_LIBRARY_PATH']
    return run(program, env=env).strip()


def needed(file):
    return re.findall(r'\(NEEDED\).*\[(.*)\]', run('readelf', '-d', file))


def check_headers(prefix):
    """The installed headers are the public ones and what they include, and others' headers are included by bridges alone."""
    include = os.path.join(prefix, 'include', 'millrace')
    found = {os.path.relpath(f, include) for f in glob.glob(f'{include}/**', recursive=True) if os.path.isfile(f)}
    names = {'tools/api/millrace.h': 'millrace.h', 'tools/c_api/c_api.h': 'c_api.h'}
    wanted = {names.get(h, h): h for h in exported_symbols.installed_headers()}
    check(found == set(wanted), f'installed headers: lacks {sorted(set(wanted) - found)}, has {sorted(found - set(wanted))}')
    for name in sorted(found & set(wanted)):
        with open(os.path.join(include, name), 'rb') as a, open(os.path.join(ROOT, wanted[name]), 'rb') as b:
            text = a.read()
            check(text == b.read(), f'{name} is not that of the sources')
        for spelled in re.findall(r'^#include [<"]([^">]+)[">]', text.decode(), re.M):
            if spelled.startswith('millrace/'):
                check(spelled[len('millrace/'):] in found, f'{name} includes {spelled}, which is not installed')
            elif not name.endswith('_bridge.h'):
                check('/' not in spelled or spelled.startswith('sys/'), f'{name} includes {spelled}, a header of others')
    return found


def check_paths(prefix):
    """No installed file knows where it was built or installed."""
    for file in glob.glob(f'{prefix}/**', recursive=True):
        if os.path.isfile(file):
            with open(file, 'rb') as f:
                text = f.read()
            for path in (ROOT, BUILD, prefix):
                check(path.encode() not in text, f'{os.path.relpath(file, prefix)} has the path {path} in it')


def check_libraries(prefix):
    lib = os.path.join(prefix, 'lib')
    for name, mine in (('millrace', exported_symbols.listed(exported_symbols.tree.read(exported_symbols.MAP))),
                       ('millrace_c', c_functions())):
        file = f'{lib}/lib{name}.so.{VERSION}'
        check(os.readlink(f'{lib}/lib{name}.so') == f'lib{name}.so.0', f'lib{name}.so leads to the soname')
        check(os.readlink(f'{lib}/lib{name}.so.0') == f'lib{name}.so.{VERSION}', f'lib{name}.so.0 leads to the library')
        through_table = [line for line in run('readelf', '-rW', file).splitlines() if 'JUMP_SLO' in line and '8millrace' in line]
        check(not through_table, f'lib{name}.so calls its own functions as if they might be replaced: {through_table[:3]}')
        check(f'[lib{name}.so.0]' in run('readelf', '-d', file), f'the soname of lib{name}.so')
        check(exported_symbols.compare(f'lib{name}.so', mine, exported_symbols.exported(file)) == 0, f'symbols of lib{name}.so')
    written = exported_symbols.listed(exported_symbols.tree.read(exported_symbols.MAP))
    wanted = set(exported_symbols.public_symbols(BUILD))
    wanted -= exported_symbols.optional(wanted) - set(written)
    check(exported_symbols.compare(exported_symbols.MAP, wanted, written) == 0,
          'the list of exported symbols is what the headers declare: tools/dev/exported_symbols.py build --update')


def check_inline_functions(prefix, folder):
    """All installed headers at once: what their inline functions call is exported."""
    public = exported_symbols.check_headers.public_headers(exported_symbols.tree.read(exported_symbols.check_headers.LIST))
    includes = ''.join(f'#include "millrace/{header}"\n' for header, _ in public)
    with open(f'{folder}/all.cc', 'w', encoding='utf-8') as f:
        f.write(includes)
    run('g++', '-std=c++23', '-fkeep-inline-functions', '-fPIC', '-shared', f'{folder}/all.cc', '-o', f'{folder}/all.so',
        '-I', f'{prefix}/include', '-L', f'{prefix}/lib', '-lmillrace', '-lmillrace_c', '-Wl,--no-undefined')


def c_functions():
    return sorted(re.findall(r'^MILLRACE_(?:API|CALL)\b[^;(]*?(\w+)\(', exported_symbols.tree.read('tools/c_api/c_api.h'), re.M))


def check_users(prefix, folder, objects):
    """Programs of users by find_package, and by pkg-config; objects: where those of the latter are kept."""
    project = built(PROJECT, prefix, f'{folder}/project')
    alone = built(ALONE, prefix, f'{folder}/alone')
    env, flags = environment(prefix), ['-std=c++23']

    def packages(*names):
        return shlex.split(run('pkg-config', *names, env=env))

    for source, names in (('first_program.cc', ['millrace']), ('actors_alone.cc', ['millrace-actors', 'millrace-core']),
                          ('c_on_poll.c', ['millrace-c'])):
        name, kind = os.path.splitext(source)
        if not os.path.exists(f'{objects}/{name}.o'):
            run('g++' if kind == '.cc' else 'gcc', *(flags if kind == '.cc' else []), '-c', f'{EXAMPLES}/{source}', '-o',
                f'{objects}/{name}.o', *packages('--cflags', *names))
        static = ['--static'] if name == 'actors_alone' else []
        run('g++', f'{objects}/{name}.o', '-o', f'{folder}/{name}', *packages(*static, '--libs', *names))
    programs = {'first_program': f'{project}/first_program', 'c_on_poll': f'{project}/c_on_poll',
                'actors_alone': f'{alone}/actors_alone'}
    for name, program in programs.items():
        said = says(program, prefix, own_path=True)
        check(said == says(f'{folder}/{name}', prefix) and said, f'{name} says {said!r}')
        for file in (program, f'{folder}/{name}'):
            if name == 'actors_alone':
                check(not [n for n in needed(file) if HEAVY.search(n)], f'{name} needs {needed(file)}')
            else:
                others = [n for n in needed(file) if not re.match(r'lib(stdc\+\+|gcc_s|c|m)\.so', n)]
                check(others == [f'libmillrace{"_c" if name == "c_on_poll" else ""}.so.0'], f'{name} needs {others}')
    check(says(programs['actors_alone'], prefix) == '55', 'the sum of 1 to 10')
    check(VERSION in run(f'{prefix}/bin/millrace', '--version', env=env), 'the version of the command')


def main():
    with tempfile.TemporaryDirectory() as folder:
        first, second = f'{folder}/first', f'{folder}/some where/else'
        run(CMAKE, '--install', BUILD, '--prefix', first)
        check_headers(first)
        check_paths(first)
        check_libraries(first)
        check_inline_functions(first, folder)
        for file in ('share/man/man1/millrace.1', 'share/bash-completion/completions/millrace',
                     'share/doc/millrace/examples/first_program.cc'):
            check(os.path.exists(f'{first}/{file}'), f'{file} is installed')
        os.makedirs(f'{folder}/objects')
        os.makedirs(f'{folder}/one')
        check_users(first, f'{folder}/one', f'{folder}/objects')
        words = configured(UNKNOWN, first, f'{folder}/unknown', fails=True)
        check("no component 'wheels'" in ' '.join(words.split()), f'an unknown component: {words}')
        words = configured(WITHOUT_LIBRARIES, first, f'{folder}/without', fails=True)
        check('Component core needs libuv, which is not here (Debian: libuv1-dev)' in ' '.join(words.split()),
              f'a library of the system that is not there: {words}')
        words = configured(MIXED, first, f'{folder}/mixed', fails=True)
        check('MILLRACE_LINKAGE' in words, f'both the shared library and static ones: {words}')
        os.makedirs(os.path.dirname(second))
        shutil.move(first, second)
        os.makedirs(f'{folder}/two')
        check_users(second, f'{folder}/two', f'{folder}/objects')
    print(f'{failures} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
