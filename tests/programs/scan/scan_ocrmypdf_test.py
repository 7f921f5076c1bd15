# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plugin of OCRmyPDF, examples/ocrmypdf: its functions with a stand-in for OCRmyPDF, and, where
that is installed, the whole."""
import importlib
import os
import pathlib
import shutil
import sys
import types
import unittest

import program
import scans
from scans import np

if np is not None:
    from PIL import ImageChops

PLUGIN = pathlib.Path(__file__).resolve().parents[3] / "examples/ocrmypdf/ocrmypdf_cudascan.py"


class ExitCodeException(Exception):
    pass


def load_plugin():
    """Imports the plugin with a stand-in for OCRmyPDF."""
    stand_in, exceptions = types.ModuleType("ocrmypdf"), types.ModuleType("ocrmypdf.exceptions")
    stand_in.hookimpl = lambda function=None, **how: function or (lambda inner: inner)
    for name in ("BadArgsError", "MissingDependencyError", "SubprocessOutputError"):
        setattr(exceptions, name, type(name, (ExitCodeException,), {}))
    sys.modules.update({"ocrmypdf": stand_in, "ocrmypdf.exceptions": exceptions})
    sys.path.insert(0, str(PLUGIN.parent))
    return importlib.import_module("ocrmypdf_cudascan")


plugin = load_plugin() if np is not None else None


class Outcome:
    """What pluggy sends into a hook that wraps others."""

    def __init__(self, result):
        self.result = result

    def get_result(self):
        return self.result

    def force_result(self, result):
        self.result = result


class Plugin(scans.Case):
    def setUp(self):
        super().setUp()
        self.page = scans.text_page()
        shade = scans.Image.linear_gradient("L").resize(self.page.size).point(lambda v: 90 + v // 3)
        self.dark = ImageChops.multiply(self.page, shade)
        self.dark.info["dpi"] = (75, 75)

    def options(self, what="both", **more):
        return types.SimpleNamespace(cudascan=what, cudascan_program=scans.SCAN,
                                     **{f"cudascan_{name}": value for name, value in more.items()})

    def filtered(self, image, other=None, **more):
        """The image for Tesseract, where other plugins have made this one of it."""
        page = types.SimpleNamespace(options=self.options(**more))
        hook, outcome = plugin.filter_ocr_image(page, image), Outcome(other)
        next(hook)
        with self.assertRaises(StopIteration):
            hook.send(outcome)
        return outcome.result

    def test_what_tesseract_sees(self):
        deep = scans.Image.fromarray(np.array(self.dark).astype(np.uint16) * 257)
        for image in (self.dark, self.dark.convert("RGB"), self.dark.convert("RGBA"),
                      self.dark.convert("P"), self.page.convert("1"), deep):
            image.info["dpi"] = (75, 75)
            made = self.filtered(image)
            self.assertEqual((made.size, made.info["dpi"]), (self.page.size, (75, 75)))
            self.assertEqual(set(np.unique(np.array(made.convert("L")))), {0, 255})
            ink = np.array(made.convert("L")) == 0
            self.assertGreater(scans.overlap(ink, np.array(self.page) == 0), 0.9, image.mode)

    def test_transparent_parts_are_white(self):
        image = self.page.convert("RGBA")
        image.putalpha(self.page.point(lambda v: 255 - v))
        image.info["dpi"] = (75, 75)
        made = self.filtered(image)
        self.assertGreater(scans.overlap(np.array(made.convert("L")) == 0,
                                         np.array(self.page) == 0), 0.9)

    def test_other_plugins_come_first(self):
        small = self.dark.resize((310, 438))
        small.info["dpi"] = (38, 38)
        self.assertEqual(self.filtered(self.dark, small).size, small.size)

    def test_a_turned_page_stays_where_it_is(self):
        page = scans.turned(self.page, 3)
        made = np.array(self.filtered(page).convert("L")) == 0
        self.assertGreater(scans.overlap(made, np.array(page) < 128), 0.8)

    def test_method_and_options(self):
        plain = self.filtered(self.dark)
        other = self.filtered(self.dark, method="mean", options="--no-even-light --despeckle=0")
        self.assertFalse((np.array(plain) == np.array(other)).all())

    def test_pages_of_the_pdf(self):
        page = types.SimpleNamespace(options=self.options("page"))
        for name in ("page.png", "page.jpg"):
            file = self.save(self.dark, name, dpi=(150, 150))
            made = plugin.filter_page_image(page, file)
            self.assertEqual(made, self.folder / "page.cudascan.tif")
            with scans.Image.open(made) as image:
                self.assertEqual((image.mode, image.size), ("1", self.page.size))
                self.assertEqual(image.info["compression"], "group4")
                self.assertEqual(tuple(map(float, image.info["dpi"])), (150, 150))

    def test_off(self):
        file = self.save(self.dark, "page.png")
        for what, is_same in ((None, True), ("ocr", True), ("page", False)):
            page = types.SimpleNamespace(options=self.options(what))
            self.assertEqual(plugin.filter_page_image(page, file) == file, is_same)
            if what != "ocr":
                self.assertIs(self.filtered(self.dark, self.dark, what=what), self.dark)
        # A caller of the API who does not know our options
        page = types.SimpleNamespace(options=types.SimpleNamespace())
        self.assertEqual(plugin.filter_page_image(page, file), file)
        plugin.check_options(page.options)

    def test_options_that_are_wrong(self):
        plugin.check_options(self.options())
        for options, text in (
                (types.SimpleNamespace(cudascan="ocr", cudascan_program="no-such-program"),
                 "the program no-such-program was not found"),
                (self.options("all"), "--cudascan=all: must be ocr, page or both"),
                (self.options(None, method="otsu"), "--cudascan-method needs --cudascan"),
                (self.options(method="x"), "--method=x: must be one of those"),
                (self.options(options="--despeckle=x"), "x"),
                (self.options(options="--crop=page"), "--crop=page: the words would no longer be"),
                (self.options(options="book.png"), "book.png: must be options"),
                (self.options(options="'"), "--cudascan-options: No closing quotation")):
            with self.assertRaises(ExitCodeException) as raised:
                plugin.check_options(options)
            self.assertIn(text, str(raised.exception))
        lossless = self.options("page")
        lossless.lossless_reconstruction = True
        with self.assertRaisesRegex(ExitCodeException, "Add --force-ocr"):
            plugin.check_options(lossless)

    def test_a_program_that_fails(self):
        for text, said in (("exit 3", "ended with status 3: gone"), ("exit 0", "ended with")):
            false = self.folder / "program"
            false.write_text(f"#!/bin/sh\necho gone >&2\n{text}\n")
            false.chmod(0o755)
            options = self.options()
            options.cudascan_program = str(false)
            with self.assertRaisesRegex(ExitCodeException, said):
                plugin.clean(options, b"", 300)

    def test_a_page_of_another_size(self):
        with self.assertRaisesRegex(ExitCodeException, "made .* pixels of"):
            plugin.same_size(scans.Image.new("1", (3, 4)), self.page)


@unittest.skipUnless(shutil.which("ocrmypdf"), "ocrmypdf is not installed")
class Whole(scans.Case):
    def test_bilevel_pdf(self):
        self.save(scans.text_page(), "page.png", dpi=(75, 75))
        said = program.run(
            ["ocrmypdf", "--plugin", PLUGIN, "--cudascan=both", "--force-ocr", "--image-dpi=75",
             f"--cudascan-program={scans.SCAN}", "--output-type=pdf", "--tesseract-timeout=0",
             "--jobs=1", "page.png", "page.pdf"], cwd=self.folder,
            env={"OMP_THREAD_LIMIT": "1", "PYTHONPATH": os.environ.get("PYTHONPATH", "")})
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn(b"CCITTFaxDecode", (self.folder / "page.pdf").read_bytes())


if __name__ == "__main__":
    program.main()
