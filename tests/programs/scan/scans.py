# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of cudascan-scan: input pages, running the program, checking its results."""
import io
import json
import os
import pathlib
import random
import shutil
import tempfile
import unittest

import program

try:
    import numpy as np
    from PIL import Image, ImageDraw
except ImportError:
    np = None

SCAN = os.environ.get("CUDASCAN_SCAN", "cudascan-scan")
JOURNAL = ".cudascan-scan.journal"
WIDTH, HEIGHT = 620, 877  # A4 at 75 dpi
# A page with clear levels comes out unchanged.
KEEP = ["--no-straighten", "--despeckle=0", "--enlarge=no"]


def text_page(width=WIDTH, height=HEIGHT, seed=1):
    """Black words in lines on white: bars, some with strokes above or below, like letters."""
    rng = random.Random(seed)
    page = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(page)
    for y in range(60, height - 60, 16):
        x = 60
        end = width - 60 - rng.randrange(40)
        while x < end:
            word = min(rng.randrange(15, 50), end - x)
            for letter in range(x, x + word - 4, 5):
                top = y - rng.choice((0, 0, 0, 3))
                draw.rectangle([letter, top, letter + 2, y + 6 + rng.choice((0, 0, 0, 0, 3))],
                               fill=0)
                draw.rectangle([letter, y + 2, letter + 5, y + 3], fill=0)
            x += word + 6
    return page


def encoded(page, kind, **how):
    """The bytes of a file."""
    file = io.BytesIO()
    page.save(file, format=kind, **how)
    return file.getvalue()


def turned(page, angle):
    """Rotates a page counter-clockwise, in degrees."""
    return page.rotate(angle, resample=Image.BICUBIC, fillcolor=255)


def ink(path):
    """True where a page is black."""
    with Image.open(path) as page:
        return np.array(page.convert("L")) == 0


def overlap(a, b):
    """The share of common ink in the ink of both pages together."""
    return (a & b).sum() / max(1, (a | b).sum())


@unittest.skipIf(np is None, "python3-numpy and python3-pil are not installed")
class Case(unittest.TestCase):
    """A folder of its own for each test."""

    ALWAYS = ()  # options of all runs

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cudascan-scan-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.out = self.folder / "out"

    def scan(self, *words, status=0, **more):
        """Runs the program on the CPU and returns its output. Any status is right if it is None."""
        result = program.run([SCAN, "--backend=cpu", *self.ALWAYS, *words], cwd=self.folder, **more)
        said = result.stdout + result.stderr
        if status is not None:
            self.assertEqual(result.returncode, status, said)
        return said

    def measured(self, *words, **more):
        """Runs the program and returns its statistics."""
        self.scan(*words, "--stats", self.folder / "stats.json", **more)
        return self.statistics()

    def statistics(self):
        return json.loads((self.folder / "stats.json").read_text())

    def save(self, page, name, **more):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        page.save(path, **more)
        return path

    def outputs(self, folder=None):
        """The names in the output folder, without the journal."""
        folder = folder or self.out
        return sorted(p.name for p in folder.iterdir() if p.name != JOURNAL)

    def contents(self, folder=None):
        """The content of each file in the output folder, without the journal."""
        folder = folder or self.out
        return {name: (folder / name).read_bytes() for name in self.outputs(folder)}


class Inputs(Case):
    """Pages with clear levels, which come out unchanged with KEEP."""

    def setUp(self):
        super().setUp()
        self.pages = [text_page(seed=seed) for seed in range(3)]

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def check(self, made, page, least=1):
        """The output must have the ink of this page."""
        expected = np.array(page.convert("L")) < 128
        made_ink = ink(self.out / made)
        self.assertEqual(made_ink.shape, expected.shape)
        self.assertGreaterEqual(overlap(made_ink, expected), least, made)
