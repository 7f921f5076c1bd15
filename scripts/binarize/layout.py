# SPDX-License-Identifier: LGPL-2.1-or-later
"""A made page with what single strokes of text are not: headings, a logo, a bar with white text,
small gray print, a photograph, black margins."""
import cv2
import numpy as np
from PIL import Image, ImageDraw

from .paper import Sheet, blurred, font
from .texts import PASSAGES

WIDTH, HEIGHT, EDGE = 1240, 1754, 40  # A4 at 150 dpi; EDGE: the black margins
BODY, BOLD = "LiberationSans-Regular", "DejaVuSans-Bold"
HEADINGS = {25: "Ink", 15: "Paper", 10: "Headings", 5: "Five times as bold"}


def stem(face):
    """Width of the letter I, which is one stroke."""
    left, _, right, _ = face.getbbox("I", anchor="ls")
    return right - left


def photograph(shape, random):
    """Something with the statistics of a photograph: shapes, shades, texture and shadows."""
    h, w = shape
    sheet = Sheet(shape, 150, random)
    y, x = np.mgrid[0:h, 0:w] / h
    picture = 0.75 - 0.25 * y + 0.05 * sheet.cloud(20)  # the sky
    for depth in range(4):  # hills, darker in front
        ridge = (0.35 + 0.15 * depth + 0.08 * np.sin(3 * x * (depth + 1) + depth)
                 + 0.02 * sheet.cloud(6)[0][None, :])
        shade = 0.55 - 0.12 * depth + 0.04 * sheet.cloud(3) + 0.03 * sheet.cloud(0.8)
        picture = np.where(y > ridge, shade, picture)
    for _ in range(25):  # trees
        cx, cy = random.uniform(0, w / h), random.uniform(0.6, 1)
        crown = np.hypot(x - cx, 0.7 * (y - cy + 0.06)) < random.uniform(0.02, 0.07)
        picture = np.where(crown, 0.16 + 0.05 * sheet.cloud(1), picture)
    return blurred(picture.clip(0.05, 0.95).astype(np.float32), 1.0)


class Layout:
    """The reflectance of the page, its truth, and its regions: name -> (y0, y1, x0, x1)."""

    def __init__(self, scale, photo=None):
        self.scale = scale
        size = (WIDTH * scale, HEIGHT * scale)
        self.ink, self.pale = Image.new("L", size, 0), Image.new("L", size, 0)
        self.regions = {}
        random = np.random.default_rng(25)
        body = font(BODY, round(10 * 150 / 72 * scale))
        bold = font(BOLD, 1000)
        draw = ImageDraw.Draw(self.ink)
        y = 60
        for times, text in HEADINGS.items():
            face = font(BOLD, round(times * body.size * stem(font(BODY, 1000)) / stem(bold)))
            height = face.size / scale
            self.region(f"heading x {times}", y, y + 1.1 * height)
            draw.text((100 * scale, y * scale), text, 255, face, "la")
            y += 1.15 * height + 8
        self.region("text", y, y + 186)
        self.lines(draw, PASSAGES[0], body, y, 6, 30)
        y += 200
        self.region("logo", y, y + 230, 100, 460)
        draw.ellipse([v * scale for v in (150, y + 5, 370, y + 225)], 255)
        draw.ellipse([v * scale for v in (210, y + 65, 310, y + 165)], 0)
        self.region("photograph", y, y + 230, 520, 1100)
        y += 250
        self.region("bar", y, y + 60)
        draw.rectangle([v * scale for v in (100, y, 1140, y + 60)], 255)
        draw.text((120 * scale, (y + 14) * scale), "White words on a filled bar, like the head "
                  "of a table or a form", 0, font(BOLD, round(12 * 150 / 72 * scale)))
        y += 80
        self.region("small gray", y, y + 84)
        self.lines(ImageDraw.Draw(self.pale), PASSAGES[1],
                   font(BODY, round(6 * 150 / 72 * scale)), y, 4, 19)
        if y + 92 > HEIGHT - EDGE:
            raise ValueError(f"the page is too short for this: {y:.0f}")
        rows, columns = self.slices("photograph")
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        self.picture = (photograph(shape, random) if photo is None else
                        cv2.resize(photo, shape[::-1], interpolation=cv2.INTER_AREA) / 255)
        ink, pale = (np.asarray(p, np.float32) / 255 for p in (self.ink, self.pale))
        self.truth = ink + pale > 0.5
        paper = 1 - 0.85 * ink - 0.45 * pale
        paper[rows, columns] = 0.1 + 0.85 * self.picture
        self.gray = self.scan(paper, random)

    def region(self, name, y0, y1, x0=60, x1=1180):
        self.regions[name] = (y0, y1, x0, x1)

    def slices(self, name):
        y0, y1, x0, x1 = (round(v * self.scale) for v in self.regions[name])
        return slice(y0, y1), slice(x0, x1)

    def lines(self, draw, text, face, y, number, leading):
        words = text.split()
        for i in range(number):
            line = ""
            while words and face.getlength(f"{line} {words[0]}") < 1040 * self.scale:
                line = f"{line} {words.pop(0)}".strip()
            draw.text((100 * self.scale, (y + i * leading) * self.scale), line, 255, face)

    def inside(self):
        """True on the page, False in the black margins."""
        edge = EDGE * self.scale
        inside = np.zeros(self.truth.shape, bool)
        inside[edge:-edge, edge:-edge] = True
        return inside

    def scan(self, paper, random):
        sheet = Sheet(paper.shape, 150 * self.scale, random)
        inside = blurred(self.inside().astype(np.float32), 1.2 * self.scale)
        paper = 0.9 * paper * sheet.fibres(1) * inside + 0.04 * (1 - inside)
        light = 1 - 0.45 * (0.6 * sheet.x / sheet.width + 0.4 * sheet.y / sheet.height) ** 1.5
        return sheet.light_sensor(paper * light, 0.6, 0.012)
