#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes pictures for openings in series: docs/granulometry.md.

    examples/make_grains.py FOLDER

writes grains.png, bright grains of two sizes on a dark ground; and speckled.png, shapes and fine
lines with black and white specks of one to three pixels. Both are in 8-bit gray and the same on
every run.

Needs python3-numpy and python3-pil.
"""
import argparse
import pathlib

import numpy as np
from PIL import Image, ImageDraw

from make_scenes import smooth_noise, to_gray

SIZE = 320
FINE = 4  # drawn larger, for soft edges
SEED = 1964
KINDS = ((26, 12.5, 0.9), (110, 5.0, 0.5))  # grains: how many, mean radius, its deviation
SPECKS = ((1, 9000), (2, 1800), (3, 500))  # specks: their side, how many


def coverage(image):
    """The share of each pixel that is drawn on, 0..1."""
    return np.asarray(image.resize((SIZE, SIZE), Image.LANCZOS), np.float32).clip(0, 255) / 255


def grains(random):
    """Grains that do not touch."""
    image = Image.new("L", (SIZE * FINE, SIZE * FINE), 0)
    draw = ImageDraw.Draw(image)
    places = []
    for count, mean, deviation in KINDS:
        for _ in range(count):
            radius = mean + deviation * random.standard_normal()
            for _ in range(2000):  # a place that is still free
                x, y = radius + 3 + (SIZE - 2 * radius - 6) * random.random(2)
                if all(np.hypot(x - u, y - v) > radius + r + 3 for u, v, r in places):
                    break
            else:
                continue
            places.append((x, y, radius))
            turns = np.linspace(0, 2 * np.pi, 40, endpoint=False)
            lobes = radius * (1 + 0.06 * np.cos(2 * turns + 6 * random.random())
                              + 0.04 * np.cos(3 * turns + 6 * random.random()))
            outline = np.stack([x + lobes * np.cos(turns), y + lobes * np.sin(turns)], 1) * FINE
            draw.polygon([tuple(point) for point in outline], fill=int(random.integers(190, 256)))
    light = 0.16 + 0.02 * smooth_noise(random, (SIZE, SIZE), 4) + 0.62 * coverage(image)
    return to_gray(random, light, 4)


def speckled(random):
    """A ring, a bar, a star and a wedge, with fine lines between them."""
    image = Image.new("L", (SIZE, SIZE), 120)
    draw = ImageDraw.Draw(image)
    draw.ellipse((24, 24, 148, 148), fill=205)
    draw.ellipse((64, 64, 108, 108), fill=120)
    draw.line((180, 30, 300, 140), fill=50, width=18)
    points = [(230 + (66 if i % 2 else 30) * np.sin(i * np.pi / 5),
               232 + (66 if i % 2 else 30) * np.cos(i * np.pi / 5)) for i in range(10)]
    draw.polygon(points, fill=225)
    draw.polygon([(24, 296), (150, 296), (60, 184)], fill=70)
    for i in range(4):
        draw.line((8, 160 + 8 * i, 312, 150 + 8 * i), fill=(40, 215)[i % 2], width=2)
    levels = to_gray(random, np.asarray(image, np.float32) / 255, 3)
    for side, count in SPECKS:
        for x, y in random.integers(0, SIZE, (count, 2)):
            levels[y:y + side, x:x + side] = 255 * random.integers(0, 2)
    return levels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where to write the pictures (PNG)")
    args = parser.parse_args()
    for scene in (grains, speckled):
        picture = Image.fromarray(scene(np.random.default_rng(SEED)))
        picture.save(args.folder / f"{scene.__name__}.png")


if __name__ == "__main__":
    main()
