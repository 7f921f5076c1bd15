# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes pages of an open book whose lines are curved in a known way. For measure_dewarp.py and
tests; it needs what page_maker.py needs.

As there, a seed and a half give the same page each time, and halves have different fonts and texts.
"""
import dataclasses

import numpy as np
from PIL import Image, ImageFilter

import page_maker

KINDS = ("book", "ragged", "columns", "small", "listing", "letter")
RESOLUTIONS = (120, 150, 200)


@dataclasses.dataclass
class Curved:
    """A page and what is known about it."""
    image: Image.Image
    name: str
    dpi: int
    ink: Image.Image    # 255 where there is ink, with straight lines
    shifts: np.ndarray  # by how many rows each pixel of `ink` was moved down
    words: list


def shifts_of(rng, size, most):
    """Lines bend towards the gutter, at the top and at the bottom of the page differently."""
    width, height = size
    x = np.linspace(0, 1, width)[::rng.choice((-1, 1))]
    begin = rng.uniform(0, 0.5)
    near = np.clip((x - begin) / (1 - begin), 0, 1)
    across = near ** 2 if rng.random() < 0.5 else (np.exp(3 * near) - 1 - 3 * near) / (
        np.exp(3) - 4)
    down = np.linspace(rng.uniform(-0.5, 1), rng.uniform(-0.5, 1), height)
    down /= np.abs(down).max()
    return most * height * down[:, None] * across[None, :]


def bent(ink, shifts):
    """Moves each pixel down by its shift."""
    levels = np.asarray(ink, np.float32)
    height, width = levels.shape
    rows = np.arange(height, dtype=np.float64)
    out = np.empty_like(levels)
    for x in range(width):
        source = np.interp(rows, rows + shifts[:, x], rows)  # the row that has come here
        out[:, x] = np.interp(source, rows, levels[:, x])
    return Image.fromarray(out.clip(0, 255).astype(np.uint8))


def make(seed, half="b", kind=None, dpi=None, most=None):
    """A page; what is not given follows from the seed.
    @param most  the largest shift, in heights of the page"""
    rng = np.random.default_rng([seed, ord(half), 29])
    drawn = int(rng.choice(RESOLUTIONS))
    dpi = dpi or drawn
    kind = kind or KINDS[seed % len(KINDS)]
    sheet = page_maker.draw(rng, half, dpi, kind)
    drawn = float(rng.choice((-1, 1)) * rng.uniform(0.01, 0.035))
    shifts = shifts_of(rng, sheet.image.size, drawn if most is None else most)
    paper = rng.uniform(190, 250)
    levels = paper * (1 - rng.uniform(0.55, 0.9) * np.asarray(bent(sheet.image, shifts),
                                                              np.float32) / 255)
    levels *= 1 - rng.uniform(0, 0.3) * page_maker.smooth(rng, sheet.image.size, 2)
    image = Image.fromarray(levels.clip(0, 255).astype(np.uint8)).filter(
        ImageFilter.GaussianBlur(rng.uniform(0.2, 0.6) * max(1, dpi / 200)))
    page = np.asarray(image, np.float32)
    page = page + rng.uniform(1, 9) * rng.standard_normal(page.shape, np.float32)
    name = f"{half}{seed:04}-{kind}-{np.abs(shifts).max():.0f}-{dpi}"
    return Curved(Image.fromarray(page.clip(0, 255).astype(np.uint8)), name, dpi, sheet.image,
                  shifts, sheet.words)
