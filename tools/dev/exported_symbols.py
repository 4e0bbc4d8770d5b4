#!/usr/bin/env python3
"""The symbols that libmillrace.so exports: those of what the installed headers declare, and nothing else.

usage: exported_symbols.py BUILD_FOLDER            compares the committed list with headers and archives, and with the library
       exported_symbols.py BUILD_FOLDER --update   writes the list: tools/install/libmillrace.map, the library's version script

The objects of the library are those of the static archives, so that the sources are compiled once. Their names are visible, and
the version script says which of them leave the library. It lists symbols, not patterns: what is public is read in it, and a
change of it is seen where it is reviewed. The list is made here from what the installed headers declare: of public classes what
is not private, of public headers every function and variable. Inline functions and templates are compiled into the programs of
users. What else they may call is exported, too: private functions, and those of the headers that public ones include, but for
functions whose name no header has more than once, where they are declared. Constructors, destructors, operators and virtual
functions are called without their names.
"""

import collections
import os
import re
import subprocess
import sys

import check_headers
import source_tree as tree

MAP = 'tools/install/libmillrace.map'
ARCHIVES = ['core', 'tbb', 'net', 'actors', 'remote', 'stablehlo', 'devices', 'transfer', 'collectives', 'runtime']
VERSION = 'MILLRACE_0'
_TEXTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
_DIRECTIVES = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.S | re.M)
_TOKEN = re.compile(r'\[\[.*?\]\]|~?[A-Za-z_]\w*(?:::~?\w+)*|::|[0-9][\w\'.]*|\S', re.S)
_SKIPPED = {'alignas', 'decltype', 'noexcept', 'requires', 'static_assert', '__attribute__'}
_PREFIX = re.compile(r'^(?:vtable for|VTT for|typeinfo name for|typeinfo for|(?:non-)?virtual thunk to|'
                     r'TLS init function for|TLS wrapper function for) ')


class Declared:
    """The names that headers declare: classes with a body, functions and variables of namespaces, explicit instantiations."""

    def __init__(self):
        self.classes, self.names, self.instantiated = set(), set(), set()
        self.open = set()  # what users may name, and what is called without a name
        self.words = collections.Counter()  # how often headers have a name
        self._public = True

    def read(self, text, public=True):
        text = _TEXTS.sub(' ', text)
        self.words.update(re.findall(r'\w+', text))  # of macros as well
        tokens = [t for t in _TOKEN.findall(_DIRECTIVES.sub(' ', text)) if not t.startswith('[[')]
        self._public = public
        scopes, said, i = [], [], 0  # scopes: (name, is it a class)
        access = []  # of the classes
        while i < len(tokens):
            t = tokens[i]
            if t == '{':
                kind, name = self._opens(said)
                if kind is None:
                    i = _closing(tokens, i)
                    if '(' in said and '=' not in said:  # a function with its body; else an initialiser, before a ';'
                        self._statement(scopes, said, access)
                        said = []
                else:
                    scopes.append((name, kind == 'class'))
                    if kind == 'class':
                        self.classes.add(_joined(scopes))
                        access.append('private' if _without_template(said)[0] == 'class' else 'public')
                    said = []
            elif t == '}':
                if scopes.pop()[1]:
                    access.pop()
                said = []
            elif t == ';':
                self._statement(scopes, said, access)
                said = []
            elif t == ':' and said in (['public'], ['private'], ['protected']):
                access[-1] = said[0]
                said = []
            else:
                said.append(t)
            i += 1

    @staticmethod
    def _opens(said):
        words = _without_template(said)
        if words[:1] == ['namespace'] or words[:2] == ['inline', 'namespace']:
            return 'namespace', words[-1] if words[-1] != 'namespace' else '(anonymous namespace)'
        if words and words[0] in ('class', 'struct', 'union'):
            words = _without_calls(words)
            name = next((w for w in words[1:] if w[0].isalpha() or w[0] == '_'), '(unnamed)')
            return 'class', name
        return None, None

    def _statement(self, scopes, said, access):
        words = _without_template(said)
        if not words or words[0] in ('using', 'friend', 'typedef', 'enum'):
            return
        if said[:3] == ['extern', 'template', 'class']:
            self.instantiated.add(_joined([*scopes, (said[3], True)]))
            return
        if words[0] in ('class', 'struct', 'union', 'static_assert'):
            if '(' not in words:
                return
        name = _named(words)
        if name is None:
            return
        whole = _joined([*scopes, (name, False)])
        if not access:
            self.names.add(whole)
        if self._public and 'private' not in access or {'virtual', 'override', 'final'} & set(said):
            self.open.add(whole)

    def has(self, demangled, weak):
        """Is a symbol one of theirs?"""
        if '(anonymous namespace)' in demangled or '{lambda' in demangled:
            return False
        of_class = re.match(r'(?:vtable|VTT|typeinfo|typeinfo name) for (.*)', demangled)
        if of_class:
            return of_class[1] in self.classes  # weak also where only one source has them
        scope, name = _scope_and_name(_PREFIX.sub('', demangled))
        if weak:
            return any(scope == whole or scope.startswith(whole + '::') for whole in self.instantiated)
        if scope not in self.classes and f'{scope}::{name}' not in self.names:
            return False
        own = name.lstrip('~') == scope.rpartition('::')[2]  # a constructor or the destructor
        return own or name == 'operator' or f'{scope}::{name}' in self.open or self.words[name] > 1


