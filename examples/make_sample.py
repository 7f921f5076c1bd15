#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a badly scanned page, the sample to try cudanick on.

    examples/make_sample.py sample.png [--truth truth.png] [--scale 2]

A page of text is set in real fonts and then degraded as paper is in a scanner: uneven ink, print
that shines through from the back, stains, a fold, the shadow of the spine, uneven light, blur and
sensor noise. The result is an A4 page at 150 dpi in 8-bit gray, the same on every run. --truth also
writes what a perfect binarization would give: black text on white.

Needs python3-numpy, python3-pil, and the fonts of fonts-liberation2 and fonts-dejavu-core.
"""
import argparse
import os
import pathlib
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 1240, 1754  # A4 at 150 dpi
SEED = 2015

TITLE = "On the Reading of Bad Scans"
BYLINE = "Notes for the reading room, third printing"
SECTIONS = [
    ("1. The trouble with one threshold", [
        "A scanner measures how much light comes back from the paper. Ink takes most of it away, "
        "and so it seems enough to pick one level of gray and to call everything below it ink. On "
        "a "
        "clean page under an even lamp this works. But pages are seldom clean and lamps are seldom "
        "even: near the spine the paper bends away from the glass, at the far edge the lamp grows "
        "weak, and a cup of coffee has left its ring where the table of contents used to be.",
        "In the shadow the paper is darker than the ink is in the light. No single level can tell "
        "them apart there; whatever is chosen, one corner drowns in black while the pale words of "
        "another are lost.",
    ]),
    ("2. Looking around each point", [
        "The remedy is to ask of every point how it compares with its neighbours. A window of some "
        "sixty pixels is laid around it, the mean and the spread of the gray levels inside are "
        "taken, and the threshold follows from both. Where the page is dark the threshold is low, "
        "where it is bright the threshold is high, and in empty paper it stays below the noise.",
        "Faint print that shines through from the back is the hardest test. It has the shape of "
        "letters and the colour of dust. A good rule drops it and still keeps the thin strokes, "
        "the commas and the dots upon the letter i.",
    ]),
]
LAST_SECTION = ("3. What to look at in the result", [
    "Hold the two pictures side by side. The letters inside the ring should stand free, the line "
    "along the fold should not grow a second one, and the great stain below should leave nothing "
    "but the words that were printed across it.",
    "Then look at the corner where the lamp hardly reached. What little light came back from there "
    "carries the noise of the sensor with it, and the eye that reads it has to be patient. A few "
    "specks are no shame; a lost line would be.",
])
TABLE = [
    ("page", "lamp", "fold", "words", "read"),
    ("12 recto", "even", "none", "412", "411"),
    ("12 verso", "weak", "one", "398", "391"),
    ("13 recto", "weak", "two", "405", "377"),
    ("13 verso", "none", "two", "88", "52"),
]
TYPED = [
    "MEMO  No. 1174                          To: the scanning room",
    "Please scan both sides of leaf 12 again, at 300 dots to the",
    "inch, and wipe the glass first. The stain stays: it is part",
    "of the document, and so is the ring of the cup above.",
]
FOOTNOTE = [
    "* Small print, set in six points, is where binarization fails first: its strokes are hardly "
    "one "
    "pixel wide and paler than",
    "   the rest of the page. Whoever can read this line in the result has kept what can be kept.",
]
BACK = ("The other side of the leaf carries text as well, and the paper is thin. Its letters run "
        "backwards, without sharp edges, wherever the front has left a place for them. ") * 12


def font(name, size):
    """Finds a font file by name in the system's font folders."""
    roots = [pathlib.Path(d, "fonts") for d in
             os.environ.get("XDG_DATA_DIRS", "/usr/local/share:/usr/share").split(":")]
    roots.append(pathlib.Path.home() / ".local/share/fonts")
    for root in roots:
        for path in sorted(root.rglob(name + ".ttf")):
            return ImageFont.truetype(str(path), round(size))
    sys.exit(f"{name}.ttf was not found; install the Liberation and DejaVu fonts "
             "(Debian: fonts-liberation2 fonts-dejavu-core)")


