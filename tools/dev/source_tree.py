"""Our source files and what they include: shared by the checks of tools/dev/check_*.py.

Files are those that git knows (tracked, or new and not ignored); without git, all but build folders. Includes of ours are spelled
"millrace/<room>/<file>"; tests include "tests/support/<file>".
"""

import hashlib
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# From the lowest room to the highest: a file may include its own room and those before it.
ROOMS = ['core', 'actors', 'devices', 'transfer', 'collectives', 'tools']
# They may include everything, and nothing includes them.
OUTER = ['tests', 'bench']

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


def files(*suffixes):
    """Paths relative to the root of all our files, or of those with one of the suffixes."""
    return sorted({f for f in _listed() if f and (not suffixes or f.endswith(suffixes))
                   and os.path.isfile(os.path.join(ROOT, f))})


def _listed():
    command = ['git', '-C', ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split('\0')
    except (FileNotFoundError, subprocess.CalledProcessError):
        found = []
        for folder, inner, names in os.walk(ROOT):
            inner[:] = [d for d in inner if not d.startswith(('.', 'build'))]
            found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
        return found


def cpp_files():
    return [f for f in files('.h', '.cc', '.c', '.inc') if f.split('/')[0] in ROOMS + OUTER]


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def includes(text):
    """(line number, spelled path, is it an angle include) of every include of a source text."""
    return [(text.count('\n', 0, m.start()) + 1, m[1] or m[2], m[2] is not None)
            for m in _INCLUDE.finditer(text)]


def ours(spelled):
    """The file of ours that an include names, or None for one that is not ours."""
    if spelled == 'millrace/millrace.h':
        return 'tools/api/millrace.h'
    if spelled == 'millrace/c_api.h':
        return 'tools/c_api/c_api.h'
    if spelled.startswith('millrace/'):
        return spelled[len('millrace/'):]
    if spelled.split('/')[0] in OUTER:
        return spelled
    return None


class Closures:
    """Content hashes of files together with all of ours that they include, for caches of results."""

    def __init__(self):
        self._own = {}
        self._includes = {}

    def _load(self, path):
        if path not in self._own:
            try:
                text = read(path)
            except FileNotFoundError:
                text = ''
            self._own[path] = hashlib.sha256(text.encode()).hexdigest()
            self._includes[path] = [f for _, s, _ in includes(text) if (f := ours(s))]
        return self._includes[path]

    def reach(self, path):
        seen, todo = set(), [path]
        while todo:
            f = todo.pop()
            if f not in seen:
                seen.add(f)
                todo.extend(self._load(f))
        return seen

    def digest(self, path, *salt):
        h = hashlib.sha256(repr(salt).encode())
        for f in sorted(self.reach(path)):
            h.update(f'{f} {self._own[f]}\n'.encode())
        return h.hexdigest()


class Cache:
    """Digests that passed, in one text file of the build folder: what passed once is not run again."""

    def __init__(self, path):
        self._path = path
        self._used = set()
        try:
            with open(path, encoding='utf-8') as f:
                self._known = set(f.read().split())
        except FileNotFoundError:
            self._known = set()

    def has(self, digest):
        if digest in self._known:
            self._used.add(digest)
            return True
        return False

    def add(self, digest):
        self._used.add(digest)

    def save(self, complete=True):
        """Keeps what this run has used; after an incomplete run the older entries too."""
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        keep = self._used if complete else self._used | self._known
        temporary = self._path + '.new'
        with open(temporary, 'w', encoding='utf-8') as f:
            f.write('\n'.join(sorted(keep)) + '\n')
        os.replace(temporary, self._path)
