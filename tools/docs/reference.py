"""Pages from the comments of headers: what a header is, and each thing that it declares with the words above it."""

import re

# What begins a declaration at the left margin that users see.
_TYPE = re.compile(r'^(?:template <.*>\s*)?(?:class|struct|enum class|enum) (?:\w+\([^)]*\) |\[\[\w+\]\] )*(\w+)')
_NOLINT = re.compile(r'\s*// NOLINT.*$')
_FORWARD = re.compile(r'^(?:class|struct|enum class) \w+(?: : [\w:]+)?;$')
_PART = re.compile(r'^// ---- (.*)')
_SKIP = re.compile(r'^(?:#|namespace\b|\}|extern "C"|class \w+;|struct \w+;|static_assert|\[\[maybe_unused\]\]$|$)')


def words_of(comment):
    """The text of // lines; blank ones end a paragraph, and indented ones are shown as they are."""
    lines = [re.sub(r'^// ?', '', line) for line in comment]
    out = []
    for line in lines:
        shown = line.startswith('  ') and not re.match(r'^ +(?:- |\d+ )', line)
        inside = bool(out) and out[-1].startswith('    ')
        if shown and not inside and (not out or out[-1] == ''):
            out.append('  ' + line if not line.startswith('    ') else line)
        elif shown and inside:
            out.append('  ' + line if not line.startswith('    ') else line)
        else:
            bullet = re.match(r'^ +- (.*)', line)
            if bullet and out and out[-1] != '' and not out[-1].lstrip().startswith('- '):
                out.append('')
            out.append('- ' + escaped(bullet[1]) if bullet else escaped(line.strip()))
    return '\n'.join(out)


def escaped(line):
    """Markdown that shows a line of plain text as it is, with its `code`."""
    parts = re.split(r'(`[^`]*`)', line)
    return ''.join(p if p.startswith('`') else re.sub(r'([<>*_\[\]|])', r'\\\1', p) for p in parts)


def header_comment(lines):
    """The comment above #pragma once, and what is left."""
    at = next(i for i, line in enumerate(lines) if line.startswith('#pragma once'))
    return [line for line in lines[:at] if line.startswith('//')], lines[at + 1:]


def without_private(block):
    """The lines of a class up to its private part, with its end."""
    out = []
    hidden = False
    for line in block:
        if re.match(r'^ (private|protected):', line):
            hidden = line.startswith(' private')
        elif re.match(r'^ public:', line):
            hidden = False
        if not hidden or line.startswith('}'):
            out.append(line)
    while len(out) > 1 and out[-2] == '':
        del out[-2]
    return out


# A function with a body: where it is indented, and what a caller needs.
_BODY = re.compile(r'^( *)((?!struct|class|enum|union|namespace|constexpr const char)[^/\s].*\)(?: const| noexcept| override|[ &])*)'
                   r'(?: : .*)? \{(.*)$')


def without_bodies(lines):
    """The lines with ; for what inline functions do."""
    out, end, begun = [], None, None  # begun: how a call of several lines is indented
    for line in lines:
        if end is not None:
            if line.startswith(end):
                end = None
            continue
        indent = re.match(r'^ *', line)[0]
        body = _BODY.match(line)
        if line == indent + '{' and out:  # behind a clause
            out[-1] += ';'
            end = indent + '}'
        elif begun is not None and braces([line]) == 0 and line.endswith(' {'):
            out.append(line[:-2] + ';')
            end, begun = begun + '}', None
        elif body and 'for (' not in line and ' = ' not in body[2].split('(')[0]:
            indent, said, rest = body.groups()
            said = re.sub(r'\)( noexcept)? : .*$', lambda m: ')' + (m[1] or ''), said)
            comment = re.search(r'//.*$', rest)
            out.append(f'{indent}{said};' + (f'  {comment[0]}' if comment else ''))
            if not re.search(r'\}\s*(?://.*)?$', rest):
                end = indent + '}'
        else:
            if braces([line]) > 0 and not line.endswith('{') and begun is None and not line.lstrip().startswith('//'):
                begun = indent
            elif line.endswith(';'):
                begun = None
            out.append(line)
    return out


def declarations(lines):
    """(comment, lines) of each declaration at the left margin, outside of namespaces named detail; a line "// ---- WORDS" is a
    comment without lines."""
    found, comment, block, detail = [], [], [], False
    for line in (_NOLINT.sub('', line) for line in lines):
        part = _PART.match(line)
        if part and not block:
            comment = [part[1]]
            found.append((comment, []))
        elif block:
            block.append(line)
        elif re.match(r'^namespace .*detail.* \{', line):
            detail = True
        elif detail and re.match(r'^\}  // namespace .*detail', line):
            detail = False
        elif line.startswith('//'):
            comment.append(line)
        elif _SKIP.match(line):
            comment = []
        else:
            block = [line]
        if block and (re.match(r'^\}', block[-1]) or (re.search(r'[;}]\s*(?://.*)?$', block[-1]) and
                                                      braces(block) == 0)):
            if not detail and not _FORWARD.match(block[-1]):
                found.append((comment, block))
            comment, block = [], []
    return found


def braces(block):
    text = re.sub(r'//.*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', '', '\n'.join(block))
    return sum(text.count(c) for c in '{(') - sum(text.count(c) for c in '})')


def title_of(block):
    """The name of a type, or None: functions and constants stand under the header."""
    first = ' '.join(block[:3])
    named = _TYPE.match(first)
    return named[1] if named else None


def section(path, text, include):
    """A header as Markdown: its comment, its types under titles of their own, and its functions."""
    comment, rest = header_comment(text.split('\n'))
    out = [f'## {include}', '', words_of(comment), '']
    plain, title = [], 'Functions and constants'

    def end_plain():
        if plain:
            out.extend([f'### {title}', '', '```cpp', *without_bodies(plain[:-1]), '```', ''])
            plain.clear()

    for words, block in declarations(rest):
        if not block:
            end_plain()
            title, *more = re.split(r'[:.] ', words[0], maxsplit=1)
            plain.extend([f'// {line}' for line in more] + words[1:])
        elif name := title_of(block):
            out.extend([f'### {name}', '', words_of(words), '', '```cpp', *without_bodies(without_private(block)), '```', ''])
        else:
            plain.extend(words + block + [''])
    end_plain()
    return '\n'.join(out)


_RULE = re.compile(r'^//  - ([A-Z]{2}-\d+) (.*)')


def rules_of(text):
    """(name, words) of each numbered rule in the comment of a header."""
    rules = []
    for line in text.split('\n'):
        begin = _RULE.match(line)
        if begin:
            rules.append([begin[1], begin[2]])
        elif rules and rules[-1][2:] == [] and re.match(r'^//(?:   +| )\S', line) and not line.startswith('//  - '):
            rules[-1][1] += ' ' + line[2:].strip()
        elif rules and rules[-1][2:] == []:
            rules[-1].append('ended')
    return [(name, words) for name, words, *_ in rules]
