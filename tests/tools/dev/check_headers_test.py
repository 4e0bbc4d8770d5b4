#!/usr/bin/env python3
"""What tools/dev/check_headers.py asks of a public header, each with a header that has it or has it not."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'tools', 'dev'))
import check_headers  # noqa: E402


class HeadersTest(unittest.TestCase):
    def expect(self, words, listed, *lines):
        """Both compilers find the words, or nothing, in a header of these lines that the list has with its types."""
        with tempfile.TemporaryDirectory() as build:
            os.makedirs(os.path.join(build, 'include', 'millrace'))
            with open(os.path.join(build, 'include', 'millrace', 'x.h'), 'w', encoding='utf-8') as f:
                f.write('\n'.join(['#pragma once', 'namespace millrace {', *lines, '}', '']))
            source = check_headers.made(check_headers.public_headers(f'x.h: {listed}\n'))
            for compiler in (check_headers.GCC, check_headers.CLANG):
                good, said = check_headers.compile_source(compiler, check_headers.USERS, source, build)
                self.assertEqual(good, words is None, f'{compiler}: {said}')
                self.assertIn(words or '', said)

    def test_one_type_under_two_names_is_good(self):
        self.expect(None, 'A B', 'struct A { int x = 0; };', 'using B = A;')

    def test_type_that_cannot_be_made_is_good(self):
        self.expect(None, 'A', 'struct A { explicit A(int); A(const A&) = delete; };')

    def test_header_that_does_not_compile_alone_is_found(self):
        self.expect('vector', '', 'inline std::vector<int> x;')

    def test_header_that_warns_is_found(self):
        self.expect('onversion', '', 'inline short cut(int x) { return x; }')

    def test_type_that_is_incomplete_when_it_is_destroyed_is_found(self):
        self.expect('incomplete', 'A', 'struct B;', 'template <class T> struct Box { T* t = nullptr; ~Box() { t->f(); } };',
                    'struct A { Box<B> b; };')

    def test_value_whose_other_fields_have_defaults_is_good(self):
        self.expect(None, 'A{.x=1}', 'struct A { int x = 0; int y = {}; };')

    def test_value_that_leaves_a_field_without_default_out_is_found(self):
        self.expect('missing', 'A{.x=1}', 'struct B { B(); };', 'struct A { int x = 0; B y; };')

    def test_compiler_that_is_not_there_is_a_failure(self):
        for gone in (check_headers.GCC, check_headers.CLANG):
            said = io.StringIO()
            with unittest.mock.patch('shutil.which', lambda name, gone=gone: None if name == gone else name), \
                    contextlib.redirect_stdout(said):
                self.assertEqual(check_headers.main(), 1)
            self.assertIn(gone, said.getvalue())


if __name__ == '__main__':
    unittest.main()
