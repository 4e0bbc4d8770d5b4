#!/usr/bin/env python3
"""The rules of tools/check_layers.py and tools/check_text.py, each with a source that breaks it."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools'))
import check_layers  # noqa: E402
import check_text  # noqa: E402


def header(*lines):
    return '\n'.join(['#pragma once', *lines, ''])


def include(path):
    return f'#include "{path}"'


class LayersTest(unittest.TestCase):
    def expect(self, words, **texts):
        """texts: path with __ for / and _DOT_ for . -> source"""
        tree = {k.replace('__', '/').replace('_DOT_', '.'): v for k, v in texts.items()}
        problems = check_layers.check(tree)
        if words is None:
            self.assertEqual(problems, [])
        else:
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(words, problems[0])

    def test_arrow_down_is_good(self):
        self.expect(None, transfer__x_DOT_h=header(include('millrace/core/error.h'), '#include <vector>'))

    def test_arrow_up_is_named(self):
        self.expect('an arrow that runs up', core__x_DOT_h=header(include('millrace/devices/shape.h')))

    def test_nothing_includes_tests(self):
        self.expect('which nothing may include', core__x_DOT_cc=include('tests/support/temp_folder.h'))

    def test_tests_include_everything(self):
        self.expect(None, tests__core__x_DOT_cc=include('millrace/transfer/staging_pool.h'))

    def test_file_that_is_not_there(self):
        self.expect('no such file', core__x_DOT_cc=include('millrace/core/nowhere.h'))

    def test_other_spelling(self):
        self.expect('spell it from the top', core__x_DOT_cc=include('error.h'))

    def test_third_party_header_in_a_header(self):
        self.expect('third-party', transfer__formats__x_DOT_h=header('#include <zlib.h>'))

    def test_third_party_header_away_from_home(self):
        self.expect('only core/executor_tbb', devices__x_DOT_cc='#include <tbb/task_arena.h>')

    def test_cycle_of_files(self):
        self.expect('include each other',
                    core__error_DOT_h=header(include('millrace/core/future.h')),
                    core__future_DOT_h=header(include('millrace/core/error.h')))

    def test_thread_outside_core(self):
        self.expect('starts a thread', actors__x_DOT_cc='std::thread t;')

    def test_clock_outside_core(self):
        self.expect('take a Clock', transfer__x_DOT_cc='auto t = std::chrono::steady_clock::now();')

    def test_no_pragma_once(self):
        self.expect('#pragma once', core__x_DOT_h='int x;\n')


class TextTest(unittest.TestCase):
    def test_each_rule(self):
        for text, words in [('// TO' 'DO: later\n', 'unfinished'), ('x = "/ro' 'ot/x"\n', 'machine'),
                            ('int x; \n', 'blanks'), ('int x;', 'newline'), ('\tint x;\n', 'tab'),
                            ('// TEST(A, B) {\n', 'commented out')]:
            problems = check_text.check('core/x.cc', text)
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(words, problems[0])

    def test_link_that_leads_nowhere(self):
        self.assertIn('not there', check_text.check('x.md', '[a](nowhere.md)\n')[0])
        self.assertEqual(check_text.check('x.md', '[a](LICENSE) [b](https://example.org)\n'), [])


if __name__ == '__main__':
    unittest.main()
