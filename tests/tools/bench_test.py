#!/usr/bin/env python3
"""What tools/bench makes of the rows that the programs of bench/ print."""

import importlib.machinery
import importlib.util
import json
import os
import sys
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools')
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('bench', os.path.join(TOOLS, 'bench'))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader('bench', loader))
loader.exec_module(bench)

ROW = {'figure': 'graph.chain', 'unit': 'ns', 'ours': 24.4, 'p99': None, 'peer': 'oneTBB', 'peer_value': 36.5,
       'peer_p99': None, 'ratio': 0.667, 'goal': 1, 'met': True, 'quartiles': [0.6, 0.7], 'rounds': 9, 'goal_is': '<='}


class BenchTest(unittest.TestCase):
    def test_json_line_has_exactly_the_fields_that_are_promised(self):
        self.assertEqual(list(json.loads(bench.json_line(ROW))),
                         ['figure', 'unit', 'ours', 'p99', 'peer', 'peer_value', 'peer_p99', 'ratio', 'goal', 'met'])

    def test_text_tells_the_quartiles_and_a_miss(self):
        self.assertIn('quartiles 0.600 to 0.700', bench.text_line(ROW))
        self.assertTrue(bench.text_line(ROW | {'met': False}).endswith('MISSED'))

    def test_p99_is_told_in_text_and_table_where_there_is_one(self):
        slow = ROW | {'p99': 31, 'peer_p99': 99}
        self.assertIn('24.4 ns (p99 31.0); oneTBB: 36.5 (p99 99.0); ratio', bench.text_line(slow))
        self.assertIn('| 24.4 ns | 31.0 | oneTBB: 36.5 (p99 99.0) |', bench.table([slow]))
        self.assertNotIn('p99', bench.text_line(ROW))

    def test_all_lines_of_the_table_have_the_cells_of_its_head(self):
        lines = bench.table([ROW, ROW | {'p99': 31}, {'figure': 'a', 'skipped': 'b'}]).splitlines()
        self.assertEqual({line.count('|') for line in lines}, {8})

    def test_families_without_a_row_are_named(self):
        rows = [ROW | {'figure': f'{family}.x'} for family in bench.FAMILIES if family != 'user']
        self.assertEqual(bench.families_without(rows), ['user'])
        self.assertEqual(bench.families_without(rows + [{'figure': 'user.dispatch', 'skipped': 'b'}]), [])

    def test_the_table_of_the_readme_has_a_row_of_every_family(self):
        with open(os.path.join(TOOLS, '..', 'bench', 'README.md'), encoding='utf-8') as f:
            rows = [{'figure': line.split()[1]} for line in f if line.startswith('| ') and '.' in line.split()[1]]
        self.assertEqual(bench.families_without(rows), [])

    def test_a_figure_without_its_peer_is_skipped_in_text_and_table(self):
        row = {'figure': 'actors.fan_in', 'skipped': 'no CAF'}
        self.assertIn('skipped: no CAF', bench.text_line(row))
        self.assertIn('skipped: no CAF', bench.table([row]))

    def test_names_choose_families_and_unknown_ones_are_refused(self):
        self.assertEqual(bench.families_of(['start.dev', 'graph.chain']), ['graph', 'start'])
        self.assertEqual(bench.families_of([]), bench.FAMILIES)
        self.assertEqual(bench.families_of(['graph', 'nothing']), [])

    def test_readme_table_replaces_what_is_between_its_markers(self):
        readme = f'before\n{bench.README_BEGIN}\nold\n{bench.README_END}\nafter\n'
        text = bench.with_table(readme, [ROW, {'figure': 'a', 'skipped': 'b'}], 61, '0.1')
        self.assertNotIn('old', text)
        self.assertIn('| graph.chain | 24.4 ns |  | oneTBB: 36.5 | 0.67 (0.60 to 0.70) | at most 1 | met |',
                      text)
        self.assertIn('1 of 1 figures meet', text)
        self.assertTrue(text.startswith('before\n') and text.endswith(f'{bench.README_END}\nafter\n'))

    def test_readme_folds_the_single_operations_and_nothing_else(self):
        readme = f'{bench.README_BEGIN}\n{bench.README_END}\n'
        text = bench.with_table(readme, [ROW, ROW | {'figure': 'cpu.add'}, ROW | {'figure': 'pjrt.wait'}], 61, '0.1')
        folded = text[text.index('<details>'):text.index('</details>')]
        self.assertIn('1 single operation', folded)
        self.assertEqual([line.split()[1] for line in folded.splitlines() if 'oneTBB' in line], ['cpu.add'])
        self.assertEqual(text.count('oneTBB'), 3)

    def test_a_plugin_is_given_as_for_the_command_and_must_be_there(self):
        here = os.path.abspath(__file__)
        self.assertEqual(bench.plugin_path(f'xla_cpu={here}'), here)
        self.assertEqual(bench.plugin_path(os.path.relpath(here)), here)
        self.assertEqual(bench.plugin_path(f'xla_cpu={here},devices=2,a:text=b=c'), f'{here},devices=2,a:text=b=c')
        self.assertEqual(bench.plugin_path(f'{here},devices=2'), f'{here},devices=2')
        with self.assertRaises(bench.argparse.ArgumentTypeError):
            bench.plugin_path('xla_cpu=/nowhere/plugin.so')

    def test_the_table_has_its_place(self):
        with open(os.path.join(TOOLS, '..', 'bench', 'README.md'), encoding='utf-8') as f:
            text = f.read()
        self.assertLess(text.index(bench.README_BEGIN), text.index(bench.README_END))

    def test_every_family_has_a_program(self):
        with open(os.path.join(TOOLS, '..', 'bench', 'CMakeLists.txt'), encoding='utf-8') as f:
            text = f.read()
        for family in bench.FAMILIES:
            self.assertIn(f'millrace_bench({family} ', text)


if __name__ == '__main__':
    unittest.main()
