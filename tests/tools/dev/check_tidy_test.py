#!/usr/bin/env python3
"""Which sources tools/dev/check_tidy.py checks again."""

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


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = folder.name
        self.texts = {path: 'int x;\n' for path in SOURCES + ['.clang-tidy']}
        self.command = 'g++'

    def check(self, bad=(), options=()):
        """(what main() returned, the sources that clang-tidy was given): it finds something in the bad ones."""
        given = []

        def run_tidy(source, _):
            given.append(source)
            return source not in bad, [f'{source}:1:1: warning: bad'] if source in bad else [], 0.1

        version = subprocess.CompletedProcess([], 0, stdout='19', stderr='')
        with contextlib.ExitStack() as patches:
            for target, name, value in [
                    (check_tidy, 'run_tidy', run_tidy), (check_tidy.subprocess, 'run', lambda *_, **__: version),
                    (check_tidy, 'commands', lambda *_: dict.fromkeys(SOURCES, self.command)),
                    (check_tidy.tree, 'cpp_files', lambda: SOURCES), (check_tidy.tree, 'read', self.texts.__getitem__),
                    (check_tidy.os.path, 'getsize', lambda _: 1),
                    (sys, 'argv', ['check_tidy.py', self.build, *options])]:
                patches.enter_context(unittest.mock.patch.object(target, name, value))
            with contextlib.redirect_stdout(io.StringIO()):
                code = check_tidy.main()
        return code, sorted(given)

    def test_source_that_passed_is_not_checked_again(self):
        self.assertEqual(self.check(), (0, SOURCES))
        self.assertEqual(self.check(), (0, []))

    def test_source_that_failed_is_checked_again_until_it_passes(self):
        for _ in range(2):
            code, given = self.check(bad=['core/y.cc'])
            self.assertEqual(code, 1)
            self.assertIn('core/y.cc', given)
        self.assertEqual(self.check(), (0, ['core/y.cc']))
        self.assertEqual(self.check(), (0, []))

    def test_source_that_failed_alone_is_checked_again_by_a_whole_run(self):
        self.check()
        self.texts['core/y.cc'] = 'int y;\n'
        self.assertEqual(self.check(bad=['core/y.cc'], options=[os.path.join(check_tidy.tree.ROOT, 'core/y.cc')]),
                         (1, ['core/y.cc']))
        self.assertEqual(self.check(), (0, ['core/y.cc']))

    def test_source_that_changed_or_whose_command_or_checks_did_is_checked_again(self):
        self.check()
        self.texts['core/x.cc'] = 'int y;\n'
        self.assertEqual(self.check(), (0, ['core/x.cc']))
        self.command = 'g++ -O1'
        self.assertEqual(self.check(), (0, SOURCES))
        self.texts['.clang-tidy'] = 'Checks: all\n'
        self.assertEqual(self.check(), (0, SOURCES))


if __name__ == '__main__':
    unittest.main()