def _named(words):
    """What a declaration names."""
    if 'operator' in words:
        return 'operator'
    words = _without_calls(words)
    depth = 0
    for at, word in enumerate(words):
        depth += (word == '<') - (word == '>')
        if depth == 0 and word in ('(', '=', '[', '{', ':') and at > 0:
            return words[at - 1]
    return words[-1] if words else None


def _joined(scopes):
    return '::'.join(name for name, _ in scopes)


def _closing(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] == '{') - (tokens[i] == '}')
        if depth == 0:
            return i
    return len(tokens) - 1


def _without_template(words):
    """Without "template <...>" and what specifies storage before the declaration itself."""
    words = list(words)
    while words and words[0] == 'template':
        depth, end = 0, 1
        while end < len(words):
            depth += (words[end] == '<') - (words[end] == '>')
            end += 1
            if depth == 0:
                break
        words = words[end:]
    return words


def _without_calls(words):
    """Without "alignas(...)" and macros of annotations: capitals with parentheses."""
    kept, i = [], 0
    while i < len(words):
        if (words[i] in _SKIPPED or words[i].startswith('MILLRACE_')) and words[i + 1:i + 2] == ['(']:
            depth, i = 0, i + 1
            while i < len(words):
                depth += (words[i] == '(') - (words[i] == ')')
                i += 1
                if depth == 0:
                    break
        else:
            kept.append(words[i])
            i += 1
    return kept


def _scope_and_name(demangled):
    """("millrace::Runtime", "device") of "millrace::Runtime::device(unsigned long) const", without arguments of templates."""
    cut = re.search(r'(?:^|::)operator\b', demangled)
    flat, depth = '', 0
    for c in demangled[:cut.start()] if cut else demangled:
        if c == '(' and depth == 0:
            break
        depth += (c == '<') - (c == '>')
        if depth == 0 and c != '>':
            flat += c
    flat = re.sub(r'\[abi:\w+\]', '', flat).split(' ')[-1]
    if cut:
        return flat, 'operator'
    scope, _, name = flat.rpartition('::')
    return scope, name


def installed_headers():
    """The public headers and what they include of ours, in order."""
    closures, found = tree.Closures(), set()
    for header, _ in check_headers.public_headers(tree.read(check_headers.LIST)):
        found |= closures.reach(tree.ours(check_headers.spelled(header)))
    return sorted(found)


def declared():
    names = Declared()
    public = {tree.ours(check_headers.spelled(header)) for header, _ in check_headers.public_headers(tree.read(check_headers.LIST))}
    for header in installed_headers():
        if not header.endswith('c_api.h'):
            names.read(tree.read(header), header in public)
    return names


def _lines(*command, text=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout.splitlines()


def demangled(symbols):
    return dict(zip(symbols, _lines('c++filt', text='\n'.join(symbols) + '\n'))) if symbols else {}


def defined(archive):
    """Symbols of C++ that an archive defines, with nm's letter."""
    words = (line.split() for line in _lines('nm', '-g', '--defined-only', '-f', 'posix', archive))
    return {w[0]: w[1] for w in words if len(w) >= 2 and w[0].startswith('_Z')}


def public_symbols(build):
    """The symbols that the archives of a build define and the headers declare."""
    names, found = declared(), {}
    for archive in ARCHIVES:
        found |= defined(f'{build}/lib/libmillrace_{archive}.a')
    readable = demangled(list(found))
    return sorted(s for s, kind in found.items() if names.has(readable[s], kind in 'WVu'))


def listed(text):
    return sorted(re.findall(r'^    (\w+);$', text, re.M))


def exported(library):
    """The symbols of ours that a shared library exports, without their versions."""
    words = (line.split()[0] for line in _lines('nm', '-D', '--defined-only', '-f', 'posix', library))
    return sorted(w.partition('@')[0] for w in words if not w.startswith(VERSION))


def optional(symbols):
    """Tables of classes, which users make for themselves where no source of ours must: some are there in one build alone."""
    return {s for s in symbols if re.match('_ZT[VTIS]', s)}


def write(symbols):
    head = ('/* What libmillrace.so exports: what its installed headers declare. tools/dev/exported_symbols.py writes this\n'
            '   file and says when it is not what the headers declare; c++filt makes names of it. */\n')
    with open(os.path.join(tree.ROOT, MAP), 'w', encoding='utf-8') as f:
        f.write(head + VERSION + ' {\n  global:\n' + ''.join(f'    {s};\n' for s in symbols) + '  local: *;\n};\n')


def compare(what, wanted, found):
    """Prints how two lists differ; how many differences there are."""
    missing, more = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    readable = demangled(missing + more)
    for symbol in missing:
        print(f'{what}: lacks {readable[symbol]}  ({symbol})')
    for symbol in more:
        print(f'{what}: has, and should not, {readable[symbol]}  ({symbol})')
    return len(missing) + len(more)


def main():
    build = os.path.abspath(sys.argv[1])
    wanted = public_symbols(build)
    if sys.argv[2:] == ['--update']:
        write(wanted)
        print(f'{MAP}: {len(wanted)} symbols')
        return 0
    differences = compare(MAP, set(wanted) - (optional(wanted) - set(listed(tree.read(MAP)))), listed(tree.read(MAP)))
    if differences:
        print(f'If that was meant, tools/dev/exported_symbols.py {os.path.relpath(build)} --update writes it: '
              'a symbol that goes, or an object that changes its size, ends the life of the soname (tools/install/README.md)')
    differences += compare('libmillrace.so', listed(tree.read(MAP)), exported(f'{build}/lib/libmillrace.so'))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
