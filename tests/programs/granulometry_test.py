# SPDX-License-Identifier: LGPL-2.1-or-later
"""granulometry.py on pictures whose spectrum is known, and the launch lines of
docs/granulometry.md. The expected pictures are made by erosions and dilations over sets of pixels,
which are sums of line segments."""
import csv
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import program

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
PROGRAM = ROOT / "examples" / "granulometry.py"
PAGE = ROOT / "docs" / "granulometry.md"
try:
    import gi
    import numpy as np

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstVideo  # noqa: F401
    from PIL import Image
except (ImportError, ValueError):
    Image = None


# ---- The oracle: sets of pixels (x, y) ----------------------------------------------------------

def level(pixels):
    return {(i - pixels // 2, 0) for i in range(pixels)}


def turned(segment):
    """Rows and columns exchanged."""
    return {(y, x) for x, y in segment}


def steep(rows, slope):
    """From the middle on, one step to the side for `slope` rows."""
    return {(i // slope, i - rows // 2) for i in range(rows)}


def mirrored(segment):
    return {(-x, y) for x, y in segment}


def total(*segments):
    """The sum of segments, around its middle."""
    pixels = {(0, 0)}
    for segment in segments:
        pixels = {(x + u, y + v) for x, y in pixels for u, v in segment}
    left, right = min(x for x, _ in pixels), max(x for x, _ in pixels)
    top, bottom = min(y for _, y in pixels), max(y for _, y in pixels)
    return {(x - (left + right) // 2, y - (top + bottom) // 2) for x, y in pixels}


def square(n):
    return total(level(n), turned(level(n)))


# From one octagon to the next, either all diagonals are one pixel longer, or all other sides are
# two pixels longer: whichever is nearer to a regular octagon.
DIAGONALS = {1: 1, 3: 1, 5: 2, 7: 3, 9: 3, 11: 4, 13: 4, 15: 5, 17: 5, 19: 6, 21: 7}


def octagon(n):
    diagonal = DIAGONALS[n]
    straight = n - 2 * (diagonal - 1)
    return total(square(straight), steep(diagonal, 1), mirrored(steep(diagonal, 1)))


def hexagon(n):
    slanted = steep((n + 1) // 2, 2)
    return total(level((n + 3) // 2), slanted, mirrored(slanted))


def extremum(picture, pixels, smallest):
    """The smallest or largest of the samples at these places around each pixel. Those outside do
    not count."""
    height, width = picture.shape
    reach = max(max(abs(x), abs(y)) for x, y in pixels)
    around = np.pad(picture, reach, constant_values=255 if smallest else 0)
    pick = np.minimum if smallest else np.maximum
    result = np.full_like(picture, 255 if smallest else 0)
    for x, y in pixels:
        result = pick(result, around[reach + y:reach + y + height, reach + x:reach + x + width])
    return result


def reflected(pixels):
    return {(-x, -y) for x, y in pixels}


def opened(picture, pixels):
    return extremum(extremum(picture, pixels, True), reflected(pixels), False)


def closed(picture, pixels):
    return 255 - opened(255 - picture, pixels)


# ---- The program --------------------------------------------------------------------------------

def bars(runs, height=3, width=64):
    """Bars of lengths and levels, one below the other."""
    picture = np.zeros((2 * height * len(runs) + 1, width), np.uint8)
    for i, (length, shade) in enumerate(runs):
        picture[2 * height * i + 1:2 * height * i + 1 + height, 7:7 + length] = shade
    return picture


def noise(shape, seed=7):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


@unittest.skipIf(Image is None, "python3-gi, python3-numpy or python3-pil is not installed")
class Granulometry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def run_on(self, picture, *options):
        Image.fromarray(picture).save(self.folder / "in.png")
        return program.run([sys.executable, PROGRAM, self.folder / "in.png", *options])

    def spectrum_of(self, picture, *options):
        """The rows of the table as numbers; the last spectrum is None."""
        table = self.folder / "spectrum.csv"
        result = self.run_on(picture, "--csv", table, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        with table.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        self.assertEqual(head, ["size", "volume", "spectrum", "share"])
        self.assertEqual(len(result.stdout.splitlines()), len(rows) + 1)
        self.assertEqual(rows[-1][2:], ["", ""])
        return [(int(size), int(volume), int(part) if part else None)
                for size, volume, part, _ in rows]

    def check_sums(self, picture, rows):
        whole = int(picture.sum(dtype=np.int64))
        self.assertEqual(rows[0][:2], (1, whole))
        self.assertEqual(sum(part for _, _, part in rows[:-1]), whole - rows[-1][1])

    def peaks(self, rows):
        return {size: part for size, _, part in rows[:-1] if part}

    def test_bars_have_their_lengths(self):
        picture = bars([(5, 200), (12, 100), (12, 40), (30, 255), (50, 90)])
        rows = self.spectrum_of(picture, "--shape", "line", "--largest", "40")
        self.assertEqual([size for size, _, _ in rows], list(range(1, 41)))
        self.check_sums(picture, rows)
        self.assertEqual(self.peaks(rows), {5: 3 * 5 * 200, 12: 3 * 12 * 140, 30: 3 * 30 * 255})
        self.assertEqual(rows[-1][1], 3 * 50 * 90)

    def test_bars_have_their_widths(self):
        picture = np.concatenate([bars([(20, 200), (30, 100)], height) for height in (3, 7)])
        rows = self.spectrum_of(picture, "--shape", "line", "--angle", "90")
        self.assertEqual(self.peaks(rows), {3: 3 * (20 * 200 + 30 * 100),
                                            7: 7 * (20 * 200 + 30 * 100)})
        self.check_sums(picture, rows)

    def test_the_longest_of_several_directions_counts(self):
        picture = bars([(9, 77)], 2)
        picture = np.concatenate([picture, np.pad(picture.T[:40], ((0, 0), (3, 56)))])
        rows = self.spectrum_of(picture, "--shape", "line", "--directions", "2")
        self.assertEqual(self.peaks(rows), {9: 2 * 9 * 2 * 77})

    def test_squares_count_by_their_narrow_side(self):
        for shape in ("rectangle", "octagon", "hexagon"):
            picture = np.zeros((60, 83), np.uint8)
            for x, y, pixels in ((12, 12, square(3)), (30, 20, square(3)), (60, 40, square(19))):
                for dx, dy in pixels:
                    picture[y + dy, x + dx] = 100
            if shape != "rectangle":
                picture[20:60, 40:80] = 0
                for dx, dy in octagon(15) if shape == "octagon" else hexagon(15):
                    picture[40 + dy, 60 + dx] = 100
            large = {"rectangle": {19: 19 * 19}, "octagon": {15: len(octagon(15))},
                     "hexagon": {15: len(hexagon(15))}}[shape]
            rows = self.spectrum_of(picture, "--shape", shape)
            wanted = {size: 100 * pixels for size, pixels in {3: 18, **large}.items()}
            self.assertEqual(self.peaks(rows), wanted, shape)

    def test_dark_things_are_those_of_the_negative(self):
        picture = bars([(4, 31), (10, 255)])
        for options in (("--shape", "line"), ("--shape", "rectangle")):
            bright = self.spectrum_of(picture, *options)
            self.assertEqual(self.spectrum_of(255 - picture, "--dark", *options), bright)
            self.check_sums(picture, bright)

    def test_noise_is_opened_as_by_the_oracle(self):
        picture = noise((31, 43))
        for shape, pixels, sizes in (("octagon", octagon, (1, 3, 5, 7, 9)),
                                     ("hexagon", hexagon, (3, 7, 11)),
                                     ("rectangle", square, (1, 3, 5, 7)),
                                     ("line", level, (2, 3, 4, 5))):
            rows = self.spectrum_of(picture, "--shape", shape, "--largest", str(sizes[-1]))
            volumes = {size: volume for size, volume, _ in rows}
            for size in sizes:
                if size > 1:
                    expected = opened(picture, pixels(size))
                    self.assertEqual(volumes[size], expected.sum(), f"{shape} {size}")

    def test_no_part_of_a_spectrum_is_negative(self):
        picture = noise((40, 50)) & 0xc0
        for options in (("--shape", "octagon"), ("--shape", "hexagon"), ("--shape", "rectangle"),
                        ("--shape", "line", "--angle", "33", "--directions", "5")):
            rows = self.spectrum_of(picture, "--largest", "19", *options)
            self.assertGreaterEqual(min(part for _, _, part in rows[:-1]), 0, options)
            self.check_sums(picture, rows)

    def test_a_plot_is_drawn(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("python3-matplotlib is not installed")
        plot = self.folder / "plot.png"
        result = self.run_on(bars([(5, 200), (12, 100)]), "--shape", "line", "--plot", plot)
        self.assertEqual(result.returncode, 0, result.stderr)
        with Image.open(plot) as image:
            colours = {colour for _, colour in image.convert("RGB").getcolors(100000)}
        self.assertIn((0x1f, 0x5f, 0xa8), colours)

    def test_bad_settings_are_refused_with_a_reason(self):
        for options, words in ((("--largest", "257"), "--largest 257: must be 3 to 255"),
                               (("--shape", "line", "--largest", "1"), "must be 2 to 4096"),
                               (("--shape", "line", "--angle", "1000"), "angle"),
                               (("--shape", "star"), "star")):
            result = self.run_on(bars([(5, 200)]), *options)
            self.assertNotEqual(result.returncode, 0, options)
            self.assertIn(words, result.stderr)
            self.assertNotIn("Traceback", result.stderr)


# ---- The launch lines of the page ---------------------------------------------------------------

def lines_of_page():
    """The words of each launch line, by the name of the picture that it makes."""
    text = PAGE.read_text(encoding="utf-8")
    lines = [shlex.split(line) for line in re.findall(r"^    (gst-launch-1\.0 .*)$", text, re.M)]
    return {words[-1].removeprefix("location="): words for words in lines}


def alternating(picture, shapes, smallest=opened, largest=closed):
    for shape in shapes:
        picture = largest(smallest(picture, shape), shape)
    return picture


def along_lines(pixels):
    """The segments of so many pixels in four directions."""
    diagonal = {(i, i) for i, _ in level(pixels)}
    return [level(pixels), turned(level(pixels)), diagonal, mirrored(diagonal)]


def opened_along(picture, segments):
    return np.maximum.reduce([opened(picture, segment) for segment in segments])


def closed_along(picture, segments):
    return np.minimum.reduce([closed(picture, segment) for segment in segments])


@unittest.skipIf(Image is None, "python3-gi, python3-numpy or python3-pil is not installed")
class Lines(unittest.TestCase):
    def made(self, name, picture):
        """What the line that makes `name` makes of a picture."""
        with tempfile.TemporaryDirectory() as folder:
            words = list(lines_of_page()[name])
            place = next(i for i, word in enumerate(words) if word.startswith("location="))
            Image.fromarray(picture).save(pathlib.Path(folder, words[place].split("=", 1)[1]))
            result = subprocess.run([words[0], "-q", *words[1:]], cwd=folder, timeout=60,
                                    capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            with Image.open(pathlib.Path(folder, name)) as image:
                return np.asarray(image)

    def check(self, name, expected, picture=None):
        picture = noise((48, 61)) if picture is None else picture
        self.assertGreater(np.ptp(expected(picture)), 0, f"{name}: nothing to see")
        np.testing.assert_array_equal(self.made(name, picture), expected(picture), name)

    def test_polygons(self):
        self.check("large.png", lambda p: opened(p, octagon(15)))
        self.check("small.png", lambda p: p - opened(p, octagon(15)))

    def test_a_hexagon_with_equal_sides(self):
        # Sides of 60 degrees are not a sum of two segments; this is the set itself.
        cells = {(x, y) for x in range(-7, 8) for y in range(-6, 7)
                 if abs(x) / 7.5 + abs(y) / 13 <= 1}
        self.assertEqual(len(cells), 147)
        self.check("filled.png", lambda p: closed(p, cells))

    def test_polygons_by_lines(self):
        """Equal to the opening by the polygon where no segment is clipped."""
        picture = np.pad(noise((60, 70)), 15)
        for name, pixels in (("octagon-by-lines.png", octagon(15)),
                             ("hexagon-by-lines.png", hexagon(11))):
            self.check(name, lambda p, pixels=pixels: opened(p, pixels), picture)

    def test_polygons_by_lines_are_openings_at_the_edges_as_well(self):
        picture = noise((48, 61))
        for name in ("octagon-by-lines.png", "hexagon-by-lines.png"):
            once = self.made(name, picture)
            self.assertTrue((once <= picture).all(), name)
            np.testing.assert_array_equal(self.made(name, once), once, name)

    def test_alternating_filters(self):
        self.check("alternating.png",
                   lambda p: alternating(p, [octagon(n) for n in (3, 5, 7)]))
        self.check("alternating-lines.png",
                   lambda p: alternating(p, [along_lines(n) for n in (3, 5, 7, 9)], opened_along,
                                         closed_along))

    def test_each_line_is_tested(self):
        self.assertEqual(set(lines_of_page()),
                         {"large.png", "small.png", "filled.png", "octagon-by-lines.png",
                          "hexagon-by-lines.png", "alternating.png", "alternating-lines.png"})


if __name__ == "__main__":
    program.main()
