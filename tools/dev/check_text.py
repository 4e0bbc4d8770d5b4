#!/usr/bin/env python3
"""Checks the text of every tracked file: what a reader should never find in it. Takes no arguments.

- Markers of unfinished work, conflict markers, paths of one machine, tabs, carriage returns, blanks at the end of a line,
  a missing last newline, commented-out tests.
- Links of Markdown files that lead nowhere; files that they or comments name and that are not there.
- A numbered rule (AV-1, MB-3) is stated once, on a line of its own at the head of a file, and cited by a test.
- Each room has a README.md; some of them name every header.
- Comments, messages and names of tests name what acts; words that the glossary of tools/README.md replaces are not used.
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
    (re.compile(r'(?<![\w./~])/(home|Users|root)/\w'), 'a path of one machine'),
    (re.compile(r'^\s*//\s*TEST(_[FP])?\('), 'a test that is commented out'),
    (re.compile(r'\r'), 'a carriage return'),
    (re.compile(r'[ \t]+$'), 'blanks at the end of the line'),
]
SOURCE = ('.h', '.cc', '.inc', '.py', '.cmake')
CPP = ('.h', '.cc', '.inc')
LINK = re.compile(r'\]\(([^)#\s:]+)(#[^)]*)?\)')

# A file that a text names, by the end of its path or by ../ from its own folder; a pattern (compile/emit*.cc) is none.
NAMED = re.compile(r'(?<![\w/<."*+-])((?:\.\./)*(?:[\w-]+/)*[\w-]+\.(?:h|cc|inc|py|proto|md))(?![\w*])')
# What a text says instead of the thing that acts. A test's name is a text too.
VAGUE = re.compile(r'\b(who' r'ever|no' r'body|some' r'body|any' r'body|every' r'body|some' r'one)\b', re.I)
TEST_NAME = re.compile(r'\bTEST(?:_F|_P)?\(\w+, (Of(?=[A-Z])|\w*?(?:(?:Is|Are)Told|LetGo|GivenBack|TakenBack|'
                       r'Who' r'ever|No' r'body|Some' r'body|Any' r'body))')
# What the glossary says otherwise, in names too, but for CAF's and a check's of the reports; and the files it holds for.
BANNED = re.compile(r'(?<![A-Za-z])(forg[eo]t\w*|discard(?:s|ed|ing)?|thr[eo]wn?s? away|let(?:s|ting)?[ _]go|'
                    r't[ao]kes?[ _]back|taken back|'
                    r'(?<!zero_copy_)giv(?:es?|en|ing)[ _]back|(?<!::)(?<!user_)(?<!ssl_)(?<!ssl_set_)(?<!received_)(?<!dirty_)shuts?[ _]?down|shutting down)(?![A-Za-z])', re.I)
# The same outside of tests; tell is a call of actors, dead_rank a figure.
BANNED_PRODUCT = re.compile(r'(?<![A-Za-z])(told|telling|dea(?:d(?!_rank)|th)|died|dying|hang(?:s|ing)?|hung)(?![A-Za-z])',
                            re.I)
TELL = re.compile(r'(?<![A-Za-z])(tells?)(?![A-Za-z(]| (?:\w+ )?apart)', re.I)
GLOSSARY = re.compile(r'(core|actors|devices|transfer|collectives|tools|bench|tests)/'
                      r'.*\.(h|cc|inc)$')
# Rooms whose README.md names every header.
LISTED = ('core', 'actors', 'devices', 'transfer', 'collectives')
# Their links lead to pages of the site, which its build checks.
SITE = 'tools/docs/pages/'
STATED = re.compile(r'^// +(?:- )?([A-Z]{2}-\d+) ')
CITED = re.compile(r'\b[A-Z]{2}-\d+\b')


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
    if path.endswith('.md') and not path.startswith(SITE):
        for m in LINK.finditer(text):
            if not os.path.exists(os.path.join(tree.ROOT, os.path.dirname(path), m[1])):
                problems.append(f'{path}: a link to {m[1]}, which is not there')
    return problems


def comments(path, text):
    """(line number, words) of every comment of a C++ text, and of every line of another one."""
    for number, line in enumerate(text.split('\n'), 1):
        if not path.endswith(CPP):
            yield number, line
        elif '//' in line:
            yield number, line.partition('//')[2]


def check_named_files(texts, paths):
    """The problems of {path: text} that name no file of paths."""
    whole = set(paths)
    known = {'/'.join(parts[i:]) for parts in (path.split('/') for path in paths) for i in range(len(parts))}

    def is_there(path, name):
        if tree.ours(name) in whole or (path.startswith(SITE) and name.endswith('.md')):
            return True
        return os.path.normpath(f'{os.path.dirname(path)}/{name}') in whole if name.startswith('../') else name in known

    return [f'{path}:{number}: names {m[1]}, which is not there'
            for path, text in texts.items() for number, words in comments(path, text)
            for m in NAMED.finditer(words) if not is_there(path, m[1])]


def check_words(path, text):
    """The problems of the words of one file: they name what acts, and a comment begins with its subject."""
    problems, before, column, ended = [], 0, -1, True  # of the last comment
    mark = '//' if path.endswith(CPP) else '#'
    banned = [BANNED]
    if not path.startswith('tests/'):
        banned += [BANNED_PRODUCT] if path.startswith('actors/') else [BANNED_PRODUCT, TELL]
    for number, line in enumerate(text.split('\n'), 1):
        problems += [f'{path}:{number}: "{m[1]}": name what acts' for m in VAGUE.finditer(line)]
        problems += [f'{path}:{number}: "{m[1]}": a condition and its result name a test' for m in TEST_NAME.finditer(line)]
        if GLOSSARY.match(path):
            problems += [f'{path}:{number}: "{m[1]}": the glossary of tools/README.md has a word for it'
                         for pattern in banned for m in pattern.finditer(line)]
        code, comment, words = line.partition(mark)
        if not comment:
            continue
        if words.startswith(' Of ') and (ended or number > before + 1 or len(code) != column):
            problems.append(f'{path}:{number}: a comment that begins with "Of": begin with its subject')
        before, column, ended = number, len(code), words.rstrip().endswith(('.', ':'))
    return problems


def check_rooms(texts, paths):
    """The problems of the README.md of each room."""
    problems = []
    for room in tree.ROOMS + tree.OUTER:
        text = texts.get(f'{room}/README.md')
        if text is None:
            problems.append(f'{room}: no README.md, which says what the room promises and what to read first')
        elif room in LISTED:
            named = {os.path.basename(m[1]) for m in NAMED.finditer(text)}
            problems += [f'{room}/README.md: does not name {path}' for path in paths
                         if path.startswith(room + '/') and path.endswith('.h') and os.path.basename(path) not in named]
    return problems


def check_rules(texts):
    """The problems of the numbered rules of {path: text}."""
    problems, stated, cited, tested = [], {}, {}, set()
    for path, text in texts.items():
        for number, line in enumerate(text.split('\n'), 1):
            m = None if path.startswith('tests/') else STATED.match(line)
            if m and m[1] in stated:
                problems.append(f'{path}:{number}: {m[1]} is a rule of {stated[m[1]]}')
            elif m:
                stated[m[1]] = path
            for rule in CITED.findall(line):
                cited.setdefault(rule, f'{path}:{number}')
                if path.startswith('tests/') and path.endswith(CPP):
                    tested.add(rule)
    kinds = {rule.split('-')[0] for rule in stated}
    problems += [f'{place}: {rule} is no rule' for rule, place in cited.items()
                 if rule not in stated and rule.split('-')[0] in kinds]
    return problems + [f'{path}: no test cites {rule}' for rule, path in stated.items()
                       if rule not in tested]


def main():
    problems, count, sources = [], 0, {}
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
        if path.endswith((*CPP, '.md')):
            sources[path] = text
        if path.endswith((*CPP, '.py', '.md')):
            problems += check_words(path, text)
    problems += check_named_files(sources, tree.files()) + check_rooms(sources, tree.files()) + check_rules(sources)
    print('\n'.join(problems) if problems else f'{count} files: clean')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
