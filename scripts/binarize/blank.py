# SPDX-License-Identifier: LGPL-2.1-or-later
"""Blank pages, and pages on which there is one line: what is called blank?"""
import cv2
import numpy as np
from PIL import Image, ImageDraw

from . import methods, scores
from .paper import Sheet, blurred, font, jpeg
from .pages import FONTS
from .texts import PASSAGES

LEAST_CONTRAST = 5  # of a line of text, in deviations of the noise


def text_at(shape, random, lines, points, dpi):
    """Coverage of ink, 0 to 1, of some lines in one font."""
    image = Image.new("L", (2 * shape[1], 2 * shape[0]), 0)  # twice as large: soft edges
    draw = ImageDraw.Draw(image)
    face = font(FONTS[random.integers(len(FONTS))], round(2 * points * dpi / 72))
    words = PASSAGES[random.integers(len(PASSAGES))].split()
    first = random.integers(len(words) // 2)
    y = random.uniform(0.05, 0.9) if lines == 1 else 0.1
    x = random.uniform(0.08, 0.25)
    count = random.integers(4, 9) if lines == 1 else 12
    for i in range(lines):
        line = " ".join(words[(first + i * count + n) % len(words)] for n in range(count))
        draw.text((x * image.width, y * image.height + i * 1.5 * face.size), line, 255, face)
    return cv2.resize(np.asarray(image, np.float32) / 255, shape[::-1],
                      interpolation=cv2.INTER_AREA)


def make(seed, with_line):
    """A page without print on its front or with one line, its truth, and what it is like.

    The limits are what scanners give: the noise of one pixel has a deviation of at most 12 levels,
    paper takes at most 35 % of the light, the shadow of a spine 30 %, a fold 12 %. A line of text
    is at least five deviations of the noise darker than its paper.
    """
    random = np.random.default_rng([1854, seed])  # the same paper with and without the line
    said = []

    def some(chance, what, low, high):
        value, hit = random.uniform(low, high), random.random() < chance
        if hit:
            said.append(f"{what} {value:.2f}")
        return value if hit else 0

    width = int(random.integers(800, 1241))
    shape = (round(width * 1.4142), width)
    dpi = width / 8.27
    sheet = Sheet(shape, dpi, random)
    paper = 1 - some(0.5, "yellowed", 0.1, 0.35)
    paper = paper * 0.96 * sheet.fibres(some(0.7, "fibres", 0.3, 1.5)) * sheet.vignette(
        some(0.5, "vignette", 0.1, 0.4))
    paper = paper * sheet.fold(some(0.25, "fold", 0.04, 0.12)) * sheet.spine(
        some(0.25, "spine", 0.1, 0.3))
    paper = paper * sheet.dirt(some(0.35, "dirt", 0.002, 0.03))
    if through := some(0.35, "shine-through", 0.02, 0.10):
        behind = text_at(shape, random, 25, random.uniform(9, 13), dpi)[:, ::-1]
        paper = paper * (1 - through * blurred(behind, random.uniform(0.15, 0.3) * sheet.mm))
    sigma = float(np.exp(random.uniform(0, np.log(12))))
    said.append(f"noise {sigma:.1f}")
    compressed = some(0.3, "jpeg", 60, 95)

    line = np.random.default_rng([1855, seed])
    points, contrast = line.uniform(8, 14), line.uniform(0.3, 1)
    ink = text_at(shape, line, 1, points, dpi) if with_line else np.zeros(shape, np.float32)
    if with_line:
        level = 255 * 0.9 * float(np.median(paper[ink > 0.5]))  # what the darkest print takes
        contrast = max(contrast, min(LEAST_CONTRAST * sigma / level, 1))
        said.append(f"{points:.0f} pt, contrast {contrast:.2f}")
    paper = paper * (1 - 0.9 * contrast * ink)
    gray = 255 * blurred(paper.astype(np.float32), 0.6) + sigma * random.standard_normal(shape)
    gray = gray.clip(0, 255).round().astype(np.uint8)
    return jpeg(gray, compressed) if compressed else gray, ink > 0.5, ", ".join(said)


def command(args):
    everything = methods.classical()
    if args.method not in everything:
        everything = methods.ours(args.prototype)
    if args.method not in everything:
        raise SystemExit(f"{args.method}: the methods are " + ", ".join(
            [*methods.LEVELS, *methods.CLASSICAL]))
    method = everything[args.method]
    rows, wrong = [], []
    for with_line, kind in ((False, "blank"), (True, "one line")):
        called = little = lost = 0
        most = 0.0
        for seed in range(args.pages):
            gray, truth, said = make(seed, with_line)
            mask, flag = method(gray)
            share = mask.mean()
            blank = bool(share < methods.BLANK_SHARE if flag is None else flag)
            called += blank
            little += bool(share < methods.BLANK_SHARE)
            # A line is lost if less than a quarter of its ink is found.
            unread = with_line and np.count_nonzero(mask & truth) < 0.25 * np.count_nonzero(truth)
            lost += unread
            most = max(most, 100 * share)
            if blank == with_line:
                wrong.append(f"{kind}, seed {seed}: {said}; ink {100 * share:.3f} %"
                             + (", lost" if unread else ""))
                if args.save:
                    args.save.mkdir(parents=True, exist_ok=True)
                    name = f"{kind.replace(' ', '-')}-{seed}"
                    cv2.imwrite(str(args.save / f"{name}.png"), gray)
                    cv2.imwrite(str(args.save / f"{name}-ink.png"), scores.black(mask))
        rows.append([kind, args.pages, called, little, lost if with_line else "-",
                     f"{most:.3f}"])
    scores.table(["pages", "number", "called blank", "ink below 0.02 %", "line lost",
                  "most ink, %"], rows)
    print("Wrong:" if wrong else "None is wrong.")
    for line in wrong:
        print(f"- {line}")
