#!/usr/bin/env python3
"""Which sources tools/dev/check_tidy.py reads together, which again, and what it says of them."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'tools', 'dev'))
import check_tidy  # noqa: E402

SOURCES = ['core/x.cc', 'core/y.cc']
RULES = "Checks: some\nHeaderFilterRegex: '/core/'\n"


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = folder.name
        self.texts = {path: 'int x;\n' for path in SOURCES} | {'.clang-tidy': RULES}
        self.commands = {path: [('/', 'g++')] for path in SOURCES}

    def check(self, bad=(), options=(), clash=False):
        """(what main() returned, the sources that clang-tidy was given alone, the groups): it finds something in the bad ones."""
        alone, groups = [], []

        def run_tidy(path, folder, *_):
            if path.startswith(folder):
                with open(path, encoding='utf-8') as f:
                    names = [os.path.relpath(s, check_tidy.tree.ROOT) for _, s, _ in check_tidy.tree.includes(f.read())]
                groups.append(names)
                if clash:
                    return False, [f'{names[0]}:1:1: error: redefinition [clang-diagnostic-error]']
            else:
                names = [os.path.relpath(path, check_tidy.tree.ROOT)]
                alone.extend(names)
            found = [n for n in names if n in bad]
            return not found, [f'{n}:1:1: warning: bad [bugprone-x]' for n in found]

        version = subprocess.CompletedProcess([], 0, stdout='19', stderr='')
        with contextlib.ExitStack() as patches:
            for target, name, value in [
                    (check_tidy, 'run_tidy', run_tidy), (check_tidy.subprocess, 'run', lambda *_, **__: version),
                    (check_tidy, 'commands', lambda _: self.commands),
                    (check_tidy.tree, 'cpp_files', lambda: list(self.commands)), (check_tidy.tree, 'read', self.texts.__getitem__),
                    (check_tidy.tree, 'files', lambda *_: ['.clang-tidy']),
                    (check_tidy.os.path, 'getsize', lambda _: 1),
                    (sys, 'argv', ['check_tidy.py', self.build, *options])]:
                patches.enter_context(unittest.mock.patch.object(target, name, value))
            said = patches.enter_context(contextlib.redirect_stdout(io.StringIO()))
            code = check_tidy.main()
        self.said = said.getvalue()
        return code, sorted(alone), sorted(groups)

    def test_group_that_passed_is_not_checked_again(self):
        self.assertEqual(self.check(), (0, [], [SOURCES]))
        self.assertEqual(self.check(), (0, [], []))

    def test_group_that_failed_is_checked_again_until_it_passes(self):
        for _ in range(2):
            self.assertEqual(self.check(bad=['core/y.cc']), (1, [], [SOURCES]))
            self.assertIn('core/y.cc:1:1: warning: bad', self.said)
        self.assertEqual(self.check(), (0, [], [SOURCES]))
        self.assertEqual(self.check(), (0, [], []))

    def test_group_in_which_no_two_compile_together_is_read_source_by_source(self):
        self.assertEqual(self.check(clash=True, bad=['core/y.cc']), (1, SOURCES, [SOURCES]))
        self.assertIn('core/y.cc:1:1: warning: bad', self.said)
        self.assertNotIn('redefinition', self.said)
        self.assertEqual(self.check(clash=True), (0, SOURCES, [SOURCES]))
        self.assertEqual(self.check(clash=True), (0, [], []))

    def test_group_in_which_clang_tidy_crashes_is_read_source_by_source(self):
        crashed = unittest.mock.Mock(side_effect=[(False, ['Stack dump:']), (True, []), (True, [])])
        with unittest.mock.patch.object(check_tidy, 'run_tidy', crashed):
            self.assertEqual(check_tidy.check_group(SOURCES, self.build, 'x')[:3], (True, [], 1))

    def test_sources_that_cmake_compiles_as_one_are_known_by_their_own_names(self):
        whole = os.path.join(self.build, 'groups', 'core_1.cc')
        os.mkdir(os.path.dirname(whole))
        paths = [os.path.join(check_tidy.tree.ROOT, f) for f in SOURCES]
        with open(whole, 'w', encoding='utf-8') as f:
            f.writelines(f'#include "{source}"\n' for source in SOURCES)
        self.assertEqual(check_tidy.sources_of(whole), paths)
        self.assertEqual(check_tidy.sources_of(paths[0]), paths[:1])

    def test_source_that_failed_alone_is_checked_again_by_a_whole_run(self):
        self.check()
        self.texts['core/y.cc'] = 'int y;\n'
        self.assertEqual(self.check(bad=['core/y.cc'], options=[os.path.join(check_tidy.tree.ROOT, 'core/y.cc')]),
                         (1, ['core/y.cc'], []))
        self.assertEqual(self.check(), (0, [], [SOURCES]))

    def test_source_that_changed_or_whose_command_or_checks_did_is_checked_again(self):
        self.check()
        self.texts['core/x.cc'] = 'int y;\n'
        self.assertEqual(self.check(), (0, [], [SOURCES]))
        self.commands = {path: [('/', 'g++ -O1')] for path in SOURCES}
        self.assertEqual(self.check(), (0, [], [SOURCES]))
        self.texts['.clang-tidy'] += 'Checks: all\n'
        self.assertEqual(self.check(), (0, [], [SOURCES]))


class RealTidyTest(unittest.TestCase):
    def found(self, *texts):
        """What clang-tidy says of sources of these texts, and how often a part of them was read by halves."""
        with tempfile.TemporaryDirectory() as root, unittest.mock.patch.object(check_tidy.tree, 'ROOT', root):
            rules = "Checks: '-*,bugprone-integer-division,bugprone-suspicious-include,clang-analyzer-core.*'\n" \
                "HeaderFilterRegex: '/core/[^:]*\\.h$'\n"
            group = [f'core/{i}.cc' for i in range(len(texts))]
            os.mkdir(os.path.join(root, 'core'))
            for path, text in [('.clang-tidy', rules), ('core/x.h', HEADER), *zip(group, texts)]:
                with open(os.path.join(root, path), 'w', encoding='utf-8') as f:
                    f.write(text)
            folder = os.path.join(root, 'build')
            with unittest.mock.patch.object(check_tidy.tree, 'files', lambda *_: ['.clang-tidy']):
                check_tidy.write_input(folder, [group], {f: [(root, 'c++ -std=c++23')] for f in group})
            good, words, halved, _ = check_tidy.check_group(group, folder, "/core/[^:]*\\.h$")
            places = [w.split(':')[0].removeprefix(root + '/') for w in words if check_tidy.PLACE.match(w)]
            self.assertEqual(good, not places)
            return places, halved

    def test_finding_in_any_source_or_header_of_a_group_is_found(self):
        self.assertEqual(self.found(GOOD.format(1), GOOD.format(2)), ([], 0))
        self.assertEqual(self.found(BAD.format(1), GOOD.format(2)), (['core/0.cc'], 0))
        self.assertEqual(self.found(GOOD.format(1), BAD.format(2)), (['core/1.cc'], 0))
        self.assertEqual(self.found(GOOD.format(1), '#include "x.h"\n'), (['core/x.h'], 0))
        self.assertEqual(self.found('#include "1.cc"\n', '#pragma once\n'), (['core/0.cc'], 0))

    def test_analyzer_reads_every_source_of_a_group(self):
        with unittest.mock.patch.object(check_tidy, 'CHECKS', []):
            self.assertEqual(self.found(GOOD.format(1), NULL), (['core/1.cc'], 0))

    def test_sources_with_one_name_of_their_own_are_not_read_together(self):
        self.assertEqual(self.found(GOOD.format(1), GOOD.format(1)), ([], 1))
        self.assertEqual(self.found(GOOD.format(1), GOOD.format(2), GOOD.format(1), BAD.format(3)), (['core/3.cc'], 1))
        self.assertEqual(self.found(GOOD.format(1), BAD.format(1)), (['core/1.cc'], 1))


GOOD = 'namespace {{ [[maybe_unused]] int f{}(int a) {{ return a / 2; }} }}\n'
BAD = 'namespace {{ [[maybe_unused]] double f{}(int a) {{ double b = a / 2; return b; }} }}\n'
NULL = 'int f(int a) { int* p = nullptr; return a > 3 ? *p : a; }\n'
HEADER = '#pragma once\ninline double g(int a) { double b = a / 2; return b; }\n'


if __name__ == '__main__':
    unittest.main()
