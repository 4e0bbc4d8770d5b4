#!/usr/bin/env python3
"""The rules of tools/dev/check_layers.py, each with a source that breaks it."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'tools', 'dev'))
import check_layers  # noqa: E402


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
        self.expect(None, transfer__x_DOT_h=header(include('millrace/core/base/error.h'), '#include <vector>'))

    def test_arrow_up_is_named(self):
        self.expect('an arrow that runs up', core__x_DOT_h=header(include('millrace/devices/shape.h')))

    def test_language_needs_shapes_alone(self):
        shape = 'millrace/devices/shape.h'
        self.expect(None, devices__stablehlo__x_DOT_h=header(include(shape)))
        self.expect('includes what lies above it', devices__stablehlo__x_DOT_h=header(include('millrace/devices/client.h')))

    def test_formulas_need_no_artifacts(self):
        self.expect('includes what lies above it',
                    devices__stablehlo__expand__x_DOT_cc=include('millrace/devices/stablehlo/bytecode/read_bytecode.h'))

    def test_common_files_of_devices_know_nothing_of_the_cpu(self):
        self.expect('includes what lies above it', devices__x_DOT_cc=include('millrace/devices/cpu/client.h'))

    def test_floors_of_the_cpu(self):
        for path, above in (('kernels/base/x.h', 'kernels/kernel.h'), ('kernels/body.h', 'kernels/reduce/scan.h'),
                            ('kernels/movement/x.h', 'choose/make_kernel.h'), ('linalg/x.h', 'choose/make_kernel.h'),
                            ('compile/x.h', 'client.h')):
            below, above = f'devices/cpu/{path}', f'devices/cpu/{above}'
            self.expect('includes what lies above it', **{below: header(include(f'millrace/{above}'))})
            self.expect(None, **{above.replace('.h', '.cc'): include('millrace/devices/cpu/kernels/base/element.h')})

    def test_nothing_includes_tests(self):
        self.expect('which nothing may include', core__x_DOT_cc=include('tests/support/temp_folder.h'))

    def test_tests_include_everything(self):
        self.expect(None, tests__core__x_DOT_cc=include('millrace/transfer/staging_pool.h'))

    def test_file_that_is_not_there(self):
        self.expect('no such file', core__x_DOT_cc=include('millrace/core/nowhere.h'))

    def test_other_spelling(self):
        self.expect('spell it from the top', core__base__x_DOT_cc=include('error.h'))

    def test_third_party_header_in_a_header(self):
        self.expect('third-party', transfer__formats__x_DOT_h=header('#include <zlib.h>'))

    def test_third_party_header_away_from_home(self):
        self.expect('only core/exec/executor_tbb', devices__x_DOT_cc='#include <tbb/task_arena.h>')

    def test_folders_of_core_have_an_order(self):
        for lower, upper in [('base', 'observe/log'), ('observe', 'async/future'), ('async', 'exec/make_executor'),
                             ('async', 'loop/event_loop'), ('exec', 'loop/event_loop'), ('loop', 'exec/make_executor')]:
            self.expect(f'core/{lower} includes what lies above it',
                        **{f'core__{lower}__x_DOT_h': header(include(f'millrace/core/{upper}.h'))})

    def test_cycle_of_files(self):
        self.expect('include each other',
                    core__async__graph_DOT_h=header(include('millrace/core/async/future.h')),
                    core__async__future_DOT_h=header(include('millrace/core/async/graph.h')))

    def test_a_header_and_its_source_are_one_in_a_cycle(self):
        self.expect('core/async/future core/async/graph',
                    core__async__graph_DOT_cc=include('millrace/core/async/graph.h') + '\n\n' + include('millrace/core/async/future.h'),
                    core__async__future_DOT_h=header(include('millrace/core/async/graph.h')))

    def test_a_source_of_another_name_belongs_to_the_header_that_it_includes_first(self):
        self.expect('core/async/future core/async/graph',
                    core__async__graph_run_DOT_cc=include('millrace/core/async/graph.h') + '\n\n' + include('millrace/core/async/future.h'),
                    core__async__future_DOT_h=header(include('millrace/core/async/graph.h')))

    def test_thread_outside_core(self):
        self.expect('starts a thread', actors__x_DOT_cc='std::thread t;')

    def test_clock_outside_core(self):
        self.expect('take a Clock', transfer__x_DOT_cc='auto t = std::chrono::steady_clock::now();')

    def test_json_written_otherwise(self):
        for line in ('out << json.dump();', 'text = found->dump(2);'):
            self.expect('take json_text()', tools__x_DOT_cc=line)
        self.expect(None, tests__x_DOT_cc='json.dump();')

    def test_no_pragma_once(self):
        self.expect('#pragma once', core__x_DOT_h='int x;\n')


if __name__ == '__main__':
    unittest.main()
