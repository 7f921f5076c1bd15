#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes pictures to try cudalinearopen on.

    examples/make_lines.py FOLDER

writes print.png, fundus.png, concrete.png, music.png and table.png: ridges of a fingerprint,
vessels of a retina, cracks in concrete, two staves, a ruled table. All are in 8-bit gray and the
same on every run.

Needs python3-numpy, python3-pil, and the fonts of fonts-liberation2.
"""
import argparse
import pathlib

import numpy as np
from PIL import Image, ImageDraw

from make_sample import font
from make_scenes import smooth_noise, to_gray

SIZE = 238
FINE = 4  # drawn larger, for soft edges
SEED = 2015


def canvas():
    image = Image.new("L", (SIZE * FINE, SIZE * FINE), 0)
    return image, ImageDraw.Draw(image)


def coverage(image):
    """The share of each pixel that is drawn on, 0..1."""
    return np.asarray(image.resize((SIZE, SIZE), Image.LANCZOS), np.float32).clip(0, 255) / 255


def fingerprint(random):
    """A loop: stripes across the gradient of a warped distance, with pores, breaks and dirt."""
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    dx, dy = x - 112, y - 108
    warp = smooth_noise(random, (SIZE, SIZE), 4) * 3
    away = np.sqrt(dx ** 2 + (dy * np.where(dy > 0, 0.55, 0.95)) ** 2 + 30) + 0.25 * dx + warp
    ridge = 0.5 + 0.5 * np.tanh(2.2 * np.cos(away * 2 * np.pi / 8.4))
    pores = smooth_noise(random, (SIZE, SIZE), 90) > 1.25
    dirt = smooth_noise(random, (SIZE, SIZE), 80) > 1.6
    ink = np.where(pores, 0.25, 1) * ridge * (0.75 + 0.12 * smooth_noise(random, (SIZE, SIZE), 6))
    ink = np.maximum(ink, 0.65 * dirt)
    finger = 0.5 - 0.5 * np.tanh((np.hypot(dx / 0.86, dy - 10) - 112) / 3)
    return to_gray(random, 0.90 - 0.62 * (ink * finger).clip(0, 1), 9)


def branch(random, draw, at, heading, width, steps, level):
    """A vessel from here on: it bends, thins out and forks."""
    for step in range(steps):
        # Towards the right: the large vessels go around the fovea.
        heading += 0.10 * random.standard_normal() - 0.022 * heading
        to = at + 3 * FINE * np.array([np.cos(heading), np.sin(heading)])
        draw.line([*at, *to], fill=level, width=max(round(width * FINE), 2))
        at, width = to, width * 0.985
        if width > 1.0 and step and step % 11 == 0:
            side = random.choice([-1, 1])
            branch(random, draw, at, heading + side * 0.75, width * 0.65, round(steps * 0.6), level)


def fundus(random):
    image, draw = canvas()
    disc = np.array([46.0, 119.0]) * FINE
    for heading in (-1.5, -0.7, 0.6, 1.4, -2.4, 2.4):
        branch(random, draw, disc, heading, 3.2, 64, 255)
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    ground = 0.56 - 0.14 * np.hypot(x - 119, y - 119) / 119
    ground += 0.24 * np.exp(-((x - 46) ** 2 + (y - 119) ** 2) / 260)  # the blind spot
    ground -= 0.12 * np.exp(-((x - 150) ** 2 + (y - 119) ** 2) / 300)  # the fovea
    light = ground * (1 - 0.26 * coverage(image)) + 0.012 * smooth_noise(random, (SIZE, SIZE), 10)
    return to_gray(random, light, 4)


def concrete(random):
    image, draw = canvas()
    for start, heading in ((np.array([0.0, 90.0]), 0.05), (np.array([90.0, 0.0]), 1.5),
                           (np.array([0.0, 180.0]), -0.2)):
        at = start * FINE
        turn = heading
        for _ in range(70):
            turn += 0.35 * random.standard_normal() - 0.2 * (turn - heading)
            to = at + 5 * FINE * np.array([np.cos(turn), np.sin(turn)])
            draw.line([*at, *to], fill=255, width=round(FINE * (1.2 + random.random())))
            at = to
    grain = 0.045 * smooth_noise(random, (SIZE, SIZE), 110)
    holes = 0.22 * (smooth_noise(random, (SIZE, SIZE), 70) > 2.1)
    light = 0.58 + grain - holes + 0.05 * smooth_noise(random, (SIZE, SIZE), 3)
    return to_gray(random, light * (1 - 0.55 * coverage(image)), 5)


def music(random):
    image, draw = canvas()
    f = FINE

    def note(x, y, up):
        head = [(x - 6) * f, (y - 4) * f, (x + 6) * f, (y + 4) * f]
        draw.ellipse(head, fill=255)
        stem = x + 5 if up else x - 5
        draw.line([stem * f, y * f, stem * f, (y - 32 if up else y + 32) * f], 255, round(1.6 * f))
        return stem, y - 32 if up else y + 32

    for top in (48, 150):
        for line in range(5):
            draw.line([8 * f, (top + 9 * line) * f, 230 * f, (top + 9 * line) * f], 255,
                      round(1.5 * f))
        for x in (8, 120, 230):
            draw.line([x * f, top * f, x * f, (top + 36) * f], 255, round(1.6 * f))
        pitch = 4
        for pair in (28, 76, 140, 188):
            ends = []
            for x in (pair, pair + 24):
                pitch = int(np.clip(pitch + random.integers(-2, 3), 1, 7))
                ends.append(note(x, top + 4.5 * pitch, pitch > 3))
                if len(ends) == 1:
                    up = pitch > 3
                elif (pitch > 3) == up:  # stems that point the same way get a beam
                    draw.line([ends[0][0] * f, ends[0][1] * f, ends[1][0] * f, ends[1][1] * f], 255,
                              round(4 * f))
    turned = image.rotate(0.4, Image.BICUBIC)
    return to_gray(random, 0.92 - 0.80 * coverage(turned), 4)


def table(random):
    image, draw = canvas()
    f = FINE
    face = font("LiberationSans-Regular", 12 * f)
    for i, y in enumerate(range(20, 221, 25)):
        draw.line([12 * f, y * f, 226 * f, y * f], 255, round((2 if i < 2 else 1.2) * f))
    for x in (12, 90, 158, 226):
        draw.line([x * f, 20 * f, x * f, 220 * f], 255, round(1.2 * f))
    rows = [("scan", "lines", "angle")] + [
        (f"page {i}", str(random.integers(10, 999)), f"{random.normal(0, 3):.2f}")
        for i in range(12, 19)]
    for i, row in enumerate(rows):
        for x, cell in zip((18, 96, 164), row):
            draw.text((x * f, (25.5 + 25 * i) * f), cell, 255, face)
    turned = image.rotate(-0.5, Image.BICUBIC)
    light = 0.90 + 0.02 * smooth_noise(random, (SIZE, SIZE), 4)
    return to_gray(random, light - 0.72 * coverage(turned), 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where to write the pictures (PNG)")
    args = parser.parse_args()
    for name, scene in (("print", fingerprint), ("fundus", fundus), ("concrete", concrete),
                        ("music", music), ("table", table)):
        Image.fromarray(scene(np.random.default_rng(SEED))).save(args.folder / f"{name}.png")


if __name__ == "__main__":
    main()
