#!/usr/bin/env python3
"""What tools/dev/check_abi.py finds in a c_api.h that differs from that of 0.1.0; exits 77 where abidiff is missing."""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'tools', 'dev'))
import check_abi  # noqa: E402

HEADER = check_abi.tree.read(check_abi.HEADER)
FUNCTION = 'MILLRACE_API int32_t millrace_left_behind(void);'


class AbiTest(unittest.TestCase):
    def differences(self, old, new):
        self.assertIn(old, HEADER)
        with tempfile.TemporaryDirectory() as folder:
            return check_abi.differences(HEADER.replace(old, new, 1), folder)

    def test_the_committed_header_and_what_is_added_to_it_are_no_difference(self):
        self.assertEqual(self.differences(FUNCTION, FUNCTION), '')
        self.assertEqual(self.differences(FUNCTION, FUNCTION + '\nMILLRACE_API int32_t millrace_new(void);'), '')
        self.assertEqual(self.differences('MILLRACE_UNAUTHENTICATED = 16', 'MILLRACE_UNAUTHENTICATED = 16,\n  MILLRACE_NEW = 17'),
                         '')

    def test_a_function_that_goes_or_changes_is_named(self):
        self.assertIn('millrace_left_behind', self.differences(FUNCTION, ''))
        self.assertIn('millrace_left_behind', self.differences(FUNCTION, FUNCTION.replace('void', 'int now')))
        self.assertIn('millrace_left_behind', self.differences(FUNCTION, FUNCTION.replace('int32_t', 'int64_t')))

    def test_a_field_that_changes_is_named(self):
        self.assertIn('devices', self.differences('int32_t devices;', 'int64_t devices;'))
        self.assertIn('extra', self.differences('int32_t devices;', 'int32_t extra; int32_t devices;'))

    def test_a_number_that_changes_is_named(self):
        self.assertIn('MILLRACE_F64', self.differences('MILLRACE_F64 = 17', 'MILLRACE_F64 = 117'))


if __name__ == '__main__':
    if not shutil.which('abidiff'):
        print('abidiff is not here (tools/install_packages check)')
        sys.exit(77)
    unittest.main()
