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
            source = check_headers.made(*check_headers.public_headers(f'x.h: {listed}\n')[0])
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

    def test_member_that_owns_is_found_unless_it_is_braced(self):
        for member in ('std::string a = {};', 'std::vector<std::string> a;', 'std::optional<std::string> a = {};',
                       'net::Ref<B> a = {};', 'std::function<int(int, int)> a = {};'):
            self.assertEqual(len(check_headers.owning_members(f'struct A {{\n  {member}  // b\n}};\n', 'A')), 1, member)
        for member in ('Braced<std::string> a = {};', 'std::optional<int> a = {};', 'std::string_view a = {};', 'int a = 0, b = 1;',
                       '// std::string a;', 'B b = {};'):
            self.assertEqual(check_headers.owning_members(f'struct A {{\n  {member}\n}};\n', 'A'), [], member)

    def test_compiler_that_is_not_there_is_a_failure(self):
        for gone in (check_headers.GCC, check_headers.CLANG):
            said = io.StringIO()
            with unittest.mock.patch('shutil.which', lambda name, gone=gone: None if name == gone else name), \
                    contextlib.redirect_stdout(said):
                self.assertEqual(check_headers.main(), 1)
            self.assertIn(gone, said.getvalue())


class ChainsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = folder.name
        os.makedirs(os.path.join(self.build, 'include', 'millrace', 'core'))

    def write(self, work=check_headers.own, **texts):
        """Headers core/NAME.h of these texts, and their batches."""
        self.headers = [f'core/{name}.h' for name in texts]
        for name, text in texts.items():
            with open(os.path.join(self.build, 'include', 'millrace', 'core', name + '.h'), 'w', encoding='utf-8') as f:
                f.write('#pragma once\n' + text)
        root = os.path.join(self.build, 'include', 'millrace')
        patch = unittest.mock.patch.object(check_headers.tree, 'ROOT', root)
        patch.start()
        self.addCleanup(patch.stop)
        return check_headers.batches([(*work(h), h) for h in self.headers], check_headers.tree.Closures())

    def test_header_comes_after_those_that_it_includes_and_only_those(self):
        low, high = 'int low();\n', '#include "millrace/core/{}.h"\n'
        batches = self.write(a=low, b=high.format('a'), c=high.format('b'), d=high.format('b'), e=low)
        self.assertEqual(sorted([w[3] for w in batch] for batch in batches),
                         [['core/a.h', 'core/b.h', 'core/c.h'], ['core/d.h'], ['core/e.h']])

    def test_chains_are_as_few_as_can_be(self):
        include = '#include "millrace/core/{}.h"\n'.format
        batches = self.write(a='', b='', c=include('a') + include('b'), d=include('a'))  # not (a c) (b) (d)
        self.assertEqual(sorted([w[3] for w in batch] for batch in batches), [['core/a.h', 'core/d.h'], ['core/b.h', 'core/c.h']])

    def test_header_that_does_not_compile_alone_is_found_in_a_chain_and_named(self):
        for bad in 'abc':
            texts = {'a': 'int a();\n', 'b': '#include "millrace/core/a.h"\n', 'c': '#include "millrace/core/b.h"\n'}
            texts[bad] += 'inline std::vector<int> x;\n'
            batch, = self.write(**texts)
            found = [w[3] for w, good, _ in check_headers.compile_batch(batch, self.build) if not good]
            self.assertEqual(found, [h for h in self.headers if h >= f'core/{bad}.h'])

    def test_header_is_not_helped_by_what_another_includes(self):
        batches = self.write(a='#include <vector>\n', b='inline std::vector<int> x;\n')
        outcomes = [o for batch in batches for o in check_headers.compile_batch(batch, self.build)]
        self.assertEqual([(w[3], good) for w, good, _ in outcomes], [('core/a.h', True), ('core/b.h', False)])

    def test_type_of_a_public_header_is_not_helped_by_a_later_one(self):
        def public(header):
            return check_headers.CLANG, check_headers.USERS, check_headers.made(header, ['A'] if header == 'core/a.h' else []), header
        b = '#include "millrace/core/a.h"\nnamespace millrace { struct B { int x = 0; }; }\n'
        for inner, wanted in (('int', True), ('B', False)):
            a = f'namespace millrace {{ struct B; struct A {{ {inner} x; }}; }}\n'
            batch, = self.write(public, a=a, b=b)
            outcomes = {w[3]: good for w, good, _ in check_headers.compile_batch(batch, self.build)}
            self.assertEqual(outcomes['core/a.h'], wanted)


if __name__ == '__main__':
    unittest.main()
