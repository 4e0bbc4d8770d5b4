#!/usr/bin/env python3
"""The rules of tools/dev/check_text.py, each with a source that breaks it."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'tools', 'dev'))
import check_text  # noqa: E402


class TextTest(unittest.TestCase):
    def test_each_rule(self):
        for text, words in [('// TO' 'DO: later\n', 'unfinished'), ('x = "/ro' 'ot/x"\n', 'machine'),
                            ('int x; \n', 'blanks'), ('int x;', 'newline'), ('\tint x;\n', 'tab'),
                            ('// TEST(A, B) {\n', 'commented out')]:
            problems = check_text.check('core/x.cc', text)
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(words, problems[0])

    def test_comment_below_one_behind_code_begins_anew(self):
        behind = 'int a;  // one, of two\n'
        self.assertEqual(len(check_text.check_words('core/x.h', behind + '// Of b.\nint b;\n')), 1)
        self.assertEqual(check_text.check_words('core/x.h', behind + '        // Of b, still.\n'), [])

    def test_links_of_the_site_are_left_to_its_build(self):
        self.assertEqual(check_text.check('tools/docs/pages/x.md', '[a](rooms/core.md)\n'), [])

    def test_link_that_leads_nowhere(self):
        self.assertIn('not there', check_text.check('x.md', '[a](nowhere.md)\n')[0])
        self.assertEqual(check_text.check('x.md', '[a](LICENSE) [b](https://example.org)\n'), [])

    def test_comment_that_names_no_file(self):
        paths = ['core/async/future.h', 'transfer/formats/idx.cc']
        for words, named in [('Read next: gone.h.', 'gone.h'), ('as in core/idx.cc', 'core/idx.cc'), ('../future.h', '../future.h')]:
            problems = check_text.check_named_files({'core/x.h': f'int x;  // {words}\n'}, paths)
            self.assertEqual(problems, [f'core/x.h:1: names {named}, which is not there'])
        good = '// See future.h, ../core/async/future.h, formats/idx.cc and core/*.h.\n#include "gone.h"\n'
        self.assertEqual(check_text.check_named_files({'core/x.h': good}, paths), [])

    def test_text_that_names_not_what_acts_or_begins_with_of(self):
        for path, text, words in [
                ('core/x.h', '// No' 'body waits.\n', 'name what acts'), ('tests/x.cc', 'int x;  // who' 'ever waits\n', 'name what acts'),
                ('core/x.cc', 'fail("some' 'body waits");\n', 'name what acts'), ('tools/x.py', '# No' 'body waits.\n', 'name what acts'),
                ('core/README.md', 'No' 'body waits.\n', 'name what acts'), ('bench/x.h', '//' ' Of one array.\n', 'begins with "Of"'),
                ('core/x.h', '// A.\n// Of one array.\n', 'begins with "Of"'), ('tools/x.py', '#' ' Of one.\n', 'begins with "Of"'),
                ('tests/x.cc', 'TEST(XTest, ' 'OfManyOne) {\n', 'name a test'), ('tests/x.cc', 'TEST_F(X, ForNo' 'body) {\n', 'name a test')]:
            problems = check_text.check_words(path, text)
            self.assertEqual(len(problems), 1, (text, problems))
            self.assertIn(words, problems[0])
        good = '// Sums the sizes\n// Of all.\nTEST(OffTest, OffersAllOfThem) {\n'
        self.assertEqual(check_text.check_words('core/x.h', good), [])

    def test_word_that_the_glossary_replaces(self):
        for text in ['// Lets go of it.\n', 'void forget_oldest();\n', 'let_go();\n', 'int x_let_go_;\n', 'int dead_;\n',
                     '// It tells that.\n', '// Forgotten.\n', 'fail("was given back");\n']:
            self.assertEqual(len(check_text.check_words('transfer/x.h', text)), 1, text)
        self.assertEqual(check_text.check_words('transfer/x.h', '[[nodiscard]] int released;  // it gives room\n'), [])
        self.assertEqual(check_text.check_words('actors/x.h', 'a.tell(1);  // tell or try_tell\n'), [])
        self.assertEqual(check_text.check_words('README.md', 'int let_go;\n'), [])

    def test_markdown_that_names_no_file(self):
        self.assertEqual(len(check_text.check_named_files({'core/README.md': '| a | `gone.h` |\n'}, [])), 1)

    def test_each_room_has_a_readme_and_some_name_every_header(self):
        rooms = check_text.tree.ROOMS + check_text.tree.OUTER
        texts = {f'{room}/README.md': '`future.h`\n' for room in rooms}
        paths = ['core/async/future.h', 'tools/api/runtime.h']
        self.assertEqual(check_text.check_rooms(texts, paths), [])
        self.assertIn('does not name core/loop.h', check_text.check_rooms(texts, paths + ['core/loop.h'])[0])
        self.assertEqual(len(check_text.check_rooms({}, paths)), len(rooms))

    def rules(self, stated, tested='// AV-1\n', **more):
        return check_text.check_rules({'core/x.h': stated, 'tests/core/x_test.cc': tested} | more)

    def test_rule_is_stated_once_and_cited_by_a_test(self):
        rule = '//  - AV-1 a cell completes once.\n'
        self.assertEqual(self.rules(rule), [])
        self.assertEqual(self.rules(rule, ''), ['core/x.h: no test cites AV-1'])
        self.assertEqual(self.rules(rule + rule), ['core/x.h:2: AV-1 is a rule of core/x.h'])
        self.assertIn('is a rule of', self.rules(rule, actors='//  AV-1 another.\n')[0])

    def test_rule_that_is_cited_is_stated_on_a_line_of_its_own(self):
        rules = '//  - AV-1 a cell completes once. AV-2 its payload is there before.\n'
        self.assertEqual(self.rules(rules), ['core/x.h:1: AV-2 is no rule'])


if __name__ == '__main__':
    unittest.main()
