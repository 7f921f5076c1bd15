# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes printed pages whose angle, orientation and words are known, for measure_pages.py.

make(seed, half) makes one page; the same arguments make the same page. The two halves have
different fonts and texts, so that constants can be chosen with "a" and reported with "b".

Needs python3-numpy and python3-pil. Texts are the licences that Debian installs in
/usr/share/common-licenses. Fonts that are not installed are left out; with fonts-liberation2 and
fonts-dejavu-core alone both halves have some, more come from fonts-freefont-ttf, fonts-ebgaramond,
fonts-linuxlibertine, fonts-urw-base35, fonts-crosextra-carlito and fonts-roboto-unhinted.
"""
import dataclasses
import functools
import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

LICENCES = pathlib.Path("/usr/share/common-licenses")
TEXTS = {"a": ("GPL-3", "GFDL-1.3"), "b": ("MPL-2.0", "Apache-2.0", "Artistic")}
PROPORTIONAL = {
    "a": ("LiberationSerif-Regular.ttf", "DejaVuSans.ttf", "FreeSerif.ttf", "Carlito-Regular.ttf",
          "C059-Roman.otf", "LinBiolinum_R.otf", "LiberationSans-Bold.ttf"),
    "b": ("LiberationSans-Regular.ttf", "DejaVuSerif.ttf", "EBGaramond12-Regular.otf",
          "LinLibertine_R.otf", "P052-Roman.otf", "Roboto-Regular.ttf", "FreeSans.ttf",
          "LiberationSerif-Italic.ttf"),
}
FIXED = {"a": ("LiberationMono-Regular.ttf", "NimbusMonoPS-Regular.otf"),
         "b": ("DejaVuSansMono.ttf", "FreeMono.ttf")}
KINDS = ("book", "ragged", "columns", "letter", "few", "table", "listing", "staves", "title",
         "form", "small")
RESOLUTIONS = (75, 100, 150, 150, 200, 200, 300, 300, 300, 400, 600)
INCHES = (8.27, 11.69)  # A4


@functools.lru_cache(maxsize=None)
def font_files():
    """Paths of the installed fonts by their file names."""
    roots = [pathlib.Path("/usr/share/fonts"), pathlib.Path("/usr/local/share/fonts"),
             pathlib.Path.home() / ".local/share/fonts"]
    return {path.name: path for root in roots if root.is_dir() for path in sorted(root.rglob("*"))}


@functools.lru_cache(maxsize=None)
def words_of(half):
    return [word for name in TEXTS[half] if (LICENCES / name).is_file()
            for word in (LICENCES / name).read_text(errors="ignore").split()
            if word.isascii() and not set(word) <= set("-_=*#~.")]


@dataclasses.dataclass
class Page:
    """A page and what is known about it."""
    image: Image.Image
    name: str
    kind: str
    angle: float = 0.0    # degrees counter-clockwise
    turns: int = 0        # quarter turns counter-clockwise, before the angle
    dpi: int = 300
    words: list = dataclasses.field(default_factory=list)


class Sheet:
    """Ink on paper, 255 where it is black. Lengths are in points of 1/72 inch."""

    def __init__(self, rng, half, dpi, inches=INCHES):
        self.rng, self.half, self.dpi, self.words = rng, half, dpi, []
        self.size = tuple(round(side * dpi) for side in inches)
        self.image = Image.new("L", self.size, 0)
        self.draw = ImageDraw.Draw(self.image)
        self.width, self.height = (72 * side for side in inches)
        self.at = int(rng.integers(len(words_of(half)) - 3000))
        self.file = self.pick(PROPORTIONAL)

    def pick(self, names):
        found = [name for name in names[self.half] if name in font_files()]
        if not found:
            raise SystemExit("no font is installed of " + ", ".join(names[self.half]))
        return found[self.rng.integers(len(found))]

    def px(self, points):
        return points * self.dpi / 72

    def face(self, points, file=None):
        path = str(font_files()[file or self.file])
        return ImageFont.truetype(path, max(3, round(self.px(points))),
                                  layout_engine=ImageFont.Layout.BASIC)

    def next_words(self, count):
        words = words_of(self.half)
        taken = [words[(self.at + i) % len(words)] for i in range(count)]
        self.at += count
        return taken

    def text(self, x, y, text, face, anchor="ls"):
        self.draw.text((self.px(x), self.px(y)), text, 255, face, anchor)
        self.words += text.split()

    def rule(self, x0, y0, x1, y1, width=0.6):
        self.draw.line([self.px(v) for v in (x0, y0, x1, y1)], 255, max(1, round(self.px(width))))

    def box(self, x0, y0, x1, y1, filled=False, shape="rectangle"):
        at = [self.px(v) for v in (x0, y0, x1, y1)]
        kind = {"fill": 255} if filled else {"outline": 255, "width": max(1, round(self.px(0.7)))}
        getattr(self.draw, shape)(at, **kind)

    def paragraph(self, x, y, width, points, lines, justified=True, leading=1.25, file=None):
        """Sets at most `lines` lines from the baseline y on; returns the next baseline."""
        face = self.face(points, file)
        space = face.getlength(" ")
        for number in range(lines):
            if y > self.height - 40:
                break
            line, length = [], 0
            while True:
                word = self.next_words(1)[0]
                if line and length + space + face.getlength(word) > self.px(width):
                    self.at -= 1
                    break
                length += face.getlength(word) + (space if line else 0)
                line.append(word)
                if length > self.px(width):
                    break
            last = number == lines - 1
            if last:
                line = line[:max(1, len(line) * int(self.rng.integers(3, 10)) // 10)]
            room = (self.px(width) - sum(face.getlength(w) for w in line)) / max(1, len(line) - 1)
            room = room if justified and not last and 0 < room < 4 * space else space
            at = self.px(x)
            for word in line:
                self.draw.text((at, self.px(y)), word, 255, face, "ls")
                at += face.getlength(word) + room
            self.words += line
            y += points * leading
        return y

    def body(self, x, y, width, points, bottom, **how):
        """Paragraphs, some with headings, down to `bottom`."""
        while y < bottom - 3 * points:
            if self.rng.random() < 0.25:
                self.text(x, y + points * 0.6, " ".join(self.next_words(3)),
                          self.face(points * 1.4))
                y += points * 2.4
            lines = min(int(self.rng.integers(3, 12)), int((bottom - y) / (points * 1.25)))
            y = self.paragraph(x, y, width, points, max(1, lines), **how) + points * 0.5
        return y


def draw_text_kinds(sheet, kind):
    rng, width, height = sheet.rng, sheet.width, sheet.height
    if kind in ("book", "ragged", "small"):
        points = rng.uniform(6, 7.5) if kind == "small" else rng.uniform(9, 13)
        left = rng.uniform(50, 90)
        sheet.body(left, 80, width - 2 * left, points, height - 80, justified=kind != "ragged",
                   leading=rng.uniform(1.15, 1.5))
        sheet.text(width / 2, height - 45, str(rng.integers(1, 400)), sheet.face(10), "ms")
    elif kind == "columns":
        count, gap, left = int(rng.integers(2, 4)), 18, 50
        column = (width - 2 * left - gap * (count - 1)) / count
        points = rng.uniform(7, 10)
        sheet.text(width / 2, 75, " ".join(sheet.next_words(4)), sheet.face(22), "ms")
        for i in range(count):  # the columns do not share their baselines
            sheet.body(left + i * (column + gap), 110 + rng.uniform(0, 9), column, points,
                       height - 60, justified=rng.random() < 0.7)
    elif kind == "letter":
        sheet.box(60, 45, 60 + rng.uniform(40, 110), 95, True,
                  ("ellipse", "rectangle")[rng.integers(2)])
        points = rng.uniform(10, 12)
        y = 150
        for _ in range(4):
            y = sheet.paragraph(72, y, 150, points, 1)
        y = 280
        for _ in range(int(rng.integers(1, 4))):
            y = sheet.paragraph(72, y, width - 144, points, int(rng.integers(2, 7)),
                                justified=rng.random() < 0.5) + points
        swing = np.linspace(0, 9, 60)
        sheet.draw.line([(sheet.px(80 + 12 * s), sheet.px(y + 30 + 12 * np.sin(2.3 * s)))
                         for s in swing], 255, max(1, round(sheet.px(1))))
    elif kind == "few":
        sheet.paragraph(rng.uniform(60, 100), rng.uniform(90, 400), width - 200,
                        rng.uniform(10, 16), int(rng.integers(2, 6)), justified=False)
    elif kind == "title":
        y = rng.uniform(150, 250)
        for _ in range(int(rng.integers(3, 8))):
            points = rng.uniform(16, 30)
            sheet.text(width / 2, y, " ".join(sheet.next_words(2 if points > 22 else 4)),
                       sheet.face(points), "ms")
            y += points * rng.uniform(1.4, 2.4)
    elif kind == "listing":
        file, points = sheet.pick(FIXED), rng.uniform(8, 11)
        y = 70
        while y < height - 60:
            indent = 2 * int(rng.integers(0, 5))
            sheet.paragraph(60 + indent * points * 0.6, y, rng.uniform(100, 350), points, 1, False,
                            file=file)
            y += points * 1.2 * (1 + (rng.random() < 0.12))


def draw_ruled_kinds(sheet, kind):
    rng, width = sheet.rng, sheet.width
    if kind == "table":
        points, rows = rng.uniform(8, 11), int(rng.integers(8, 30))
        xs = np.linspace(60, width - 60, int(rng.integers(3, 7)) + 1)
        y, pitch = 90, points * rng.uniform(1.5, 2.2)
        top = y - points * 1.2
        for row in range(rows):
            for x in xs[:-1]:
                words = str(rng.integers(1, 9999)) if rng.random() < 0.4 else sheet.next_words(1)[0]
                sheet.text(x + 4, y, words[:11], sheet.face(points))
            y += pitch
            if rng.random() < 0.9 or row == rows - 1:
                sheet.rule(60, y - points * 1.2, width - 60, y - points * 1.2, rng.uniform(0.4, 1))
        if rng.random() < 0.5:
            for x in xs:
                sheet.rule(x, top, x, y - points * 1.2)
    elif kind == "staves":
        gap = rng.uniform(4, 6)
        y = 80
        while y < sheet.height - 80 - 5 * gap:
            for line in range(5):
                sheet.rule(50, y + line * gap, width - 50, y + line * gap, 0.5)
            for x in np.arange(80, width - 60, rng.uniform(14, 26)):
                at = y + gap / 2 * rng.integers(-1, 9)
                sheet.box(x, at, x + gap * 1.3, at + gap, True, "ellipse")
                sheet.rule(x + gap * 1.3, at + gap / 2, x + gap * 1.3, at - gap * 3, 0.7)
            for x in (50, width / 2, width - 50):
                sheet.rule(x, y, x, y + 4 * gap)
            y += gap * rng.uniform(8, 14)
    elif kind == "form":
        y = 90
        sheet.text(60, 70, " ".join(sheet.next_words(3)), sheet.face(16))
        while y < sheet.height - 120:
            count = int(rng.integers(1, 4))
            xs = np.linspace(60, width - 60, count + 1)
            for x0, x1 in zip(xs, xs[1:]):
                sheet.box(x0, y, x1 - 8, y + 26)
                sheet.text(x0 + 3, y + 8, sheet.next_words(1)[0][:14], sheet.face(7))
                if rng.random() < 0.6:
                    sheet.text(x0 + 8, y + 22, sheet.next_words(1)[0][:14], sheet.face(10))
            y += rng.uniform(34, 48)


def draw(rng, half, dpi, kind, inches=INCHES):
    sheet = Sheet(rng, half, dpi, inches)
    draw_text_kinds(sheet, kind)
    draw_ruled_kinds(sheet, kind)
    return sheet


def smooth(rng, size, cells):
    """Smooth noise of about so many cells across, 0..1."""
    rough = rng.random((round(cells * 1.4) + 2, cells + 2)).astype(np.float32)
    return np.asarray(Image.fromarray(rough).resize(size, Image.BICUBIC)).clip(0, 1)


def degrade(rng, ink, through, angle, turns, dpi, how):
    """The scan of a sheet that lies turned on the glass."""
    paper, black = rng.uniform(200, 250), rng.uniform(10, 90)
    if how == "clean":
        paper, black = 255, 0
    page = paper - (paper - black) * (np.asarray(ink, np.float32) / 255)
    if through is not None:
        back = through.transpose(Image.FLIP_LEFT_RIGHT).filter(ImageFilter.GaussianBlur(dpi / 100))
        page -= rng.uniform(0.05, 0.18) * paper * np.asarray(back, np.float32) / 255
    image = Image.fromarray(page.clip(0, 255).astype(np.uint8))
    image = image.rotate(90 * turns, expand=True)
    surround = how == "surround"
    if surround:  # the sheet is smaller than the glass, and what is around it is black
        image = image.resize((image.width * 9 // 10, image.height * 9 // 10), Image.BICUBIC)
        glass = Image.new("L", (image.width * 10 // 9, image.height * 10 // 9), 8)
        glass.paste(image, ((glass.width - image.width) // 2, (glass.height - image.height) // 2))
        image = glass
    image = image.rotate(angle, Image.BICUBIC, fillcolor=8 if surround else round(paper))
    if how == "clean":
        return image
    page = np.asarray(image, np.float32)
    if how in ("shaded", "surround", "edges") and rng.random() < 0.7:
        page = page * (1 - rng.uniform(0.1, 0.45) * smooth(rng, image.size, 2))
    if how == "edges":  # black strips along two sides of the picture, which are not turned
        page = page.copy()
        page[:, :round(page.shape[1] * rng.uniform(0.01, 0.07))] = 6
        page[-round(page.shape[0] * rng.uniform(0.01, 0.05)):] = 6
    image = Image.fromarray(page.clip(0, 255).astype(np.uint8))
    image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.8) * max(1, dpi / 200)))
    page = np.asarray(image, np.float32)
    page = page + rng.uniform(1, 14) * rng.standard_normal(page.shape, np.float32)
    if how == "bilevel":
        page = np.where(page < (paper + black) / 2, 0, 255)
    return Image.fromarray(page.clip(0, 255).astype(np.uint8))


def curved(image, rng):
    """The page of an open book: lines bend down towards one side."""
    page = np.asarray(image)
    x = np.linspace(0, 1, page.shape[1])[::rng.choice((-1, 1))]
    bend = rng.uniform(0.015, 0.03) * page.shape[0] * np.clip((x - 0.35) / 0.65, 0, 1) ** 2
    rows = np.clip(np.arange(page.shape[0])[:, None] - bend[None, :].round().astype(int), 0, None)
    return Image.fromarray(np.take_along_axis(page, rows, 0))


def make(seed, half="b", kind=None, dpi=None, angle=None, turns=0, how=None, curve=False):
    """Makes a page; what is not given is drawn from the seed."""
    rng = np.random.default_rng([seed, ord(half)])
    kind = kind or KINDS[seed % len(KINDS)]
    drawn_dpi = int(rng.choice(RESOLUTIONS))
    drawn_angle = float(rng.choice([rng.uniform(-most, most) for most in (1, 5, 9.5)]))
    dpi = dpi or drawn_dpi
    angle = drawn_angle if angle is None else angle
    how = how or str(rng.choice(["clean", "plain", "shaded", "surround", "edges", "bilevel"]))
    sheet = draw(rng, half, dpi, kind)
    through = draw(rng, half, dpi, "book").image if rng.random() < 0.2 else None
    ink = curved(sheet.image, rng) if curve else sheet.image
    image = degrade(rng, ink, through, angle, turns, dpi, how)
    shape = "curved-" if curve else ""
    name = f"{half}{seed:04}-{shape}{kind}-{how}-{dpi}-{sheet.file.split('.')[0]}"
    return Page(image, name, kind, angle, turns, dpi, sheet.words)
