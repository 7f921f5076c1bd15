#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how many words of pages Tesseract recognises after cudascan-scan and other programs.

    examples/scan/measure_words.py [--pages 2] [--half b] [--first 0] [--dpi 300,150,100]
                                   [--classes clean,noisy] [--folder build/examples/scan]
                                   [--tools raw,cudascan-scan] [--options="--enlarge=no"]

Each page is a sheet of A6 with a heading and text of known words, 8 to 14 points, drawn with 600
dots per inch and scanned: averaged to the resolution that is asked for, a little blurred, noisy,
and degraded as the class says. Tesseract reads (eng, --psm 3, one thread) what these programs make
of it, as far as they are installed:

    raw            the page itself, in gray
    cudascan-scan  with its defaults and the words of --options; the page states its resolution
                   unless --unstated is given
    Leptonica      scan-peer-leptonica: pixBackgroundNormSimple, pixFindSkew, Sauvola, small pieces
    unpaper        version 7 with its defaults, --dpi as of the page
    ImageMagick    convert -deskew 40% -normalize -lat, a window of 3 mm

The share of right words is 2 c / (t + r): c words of the text in their order (difflib), t words of
the text, r words that were recognised. The error rate of characters is the distance of Levenshtein
to the text, divided by its length. Tables give means. A turned page is turned by 2.3 degrees.

As in page_maker.py, the halves have different fonts and texts, and a seed gives the same page.
Needs python3-numpy, python3-pil and tesseract-ocr.
"""
import argparse
import collections
import difflib
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import page_maker
import peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCHES = (5.83, 4.13)
DRAWN = 600
CLASSES = ("clean", "noisy", "shaded", "faint", "yellow", "stained", "shine-through", "turned",
           "black border")
Text = collections.namedtuple("Text", "image words")


class Small(page_maker.Sheet):
    """A sheet of A6."""

    def __init__(self, rng, half):
        super().__init__(rng, half, DRAWN)
        self.size = tuple(round(side * DRAWN) for side in INCHES)
        self.width, self.height = (72 * side for side in INCHES)
        self.image = Image.new("L", self.size, 0)
        self.draw = ImageDraw.Draw(self.image)


def print_sheet(rng, half, points):
    """The ink of a sheet, 255 where it is black."""
    sheet = Small(rng, half)
    sheet.text(36, 44, " ".join(sheet.next_words(4)), sheet.face(1.5 * points))
    y = 44 + 2.2 * points
    while y < sheet.height - 40 - 2 * points:
        lines = min(int(rng.integers(4, 9)), int((sheet.height - 40 - y) / (1.3 * points)))
        y = sheet.paragraph(36, y, sheet.width - 72, points, max(1, lines), leading=1.3)
        y += 0.5 * points
    return sheet


def scanned(ink, size):
    """The share of ink under each pixel."""
    return np.asarray(ink.resize(size, Image.BOX), np.float32) / 255


def make(seed, half, dpi, how):
    """A page of 8 to 14 points; the same seed has the same text for each class and resolution."""
    rng = np.random.default_rng([seed, ord(half), 11])
    points = (10, 12, 9, 11, 8, 14)[seed % 6]
    sheet = print_sheet(rng, half, points)
    size = tuple(round(side * dpi) for side in INCHES)
    angle = 2.3 if how == "turned" else float(rng.uniform(-0.2, 0.2))
    ink = scanned(sheet.image.rotate(angle, Image.BICUBIC), size)
    paper, black = (255, 0) if how == "clean" else (rng.uniform(220, 245), rng.uniform(20, 60))
    if how == "faint":
        black = paper - rng.uniform(55, 75)
    page = paper - (paper - black) * ink
    if how == "shine-through":
        back = print_sheet(rng, half, points).image.transpose(Image.FLIP_LEFT_RIGHT)
        page -= 0.22 * paper * scanned(back.filter(ImageFilter.GaussianBlur(6)), size)
    if how == "shaded":
        page *= 1 - 0.6 * page_maker.smooth(rng, size, 2)
    if how == "yellow":
        page *= 1 - 0.2 * page_maker.smooth(rng, size, 6)
    if how == "stained":
        page *= 1 - 0.5 * stains(rng, size, dpi)
    if how == "black border":
        edge = round(0.2 * dpi)
        page[:, :edge] = page[-edge:] = 8
        page[:edge // 2] = 8
    if how != "clean":
        page = Image.fromarray(page.clip(0, 255).astype(np.uint8))
        page = np.asarray(page.filter(ImageFilter.GaussianBlur(0.5)), np.float32)
        noise = 22 if how == "noisy" else 4
        page = page + noise * rng.standard_normal(page.shape, np.float32)
    image = Image.fromarray(page.clip(0, 255).astype(np.uint8))
    if how == "yellow":
        image = Image.merge("RGB", [image, image.point(lambda v: v * 0.88),
                                    image.point(lambda v: v * 0.62)])
    return Text(image, sheet.words)


def stains(rng, size, dpi):
    """Rings and spots of coffee, 0..1."""
    dark = Image.new("L", size, 0)
    draw = ImageDraw.Draw(dark)
    for _ in range(4):
        x, y, r = rng.uniform(0, size[0]), rng.uniform(0, size[1]), rng.uniform(0.3, 0.8) * dpi
        draw.ellipse([x - r, y - r, x + r, y + r], fill=150, outline=255,
                     width=max(1, round(0.05 * dpi)))
    return np.asarray(dark.filter(ImageFilter.GaussianBlur(0.015 * dpi)), np.float32) / 255


class Tools:
    """What programs make of a page: each gives the path of a file and its resolution."""

    def __init__(self, options, folder):
        self.options, self.folder, self.dpi = options, folder, 0

    def call(self, *command):
        said = subprocess.run([str(word) for word in command], check=False, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if said.returncode != 0:
            raise SystemExit(f"{command[0]}: {said.stderr}")

    def raw(self, page):
        return page, self.dpi

    def cudascan(self, page):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        program = self.options.program or self.options.folder.resolve() / "cudascan-scan"
        self.call(program, "-q", "--backend=cpu", "--jobs=1", "-o", out, page,
                  *self.options.options.split())
        made = out / "page.tif"
        with Image.open(made) as image:
            return made, round(float(image.tag_v2[282]))

    def leptonica(self, page):
        self.call(self.options.folder.resolve() / "scan-peer-leptonica", self.folder, page)
        return self.folder / "page.tif", self.dpi

    def unpaper(self, page):
        with Image.open(page) as image:
            image.convert("L").save(self.folder / "page.pgm")
        self.call("unpaper", "-q", "--overwrite", f"--dpi={self.dpi}", self.folder / "page.pgm",
                  self.folder / "page.pbm")
        return self.folder / "page.pbm", self.dpi

    def magick(self, page):
        window = max(9, round(self.dpi / 25.4 * 3))
        self.call("/usr/bin/convert", page, "-colorspace", "gray", "-deskew", "40%", "+repage",
                  "-normalize", "-negate", "-lat", f"{window}x{window}+10%", "-negate",
                  self.folder / "magick.png")
        return self.folder / "magick.png", self.dpi

    def installed(self):
        named = {"raw": self.raw, "cudascan-scan": self.cudascan,
                 "Leptonica": self.leptonica, "unpaper": self.unpaper, "ImageMagick": self.magick}
        return peers.installed(self.options, named)


def recognised(path, dpi):
    """The words that Tesseract reads, with plain quotes as in the texts."""
    said = subprocess.run(["tesseract", path, "-", "-l", "eng", "--psm", "3", "--dpi", str(dpi)],
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env={**os.environ, "OMP_THREAD_LIMIT": "1"})
    return said.stdout.translate(str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")).split()


def word_rate(true, found):
    matcher = difflib.SequenceMatcher(None, true, found, autojunk=False)
    right = sum(block.size for block in matcher.get_matching_blocks())
    return 2 * right / max(1, len(true) + len(found))


def distance(a, b):
    """Levenshtein's distance, a row of the table at a time."""
    b = np.frombuffer(b.encode("utf-32-le"), np.uint32)
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    for i, letter in enumerate(a, 1):
        best = np.minimum(row[1:] + 1, row[:-1] + (b != ord(letter)))
        row = np.concatenate(([i], best))
        row = np.minimum.accumulate(row - steps) + steps  # insertions
    return int(row[-1])


