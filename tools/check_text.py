#!/usr/bin/env python3
"""Checks the text of every tracked file: what a reader should never find in it. Takes no arguments.

Markers of unfinished work, conflict markers, paths of somebody's machine, tabs, carriage returns, blanks at
the end of a line, a missing last newline, commented-out tests, and local links of Markdown files that lead
nowhere.
"""

import os
import re
import sys

import source_tree as tree

MAX_BYTES = 4 << 20
# Inputs and outputs of other programs are kept as they are.
FOREIGN = re.compile(r'^(LICENSE|tests/data/|tools/models/|tools/reports/)')
RULES = [
    (re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK)\b'), 'a marker of unfinished work'),
    (re.compile(r'^(<<<<<<<|>>>>>>>) '), 'a conflict marker'),
    (re.compile(r'(?<![\w./~])/(home|Users|root)/\w'), "a path of somebody's machine"),
    (re.compile(r'^\s*//\s*TEST(_[FP])?\('), 'a test that is commented out'),
    (re.compile(r'\r'), 'a carriage return'),
    (re.compile(r'[ \t]+$'), 'blanks at the end of the line'),
]
SOURCE = ('.h', '.cc', '.inc', '.py', '.cmake')
LINK = re.compile(r'\]\(([^)#\s:]+)(#[^)]*)?\)')


def check(path, text):
    """The problems of one file, one sentence each."""
    problems = []
    for number, line in enumerate(text.split('\n'), 1):
        for pattern, words in RULES:
            if pattern.search(line):
                problems.append(f'{path}:{number}: {words}')
        if path.endswith(SOURCE) and '\t' in line:
            problems.append(f'{path}:{number}: a tab')
    if text and not text.endswith('\n'):
        problems.append(f'{path}: no newline at the end')
    if path.endswith('.md'):
        for m in LINK.finditer(text):
            if not os.path.exists(os.path.join(tree.ROOT, os.path.dirname(path), m[1])):
                problems.append(f'{path}: a link to {m[1]}, which is not there')
    return problems


def main():
    problems, count = [], 0
    for path in tree.files():
        size = os.path.getsize(os.path.join(tree.ROOT, path))
        if size > MAX_BYTES:
            problems.append(f'{path}: {size} bytes; a file of the repository has at most {MAX_BYTES}')
            continue
        if FOREIGN.match(path):
            continue
        try:
            text = tree.read(path)
        except UnicodeDecodeError:
            continue  # binary
        count += 1
        problems += check(path, text)
    print('\n'.join(problems) if problems else f'{count} files: clean')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
