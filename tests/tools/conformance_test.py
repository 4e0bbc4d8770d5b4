#!/usr/bin/env python3
"""What tools/conformance makes of programs that pass, fail, crash or do not end."""

import importlib.machinery
import importlib.util
import io
import json
import os
import stat
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools')
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('conformance', os.path.join(TOOLS, 'conformance'))
conformance = importlib.util.module_from_spec(
    importlib.util.spec_from_loader('conformance', loader))
loader.exec_module(conformance)

# Stands for the worker: the name of a program says what becomes of it.
WORKER = '''#!/usr/bin/env python3
import json, os, sys, time
for line in sys.stdin:
    path = line.strip()
    if 'crash' in path:
        print('out of luck', file=sys.stderr, flush=True)
        os._exit(3)
    if 'slow' in path:
        time.sleep(1000)
    answer = {'file': path, 'status': 'failed' if 'wrong' in path else 'passed'}
    if 'outfeed' in path:
        answer |= {'status': 'absent', 'error': 'there is none'}
    if 'wrong' in path:
        answer |= {'op': 'stablehlo.add', 'error': 'element [1]: got 2, expected 3'}
    print(json.dumps(answer), flush=True)
'''


class ConformanceTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        worker = os.path.join(self.folder.name, 'worker')
        with open(worker, 'w', encoding='utf-8') as f:
            f.write(WORKER)
        os.chmod(worker, os.stat(worker).st_mode | stat.S_IXUSR)
        conformance.WORKER = worker

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, first_line='// RUN: it'):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(first_line + '\n')
        return path

    def result(self, paths, deadline=300):
        answers = conformance.run_all(paths, 2, deadline)
        return conformance.summary(paths, answers, conformance.Index())

    def test_families_come_from_names_and_count_apart(self):
        paths = [self.program('add_float32_2.mlir'), self.program('add_int8_wrong.mlir'),
                 self.program('sub_bool_1.mlir')]
        result = self.result(paths)
        self.assertEqual(result['families'], {'add': {'passed': 1, 'failed': 1},
                                              'sub': {'passed': 1, 'failed': 0}})
        self.assertEqual((result['files'], result['passed'], result['failed']), (3, 2, 1))
        self.assertAlmostEqual(result['macro_average'], 0.75)
        self.assertEqual(result['failures'][0]['op'], 'stablehlo.add')

    def test_a_crash_takes_no_other_program_down(self):
        paths = [self.program(name) for name in
                 ('a_float32.mlir', 'b_float32_crash.mlir', 'c_float32.mlir', 'd_float32.mlir')]
        result = self.result(paths)
        self.assertEqual(result['passed'], 3)
        self.assertIn('crashed (3) out of luck', result['failures'][0]['error'])

    def test_a_program_that_does_not_end_fails_by_its_deadline(self):
        paths = [self.program('a_float32_slow.mlir'), self.program('b_float32.mlir')]
        for deadline in (1, 4, 16, 64):  # the other one may be slow too, on a busy machine
            result = self.result(paths, deadline)
            slow = [one for one in result['failures'] if 'slow' in one['file']]
            self.assertEqual(slow[0]['error'], f'not done after {deadline} seconds')
            if result['passed'] == 1:
                break
        self.assertEqual(result['passed'], 1)

    def test_programs_that_are_disabled_upstream_are_told_apart(self):
        paths = [self.program('a_float32_wrong.mlir', '// RUN-DISABLED(no) it'),
                 self.program('b_float32.mlir')]
        result = self.result(paths)
        self.assertEqual((result['failed'], result['skipped']), (0, 1))
        self.assertEqual(len(result['disabled']['failures']), 1)

    def test_the_parts_of_a_file_are_programs_of_their_own(self):
        path = self.program('add.mlir', '// RUN: it\n\n// -----\n\n// -----\n')
        parts = conformance.programs_in([path])
        self.assertEqual(parts, [f'{path}#{i}' for i in range(3)])
        result = self.result(parts)
        self.assertEqual(result['families'], {'add': {'passed': 3, 'failed': 0}})

    def test_what_is_not_there_is_told_apart_and_is_no_failure(self):
        result = self.result([self.program('outfeed.mlir'), self.program('add.mlir')])
        self.assertEqual((result['passed'], result['failed']), (1, 0))
        self.assertEqual([one['file'] for one in result['absent']], ['outfeed.mlir'])

    def test_a_file_that_wants_other_tools_is_told_apart(self):
        path = self.program('probe_wrong.mlir', '// RUN: translate --probe-output-dir=x %s')
        result = self.result([path])
        self.assertEqual((result['failed'], result['skipped']), (0, 1))

    def test_the_index_beside_the_programs_names_family_and_state(self):
        path = self.program('x_float32_wrong.mlir')
        with open(os.path.join(self.folder.name, 'index.csv'), 'w', encoding='utf-8') as f:
            f.write('file,family,status\nx_float32_wrong.mlir,other,disabled: inaccurate\n')
        result = self.result([path])
        self.assertEqual((result['failed'], result['skipped']), (0, 1))
        self.assertEqual(result['disabled']['failures'][0]['family'], 'other')

    def test_the_report_names_the_file_its_op_and_the_element(self):
        result = self.result([self.program('add_float32_wrong.mlir')])
        stream = io.StringIO()
        conformance.report(result, 1.0, stream)
        self.assertIn('add_float32_wrong.mlir: stablehlo.add: element [1]: got 2, expected 3',
                      stream.getvalue())
        self.assertIn('0 of 1 enabled programs pass', stream.getvalue())
        json.dumps(result)


if __name__ == '__main__':
    unittest.main()
