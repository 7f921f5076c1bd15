# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which pages cudascan-scan straightens, which it leaves alone, and what it says about it."""
import pathlib
import unittest

import printed
import program
import scans
from scans import np

if np is not None:
    from PIL import Image, ImageDraw, ImageFilter


def wall(courses=24, size=1000):
    """Bricks whose courses are uneven, as in a photograph."""
    rng = np.random.default_rng(4)
    image = Image.new("L", (size, size), 120)
    draw = ImageDraw.Draw(image)
    height = size / courses
    for course in range(courses + 1):
        x = -rng.integers(0, 90)
        while x < size:
            wide, up = rng.integers(60, 100), rng.normal(0, height / 7)
            corners = [(x + 5, up), (x + wide, up + rng.normal(0, 2)),
                       (x + wide, up + height - 6), (x + 5, up + height - 6)]
            draw.polygon([(px, py + course * height) for px, py in corners],
                         fill=int(rng.integers(60, 95)))
            x += wide
    levels = np.array(image.filter(ImageFilter.GaussianBlur(2))) + rng.normal(0, 6, (size, size))
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


class Angles(scans.Case):
    def records(self, *words):
        """The statistics of the pages by their names without endings."""
        stats = self.measured("in", "-o", self.out, *words)
        return {pathlib.Path(page["input"]).stem: page for page in stats["page_list"]}

    @unittest.skipUnless(printed.has_print(), "the fonts or texts are not installed")
    def test_printed_pages_of_every_kind(self):
        angles = {}
        for seed, kind in enumerate(printed.page_maker.KINDS):
            how = ("plain", "edges", "surround", "bilevel")[seed % 4]
            angle = (-4, 0.7, 6.3, -1.5, 2.5)[seed % 5]
            page = printed.page_maker.make(2000 + seed, kind=kind, dpi=150, angle=angle,
                                           how=how)
            self.save(page.image, f"in/{kind}.png", dpi=(150, 150))
            angles[kind] = angle
        found = self.records()
        self.assertEqual(set(found), set(angles))
        straight = [kind for kind, page in found.items()
                    if page["turned"] and abs(page["angle"] - angles[kind]) <= 0.1]
        self.assertGreaterEqual(len(straight), len(angles) - 1, found)
        for kind, page in found.items():
            if page["turned"]:
                self.assertAlmostEqual(page["angle"], angles[kind], delta=0.2, msg=kind)

    @unittest.skipUnless(printed.has_print(), "the fonts or texts are not installed")
    def test_curved_pages_are_left_alone(self):
        for seed in range(4):
            page = printed.page_maker.make(2000 + seed, kind="book", dpi=150, how="plain",
                                           curve=True)
            self.save(page.image, f"in/{seed}.png")
        for page in self.records().values():
            self.assertFalse(page["turned"], page)
            self.assertLess(page["confidence"], 0.3, page)

    def test_walls_and_pictures_on_white_are_left_alone(self):
        rng = np.random.default_rng(5)
        rough = Image.fromarray(rng.integers(40, 200, (40, 40)).astype(np.uint8))
        picture = rough.resize((700, 700), Image.BICUBIC)
        for angle in (0, 1.7, -4.4):
            self.save(wall().rotate(angle, Image.BICUBIC).crop((100, 100, 900, 900)),
                      f"in/wall{angle}.png")
            page = Image.new("L", (1240, 1754), 250)
            page.paste(picture, (270, 400))
            self.save(page.rotate(angle, Image.BICUBIC, fillcolor=250), f"in/picture{angle}.png")
        for page in self.records().values():
            self.assertFalse(page["turned"], page)
            self.assertLess(page["confidence"], 0.45, page)

    def test_edges_of_the_scanner_do_not_count(self):
        for angle in (-2.2, 3.1):
            levels = np.array(scans.turned(scans.text_page(1240, 1754), angle))
            levels[:, :70] = levels[-60:] = 5
            self.save(Image.fromarray(levels), f"in/{angle}.png")
        for name, page in self.records().items():
            self.assertTrue(page["turned"], page)
            self.assertAlmostEqual(page["angle"], float(name), delta=0.1)

    def test_reasons_are_given(self):
        straight = scans.text_page(1240, 1754)
        self.save(scans.turned(straight, 3), "in/turned.png")
        self.save(straight, "in/straight.png")
        self.save(scans.turned(straight, 10.5), "in/beyond.png")
        self.save(Image.new("L", (100, 90), 255), "in/empty.png")
        self.save(scans.text_page(150, 150), "in/tiny.png")
        noise = np.random.default_rng(6).integers(0, 255, (900, 700)).astype(np.uint8)
        self.save(Image.fromarray(noise), "in/noise.png")
        found = self.records()
        self.assertTrue(found["turned"]["turned"])
        self.assertNotIn("not_turned", found["turned"])
        for name, reason in (("straight", "^too small to move a corner by half a pixel$"),
                             ("beyond", r"^10\.\d\d degrees are above --max-angle=10$"),
                             ("empty", "^the page is empty$"),
                             ("tiny", "^the page is too small to measure$"),
                             ("noise", r"^confidence 0\.\d{3} is below 0\.5$")):
            self.assertFalse(found[name]["turned"], name)
            self.assertRegex(found[name]["not_turned"], reason)
        self.assertAlmostEqual(found["beyond"]["angle"], 10.5, delta=0.1)
        limited = self.records("--max-angle=2")["turned"]
        self.assertRegex(limited["not_turned"], r"^[23]\.\d\d degrees are above --max-angle=2$")
        doubtful = self.records("--min-confidence=0.99")["turned"]
        self.assertRegex(doubtful["not_turned"], r"^confidence 0\.\d{3} is below 0\.99$")
        off = self.records("--no-straighten")["turned"]
        self.assertEqual(off["not_turned"], "--no-straighten")
        said = self.scan("in/turned.png", "-o", self.out, "--max-angle=2", "-v")
        self.assertRegex(said, r"not turned by -[23]\.\d\d degrees \(confidence 0\.\d\d\): "
                               r"[23]\.\d\d degrees are above --max-angle=2  ms: read")
        said = self.scan("in/turned.png", "-o", self.out, "-v")
        self.assertRegex(said, r"  turned by -[23]\.\d\d degrees \(confidence 0\.\d\d\)  ms: read")

    def test_min_confidence_is_a_threshold(self):
        # Two short lines of large words: the angle is right, but there is little to go by.
        page = Image.new("L", (1240, 1754), 255)
        words = scans.text_page(400, 140).crop((50, 50, 350, 90)).resize((900, 120))
        page.paste(words, (150, 300))
        self.save(scans.turned(page, 2), "in/page.png")
        confidence = self.records()["page"]["confidence"]
        self.assertGreater(confidence, 0.01)
        for least, acts in ((confidence - 0.01, True), (confidence + 0.01, False)):
            page = self.records(f"--min-confidence={least}")["page"]
            self.assertEqual(page["turned"], acts, page)


if __name__ == "__main__":
    program.main()
