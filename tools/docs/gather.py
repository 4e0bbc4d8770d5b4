#!/usr/bin/env python3
"""Gathers the pages of the site: those of tools/docs/pages, the READMEs, the reference from the headers, the rules.

usage: gather.py FOLDER

In a page, a line <!-- example: FILE --> stands for a file of tools/examples, and <!-- example: FILE: BEGIN --> for the part of it
from the line that begins so up to the next "}" at the left margin. A page has no other code in C++, C or Python, so that what
it shows is compiled and run by the tests.
"""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'dev'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_headers  # noqa: E402
import reference  # noqa: E402
import source_tree as tree  # noqa: E402

PAGES = 'tools/docs/pages'
EXAMPLES = 'tools/examples'
LANGUAGES = {'.cc': 'cpp', '.c': 'c', '.py': 'python'}
_EXAMPLE = re.compile(r'^<!-- example: (\S+?)(?:: (.*?))? -->$', re.M)
_LINK = re.compile(r'(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)')
READMES = {'README.md': 'readme.md'}


def example(match):
    file, begin = match.groups()
    text = tree.read(f'{EXAMPLES}/{file}')
    if begin:
        lines = text.split('\n')
        first = [i for i, line in enumerate(lines) if line.startswith(begin)]
        if len(first) != 1:
            raise SystemExit(f'{file} has {len(first)} lines that begin with "{begin}"')
        last = next(i for i in range(first[0], len(lines)) if lines[i].startswith('}'))
        text = '\n'.join(lines[first[0]:last + 1]) + '\n'
    return f'```{LANGUAGES[os.path.splitext(file)[1]]} title="tools/examples/{file}"\n{text}```'


def page_of(readme):
    """Where the site has a README: rooms/tools_models.md."""
    return 'rooms/' + os.path.dirname(readme).replace('/', '_') + '.md'


def with_links(text, readme, readmes, images):
    """A README whose links lead to pages of the site; what the site does not have is named only."""
    folder = os.path.dirname(readme)

    def link(match):
        image, words, target, anchor = match.groups()
        if re.match(r'^\w+:', target) or not target:
            return match[0]
        path = os.path.normpath(os.path.join(folder, target))
        if image:
            images.add(path)
            return f'![{words}](../images/{os.path.basename(path)})'
        if path in readmes:
            return f'[{words}]({os.path.relpath(page_of(path), "rooms")}{anchor or ""})' if path != 'README.md' else words
        return f'{words} (`{path}`)'

    return _LINK.sub(link, text)


def rules_page():
    out = ['# Rules', '',
           'What the parts promise, by number. Each rule stands in the header that keeps it, and tests that would fail without it '
           'name it.', '', '| rule | promise | where |', '|---|---|---|']
    found = []
    for f in tree.cpp_files():
        if f.endswith('.h') and f.split('/')[0] not in tree.OUTER:
            found += [(name, words, f) for name, words in reference.rules_of(tree.read(f))]
    key = lambda rule: (rule[0].split('-')[0], int(rule[0].split('-')[1]))  # noqa: E731
    out += [f'| {name} | {reference.escaped(words)} | `{f}` |' for name, words, f in sorted(found, key=key)]
    return '\n'.join(out) + '\n'


def reference_pages():
    by_room = {}
    for header, _ in check_headers.public_headers(tree.read(check_headers.LIST)):
        path = tree.ours(check_headers.spelled(header))
        room = 'c' if header == 'c_api.h' else path.split('/')[0]
        include = f'millrace/{header}'
        by_room.setdefault(room, []).append(reference.section(path, tree.read(path), include))
    titles = {'tools': 'Runtime and tools', 'c': 'C'}
    return {f'reference/{room}.md': '\n'.join([f'# {titles.get(room, room)}', '', *sections])
            for room, sections in by_room.items()}


def command_page():
    """The man page, as text."""
    man = tree.read('tools/man/millrace.1')
    out, fresh = ['# The millrace command', ''], False
    for line in man.split('\n'):
        if line.startswith(('.\\"', '.TH', '.nf', '.fi', '.RS', '.RE', '.EX', '.EE', '.ad', '.nh', '.hy')):
            continue
        line = re.sub(r'\\f[BIRP]', '', line).replace('\\-', '-').replace('\\(bu', '-').replace('\\&', '').replace('\\e', '\\')
        macro = re.match(r'^\.(\w+) ?(.*)', line)
        if not macro:
            out.append(reference.escaped(line))
            continue
        name, rest = macro.groups()
        rest = re.sub(r'"([^"]*)"', r'\1', rest) if name not in ('BI', 'BR', 'IR', 'RB', 'IB') else \
            ''.join(a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', rest))
        if name == 'SH':
            out += ['', f'## {rest.capitalize()}', '']
        elif name == 'SS':
            out += ['', f'### {rest}', '']
        elif name in ('TP', 'PP', 'P', 'IP'):
            out.append('')
            fresh = name == 'TP'
        elif fresh:
            out += [f'**`{rest}`**', '']
            fresh = False
        else:
            out.append(f'`{rest}`' if name in ('B', 'BI', 'BR') else reference.escaped(rest))
    return '\n'.join(out) + '\n'


def gather(folder):
    pages = {}
    for f in tree.files('.md'):
        if f.startswith(PAGES + '/'):
            pages[os.path.relpath(f, PAGES)] = _EXAMPLE.sub(example, tree.read(f))
    readmes = [f for f in tree.files('README.md')]
    images = set()
    for readme in readmes:
        if readme != 'README.md':
            pages[page_of(readme)] = with_links(tree.read(readme), readme, readmes, images)
    pages |= reference_pages()
    pages['design/rules.md'] = rules_page()
    pages['reference/command.md'] = command_page()
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    shutil.copy(os.path.join(tree.ROOT, PAGES, 'wide.css'), folder)
    os.makedirs(os.path.join(folder, 'images'), exist_ok=True)
    for image in images:
        shutil.copy(os.path.join(tree.ROOT, image), os.path.join(folder, 'images', os.path.basename(image)))


if __name__ == '__main__':
    gather(sys.argv[1])
