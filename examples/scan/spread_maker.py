# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes scans of open books whose gutter is known, and single pages that must stay whole. For
measure_spreads.py and tests; it needs what page_maker.py needs.

As there, a seed and a half give the same image each time, and halves have different fonts and
texts.
"""
import dataclasses

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import page_maker
import scan_maker

TEXT = ("book", "ragged", "columns", "small")
RESOLUTIONS = (100, 120, 150, 200)
SURROUNDS = ("none", "dark", "white lid")
PAGES = ("text", "text", "any", "picture", "blank", "no fold")
SINGLES = ("upright", "landscape", "two columns", "newspaper", "landscape table", "photograph",
           "rule in the middle", "short columns")
LANDSCAPE = page_maker.INCHES[::-1]


@dataclasses.dataclass
class Spread:
    """An image and what is known about it."""
    image: Image.Image
    name: str
    kind: str
    dpi: int
    gutter: tuple = None       # x at the top and at the bottom of the image; None for single pages
    angles: tuple = (0.0, 0.0)  # degrees counter-clockwise of the left and of the right page
    words: tuple = ((), ())
    depth: float = 0.0         # of the shadow


def trimmed(sheet, left, inner, outer):
    """The ink of a page with parts of its margins cut off, in points."""
    width, height = sheet.image.size
    inner, outer = (max(0, round(length * sheet.dpi / 72)) for length in (inner, outer))
    box = (outer, 0, width - inner, height) if left else (inner, 0, width - outer, height)
    return sheet.image.crop(box)


def sheet_of(rng, half, dpi, kind):
    return (page_maker.Sheet(rng, half, dpi) if kind == "blank"
            else page_maker.draw(rng, half, dpi, kind))


def fold(rng, width, gutter, dpi, depth):
    """The share of light in each column: soft shade on both sides, and a dark line."""
    mm = (np.arange(width) + 0.5 - gutter) / dpi * 25.4
    wide = np.where(mm < 0, rng.uniform(1, 9), rng.uniform(1, 9))
    light = 1 - depth * np.exp(-np.abs(mm) / wide)
    if depth > 0.3 and rng.random() < 0.7:
        light[np.abs(mm) < rng.uniform(0.2, 1.2)] *= 0.25
    return light


def pasted_picture(rng, levels, left, top, right, bottom):
    size = (right - left, bottom - top)
    picture = 40 + 190 * page_maker.smooth(rng, size, int(rng.integers(3, 30)))
    levels[top:bottom, left:right] = picture


def finished(rng, levels, angle, surround, dpi, gutter):
    """Lays the spread on glass and turns it. Returns the image and the gutter at its ends."""
    height, width = levels.shape
    room = [0] * 4 if surround == "none" else (rng.uniform(0.02, 0.12, 4) * height).astype(int)
    dark = int(rng.integers(3, 40)) if surround == "dark" else int(rng.integers(225, 253))
    if surround == "none":
        dark = int(np.median(levels))
    left, top, right, bottom = (int(side) for side in room)
    glass = np.full((height + top + bottom, width + left + right), dark, np.float32)
    glass[top:top + height, left:left + width] = levels
    image = Image.fromarray(glass).rotate(angle, Image.BICUBIC, fillcolor=dark)
    image = Image.fromarray(np.asarray(image).clip(0, 255).astype(np.uint8)).filter(
        ImageFilter.GaussianBlur(rng.uniform(0.2, 0.6) * max(1, dpi / 200)))
    page = np.asarray(image, np.float32)
    page = page + rng.uniform(1, 9) * rng.standard_normal(page.shape, np.float32)
    if gutter is not None:
        x, y = gutter + left - image.width / 2, image.height / 2
        slope = np.tan(np.radians(angle))  # counter-clockwise: the upper end goes left
        middle = image.width / 2 + x * np.cos(np.radians(angle)) + x * np.sin(
            np.radians(angle)) * slope
        gutter = (middle - slope * y, middle + slope * y)
    return Image.fromarray(page.clip(0, 255).astype(np.uint8)), gutter


def lit(rng, half, dpi, ink, bare=False):
    """The levels of paper with this ink."""
    levels = np.full(ink.size[::-1], rng.uniform(170, 250), np.float32)
    levels *= 1 - (0 if bare else rng.uniform(0, 0.3)) * page_maker.smooth(rng, ink.size, 2)
    if rng.random() < 0.5:
        levels *= 1 - scan_maker.specks(rng, ink.size, dpi)
    return levels * (1 - rng.uniform(0.55, 0.9) * np.asarray(ink, np.float32) / 255)


def make(seed, half="b", kind=None, surround=None, depth=None, dpi=None, angle=None):
    """An open book; what is not given follows from the seed."""
    rng = np.random.default_rng([seed, ord(half), 27])
    drawn = int(rng.choice(RESOLUTIONS))
    dpi = dpi or drawn
    kind = kind or PAGES[seed % len(PAGES)]
    surround = surround or SURROUNDS[seed // len(PAGES) % len(SURROUNDS)]
    drawn = 0.0 if kind == "no fold" else float(rng.choice([rng.uniform(0.08, 0.3),
                                                            rng.uniform(0.3, 0.95)]))
    depth = drawn if depth is None else depth
    kinds = [str(rng.choice(page_maker.KINDS if kind == "any" else TEXT)) for _ in range(2)]
    if kind == "blank":
        kinds[rng.integers(2)] = "blank"
    sheets = [sheet_of(rng, half, dpi, one) for one in kinds]
    inner, outer = rng.uniform(0, 28), rng.uniform(0, 15)
    inks = [trimmed(sheet, left, inner + rng.uniform(-4, 4), outer)
            for sheet, left in zip(sheets, (True, False))]
    angles = rng.uniform(-1.2, 1.2, 2)
    gutter, height = inks[0].width, inks[0].height
    ink = Image.new("L", (gutter + inks[1].width, height), 0)
    for page, turn, x in zip(inks, angles, (0, gutter)):
        ink.paste(page.rotate(turn, Image.BICUBIC), (x, 0))
    levels = lit(rng, half, dpi, ink)
    if kind == "picture":
        top, bottom = sorted(rng.choice(np.arange(0, 11), 2, replace=False) / 10)
        pasted_picture(rng, levels, int(gutter - rng.uniform(0.15, 0.8) * gutter),
                       int(top * height), int(gutter + rng.uniform(0.15, 0.8) * gutter),
                       int(bottom * height))
    levels *= fold(rng, levels.shape[1], gutter, dpi, depth)
    drawn = float(rng.uniform(-3, 3))
    whole = drawn if angle is None else angle
    image, ends = finished(rng, levels, whole, surround, dpi, gutter)
    name = f"{half}{seed:04}-{kind}-{'+'.join(kinds)}-{surround}-{depth:.2f}-{dpi}"
    return Spread(image, name.replace(" ", "_"), kind, dpi, ends,
                  (whole + angles[0], whole + angles[1]),
                  tuple(sheet.words for sheet in sheets), depth)


def draw_columns(rng, half, dpi, inches, count, gap, margin, rules=False, title=0.0):
    """Columns from top to bottom; lengths in points."""
    sheet = page_maker.Sheet(rng, half, dpi, inches)
    points = rng.uniform(6.5, 10)
    width = (sheet.width - 2 * margin - gap * (count - 1)) / count
    top = margin + 10
    if title:
        sheet.text(sheet.width / 2, margin + title, " ".join(sheet.next_words(5)),
                   sheet.face(title), "ms")
        top += 1.6 * title
    for i in range(count):
        x = margin + i * (width + gap)
        sheet.body(x, top + rng.uniform(0, 6), width, points, sheet.height - margin)
        if rules and i > 0:
            sheet.rule(x - gap / 2, top, x - gap / 2, sheet.height - margin, rng.uniform(0.5, 1.5))
    return sheet


def photograph(rng, dpi):
    """A picture without paper, with upright edges, lines and bright parts."""
    size = tuple(round(side * dpi) for side in LANDSCAPE)
    levels = 20 + 225 * page_maker.smooth(rng, size, int(rng.integers(2, 25)))
    image = Image.fromarray(levels.astype(np.float32))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(2, 9))):
        x, wide = rng.uniform(0.1, 0.9) * size[0], rng.uniform(0.002, 0.08) * size[0]
        top, bottom = rng.uniform(-0.2, 0.4) * size[1], rng.uniform(0.6, 1.2) * size[1]
        draw.polygon([(x, top), (x + wide, top), (x + wide * rng.uniform(0.7, 1.5), bottom),
                      (x, bottom)], fill=float(rng.uniform(10, 240)))
    return np.asarray(image).copy()


def single_levels(rng, half, dpi, kind):
    if kind == "photograph":
        return photograph(rng, dpi)
    if kind == "upright":
        sheet = page_maker.draw(rng, half, dpi, str(rng.choice(page_maker.KINDS)))
    elif kind == "landscape":
        sheet = page_maker.draw(rng, half, dpi, str(rng.choice(page_maker.KINDS)), LANDSCAPE)
    elif kind == "landscape table":
        sheet = page_maker.draw(rng, half, dpi, str(rng.choice(("table", "form"))), LANDSCAPE)
    elif kind == "newspaper":
        inches = LANDSCAPE if rng.random() < 0.6 else page_maker.INCHES
        sheet = draw_columns(rng, half, dpi, inches, int(rng.integers(3, 8)),
                             rng.uniform(8, 18), rng.uniform(20, 45), rng.random() < 0.6,
                             rng.uniform(20, 44) if rng.random() < 0.6 else 0)
    elif kind == "rule in the middle":
        sheet = draw_columns(rng, half, dpi, LANDSCAPE, 2, rng.uniform(15, 50),
                             rng.uniform(30, 60), True)
    elif kind == "two columns":
        sheet = draw_columns(rng, half, dpi, LANDSCAPE, 2, rng.uniform(12, 45),
                             rng.uniform(30, 80), False, rng.choice((0, 18)))
    else:  # the lines of the list are short, so that there is much room in the middle
        sheet = page_maker.Sheet(rng, half, dpi, LANDSCAPE)
        points, count = rng.uniform(9, 13), int(rng.integers(2, 5))
        for y in np.arange(70, sheet.height - 60, points * rng.uniform(1.3, 2)):
            for i in range(count):
                sheet.text(60 + i * (sheet.width - 120) / count, y,
                           " ".join(sheet.next_words(int(rng.integers(1, 4)))),
                           sheet.face(points))
    return lit(rng, half, dpi, sheet.image)


def single(seed, half="b", kind=None, surround=None):
    """A page that is no spread."""
    rng = np.random.default_rng([seed, ord(half), 28])
    dpi = int(rng.choice(RESOLUTIONS))
    kind = kind or SINGLES[seed % len(SINGLES)]
    surround = surround or SURROUNDS[seed // len(SINGLES) % len(SURROUNDS)]
    levels = single_levels(rng, half, dpi, kind)
    image, _ = finished(rng, levels, float(rng.uniform(-3, 3)), surround, dpi, None)
    name = f"{half}{seed:04}-{kind}-{surround}-{dpi}".replace(" ", "_")
    return Spread(image, name, kind, dpi)
