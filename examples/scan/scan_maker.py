# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes scans of sheets whose place on the glass, and whose content, is known, and scans of sheets
that are blank or nearly so. For measure_pages.py and tests; it needs what page_maker.py needs.

As there, a seed and a half give the same scan each time, and halves have different fonts and texts.
"""
import dataclasses

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import page_maker

BLANK = ("clean", "yellowed", "dirty", "shine-through", "all of these")
NEARLY = ("short line", "page number", "stamp")
SURROUNDS = ("none", "all around", "two sides", "wedge")
RESOLUTIONS = (100, 150, 200, 300, 300)


@dataclasses.dataclass
class Scan:
    """A scan and what is known about it."""
    image: Image.Image
    name: str
    kind: str
    dpi: int
    angle: float            # degrees counter-clockwise by which everything is turned
    sheet: tuple            # left, top, right, bottom before it was turned
    ink: Image.Image        # 255 where there is ink, before it was turned
    surround: str = "none"
    blank: bool = False

    def content(self, turned_back):
        """The box of the ink on the page, which the program has turned back or left as it is."""
        ink = self.ink if turned_back else self.ink.rotate(self.angle, Image.BICUBIC)
        return ink.point(lambda level: 255 * (level > 100)).getbbox()

    def page(self, turned_back):
        """The box of the sheet."""
        if turned_back:
            return self.sheet
        whole = Image.new("L", self.ink.size, 0)
        whole.paste(255, self.sheet)
        return whole.rotate(self.angle).getbbox()


def specks(rng, size, dpi):
    """Dirt: specks of at most 0.6 mm, and soft smudges; the share of light that they take."""
    dark = Image.new("L", size, 0)
    draw = ImageDraw.Draw(dark)
    mm = dpi / 25.4
    for _ in range(int(rng.integers(20, 200))):
        x, y, r = rng.uniform(0, size[0]), rng.uniform(0, size[1]), rng.uniform(0.05, 0.3) * mm
        draw.ellipse([x - r, y - r, x + r, y + r], fill=int(rng.integers(80, 200)))
    soft = Image.new("L", size, 0)
    for _ in range(int(rng.integers(0, 6))):
        x, y = rng.uniform(0, size[0]), rng.uniform(0, size[1])
        across, down = rng.uniform(2, 25, 2) * mm
        ImageDraw.Draw(soft).ellipse([x - across, y - down, x + across, y + down],
                                     fill=int(rng.integers(10, 40)))
    soft = soft.filter(ImageFilter.GaussianBlur(1.5 * mm))
    return np.maximum(np.asarray(dark), np.asarray(soft)) / 255


def draw_nearly(rng, half, dpi, kind):
    sheet = page_maker.Sheet(rng, half, dpi)
    if kind == "short line":
        sheet.text(rng.uniform(60, 300), rng.uniform(80, 760),
                   " ".join(sheet.next_words(int(rng.integers(2, 5)))),
                   sheet.face(rng.uniform(8, 14)))
    elif kind == "page number":
        at = (sheet.width / 2, 60, sheet.width - 60)[rng.integers(3)]
        sheet.text(at, rng.choice((50, sheet.height - 45)), str(rng.choice((1, 7, 23, 118, 304))),
                   sheet.face(rng.uniform(8, 12)), "ms")
    else:
        x, y, r = rng.uniform(80, 500), rng.uniform(80, 750), rng.uniform(18, 30)
        sheet.box(x - r, y - r, x + r, y + r, shape="ellipse")
        sheet.text(x, y + 3, sheet.next_words(1)[0][:6], sheet.face(8), "ms")
    return sheet


def paper_of(rng, half, dpi, sheet, how):
    """The levels of a sheet with this ink."""
    paper = rng.uniform(150, 200) if how in ("yellowed", "all of these") else rng.uniform(200, 250)
    light = np.full(sheet.size[::-1], 1.0, np.float32)
    if how in ("yellowed", "all of these"):
        light -= 0.15 * page_maker.smooth(rng, sheet.size, 6)
    if how in ("shine-through", "all of these"):
        back = page_maker.draw(rng, half, dpi, "book").image.transpose(Image.FLIP_LEFT_RIGHT)
        back = back.filter(ImageFilter.GaussianBlur(dpi / 100))
        light -= rng.uniform(0.05, 0.18) * np.asarray(back, np.float32) / 255
    if how in ("dirty", "all of these"):
        light *= 1 - specks(rng, sheet.size, dpi)
    if how == "all of these" or rng.random() < 0.5:
        light *= 1 - rng.uniform(0.1, 0.4) * page_maker.smooth(rng, sheet.size, 2)
    ink = np.asarray(sheet.image, np.float32) / 255
    return paper * light * (1 - rng.uniform(0.55, 0.9) * ink)


def on_glass(rng, levels, ink, surround, dpi):
    """Lays the sheet on dark glass: levels, ink, and where the sheet is."""
    height, width = levels.shape
    room = (rng.uniform(0.04, 0.12, 4) * height).astype(int) if surround != "none" else [0] * 4
    if surround == "two sides":
        room[2:] = 0
    if surround == "wedge":  # only what turning leaves
        room[:] = 0
    left, top, right, bottom = (int(side) for side in room)
    dark = int(rng.integers(3, 40))
    glass = np.full((height + top + bottom, width + left + right), dark, np.float32)
    glass[top:top + height, left:left + width] = levels
    mask = Image.new("L", glass.shape[::-1], 0)
    mask.paste(ink, (left, top))
    image = Image.fromarray(glass)
    if surround != "none":
        draw, mm = ImageDraw.Draw(image), dpi / 25.4
        for y in rng.uniform(0.1, 0.9, 2) * height:  # torn holes and a finger at the edge
            draw.ellipse([left - 3 * mm, top + y, left + 3 * mm, top + y + 6 * mm], fill=dark)
        if rng.random() < 0.5:
            x = left + rng.uniform(0.2, 0.8) * width
            draw.ellipse([x, top + height - 5 * mm, x + 16 * mm, top + height + 25 * mm],
                         fill=rng.uniform(40, 75))
    return image, mask, (left, top, left + width, top + height), dark


def make(seed, half="b", kind=None, surround=None, blank=False):
    """A scan; what is not given follows from the seed.
    @param kind   of page_maker.KINDS, or of NEARLY; with `blank` of BLANK"""
    rng = np.random.default_rng([seed, ord(half), 7])
    dpi = int(rng.choice(RESOLUTIONS))
    surround = surround or SURROUNDS[seed % len(SURROUNDS)]
    angle = 0.0 if surround == "none" else float(rng.uniform(-5, 5))
    kinds = BLANK if blank else page_maker.KINDS
    kind = kind or kinds[seed // len(SURROUNDS) % len(kinds)]
    how = kind if blank else str(rng.choice(BLANK[:4]))
    if blank:
        sheet = page_maker.Sheet(rng, half, dpi)
    elif kind in NEARLY:
        sheet, how = draw_nearly(rng, half, dpi, kind), BLANK[seed % len(BLANK)]
    else:
        sheet = page_maker.draw(rng, half, dpi, kind)
    levels = paper_of(rng, half, dpi, sheet, how)
    image, ink, box, dark = on_glass(rng, levels, sheet.image, surround, dpi)
    image = image.rotate(angle, Image.BICUBIC, fillcolor=dark)
    page = np.asarray(Image.fromarray(np.asarray(image).clip(0, 255).astype(np.uint8)).filter(
        ImageFilter.GaussianBlur(rng.uniform(0.2, 0.6) * max(1, dpi / 200))), np.float32)
    page = page + rng.uniform(1, 9) * rng.standard_normal(page.shape, np.float32)
    image = Image.fromarray(page.clip(0, 255).astype(np.uint8))
    name = f"{half}{seed:04}-{kind}-{how}-{surround}-{dpi}".replace(" ", "_")
    return Scan(image, name, kind, dpi, angle, box, ink, surround, blank)
