# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every launch line of docs/gallery.md runs on the picture that it names, and makes the one it
names."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

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

    def test_the_lines_run(self):
        lines = make_gallery.launch_lines()
        self.assertGreater(len(lines), 20)
        lines += make_gallery.launch_lines(make_gallery.missing_sections())
        for words in lines:
            with self.subTest(" ".join(words)):
                result = program.run([words[0], "-q", *words[1:]], cwd=self.folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                made = Image.open(self.folder / make_gallery.location(words, "filesink"))
                self.assertEqual(made.size, (120, 90))

    def test_the_page_shows_what_the_lines_make(self):
        page = make_gallery.PAGE.read_text(encoding="utf-8")
        for words in make_gallery.launch_lines():
            for element in ("filesrc", "filesink"):
                picture = "gallery/" + pathlib.Path(make_gallery.location(words,
                                                                          element)).stem + ".jpg"
                self.assertIn(f"]({picture})", page)
                self.assertTrue((make_gallery.PAGE.parent / picture).is_file(), picture)

    def test_an_element_without_a_line_gets_one(self):
        elements = make_gallery.elements()
        self.assertIn("cudanick", elements)
        used = {word for words in make_gallery.launch_lines() for word in words}
        more = make_gallery.launch_lines(make_gallery.missing_sections())
        self.assertEqual(len(more), sum(element not in used for element in elements))
        for element in elements:
            self.assertIn(element, used.union(*more))


if __name__ == "__main__":
    program.main()
