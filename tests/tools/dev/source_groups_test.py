#!/usr/bin/env python3
"""Which sources tools/dev/source_groups.py puts together."""

import os
import sys
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'tools', 'dev'))
import source_groups  # noqa: E402


def unnamed(*lines):
    return '\n'.join(['namespace millrace {', 'namespace {', *lines, '}  // namespace', '}  // namespace millrace', ''])


class GroupsTest(unittest.TestCase):
    def groups(self, texts, most=4, alike=lambda source: None):
        """The groups of files of core with these texts, by name."""
        known = {f'core/{name}.cc': text for name, text in texts.items()}
        with unittest.mock.patch.object(source_groups.tree, 'read', known.__getitem__):
            made = source_groups.grouped(list(known), most, alike)
        return [''.join(os.path.basename(f)[:-3] for f in group) for group in made]

    def test_group_has_sources_of_one_folder_that_are_compiled_alike(self):
        commands = {f'core/{name}.cc': 'g++' for name in 'abcdef'} | {'core/net/g.cc': 'g++', 'core/h.cc': 'g++ -O1'}
        with unittest.mock.patch.object(source_groups.tree, 'read', lambda _: ''):
            self.assertEqual(source_groups.grouped(list(commands), 4, commands.get),
                             [[f'core/{name}.cc' for name in 'abcd'], ['core/e.cc', 'core/f.cc'], ['core/net/g.cc'],
                              ['core/h.cc']])

    def test_group_across_folders_has_those_of_any(self):
        with unittest.mock.patch.object(source_groups.tree, 'read', lambda _: ''):
            self.assertEqual(source_groups.grouped(['core/a.cc', 'core/net/b.cc'], 4, folder=lambda source: ''),
                             [['core/a.cc', 'core/net/b.cc']])

    def test_sources_of_one_group_define_no_name_twice(self):
        texts = {'a': unnamed('struct Row {', '  int kIn = 0;', '};', 'constexpr int kLeast{1};'),
                 'b': unnamed('constexpr Row kRows[] = {', '};', 'Result<int> of(int k) {', '  return kLeast;', '}'),
                 'c': unnamed('class Row {', '};'), 'd': unnamed('int of(int x) {', '}'),
                 'e': unnamed('constexpr int kLeast = 2;') + 'int main() {}\n',
                 'f': 'struct Row {};\nint main() {}\n', 'g': 'int main(int, char**) {}\n'}
        self.assertEqual(self.groups(texts), ['abf', 'cde', 'g'])

    def test_macros_are_names_of_all_that_follows(self):
        self.assertEqual(self.groups({'a': '#define ADD 1\n', 'b': '#define ADD 1\n', 'c': ''}), ['ac', 'b'])

    def test_aliases_stand_for_one_thing_in_a_group(self):
        texts = {'a': unnamed('using Bytes = Vector;', 'using testing::kKind;'),
                 'b': unnamed('using Bytes = Vector;', 'using testing::kKind;'),
                 'c': unnamed('using Bytes = List;'), 'd': unnamed('constexpr int kKind = 1;'),
                 'e': unnamed('struct Bytes {', '};')}
        self.assertEqual(self.groups(texts), ['ab', 'cd', 'e'])

    def test_a_group_takes_the_names_of_one_enumeration(self):
        texts = {'a': unnamed('using enum State;'), 'b': unnamed('using enum Life;'), 'c': unnamed('using enum State;')}
        self.assertEqual(self.groups(texts), ['ac', 'b'])


if __name__ == '__main__':
    unittest.main()
