# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every launch line of docs/gallery.md runs on the picture that it names, and makes the one it
names. The page has every element, and its pictures exist."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

import program

try:
    from PIL import Image

    sys.path.insert(0, os.environ["EXAMPLES"])
    import make_gallery
except ImportError:
    Image = None


@unittest.skipIf(Image is None, "python3-pil is not installed")
class Gallery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        # A picture with slopes in both directions and strokes shows an effect of every element.
        picture = Image.new("L", (120, 90))
        picture.putdata([x + y if (x * 7 + y * 3) % 31 > 4 else 20 for y in range(90)
                         for x in range(120)])
        for name in {make_gallery.location(words, "filesrc")
                     for words in make_gallery.launch_lines()}:
            picture.save(cls.folder / name)

    def check(self, words):
        """Runs a line; it must make a picture of the same size."""
        result = program.run([words[0], "-q", *words[1:]], cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        with Image.open(self.folder / make_gallery.location(words, "filesink")) as made:
            self.assertEqual(made.size, (120, 90))

    def test_the_lines_run(self):
        lines = make_gallery.launch_lines()
        self.assertGreater(len(lines), 20)
        for words in lines:
            with self.subTest(" ".join(words)):
                self.check(words)

    def test_the_page_shows_what_the_lines_make(self):
        page = make_gallery.PAGE.read_text(encoding="utf-8")
        for words in make_gallery.launch_lines():
            for element in ("filesrc", "filesink"):
                picture = "gallery/" + pathlib.Path(make_gallery.location(words,
                                                                          element)).stem + ".jpg"
                self.assertIn(f"]({picture})", page)
                with Image.open(make_gallery.PAGE.parent / picture) as image:
                    darkest, brightest = image.convert("L").getextrema()
                self.assertGreater(brightest - darkest, 50, picture + " is empty")

    def test_every_element_is_on_the_page(self):
        elements = make_gallery.elements()
        self.assertIn("cudabinarize", elements)
        used = {word for words in make_gallery.launch_lines() for word in words}
        for element in elements:
            self.assertIn(element, used, "run examples/make_gallery.py")

    def test_an_element_without_a_line_gets_one(self):
        empty = self.folder / "empty.md"
        empty.touch()
        with mock.patch.object(make_gallery, "PAGE", empty):
            lines = make_gallery.launch_lines(make_gallery.missing_sections())
        self.assertEqual(len(lines), len(make_gallery.elements()))
        for element, words in zip(make_gallery.elements(), lines):
            self.assertIn(element, words)
            self.check(words)


if __name__ == "__main__":
    program.main()
