# SPDX-License-Identifier: LGPL-2.1-or-later
"""A measure of measure_pages.py: photographs and colour on printed pages.

The photographs are those of FOLDER/photos (--data), half of them for each half. They are pasted
onto pages of page_maker.py on white, cream and yellow paper, as dark as the paper there lets them
be."""
import collections

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import page_maker
from measure_scans import common

PHOTOS = {"a": ("coins", "moon", "sipi_2.1.04"), "b": ("ihc", "sipi_7.1.02", "sipi_7.2.01")}
PAPERS = ((255, 255, 255), (247, 238, 214), (236, 216, 172))
INKS = ((190, 30, 40), (40, 60, 170), (20, 120, 70), (120, 40, 130))
KINDS = ("text", "pictures", "stamp")
Item = collections.namedtuple("Item", "image name kind boxes dpi")


def paper_of(page, dpi):
    """The level of the paper around each pixel."""
    small = page.resize([max(1, side * 20 // dpi) for side in page.size], Image.BOX)
    return small.filter(ImageFilter.MaxFilter(9)).resize(page.size, Image.BILINEAR)


def stamp(size, rng):
    """A round stamp and a line of writing, 255 where there is ink."""
    ink = Image.new("L", size, 0)
    draw = ImageDraw.Draw(ink)
    mm = size[0] / 210
    x, y = rng.uniform(0.2, 0.7) * size[0], rng.uniform(0.2, 0.8) * size[1]
    draw.ellipse([x, y, x + 28 * mm, y + 28 * mm], outline=255, width=max(1, round(0.8 * mm)))
    draw.rectangle([x + 5 * mm, y + 12 * mm, x + 23 * mm, y + 16 * mm], fill=255)
    at = [(x + i * 2 * mm, y + (36 + 3 * rng.random()) * mm) for i in range(20)]
    draw.line(at, fill=255, width=max(1, round(0.5 * mm)))
    return ink


def make(seed, kind, options):
    """A page of one of KINDS, and the boxes of its pictures."""
    rng = np.random.default_rng([seed, KINDS.index(kind), ord(options.half)])
    how = ("clean", "plain", "shaded")[seed % 3]
    page = page_maker.make(seed, options.half, angle=0, how=how,
                           dpi=int(rng.choice((100, 150, 200, 300))))
    gray, boxes = page.image.convert("L"), []
    paper = np.asarray(paper_of(gray, page.dpi))[:, :, None] / 255
    levels = np.repeat(np.asarray(gray)[:, :, None].astype(float), 3, axis=2)
    for i in range(1 + seed % 2 if kind == "pictures" else 0):
        name = PHOTOS[options.half][rng.integers(3)]
        with Image.open(options.data / "photos" / f"{name}.png") as photo:
            photo = photo.convert("RGB")
        if rng.random() < 0.25:  # faded
            photo = photo.point(lambda level: 255 - (255 - level) * 0.5)
        width = int(gray.width * rng.uniform(0.18, 0.6))
        height = min(int(width * photo.height / photo.width * rng.uniform(0.7, 1)),
                     int(gray.height * 0.36))
        x = int(rng.uniform(0.06, 0.94 - width / gray.width) * gray.width)
        y = int((0.07 + 0.46 * i + rng.uniform(0, 0.08)) * gray.height)
        box = (x, y, x + width, y + height)
        part = np.s_[box[1]:box[3], box[0]:box[2]]
        levels[part] = np.asarray(photo.resize((width, height), Image.BICUBIC)) * paper[part]
        boxes.append(box)
    if kind == "stamp":
        ink = np.asarray(stamp(gray.size, rng).filter(ImageFilter.GaussianBlur(0.7)))[:, :, None]
        colour = np.array(INKS[rng.integers(len(INKS))]) / 255
        levels *= 1 - ink / 255 * (1 - colour)
    levels = levels * (np.array(PAPERS[rng.integers(len(PAPERS))]) / 255)
    levels += rng.normal(0, 2.5, levels.shape)
    image = Image.fromarray(levels.clip(0, 255).astype(np.uint8))
    return Item(lambda: image, f"{page.name} {kind}", kind, boxes, page.dpi)


class Pictures:
    """Which pictures and colours --mode=auto finds on printed pages."""
    name = "pictures"

    def report(self, options, run):
        if not options.data:
            print("pictures: needs --data, for its photographs")
            return
        shares, missed, false = [], 0, collections.Counter()
        counts, coloured = collections.Counter(), collections.Counter()

        def measure(paths):
            return run.records(paths, "--mode=auto", "--no-straighten", "--borders=keep")

        for seed in range(options.first, options.first + options.pages):
            items = [make(seed, kind, options) for kind in KINDS]
            for item, page in run.verdicts(items, measure):
                found = [tuple(box) for box in page["picture_boxes"]]
                counts[item.kind] += 1
                coloured[item.kind] += page["colour"] > 0
                best = [max((common(box, true) for box in found), default=0) for true in item.boxes]
                shares += best
                missed += sum(share < 0.5 for share in best)
                extra = [box for box in found
                         if max((common(box, true) for true in item.boxes), default=0) < 0.1]
                false[item.kind] += len(extra)
                if options.list:
                    print(f"    {item.name:60} {[round(share, 2) for share in best]} false "
                          f"{extra} colour {page['colour']:.4f} {page['mode']}", flush=True)
        print("| pages | images | with colour found | false pictures |")
        print("|---|---|---|---|")
        for kind in KINDS:
            print(f"| {kind} | {counts[kind]} | {coloured[kind]} | {false[kind]} |")
        print(f"\n{len(shares)} pictures: intersection over union {np.mean(shares):.3f} in the "
              f"mean, {np.median(shares):.3f} in the middle, {missed} below 0.5")
