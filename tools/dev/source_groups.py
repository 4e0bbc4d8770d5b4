#!/usr/bin/env python3
"""Groups of sources that are read as one: most of the time of a compiler goes into what they include.

usage: source_groups.py [--across] MOST FILE...   prints a group of MOST files at most per line, with ; between them
  --across   of any folders, not of one; but a source that takes over a whole namespace is with others of its folder

Two sources that define the same name for themselves are in different groups. What they define is a guess, from lines at the
left margin: where it is wrong, the compiler names both places.
"""

import collections
import os
import re
import sys

import source_tree as tree

# What a line of an unnamed namespace defines: a type, a constant, a function.
_DEFINED = re.compile(r'(?:struct|class|enum class|enum) (\w+)|[^(]*?\b(k[A-Z]\w*)(?:\[|\{| =)|[^=(]*?\b([a-z]\w*)\(')
_ALIAS = re.compile(r'^using (\w+) = (.*);', re.M)
_USED = re.compile(r'^using ([\w:]*?::(\w+));', re.M)
_ENUM = re.compile(r'^using (enum) (.*);', re.M)  # two would be two sets of names
_MACRO = re.compile(r'^#define (\w+)', re.M)
_WHOLE = re.compile(r'^using namespace ', re.M)  # any name of another folder's source may stand before one of it


def own_names(text):
    """The names that the unnamed namespaces of a source define, its macros, and main."""
    spaces = re.findall(r'^namespace \{$(.*?)^\}  // namespace$', text, re.M | re.S)
    lines = [line for space in spaces for line in space.split('\n') if line[:1].isalpha()]
    names = {m[m.lastindex] for line in lines if (m := _DEFINED.match(line)) and not line.startswith('using ')}
    return names | set(_MACRO.findall(text)) | set(re.findall(r'^int (main)\(', text, re.M))


def aliases(text):
    """What the names that a source takes over stand for: two sources may have the same one."""
    return dict(_ALIAS.findall(text)) | dict(_ENUM.findall(text)) | {name: whole for whole, name in _USED.findall(text)}


class _Group:
    def __init__(self):
        self.files, self.names, self.aliases = [], set(), {}

    def fits(self, names, known):
        if self.names & (names | known.keys()) or names & self.aliases.keys():
            return False
        return all(self.aliases.get(name, known[name]) == known[name] for name in known)

    def add(self, file, names, known):
        self.files.append(file)
        self.names |= names
        self.aliases |= known


def grouped(sources, most, alike=lambda source: None, folder=os.path.dirname):
    """The sources in lists of one folder (what folder() says of each) and one way to be compiled.

    They depend on nothing that an earlier run did.
    """
    groups, open_groups = [], collections.defaultdict(list)
    for f in sources:
        text = tree.read(f)
        names, known = own_names(text), aliases(text)
        place = os.path.dirname(f) if _WHOLE.search(text) else folder(f)
        candidates = open_groups[place, str(alike(f))]
        group = next((g for g in candidates if len(g.files) < most and g.fits(names, known)), None)
        if group is None:
            group = _Group()
            candidates.append(group)
            groups.append(group)
        group.add(f, names, known)
    return [g.files for g in groups]


if __name__ == '__main__':
    across = sys.argv[1] == '--across'
    most, *files = sys.argv[1 + across:]
    folder = (lambda source: '') if across else os.path.dirname
    print('\n'.join(';'.join(g) for g in grouped(files, int(most), folder=folder)))
