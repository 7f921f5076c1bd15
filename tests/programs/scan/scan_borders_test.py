# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dark borders of scans are whitened where they touch the edge of the image; text stays."""
import unittest

import printed
import program
import scans
from scans import np

if np is not None:
    from PIL import Image, ImageDraw

WIDTH, HEIGHT = 1240, 1754  # A4 at 150 dpi
DPI = {"dpi": (150, 150)}


def noisy(levels, seed=3):
    levels = np.asarray(levels, float) + np.random.default_rng(seed).normal(0, 5, levels.shape)
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


class Borders(scans.Case):
    def setUp(self):
        super().setUp()
        self.page = np.where(np.array(scans.text_page(WIDTH, HEIGHT)) == 0, 30, 225)
        self.number = 0

    def made(self, page, *words, **how):
        """The ink that comes out and the share that was whitened."""
        self.number += 1
        path = self.save(page, f"{self.number}.png", **(how or DPI))
        record = self.measured(path, "-o", self.out, "--no-straighten", "--enlarge=no",
                               *words)["page_list"][0]
        return scans.ink(record["output"]), record["border"]

    def expect_white(self, levels, border, least=0.97, **how):
        """The ink of `levels`, where `border` is True, goes; elsewhere it is as without it."""
        clean, none = self.made(noisy(self.page))
        self.assertEqual(none, 0)
        kept, none = self.made(noisy(levels), "--borders=keep", "--method=otsu", **how)
        self.assertEqual(none, 0)
        ink, share = self.made(noisy(levels), **how)
        self.assertGreater(share, border.mean() * 0.95)
        self.assertLess(share, border.mean() + 0.03)
        self.assertGreater(kept[border].mean(), 0.9)
        self.assertEqual(ink[border].sum(), 0)
        self.assertGreater(scans.overlap(ink[~border], clean[~border]), least)

    def test_strips_of_every_width(self):
        for width in (3, 10, 45):
            with self.subTest(str(width)):
                levels, border = self.page.copy(), np.zeros(self.page.shape, bool)
                border[:, :width] = border[-width:] = True
                levels[border] = 8
                self.expect_white(levels, border)

    def test_surround_of_a_turned_sheet_and_wedges(self):
        sheet = Image.fromarray(self.page.astype(np.uint8))
        whole = Image.new("L", sheet.size, 255)
        turned = sheet.rotate(4, Image.BICUBIC, fillcolor=5)
        border = np.array(whole.rotate(4, fillcolor=0)) == 0
        self.page = np.array(sheet.rotate(4, Image.BICUBIC, fillcolor=225))
        self.expect_white(np.array(turned), border, 0.95)

    def test_fingers_and_torn_holes(self):
        image = Image.fromarray(self.page.astype(np.uint8))
        mask = Image.new("1", image.size, 0)
        for box, level in (((-90, 700, 50, 790), 95), ((560, 1712, 680, 1900), 80),
                           ((-14, 300, 28, 342), 8), ((-14, 1300, 28, 1342), 8)):
            ImageDraw.Draw(image).ellipse(box, fill=level)
            ImageDraw.Draw(mask).ellipse(box, fill=1)
        levels, border = np.array(image), np.array(mask)
        kept, _ = self.made(noisy(levels), "--borders=keep", "--method=otsu")
        ink, share = self.made(noisy(levels))
        self.assertGreater(kept[border].mean(), 0.8)
        self.assertLess(ink[border].mean(), 0.01)
        self.assertGreater(share, border.mean() * 0.9)

    def test_depths(self):
        border = np.zeros(self.page.shape, bool)
        border[:, :60] = True
        levels = np.where(border, 10, self.page)
        ink, _ = self.made(Image.fromarray(levels.astype(np.uint8)))
        deep, share = self.made(Image.fromarray(levels.astype(np.uint16) * 257))
        self.assertGreater(share, border.mean() * 0.95)
        self.assertTrue((ink == deep).all())
        bilevel, share = self.made(Image.fromarray(levels > 100))
        self.assertGreater(share, border.mean() * 0.95)
        expected = (levels < 100) & ~border
        self.assertEqual(bilevel[:, :60].sum(), 0)
        self.assertGreater(scans.overlap(bilevel, expected), 0.97)
        alone, share = self.made(Image.fromarray(~border))  # nothing is left
        self.assertGreater(share, border.mean() * 0.95)
        self.assertEqual(alone.sum(), 0)

    @unittest.skipUnless(printed.has_print(), "the fonts or texts are not installed")
    def test_noisy_pages_with_few_words_get_no_specks(self):
        page = printed.page_maker.make(37, "a", kind="few", dpi=300, angle=-9, how="surround")
        ink, share = self.made(page.image, dpi=(300, 300))
        self.assertGreater(share, 0.15)
        self.assertTrue(0.001 < ink.mean() < 0.006, ink.mean())

    def test_it_is_said(self):
        self.page[:, :60] = 4
        self.save(noisy(self.page), "page.png", **DPI)
        said = self.scan("page.png", "-o", self.out, "-v")
        self.assertRegex(said, r"  border of [45]\.\d % whitened  ")
        said = self.scan("page.png", "-o", self.out, "-v", "--borders=keep")
        self.assertNotIn("border", said)
        said = self.scan("page.png", "-o", self.out, "--borders=black", status=2)
        self.assertIn("--borders=black: must be white or keep", said)


class Stays(scans.Case):
    @staticmethod
    def text():
        return np.where(np.array(scans.text_page(WIDTH, HEIGHT)) == 0, 30, 225)

    def same(self, page, **how):
        path = self.save(page, "page.png", **(how or DPI))
        for borders in ("white", "keep"):
            record = self.measured(path, "-o", borders, "--no-straighten", "--format=png",
                                   f"--borders={borders}")["page_list"][0]
            self.assertEqual(record["border"], 0)
        made = [scans.ink(self.folder / borders / "page.png") for borders in ("white", "keep")]
        self.assertTrue((made[0] == made[1]).all())
        self.assertGreater(made[0].sum(), 1000)

    def test_text_that_touches_the_edges(self):
        page = self.text()
        for cut in (page[:, 70:-90], page[66:-64], page[200:-200, 300:-300]):
            self.same(noisy(cut))
            self.same(Image.fromarray(cut < 100).convert("L").point(lambda p: 255 - p))

    def test_large_letters_and_rules_that_touch_the_edges(self):
        page = Image.new("L", (WIDTH, HEIGHT), 230)
        draw = ImageDraw.Draw(page)
        for y in range(100, 1700, 200):
            draw.rectangle([0, y, 1240, y + 6], fill=20)           # rules of 1 mm
            draw.rectangle([0, y + 50, 60, y + 58], fill=20)       # strokes of 1.5 mm
            draw.rectangle([30, y + 30, 38, y + 90], fill=20)
        self.same(noisy(np.array(page)))

    def test_text_in_deep_shade(self):
        page = np.where(np.array(scans.text_page(WIDTH, HEIGHT)) == 0, 0.25, 1.0)
        light = 240 * np.linspace(1, 0.3, WIDTH)[None, 40:-40]
        self.same(noisy(page[:, 40:-40] * light))

    def test_white_on_black(self):
        page = np.where(np.array(scans.text_page(WIDTH, HEIGHT)) == 0, 235, 12)
        self.same(noisy(page))
        self.same(Image.fromarray(page > 100))

    def test_blots_inside(self):
        page = Image.fromarray(self.text().astype(np.uint8))
        ImageDraw.Draw(page).rectangle([100, 100, 600, 500], fill=10)
        self.same(noisy(np.array(page)))


if __name__ == "__main__":
    program.main()
