# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-clean with every element of the plugin."""
import os
import pathlib
import sys
import tempfile
import unittest

import program

CLEAN = os.environ["CUDASCAN_CLEAN"]
sys.path.insert(0, os.environ["EXAMPLES"])
from elements import elements  # noqa: E402


class Clean(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.ppm"
        pixels = bytes(value for i in range(64 * 48) for value in (i % 251, 80, i * 7 % 256))
        self.page.write_bytes(b"P6\n64 48\n255\n" + pixels)

    def clean(self, *words):
        result = program.run([CLEAN, self.page, *words], cwd=self.folder)
        if "decode" in result.stderr:
            self.skipTest(result.stderr)
        return result

    def color_type(self):
        """The colour type of the resulting PNG: 0 is gray, 2 is RGB."""
        return (self.folder / "page-clean.png").read_bytes()[25]

    def test_every_element_makes_a_picture(self):
        self.assertIn("cudabinarize", elements())
        for element in elements():
            with self.subTest(element):
                result = self.clean("element=" + element)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"! {element} !", result.stdout)
                self.assertIn(self.color_type(), (0, 2))

    def test_black_and_white_is_gray_and_the_others_keep_colour(self):
        for element, color_type in (("cudabinarize", 0), ("cudanick", 0), ("cudaautothreshold", 0),
                                    ("cudaequalize", 2), ("cudalinearopen", 2),
                                    ("cudaswofilter", 2)):
            with self.subTest(element):
                self.assertEqual(self.clean("element=" + element).returncode, 0)
                self.assertEqual(self.color_type(), color_type)

    def test_without_an_element_the_page_is_binarized(self):
        result = self.clean("level=fast")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("! cudabinarize level=fast !", result.stdout)

    def test_an_unknown_element_lists_those_there_are(self):
        result = self.clean("element=cudanone")
        self.assertEqual(result.returncode, 1)
        self.assertIn("element=cudanone: must be one of cudabinarize, ", result.stderr)
        for element in elements():
            self.assertIn(element, result.stderr)


if __name__ == "__main__":
    program.main()
