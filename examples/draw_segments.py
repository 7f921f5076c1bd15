#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws which pixels are in a segment of cudalinearopen.

    examples/draw_segments.py segments.svg

The pixels are computed as kernels/linearopen/digital_lines.h says: at the angles drawn here, the
library uses exactly these.
"""
import argparse
import math

CELL = 13
COLOURS = {"segment": "#b9cfe8", "centre": "#1f5fa8", "outside": "#e6e6e6", "empty": "#ffffff"}
LINES = ("#b9cfe8", "#f3cf9d", "#bfe0b5", "#e4bfdc", "#f2eda6", "#b5e3df")
ANGLES = (0, 30, 90, 135)


class Direction:
    """The same as lines::Direction of the library."""

    FRACTION = 20

    def __init__(self, angle):
        angle %= 180
        radians = math.radians(angle)
        self.steep = 45 <= angle < 135
        along, across = ((math.sin(radians), math.cos(radians)) if self.steep
                         else (math.cos(radians), math.sin(radians)))
        self.slope = round(abs(across / along) * 2 ** self.FRACTION)
        # y grows downwards on the screen.
        self.rising = angle > 90

    def shift(self, t):
        n = (abs(t) * self.slope + 2 ** (self.FRACTION - 1)) >> self.FRACTION
        return n if (t >= 0) == self.rising else -n

    def segment(self, length):
        """Offsets from the centre."""
        offsets = range(-(length // 2), (length - 1) // 2 + 1)
        return [(self.shift(t), t) if self.steep else (t, self.shift(t)) for t in offsets]

    def number(self, x, y):
        """Number of the partition's line that contains a pixel."""
        return x - self.shift(y) if self.steep else y - self.shift(x)


class Drawing:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="white"/>']

    def text(self, x, y, text, anchor="start", size=12):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" '
                          f'font-size="{size}">{text}</text>')

    def grid(self, left, top, columns, rows, colour):
        """Cells; colour(x, y) gives the colour of a cell."""
        for y in range(rows):
            for x in range(columns):
                self.parts.append(
                    f'<rect x="{left + x * CELL}" y="{top + y * CELL}" width="{CELL}" '
                    f'height="{CELL}" fill="{colour(x, y)}" stroke="#c8c8c8" stroke-width="0.6"/>')

    def dot(self, left, top, x, y):
        self.parts.append(f'<circle cx="{left + (x + 0.5) * CELL}" cy="{top + (y + 0.5) * CELL}" '
                          f'r="2.6" fill="{COLOURS["centre"]}"/>')

    def ray(self, x, y, angle, length):
        radians = math.radians(angle)
        self.parts.append(f'<line x1="{x}" y1="{y}" x2="{x + length * math.cos(radians):.1f}" '
                          f'y2="{y - length * math.sin(radians):.1f}" stroke="#c03a2b" '
                          'stroke-width="1.4"/>')

    def write(self, path):
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join([*self.parts, "</svg>", ""]))


def draw_segments(drawing, left, top):
    """Lengths 5 and 6 at four angles; the dot is the centre."""
    for row, length in enumerate((5, 6)):
        for column, angle in enumerate(ANGLES):
            x0, y0 = left + column * 9 * CELL, top + row * 8.6 * CELL
            pixels = {(3 + dx, 3 + dy) for dx, dy in Direction(angle).segment(length)}
            drawing.text(x0 + 3.5 * CELL, y0 - 5, f"length {length}, angle {angle}", "middle", 11)
            drawing.grid(x0, y0, 7, 7, lambda x, y: COLOURS[
                "segment" if (x, y) in pixels else "empty"])
            drawing.ray(x0 + 3.5 * CELL, y0 + 3.5 * CELL, angle, 42)
            drawing.dot(x0, y0, 3, 3)


def draw_lines(drawing, left, top):
    """The lines that cut an image at 30 degrees, and the segments of 5 at two pixels of one row."""
    direction, columns, rows = Direction(30), 15, 9
    drawing.text(left, top - 5, "lines=partition: each colour is a line at 30 degrees", size=11)
    centres = ((4, 4), (11, 4))
    drawing.grid(left, top, columns, rows,
                 lambda x, y: LINES[direction.number(x, y) % len(LINES)])
    for x, y in centres:
        number = direction.number(x, y)
        for column in range(x - 2, x + 3):
            outline(drawing, left, top, column, number + direction.shift(column))
        drawing.dot(left, top, x, y)
    left += (columns + 10) * CELL
    drawing.text(left, top - 5, "lines=invariant: the same segment everywhere", size=11)
    drawing.grid(left, top, columns, rows, lambda x, y: COLOURS["empty"])
    for x, y in centres:
        for dx, dy in direction.segment(5):
            outline(drawing, left, top, x + dx, y + dy)
        drawing.dot(left, top, x, y)


def outline(drawing, left, top, x, y):
    drawing.parts.append(f'<rect x="{left + x * CELL + 1}" y="{top + y * CELL + 1}" '
                         f'width="{CELL - 2}" height="{CELL - 2}" fill="{COLOURS["centre"]}" '
                         'fill-opacity="0.35" stroke="#1f5fa8"/>')


def draw_border(drawing, left, top):
    """A segment whose centre is near the border: pixels outside do not count."""
    drawing.text(left, top - 5, "length 7, at a border", size=11)
    pixels = {(6 + dx, 2 + dy) for dx, dy in Direction(30).segment(7)}

    def inside(x, y):
        return x < 7 and y > 1

    drawing.grid(left, top, 11, 7, lambda x, y: COLOURS[
        "segment" if (x, y) in pixels and inside(x, y) else "empty" if inside(x, y) else "outside"])
    for x, y in pixels:
        if not inside(x, y):
            drawing.text(left + (x + 0.5) * CELL, top + (y + 0.8) * CELL, "x", "middle", 11)
    drawing.dot(left, top, 6, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", help="where to write the drawing (SVG)")
    args = parser.parse_args()
    drawing = Drawing(660, 410)
    draw_segments(drawing, 16, 26)
    draw_lines(drawing, 16, 276)
    draw_border(drawing, 500, 26)
    drawing.write(args.output)


if __name__ == "__main__":
    main()