def measure(options, dpi, how, tools):
    """Means of both rates for each program."""
    rates = {name: ([], []) for name in tools.installed()}
    tools.dpi = dpi
    for seed in range(options.first, options.first + options.pages):
        text = make(seed, options.half, dpi, how)
        page = tools.folder / "page.png"
        text.image.save(page, **({} if options.unstated else {"dpi": (dpi, dpi)}))
        true = " ".join(text.words)
        for name, tool in tools.installed().items():
            found = recognised(*tool(page))
            words, letters = rates[name]
            words.append(word_rate(text.words, found))
            letters.append(distance(true, " ".join(found)) / len(true))
            if options.list:
                print(f"    {how} {dpi} {seed} {name}: {words[-1]:.3f} {letters[-1]:.3f}",
                      flush=True)
    return {name: [float(np.mean(values)) for values in both] for name, both in rates.items()}


def line_of(title, rates):
    cells = [f"{100 * words:.1f}; {100 * letters:.1f}" for words, letters in rates.values()]
    return f"| {title} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2, help="of each class and resolution")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--half", choices=("a", "b"), default="b")
    parser.add_argument("--dpi", default="300,150,100", help="with commas")
    parser.add_argument("--classes", default=",".join(CLASSES))
    parser.add_argument("--tools", help="names of programs, with commas; all that are installed")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/examples/scan")
    parser.add_argument("--program", help="another cudascan-scan")
    parser.add_argument("--options", default="", help="words for cudascan-scan")
    parser.add_argument("--unstated", action="store_true", help="files state no resolution")
    parser.add_argument("--list", action="store_true", help="print a line for each page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options, pathlib.Path(folder))
        names = list(tools.installed())
        print("| page | " + " | ".join(names) + " |\n|---" * 1 + "|---" * len(names) + "|")
        every = []
        for dpi in map(int, options.dpi.split(",")):
            for how in options.classes.split(","):
                every.append(measure(options, dpi, how, tools))
                print(line_of(f"{how}, {dpi} dpi", every[-1]), flush=True)
        means = {name: np.mean([rates[name] for rates in every], axis=0) for name in names}
        print(line_of("mean", means))


if __name__ == "__main__":
    main()
