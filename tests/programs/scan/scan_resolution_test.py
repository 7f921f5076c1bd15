# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages of unknown and of low resolution, and what follows the resolution."""
import importlib
import shutil
import unittest

import printed
import program
import scans
from scans import np

if np is not None:
    from PIL import Image, ImageDraw

PLAIN = ["--no-straighten", "--no-even-light", "--borders=keep", "--despeckle=0"]


def letters(height, size=(911, 1303), ink=40):
    """Blocks of this height in lines, like letters of small type, on noisy paper."""
    page = Image.new("L", size, 225)
    draw = ImageDraw.Draw(page)
    for y in range(3 * height, size[1] - 4 * height, 3 * height):
        for x in range(2 * height, size[0] - 3 * height, height + max(2, height // 3)):
            draw.rectangle([x, y, x + height - 1, y + height - 1], fill=ink)
    return noisy(page)


def noisy(page, deviation=3):
    noise = np.random.default_rng(3).standard_normal(page.size[::-1], np.float32)
    levels = np.asarray(page) + deviation * noise
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


def blank(*size):
    return noisy(Image.new("L", size, 230))


class Pages(scans.Case):
    def record(self, page, *words, **how):
        path = self.save(page, "page.png", **{"compress_level": 1, **how})
        return self.measured(path, "-o", self.out, *words)["page_list"][0]

    def found(self, page, *words, **how):
        record = self.record(page, "--enlarge=no", *words, **how)
        with Image.open(record["output"]) as made:
            written = [float(made.tag_v2[tag]) for tag in (282, 283)]
        for value, other in zip(written, record["resolution"]):
            self.assertAlmostEqual(value, other, delta=0.01)
        return record["resolution"][0], record["resolution_from"]


class Estimated(Pages):
    def test_sizes_of_paper(self):
        for size, dpi in (((1654, 2339), 200), ((2339, 1654), 200), ((1275, 1650), 150),
                          ((874, 1240), 150), ((1240, 1748), 150), ((1275, 1754), 150),
                          ((1700, 2800), 200), ((620, 877), 75), ((1000, 1414), 300)):
            how = "assumed" if size[0] == 1000 else "estimated from the size"
            self.assertEqual(self.found(blank(*size)), (dpi, how), size)

    def test_letters(self):
        for height, dpi in ((6, 75), (7, 75), (11, 150), (15, 200), (22, 300), (29, 400),
                            (44, 600)):
            self.assertEqual(self.found(letters(height)), (dpi, "estimated from the letters"),
                             height)

    def test_letters_of_other_pages(self):
        page = letters(22)
        turned = page.rotate(3, Image.BICUBIC, fillcolor=225)
        framed = page.copy()
        framed.paste(5, (0, 0, 60, framed.height))
        deep = Image.fromarray(np.asarray(page).astype(np.uint16) * 257)
        bilevel = page.point(lambda level: 255 * (level > 128)).convert("1")
        for other in (turned, framed, deep, bilevel, page.rotate(90, expand=True)):
            self.assertEqual(self.found(other), (300, "estimated from the letters"))
        large = letters(40, (5400, 3000))  # is measured on a reduced copy
        self.assertEqual(self.found(large), (600, "estimated from the letters"))

    def test_sizes_count_more_than_letters(self):
        for height in (5, 22, 60):
            self.assertEqual(self.found(letters(height, (1654, 2339))),
                             (200, "estimated from the size"))

    def test_nothing_to_tell_it(self):
        rng = np.random.default_rng(1)
        specks = Image.fromarray(np.where(rng.random((1303, 911)) < 0.02, 20, 230).astype(np.uint8))
        blots = blank(911, 1303)
        for x, y in rng.uniform(50, 850, (60, 2)):
            r = rng.uniform(3, 60)
            ImageDraw.Draw(blots).ellipse([x - r, y - r, x + r, y + r], fill=30)
        for page in (blank(911, 1303), specks, blots, Image.new("L", (911, 1303), 255)):
            self.assertEqual(self.found(page), (300, "assumed"))

    def test_what_is_stated_or_given_counts(self):
        page = letters(22)
        self.assertEqual(self.found(page, dpi=(200, 200)), (200, "stated"))
        self.assertEqual(self.found(page, "--resolution=200"), (200, "option"))
        self.assertEqual(self.found(page, "--resolution=300"), (300, "option"))
        self.assertEqual(self.found(page, "--resolution=150", dpi=(240, 240)), (240, "stated"))

    def test_stated_defaults_of_programs_are_doubted(self):
        for stated in (72, 96):
            self.assertEqual(self.found(letters(22), dpi=(stated, stated)),
                             (300, "estimated from the letters"))
            self.assertEqual(round(self.found(letters(22), "--resolution=150",
                                              dpi=(stated, stated))[0]), stated)
            dpi, how = self.found(letters(7), dpi=(stated, stated))
            self.assertEqual((round(dpi), how), (stated, "stated"))
            dpi, how = self.found(blank(911, 1303), dpi=(stated, stated))
            self.assertEqual((round(dpi), how), (stated, "stated"))
        self.assertEqual(self.found(letters(22), dpi=(72, 96))[1], "stated")


def keys(f):
    """Weights of Keys' cubic convolution, a = -1/2, at distances 1 + f, f, 1 - f and 2 - f."""
    def weight(x):
        return 1.5 * x**3 - 2.5 * x**2 + 1 if x < 1 else -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2

    return [weight(1 + f), weight(f), weight(1 - f), weight(2 - f)]


def interpolation(small, large):
    """The matrix that makes a column of `large` samples of one with `small`."""
    matrix = np.zeros((large, small))
    for row in range(large):
        at = (row + 0.5) * small / large - 0.5
        for j, weight in enumerate(keys(at - np.floor(at))):
            matrix[row, int(np.clip(np.floor(at) - 1 + j, 0, small - 1))] += weight
    return matrix


class Enlarged(Pages):
    def size(self, page, *words, **how):
        record = self.record(page, *words, **how)
        with Image.open(record["output"]) as made:
            return (*made.size, round(float(made.tag_v2[282]), 2), round(record["enlarged"], 3))

    def test_sizes(self):
        page = letters(6, (331, 247))
        for dpi, size in ((60, (1655, 1235, 300, 5)), (75, (1324, 988, 300, 4)),
                          (120, (828, 618, 300, 2.5)), (150, (662, 494, 300, 2)),
                          (199, (499, 372, 300, 1.508)), (200, (331, 247, 200, 1))):
            self.assertEqual(self.size(page, dpi=(dpi, dpi)), size)
        self.assertEqual(self.size(page, "--enlarge=no", dpi=(75, 75)), (331, 247, 75, 1))
        self.assertEqual(self.size(page, "--resolution=150"), (662, 494, 300, 2))
        self.assertEqual(self.size(letters(6), dpi=(96, 96))[:2], (2847, 4072))

    def test_pages_that_are_not_enlarged(self):
        black_and_white = scans.text_page(331, 247)
        for page, dpi in ((black_and_white, 75), (Image.new("L", (331, 247), 255), 75),
                          (blank(331, 247), 72), (letters(22, (913, 640)), 72)):
            self.assertEqual(self.size(page, dpi=(dpi, dpi))[3], 1)

    def test_sides_have_at_most_32768_pixels(self):
        self.assertEqual(self.size(letters(6, (20000, 60)), dpi=(75, 75)),
                         (32768, 98, 122.88, 1.638))

    def test_pixels_are_interpolated(self):
        page = letters(7, (211, 160))
        levels = np.asarray(page).astype(float)
        deep = Image.fromarray(np.asarray(page).astype(np.uint16) * 257)
        for dpi, across, down in ((100, 633, 480), (120, 528, 400)):
            expected = interpolation(160, down) @ levels @ interpolation(211, across).T
            for kind in (page, deep):
                record = self.record(kind, "--method=otsu", *PLAIN, dpi=(dpi, dpi))
                ink = scans.ink(record["output"])
                self.assertEqual(ink.shape, expected.shape)
                threshold = record["threshold"] / (1 if kind is page else 257)
                clear = np.abs(expected - threshold) > 1.5
                self.assertGreater(clear.mean(), 0.98)
                self.assertTrue((ink == (expected <= threshold))[clear].all())
                self.assertTrue(0.1 < ink.mean() < 0.9)

    def test_crop_boxes_are_in_pixels_of_the_written_page(self):
        glass = Image.new("L", (700, 800), 8)
        glass.paste(letters(6, (500, 600)), (110, 90))
        record = self.record(glass, "--crop=page", "--margin=0", "--no-straighten", dpi=(75, 75))
        for side, right in zip(record["crop"], (440, 360, 2440, 2760)):
            self.assertAlmostEqual(side, right, delta=30)
        left, top, right, bottom = record["crop"]
        with Image.open(record["output"]) as made:
            self.assertEqual(made.size, (right - left, bottom - top))

    def test_it_is_said_and_wrong_usage(self):
        self.save(letters(6), "page.png", dpi=(75, 75))
        said = self.scan("page.png", "-o", self.out, "-v")
        self.assertIn("  75 dpi, stated  enlarged 4.00 times  ", said)
        for words, text in (("--enlarge=3", "--enlarge=3: must be auto or no"),
                            ("--resolution=20", "--resolution=20: must be 30 to 9600 dpi")):
            self.assertIn(text, self.scan("page.png", "-o", self.out, words, status=2))

    def test_gpus_make_the_same_pages(self):
        self.save(letters(7).rotate(2, Image.BICUBIC, fillcolor=225), "in/unknown.png")
        self.save(letters(7), "in/stated.png", dpi=(120, 120))
        result = program.run([scans.SCAN, "--backend=cuda", "in", "-o", "gpu"], cwd=self.folder)
        if result.returncode == 3:
            self.skipTest("no GPU")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.scan("in", "-o", "out")
        for name in ("unknown.tif", "stated.tif"):
            self.assertEqual((self.folder / "gpu" / name).read_bytes(),
                             (self.out / name).read_bytes(), name)

    @unittest.skipUnless(printed.has_print() and shutil.which("tesseract"),
                         "tesseract, the fonts or the texts are not installed")
    def test_words_are_recognised(self):
        measure_words = importlib.import_module("measure_words")
        text = measure_words.make(0, "b", 75, "clean")
        rates = []
        for words in ([], ["--enlarge=no"]):
            record = self.record(text.image, *words, dpi=(75, 75))
            found = measure_words.recognised(self.folder / record["output"], 300)
            rates.append(measure_words.word_rate(text.words, found))
        self.assertGreater(rates[0], 0.85)
        self.assertGreater(rates[0], rates[1] + 0.1)


class InPixels(Pages):
    """The defaults of settings in pixels follow the resolution."""

    def same(self, page, dpi, words, explicit):
        made = [self.record(page, "--enlarge=no", "--no-straighten", *words, *more,
                            dpi=(dpi, dpi))["output"] for more in ([], explicit)]
        self.assertTrue((scans.ink(made[0]) == scans.ink(made[1])).all(), (dpi, explicit))
        return scans.ink(made[0])

    def test_windows(self):
        page = noisy(letters(9, (400, 400), 120), 15)
        words = ["--method=nick", "--despeckle=0", "--no-even-light"]
        ink = [self.same(page, dpi, words, [f"--window={window}"])
               for dpi, window in ((300, 67), (150, 33), (600, 135), (100, 23))]
        self.assertFalse((ink[0] == ink[1]).all())

    def test_despeckling(self):
        page = Image.new("L", (300, 300), 235)
        for size in range(1, 9):  # squares and strokes
            page.paste(20, (30 * size, 30, 31 * size + size, 30 + size))
            page.paste(20, (30 * size, 80, 30 * size + size, 80 + size))
        ImageDraw.Draw(page).line([(20, 150), (280, 250)], fill=20, width=1)
        page.paste(20, (20, 200, 280, 202))
        page = page.point(lambda level: 255 * (level > 100))
        sizes = []
        for dpi, pixels in ((300, 3), (600, 6), (200, 2), (100, 0), (75, 0), (1200, 12)):
            ink = self.same(page, dpi, [], [f"--despeckle={pixels}"])
            self.assertTrue(ink[200:202, 30:270].all())
            sizes.append(sum(ink[80, 30 * size] for size in range(1, 9)))
        self.assertEqual(sizes, [6, 3, 7, 8, 8, 0])


if __name__ == "__main__":
    program.main()