class Page:
    """Ink on paper: 255 where the page is black. Lengths are in pixels at 150 dpi."""

    def __init__(self, scale):
        self.scale = scale
        self.image = Image.new("L", (WIDTH * scale, HEIGHT * scale), 0)
        self.draw = ImageDraw.Draw(self.image)

    def font(self, name, points):
        return font(name, points * 150 / 72 * self.scale)

    def text(self, x, y, text, face, anchor="la"):
        self.draw.text((x * self.scale, y * self.scale), text, 255, face, anchor)

    def line(self, x0, y0, x1, y1, width):
        s = self.scale
        self.draw.line((x0 * s, y0 * s, x1 * s, y1 * s), 255, round(width * s))

    def paragraph(self, x, y, width, text, face, leading):
        """Sets justified text and returns where the next line goes."""
        lines, line = [], []
        for word in text.split():
            if line and face.getlength(" ".join([*line, word])) > width * self.scale:
                lines.append(line)
                line = []
            line.append(word)
        for words in lines:
            room = width * self.scale - sum(face.getlength(w) for w in words)
            at = x * self.scale
            for word in words:
                self.draw.text((at, y * self.scale), word, 255, face)
                at += face.getlength(word) + room / max(len(words) - 1, 1)
            y += leading
        self.text(x, y, " ".join(line), face)
        return y + leading

    def ink(self, turn):
        """The page, put slightly askew, as the share of each pixel that is covered, 0..1."""
        return np.asarray(self.image.rotate(turn, Image.BICUBIC), np.float32) / 255


def front(scale):
    page = Page(scale)
    body, heading = page.font("LiberationSerif-Regular", 11), page.font("DejaVuSans-Bold", 12)
    page.text(WIDTH / 2, 96, TITLE, page.font("LiberationSerif-Bold", 25), "ma")
    page.text(WIDTH / 2, 162, BYLINE, page.font("LiberationSerif-Italic", 13), "ma")
    page.line(130, 208, 1110, 208, 2)
    y = 236

    def section(y, title, paragraphs):
        page.text(130, y, title, heading)
        y += 40
        for text in paragraphs:
            y = page.paragraph(130, y, 980, text, body, 31) + 8
        return y + 12

    for title, paragraphs in SECTIONS:
        y = section(y, title, paragraphs)

    columns = (150, 370, 540, 720, 900)
    page.line(130, y, 1110, y, 3)
    for i, row in enumerate(TABLE):
        face = page.font("DejaVuSans-Bold" if i == 0 else "DejaVuSans", 10)
        for x, cell in zip(columns, row):
            page.text(x, y + 8, cell, face)
        y += 34
        page.line(130, y, 1110, y, 2 if i == 0 else 1)
    y += 36
    typed = page.font("LiberationMono-Regular", 10.5)
    for line in TYPED:
        page.text(130, y, line, typed)
        y += 30
    section(y + 20, *LAST_SECTION)

    y = HEIGHT - 172
    page.line(130, y, 480, y, 1)
    small = page.font("LiberationSerif-Regular", 6)
    for line in FOOTNOTE:
        page.text(130, y + 10, line, small)
        y += 20
    page.text(WIDTH / 2, HEIGHT - 96, "- 174 -", page.font("LiberationSerif-Regular", 12), "ma")
    return page


def back(scale):
    page = Page(scale)
    page.text(WIDTH / 2, 110, "The Other Side", page.font("LiberationSerif-Bold", 34), "ma")
    face = page.font("LiberationSerif-Regular", 13)
    y = 220
    for _ in range(2):
        y = page.paragraph(150, y, 940, BACK, face, 42) + 40
    return page


def edge(distance, softness):
    """1 where the distance is negative (inside), 0 outside, with a soft step between."""
    return 0.5 - 0.5 * np.tanh(distance / (2 * softness))


