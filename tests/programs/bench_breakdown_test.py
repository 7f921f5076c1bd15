# SPDX-License-Identifier: LGPL-2.1-or-later
"""The picture of what the cores do in cudascan-scan, from its statistics.

Environment: CUDASCAN_BENCH_REPORT is report.py, next to the package that draws.
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import program

STEPS = {"read": 3.0, "decode": 18.5, "measure": 4.0, "compute": 6.5, "text": 0.0, "encode": 0.1,
         "write": 1.0}


class Breakdown(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(pathlib.Path(os.environ["CUDASCAN_BENCH_REPORT"]).parent))
        try:
            from report_page import scan_breakdown
        except ImportError as error:
            self.skipTest(str(error))
        self.module = scan_breakdown

    def draw(self, **runs):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, stats in runs.items():
                paths.append(pathlib.Path(folder) / f"{name}.json")
                paths[-1].write_text(json.dumps(stats))
            return self.module.draw(self.module.read(paths))

    def test_bars(self):
        slow = {**STEPS, "decode": 60.25, "gpu_busy": 0}
        made = self.draw(jpeg={"pages_per_second": 276.5, "breakdown_ms": {**STEPS, "gpu_busy": 2}},
                         png={"pages_per_second": 151.0, "breakdown_ms": slow})
        picture = xml.etree.ElementTree.fromstring(made)
        words = {text.strip() for text in picture.itertext()}
        self.assertLessEqual({"jpeg", "276.5 pages/s", "png", "151.0 pages/s", "18.5", "60.2",
                              "read", "decode", "measure", "compute", "encode", "write",
                              "GPU busy"}, words)
        # No text was recognised; numbers that do not fit are left out.
        self.assertFalse({"text", "0.1"} & words)

    def test_without_gpu(self):
        made = self.draw(cpu={"pages_per_second": 20.0, "breakdown_ms": {**STEPS, "gpu_busy": 0}})
        self.assertNotIn("GPU busy", made)

    def test_no_breakdown(self):
        with self.assertRaisesRegex(ValueError, "old: breakdown_ms is missing"):
            self.draw(old={"pages_per_second": 1.0})


if __name__ == "__main__":
    program.main()
