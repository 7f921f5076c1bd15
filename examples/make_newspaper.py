#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a newspaper page to try segment_document.py on.

    examples/make_newspaper.py newspaper.png

Four columns between rules, with headings over one, two and four of them: A4 at 150 dpi, 8-bit gray,
the same on every run. The text is that of make_sample.py.

Needs python3-numpy, python3-pil, and the fonts of fonts-liberation2 and fonts-dejavu-core.
"""
import argparse

import numpy as np
from PIL import Image

from make_sample import BACK, HEIGHT, LAST_SECTION, SECTIONS, SEED, TITLE, WIDTH, Page

LEFT, COLUMN, GUTTER = 70, 254, 28
LEADING = 22


def paragraphs():
    """The text, repeated without end."""
    while True:
        for _, texts in [*SECTIONS, LAST_SECTION]:
            yield from texts
        yield BACK[:len(BACK) // 12 * 3]


def front():
    page, texts = Page(1), paragraphs()
    body, heading = page.font("LiberationSerif-Regular", 8.5), page.font("LiberationSerif-Bold", 12)
    page.text(WIDTH / 2, 88, "THE  DAILY  SCAN", page.font("LiberationSerif-Bold", 25), "ma")
    page.line(LEFT, 158, WIDTH - LEFT, 158, 3)
    page.text(WIDTH / 2, 166, "No. 47, Monday, two pence", page.font("LiberationSerif-Regular", 11),
              "ma")
    page.line(LEFT, 198, WIDTH - LEFT, 198, 1)
    page.text(LEFT + COLUMN + GUTTER / 2, 222, TITLE, page.font("LiberationSerif-Bold", 18), "ma")
    page.text(LEFT + 3 * COLUMN + 2.5 * GUTTER, 222, "Windows Slide Again",
              page.font("LiberationSerif-Bold", 18), "ma")
    for column in range(4):
        x, y = LEFT + column * (COLUMN + GUTTER), 290
        if column:
            page.line(x - GUTTER / 2, 290 if column != 2 else 206, x - GUTTER / 2, HEIGHT - 90, 1)
        part = 0
        while y < HEIGHT - 480:
            if part % 3 == (column + 1) % 3:
                y += 16
                title = ("Lamp and Glass", "Lost Lines", "Small Print")[part % 3]
                page.text(x + COLUMN / 2, y, title, heading, "ma")
                y += 44
            y = page.paragraph(x, y, COLUMN, next(texts), body, LEADING)
            part += 1
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("newspaper", help="where to write the page (PNG)")
    args = parser.parse_args()
    random = np.random.default_rng(SEED)
    light = 0.86 - 0.62 * front().ink(0.2)
    x = np.linspace(0, 1, WIDTH, dtype=np.float32)
    levels = 255 * light * (0.85 + 0.15 * x) + 5 * random.standard_normal((HEIGHT, WIDTH))
    Image.fromarray(levels.clip(0, 255).astype(np.uint8)).save(args.newspaper)


if __name__ == "__main__":
    main()
