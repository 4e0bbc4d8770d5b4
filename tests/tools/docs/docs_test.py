#!/usr/bin/env python3
"""What tools/docs makes of comments and pages; and, where Python has JAX, that the program that a page exports runs.

usage: docs_test.py BUILD_FOLDER
"""

import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'tools', 'docs'))
import gather  # noqa: E402
import reference  # noqa: E402
from gather import tree  # noqa: E402

BUILD = os.path.join(ROOT, 'build')

HEADER = '''// Cup: what one drinks from. A list:
//
//  - CU-1 it has one owner,
//    always.
//  - CU-2 it is washed.
//
//   Cup cup;
#pragma once

#include <string>

namespace tea {

class Saucer;

// One cup. Thread-safety: confined.
class Cup {
 public:
  Cup() = default;
  explicit Cup(int size) : size_(size) {}
  int size() const { return size_; }  // in millilitres
  // Several lines.
  int poured(int much,
             int times = 1) const {
    return much * times;
  }
  Cup(const Cup&) = delete;  // NOLINT

 private:
  int size_ = 0;
};

// How many.
int count(const Cup& cup);
inline int none() {
  return 0;
}

namespace detail {
int hidden();
}  // namespace detail
}  // namespace tea
'''


class ReferenceTest(unittest.TestCase):
    def test_a_header_becomes_its_words_its_types_and_its_functions(self):
        made = reference.section('tea/cup.h', HEADER, 'millrace/tea/cup.h')
        self.assertEqual(made.split('\n')[0], '## millrace/tea/cup.h')
        self.assertIn('- CU-1 it has one owner,\nalways.', made)
        self.assertIn('\n    Cup cup;', made)
        self.assertIn('''### Cup

One cup. Thread-safety: confined.

```cpp
class Cup {
 public:
  Cup() = default;
  explicit Cup(int size);
  int size() const;  // in millilitres
  // Several lines.
  int poured(int much,
             int times = 1) const;
  Cup(const Cup&) = delete;
};
```''', made)
        self.assertIn('''### Functions and constants

```cpp
// How many.
int count(const Cup& cup);

inline int none();
```''', made)
        self.assertNotIn('hidden', made)
        self.assertNotIn('Saucer', made)

    def test_the_parts_of_a_header_for_c_have_titles(self):
        text = '// For C.\n#pragma once\n\n// ---- Cups: of tea\n// and of coffee\n\ntypedef int cup;\n\n// ---- Spoons\n\nint spoon(cup c);\n'
        made = reference.section('c.h', text, 'millrace/c.h')
        self.assertIn('### Cups\n\n```cpp\n// of tea\n// and of coffee\ntypedef int cup;\n```', made)
        self.assertIn('### Spoons\n\n```cpp\nint spoon(cup c);\n```', made)

    def test_rules_are_found_with_all_their_words(self):
        self.assertEqual(reference.rules_of(HEADER), [('CU-1', 'it has one owner, always.'), ('CU-2', 'it is washed.')])

    def test_plain_text_is_shown_as_it_is_and_code_as_code(self):
        self.assertEqual(reference.escaped('a_b <c> `d_e`'), r'a\_b \<c\> `d_e`')


class PagesTest(unittest.TestCase):
    def pages(self):
        return {f: tree.read(f) for f in tree.files('.md') if f.startswith(gather.PAGES + '/')}

    def test_code_of_a_page_is_an_example_that_the_tests_run(self):
        for page, text in self.pages().items():
            self.assertNotRegex(text, r'```(?:c|cpp|c\+\+|python)\b', page)

    def test_every_example_is_on_a_page(self):
        shown = {m[0] for text in self.pages().values() for m in gather._EXAMPLE.findall(text)}
        there = {os.path.basename(f) for f in tree.files() if f.startswith(gather.EXAMPLES + '/')}
        self.assertEqual(shown, there)

    def test_a_part_of_an_example_ends_at_the_margin(self):
        part = gather.example(gather._EXAMPLE.match('<!-- example: prefetching_loader.cc: int main -->'))
        self.assertRegex(part, r'^```cpp title="tools/examples/prefetching_loader.cc"\nint main\(\) \{\n(?:  .*\n)+\}\n```$')

    def test_readmes_lead_to_pages_and_name_what_the_site_has_not(self):
        images = set()
        text = '[core](../core/README.md#x) [a](b.h) [web](https://example.org) ![picture](p.svg) [home](../README.md)'
        made = gather.with_links(text, 'tools/README.md', ['README.md', 'core/README.md'], images)
        self.assertEqual(made, '[core](core.md#x) a (`tools/b.h`) [web](https://example.org) ![picture](../images/p.svg) home')
        self.assertEqual(images, {'tools/p.svg'})

    def test_every_name_of_the_reference_has_its_counterpart(self):
        folder = os.path.join(ROOT, '..', 'shared', 'reference')
        if not os.path.isdir(folder):
            self.skipTest('the documents of PyTorch/XLA are not here')
        page = self.pages()[gather.PAGES + '/howto/from_pytorch_xla.md']
        for f in os.listdir(folder):
            with open(os.path.join(folder, f), encoding='utf-8') as text:
                names = set(re.findall(r'\b(?:xm|xr|xmp|pl|xu|dist)\.(\w+)\(?', text.read()))
            for name in names - {'py', 'md'}:
                self.assertIn(name, page, f)


class ExportTest(unittest.TestCase):
    def test_the_program_that_jax_exports_runs(self):
        python = os.path.join(ROOT, '.venv-peers', 'bin', 'python')
        command = os.path.join(BUILD, 'bin', 'millrace')
        if not os.path.exists(python):
            self.skipTest('there is no JAX (tools/peers)')
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([python, os.path.join(ROOT, gather.EXAMPLES, 'export_from_jax.py'), folder], check=True,
                           capture_output=True, env=os.environ | {'JAX_PLATFORMS': 'cpu'})
            subprocess.run([command, 'run', os.path.join(folder, 'softmax.mlir'), '--inputs', folder, '--outputs', folder + '/out'],
                           check=True, capture_output=True)
            with open(os.path.join(folder, 'out', '0.npy'), 'rb') as f:
                values = struct.unpack('<6f', f.read()[-24:])
        for value, wanted in zip(values, 2 * (0.0900306, 0.2447285, 0.6652409)):
            self.assertAlmostEqual(value, wanted, places=6)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
