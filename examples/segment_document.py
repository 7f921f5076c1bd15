#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the blocks of text on a page by joining letters with cudaswofilter's dilations and
erosions.

    examples/segment_document.py page.png blocks.png [--mask mask.png] [--text-height 24]

The page can have any format that GStreamer reads. It is turned into black and white, and rules are
removed. A closing as wide as the spaces joins letters to words and lines; one as high as the line
distance joins lines to blocks. White channels between columns, found by an opening of the paper
with a tall window, keep columns apart. Headings have wider spaces and are joined by a second
closing. Prints a line `x y width height` for each block, from the top of the page down, and draws
the blocks.

Needs python3-numpy, python3-pil and the environment of `meson devenv -C build -w .`.
"""
import argparse

import numpy as np
from PIL import Image, ImageDraw

import pipelines

COLOURS = ((31, 95, 168), (196, 78, 26), (30, 130, 60), (140, 50, 130), (150, 120, 0))
LARGEST_WINDOW = 255


def odd(pixels):
    """The nearest odd window size."""
    return min(max(round(pixels) | 1, 1), LARGEST_WINDOW)


def components(mask):
    """Labels of connected components (1, 2, ...; 0 is background) and their boxes x0, y0, x1,
    y1."""
    parent, runs, before = [], [], []

    def root(run):
        while parent[run] != run:
            parent[run] = parent[parent[run]]
            run = parent[run]
        return run

    for y, row in enumerate(mask != 0):
        steps = np.flatnonzero(np.diff(np.concatenate(([0], row, [0]))))
        here, i = [], 0
        for x0, x1 in zip(steps[::2].tolist(), steps[1::2].tolist()):
            run = len(parent)
            parent.append(run)
            runs.append((x0, y, x1, y + 1))
            here.append((x0, x1, run))
            while i < len(before) and before[i][1] < x0:
                i += 1
            for u0, _, other in before[i:]:
                if u0 > x1:
                    break
                parent[root(run)] = root(other)
        before = here
    roots = [root(run) for run in range(len(parent))]
    number = {r: n for n, r in enumerate(sorted(set(roots)), 1)}
    labels, boxes = np.zeros(mask.shape, np.int32), {}
    for (x0, y, x1, y1), r in zip(runs, roots):
        n = number[r]
        labels[y, x0:x1] = n
        u0, v0, u1, v1 = boxes.get(n, (x0, y, x1, y1))
        boxes[n] = min(u0, x0), min(v0, y), max(u1, x1), max(v1, y1)
    return labels, boxes


def height_of_text(ink):
    """The height of letters: the median height of components that are neither specks nor
    pictures."""
    height, width = ink.shape
    part = ink[height // 4:height // 4 + 1500, width // 4:width // 4 + 1500]
    boxes = components(part)[1].values()
    heights = [y1 - y0 for x0, y0, x1, y1 in boxes if 5 < y1 - y0 < 150 and x1 - x0 > 2]
    return float(np.median(heights)) if heights else 24.0


def window(operator, width, height):
    return (f"cudaswofilter operator={operator} window-width={odd(width)} "
            f"window-height={odd(height)}")


def find_blocks(page, binarize, text_height):
    ink = pipelines.apply(page, f"{binarize} invert=true")
    t = text_height or height_of_text(ink)
    rules = (pipelines.apply(ink, window("open", 1, 6 * t))
             | pipelines.apply(ink, window("open", 6 * t, 1)))
    text = ink & ~rules
    # Paper between columns; the gaps between words are not as tall.
    channels = pipelines.apply(~text, window("open", 0.4 * t, 9 * t))
    joined = pipelines.apply(text, window("close", 2 * t, 1) + " ! " + window("close", 1, 1.8 * t))
    blocks = pipelines.apply(joined & ~channels & ~rules, window("open", 0.8 * t, 0.8 * t))
    # Lines of large letters have wider spaces.
    labels, boxes = components(blocks)
    large = [n for n, (_, y0, _, y1) in boxes.items() if 1.3 * t < y1 - y0 < 6 * t]
    headings = np.where(np.isin(labels, large), 255, 0).astype(np.uint8)
    headings = pipelines.apply(headings, window("close", 5 * t, 1)) & ~rules
    blocks = pipelines.apply(blocks | headings, "cudaswofilter operator=fill-holes ! "
                             + window("open", 0.8 * t, 0.8 * t))
    labels, boxes = components(blocks)
    kept = {n: box for n, box in boxes.items() if box[2] - box[0] > 2 * t}
    return np.where(np.isin(labels, list(kept)), labels, 0), kept


def draw(page, labels, boxes):
    picture = np.repeat(page[:, :, None], 3, axis=2).astype(np.float32)
    for n in boxes:
        tint = np.array(COLOURS[n % len(COLOURS)], np.float32)
        picture[labels == n] = 0.7 * picture[labels == n] + 0.3 * tint
    image = Image.fromarray(picture.round().astype(np.uint8))
    pen = ImageDraw.Draw(image)
    for n, (x0, y0, x1, y1) in boxes.items():
        pen.rectangle((x0, y0, x1 - 1, y1 - 1), outline=COLOURS[n % len(COLOURS)],
                      width=max(page.shape[1] // 600, 2))
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", help="any picture")
    parser.add_argument("blocks", help="where to write the page with its blocks (PNG or JPEG)")
    parser.add_argument("--mask", help="where to write the blocks alone, white on black")
    parser.add_argument("--text-height", type=float, default=0,
                        help="height of small letters in pixels (default: measured)")
    parser.add_argument("--binarize", default="cudanick",
                        help="element that makes black and white, with its settings")
    args = parser.parse_args()
    page = pipelines.read(args.page)
    labels, boxes = find_blocks(page, args.binarize, args.text_height)
    for x0, y0, x1, y1 in sorted(boxes.values(), key=lambda box: (box[1], box[0])):
        print(x0, y0, x1 - x0, y1 - y0)
    draw(page, labels, boxes).save(args.blocks)
    if args.mask:
        Image.fromarray(np.where(labels, 255, 0).astype(np.uint8)).save(args.mask)


if __name__ == "__main__":
    main()