class Scanner:
    """What degrades the page. All randomness comes from one generator with a fixed seed."""

    def __init__(self, scale):
        self.scale = scale
        self.shape = (HEIGHT * scale, WIDTH * scale)
        self.random = np.random.default_rng(SEED)
        # Millimetres do not matter: x and y run from 0 to 1 and 0 to 1.41 on any scale.
        self.y, self.x = (np.mgrid[0:self.shape[0], 0:self.shape[1]].astype(np.float32)
                          / self.shape[1])

    def cloud(self, cells):
        """Smooth noise of mean 0 and deviation 1, with about so many cells across the page."""
        rough = self.random.standard_normal((round(cells * 1.414) + 3, cells + 3))
        smooth = Image.fromarray(rough.astype(np.float32)).resize(self.shape[::-1], Image.BICUBIC)
        cloud = np.asarray(smooth)
        return (cloud - cloud.mean()) / cloud.std()

    def blur(self, picture, radius):
        """Gaussian blur of values 0..1; the radius is in pixels at 150 dpi."""
        r = radius * self.scale
        t = np.arange(-int(3 * r) - 1, int(3 * r) + 2)
        kernel = np.exp(-0.5 * (t / r) ** 2)
        kernel /= kernel.sum()
        for axis in (0, 1):
            wide = np.pad(picture, [(len(t) // 2,) * 2 if a == axis else (0, 0) for a in (0, 1)],
                          mode="edge")
            n = picture.shape[axis]
            picture = sum(k * np.take(wide, range(i, i + n), axis) for i, k in enumerate(kernel))
        return picture.astype(np.float32)

    def ring(self, cx, cy, radius, strength):
        """The mark of a cup: a pale disc with a dark and uneven rim."""
        away = np.hypot(self.x - cx, self.y - cy) + 0.004 * self.cloud(9)
        rim = np.exp(-(((away - radius) / 0.007) ** 2)) * (0.75 + 0.3 * self.cloud(6)).clip(0, 1)
        return 1 - strength * (rim + 0.35 * edge(away - radius, 0.004))

    def blot(self, cx, cy, radius, strength):
        away = np.hypot(self.x - cx, (self.y - cy) * 1.4) + 0.03 * self.cloud(7)
        return 1 - strength * edge(away - radius, 0.012)

    def paper(self):
        fibres = 0.010 * self.cloud(620) + 0.008 * self.cloud(160) + 0.015 * self.cloud(14)
        specks = 1 - 0.25 * self.blur((self.random.random(self.shape) > 0.99995)
                                      .astype(np.float32) * 8, 1.2).clip(0, 1)
        fold = 1 - 0.16 * np.exp(-(((self.y - 0.705 - 0.004 * self.cloud(5)) / 0.0035) ** 2))
        return (0.88 + fibres) * specks * fold

    def light(self):
        """The lamp fades to the right and downwards; the spine throws its shadow on the left."""
        lamp = 1.04 - 0.50 * (0.75 * self.x + 0.5 * self.y) ** 1.7
        spine = 1 - 0.55 * np.exp(-((self.x / 0.11) ** 1.5))
        corner = 1 - 0.45 * edge(np.hypot(self.x - 1.05, self.y - 1.48) - 0.5, 0.07)
        return (lamp * spine * corner).clip(0.1, 1)

    def scan(self, ink, ink_of_back):
        paper = self.paper()
        stains = (self.ring(0.74, 0.36, 0.115, 0.25) * self.ring(0.66, 0.42, 0.11, 0.16)
                  * self.blot(0.22, 1.03, 0.10, 0.24) * self.blot(0.93, 0.80, 0.06, 0.30))
        density = (0.80 + 0.06 * self.cloud(11) + 0.05 * self.cloud(260)).clip(0.45, 0.92)
        through = 0.14 * self.blur(ink_of_back, 1.8) * (0.8 + 0.2 * self.cloud(4)).clip(0.2, 1)
        page = paper * stains * (1 - through) * (1 - density * self.blur(ink, 0.55))
        signal = self.blur(page * self.light(), 0.6)
        shot = np.sqrt(signal.clip(0)) * 0.014 * self.random.standard_normal(self.shape)
        columns = 1 + 0.006 * self.random.standard_normal(self.shape[1])  # a line sensor
        signal = signal * columns + shot + 0.006 * self.random.standard_normal(self.shape)
        return (255 * (0.02 + 0.98 * signal)).clip(0, 255).round().astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", help="where to write the scan (PNG)")
    parser.add_argument("--truth", help="where to write the clean page (PNG)")
    parser.add_argument("--scale", type=int, default=1, choices=range(1, 9),
                        help="resolution as a multiple of 150 dpi (default 1)")
    args = parser.parse_args()
    ink = front(args.scale).ink(turn=0.35)
    behind = np.asarray(back(args.scale).image, np.float32)[:, ::-1] / 255
    Image.fromarray(Scanner(args.scale).scan(ink, behind)).save(args.output)
    if args.truth:
        Image.fromarray(np.where(ink > 0.5, 0, 255).astype(np.uint8)).save(args.truth)


if __name__ == "__main__":
    main()
