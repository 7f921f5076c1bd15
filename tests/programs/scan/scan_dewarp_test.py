# SPDX-License-Identifier: LGPL-2.1-or-later
"""Curved lines of text that cudascan-scan straightens."""
import importlib
import unittest
import unittest.mock

import printed
import program
import scans

try:
    import numpy as np
    from PIL import Image
except ImportError:
    np = None

curve_maker = importlib.import_module("curve_maker") if printed.page_maker else None
KEEP = ["--no-straighten", "--despeckle=0"]
FONTS = ("LiberationSans-Regular.ttf", "DejaVuSansMono.ttf")


def sharpness(ink):
    """Large if the lines of text are straight and level."""
    return (ink.sum(1).astype(float) ** 2).sum() / ink.sum() ** 2


@unittest.skipUnless(printed.has_print() and set(FONTS) <= set(printed.page_maker.font_files()),
                     "there are no fonts and texts for printed pages")
class Dewarp(scans.Case):
    ALWAYS = ("--enlarge=no",)  # sizes are those of the input

    def page(self, seed=3001, most=0.025):
        # With one font the page is the same wherever there are more.
        fonts = {name: path for name, path in printed.page_maker.font_files().items()
                 if name in FONTS}
        with unittest.mock.patch.object(printed.page_maker, "font_files", lambda: fonts):
            return curve_maker.make(seed, kind="book", dpi=100, most=most)

    def made(self, image, *words, name="page"):
        self.save(image, f"{name}.png", dpi=(100, 100))
        record, = self.measured(f"{name}.png", "-o", "out", *KEEP, *words)["page_list"]
        return record, scans.ink(self.folder / record["output"])

    def test_curved_lines(self):
        for seed, most in ((3001, 0.025), (3002, -0.03)):
            with self.subTest(seed):
                page = self.page(seed, most)
                straight = np.asarray(page.ink) > 128
                _, before = self.made(page.image)
                record, after = self.made(page.image, "--dewarp")
                self.assertTrue(record["dewarped"])
                self.assertGreater(record["bend"], 3)
                self.assertLess(sharpness(before), 0.75 * sharpness(straight))
                self.assertGreater(sharpness(after), 0.85 * sharpness(straight))
                self.assertEqual(after.shape, straight.shape)

    def test_other_levels(self):
        page = self.page().image
        _, gray = self.made(page, "--dewarp")
        deep = Image.fromarray(np.asarray(page).astype(np.uint16) * 257)
        _, made = self.made(deep, "--dewarp", name="deep")
        self.assertGreater(scans.overlap(gray, made), 0.95)
        black = page.point(lambda level: 255 * (level > 128))
        record, made = self.made(black, "--dewarp", name="bilevel")
        self.assertTrue(record["dewarped"])
        self.assertGreater(sharpness(made), 0.85 * sharpness(np.asarray(self.page().ink) > 128))

    def test_others_stay_as_they_are(self):
        noise = np.random.default_rng(1).normal(128, 30, (800, 700)).clip(0, 255)
        for name, image, why in (
                ("straight", self.page(most=0).image, "the lines "),
                ("noise", Image.fromarray(noise.astype(np.uint8)), ""),
                ("blank", Image.new("L", (500, 700), 255), "the page is empty"),
                ("tiny", scans.text_page(180, 180), "the page is too small to measure")):
            with self.subTest(name):
                record, _ = self.made(image, "--dewarp", name=name)
                self.assertFalse(record["dewarped"])
                self.assertTrue(record["not_dewarped"].startswith(why), record)
                self.scan(f"{name}.png", "-o", "off", *KEEP)
                self.assertEqual((self.folder / record["output"]).read_bytes(),
                                 (self.folder / f"off/{name}.tif").read_bytes())

    def test_it_is_said_and_compared(self):
        self.save(self.page().image, "page.png", dpi=(100, 100))
        said = self.scan("page.png", "-o", "out", "--dewarp", "--verbose")
        self.assertRegex(said, r"  lines were bent by up to \d+\.\d pixels")
        said = self.scan("page.png", "-o", "out", "--resume")
        self.assertIn("1 page was made with other settings and is made again", said)

    def test_gpus_make_the_same_pages(self):
        self.save(self.page().image, "page.png", dpi=(100, 100))
        result = program.run([scans.SCAN, "--backend=cuda", "page.png", "--dewarp", "-o", "gpu"],
                             cwd=self.folder)
        if result.returncode == 3:
            self.skipTest("no GPU")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.scan("page.png", "--dewarp", "-o", "out")
        self.assertEqual(self.contents(), self.contents(self.folder / "gpu"))


if __name__ == "__main__":
    program.main()
