# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages of known text, printed in real fonts and scanned badly; the same for the same seed."""
import dataclasses

import cv2
import numpy as np
from PIL import Image, ImageDraw

from .paper import Sheet, blurred, font, jpeg
from .texts import PASSAGES

FONTS = ["LiberationSerif-Regular", "LiberationSans-Regular", "LiberationMono-Regular",
         "DejaVuSerif", "DejaVuSans", "FreeSerif", "NotoSerif-Regular", "NotoSans-Regular"]
WIDTH, HEIGHT, MARGIN = 120, 90, 8  # of the text and of the paper around it
CHARACTERS = 1100
SIZES = {150: (8, 10, 12), 200: (6, 8, 10, 12), 300: (6, 8, 10, 12), 600: (6, 8, 10, 12)}
STRENGTHS = ("mild", "medium", "strong")

# What the strengths mean: ranges of values, and probabilities for what not every page has.
SCANS = {
    "mild": dict(density=(0.6, 0.9), mottle=0.05, wear=0.15, through=(0.03, 0.10), stain=0.15,
                 fold=0.1, lamp=(0, 0.3), spine=0.3, blur=(0.55, 0.75), noise=(0.006, 0.014),
                 chance=0.5, quality=(75, 95)),
    "medium": dict(density=(0.45, 0.72), mottle=0.10, wear=0.24, through=(0.06, 0.15), stain=0.22,
                   fold=0.14, lamp=(0, 0.35), spine=0.35, blur=(0.7, 1.0), noise=(0.010, 0.020),
                   chance=0.55, quality=(60, 85)),
    "strong": dict(density=(0.35, 0.6), mottle=0.14, wear=0.3, through=(0.08, 0.2), stain=0.32,
                   fold=0.2, lamp=(0.1, 0.5), spine=0.45, blur=(0.8, 1.1), noise=(0.014, 0.027),
                   chance=0.75, quality=(45, 75)),
}


@dataclasses.dataclass
class Page:
    name: str
    dpi: int
    points: int
    text: str
    gray: np.ndarray


def wrapped(text, face, width):
    """Lines of at most the given width."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and face.getlength(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line]


def set_text(text, name, points, dpi, height=None):
    """The coverage of ink, 0 to 1, of a block of text, and the lines that are on it."""
    mm = dpi / 25.4
    face = font(name, points * dpi / 72)
    leading = points * 1.35 * dpi / 72
    lines = wrapped(text, face, WIDTH * mm)[:int(HEIGHT * mm / leading)]
    size = (round((WIDTH + 2 * MARGIN) * mm),
            height or round(len(lines) * leading + 2 * MARGIN * mm))
    image = Image.new("L", size, 0)
    draw = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        draw.text((MARGIN * mm, MARGIN * mm + i * leading), line, 255, face)
    return np.asarray(image, np.float32) / 255, lines


def printed(ink, dpi, sheet, bolder, wear):
    """Ink runs or wears off: the edges get rough and the strokes thinner or bolder."""
    soft = blurred(ink, 0.035 * dpi / 25.4)
    level = 0.5 - bolder + wear * (0.5 * sheet.cloud(0.09) + 0.4 * sheet.cloud(10))
    return np.minimum(((soft - level) / 0.25 + 0.5).clip(0, 1), 8 * soft)  # no ink on its own


def passage(random):
    """About CHARACTERS characters from a random place, in whole words."""
    text = PASSAGES[random.integers(len(PASSAGES))]
    words = text.split()
    start = int(random.integers(len(words) // 4))
    text = " ".join(words[start:] + words[:start])
    return text[:CHARACTERS].rsplit(" ", 1)[0]


def scan(ink, behind, dpi, scan, sheet):
    """The scan of a printed page; ink and what is printed on the back are coverage, 0 to 1."""
    def some(strength):
        return strength * sheet.between(0.5, 1) if sheet.random.random() < scan["chance"] else 0

    paper = sheet.between(0.72, 0.95) * sheet.fibres(sheet.between(0.5, 1.5)) * sheet.dirt(0.01)
    for mark in (sheet.ring, sheet.blot):
        paper = paper * mark(some(scan["stain"]))
    paper = paper * sheet.fold(some(scan["fold"]))
    light = sheet.lamp(sheet.between(*scan["lamp"])) * sheet.spine(some(scan["spine"]))
    uneven = 1 + scan["mottle"] * (sheet.cloud(15) + 0.7 * sheet.cloud(0.6))
    density = (sheet.between(*scan["density"]) * uneven).clip(0.2, 0.93)
    through = sheet.between(*scan["through"]) * (0.9 + 0.2 * sheet.cloud(40)).clip(0.2, 1.3)
    shine = through * blurred(behind, sheet.between(0.15, 0.3) * sheet.mm)
    signal = paper * (1 - shine) * (1 - density * ink) * light.clip(0.1, 1)
    # Scanners are about as sharp as their resolution, but less so at the highest.
    sharpness = sheet.between(*scan["blur"]) * max(dpi / 300, 1) ** 0.7
    gray = sheet.light_sensor(signal, sharpness, sheet.between(*scan["noise"]))
    if sheet.random.random() < 0.5:
        gray = jpeg(gray, sheet.between(*scan["quality"]))
    return gray


def make(dpi, number, strength=None):
    """Page `number` of a resolution. Sizes and strengths take turns."""
    sizes = SIZES[dpi]
    points = sizes[(number + (number // 3 if len(sizes) % 3 == 0 else 0)) % len(sizes)]
    strength = strength or STRENGTHS[number % 3]
    random = np.random.default_rng([2015, dpi, number, STRENGTHS.index(strength)])
    name = FONTS[random.integers(len(FONTS))]

    fine = dpi * -(-600 // dpi) if dpi < 600 else 2 * dpi  # set in this resolution, then shrunk
    ink, lines = set_text(passage(random), name, points, fine)
    behind, _ = set_text(passage(random) * 3, FONTS[random.integers(len(FONTS))],
                         points + random.integers(3), fine, height=ink.shape[0])
    ink = printed(ink, fine, Sheet(ink.shape, fine, random), random.uniform(-0.12, 0.12),
                  SCANS[strength]["wear"])
    height, width = ink.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), random.uniform(-0.6, 0.6), 1)
    ink = cv2.warpAffine(ink, turn, (width, height))
    size = (width * dpi // fine, height * dpi // fine)
    ink, behind = (cv2.resize(p, size, interpolation=cv2.INTER_AREA)
                   for p in (ink, behind[:, ::-1]))
    gray = scan(ink, behind, dpi, SCANS[strength], Sheet(ink.shape, dpi, random))
    return Page(f"{dpi} dpi, {number}: {name} {points} pt, {strength}", dpi, points,
                " ".join(lines), gray)
