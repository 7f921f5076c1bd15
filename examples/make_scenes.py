#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes pictures to try cudaequalize, cudaautothreshold and cudaswofilter on.

    examples/make_scenes.py valley.png cells.png [pixels.png]

The first is a valley in the mist at dusk: rows of ridges, each paler than the nearer one, and all
in a narrow range of dark grays. The second is what a fluorescence microscope shows: a few bright
cells, more that are hardly brighter than the background, and noise. The third is the valley by day,
taken by a sensor with hot and dead pixels. All are in 8-bit gray and the same on every run.

Needs python3-numpy and python3-pil.
"""
import argparse

import numpy as np
from PIL import Image, ImageDraw

SEED = 1979


def smooth_noise(random, shape, cells):
    """Noise of deviation 1 with about so many cells across the picture."""
    rough = random.standard_normal((round(cells * shape[0] / shape[1]) + 3, cells + 3))
    noise = np.asarray(Image.fromarray(rough.astype(np.float32))
                       .resize(shape[::-1], Image.BICUBIC))
    return (noise - noise.mean()) / noise.std()


def to_gray(random, light, noise):
    """8-bit gray of light 0..1 as a sensor with this noise sees it."""
    return (255 * light + noise * random.standard_normal(light.shape)).clip(0, 255).round() \
        .astype(np.uint8)


class Valley:
    WIDTH, HEIGHT = 488, 320
    LAYERS = 6
    FINE = 2  # drawn larger, for soft edges

    def __init__(self, random):
        self.random = random
        self.shape = (self.HEIGHT * self.FINE, self.WIDTH * self.FINE)
        self.y, self.x = (np.mgrid[0:self.shape[0], 0:self.shape[1]].astype(np.float32)
                          / self.shape[0])

    def sky(self):
        glow = np.exp(-((self.x - 1.02) ** 2 + (self.y - 0.30) ** 2) / 0.10)
        clouds = smooth_noise(self.random, self.shape, 5) * 0.6 \
            + smooth_noise(self.random, self.shape, 14) * 0.25
        return 0.74 + 0.20 * glow + 0.035 * clouds * (1 - self.y)

    def ridge(self, near):
        """Heights of a skyline; it grows rougher the nearer it is."""
        n = self.shape[1]
        line = np.zeros(n)
        for octave in range(7):
            cells = 3 * 2 ** octave
            points = self.random.standard_normal(cells + 2)
            at = np.linspace(0, cells, n, endpoint=False) + self.random.random()
            t = at % 1
            i = at.astype(int)
            line += 0.56 ** octave * (points[i] + (points[i + 1] - points[i]) * t * t * (3 - 2 * t))
        return 0.34 + 0.58 * near ** 1.15 + 0.052 * (1.25 - near) * line

    def firs(self, skyline, near):
        """A mask of trees that stand on the skyline."""
        mask = Image.new("L", self.shape[::-1], 0)
        draw = ImageDraw.Draw(mask)
        height = self.shape[0]
        for _ in range(int(190 - 120 * near)):
            x = self.random.integers(0, self.shape[1])
            foot = skyline[x] * height + 6
            tall = height * (0.02 + 0.14 * near ** 2.2) * (0.55 + 0.6 * self.random.random())
            for k in range(5):  # tiers of branches
                top, wide = foot - tall * (1 - 0.17 * k), tall * 0.075 * (k + 1)
                draw.polygon([(x, top), (x - wide, top + 0.30 * tall),
                              (x + wide, top + 0.30 * tall)], fill=255)
        return np.asarray(mask) > 0

    def paint(self):
        light = self.sky()
        for layer in range(self.LAYERS):
            near = (layer + 0.6) / self.LAYERS
            skyline = self.ridge(near)
            hill = self.y > skyline[None, :]
            covered = hill | self.firs(skyline, near)
            texture = smooth_noise(self.random, self.shape, 90) * 0.5 \
                + smooth_noise(self.random, self.shape, 260) * 0.5
            depth = (self.y - skyline[None, :]).clip(0, 0.4)
            own = 0.10 + 0.055 * near * texture
            mist = (0.90 - 0.78 * near + 1.1 * depth * (1 - near)).clip(0, 1)
            light = np.where(covered, own * (1 - mist) + 0.78 * mist, light)
        small = Image.fromarray(light.astype(np.float32)).resize((self.WIDTH, self.HEIGHT),
                                                                 Image.LANCZOS)
        return np.asarray(small)

    def photograph(self):
        """Dusk: little light, less of it to the left, little contrast."""
        light = self.paint()
        x = np.linspace(0, 1, self.WIDTH)
        lamp = 0.62 + 0.38 * x[None, :]
        return to_gray(self.random, 0.085 + 0.27 * light * lamp, 0.45)


class SpoiltValley(Valley):
    SHARE = 0.08  # of pixels that are hot or dead

    def photograph(self):
        levels = to_gray(self.random, self.paint(), 2)
        chance = self.random.random(levels.shape)
        return np.where(chance < self.SHARE / 2, 0, np.where(chance < self.SHARE, 255, levels)) \
            .astype(np.uint8)


class Cells:
    SIZE = 360
    KINDS = [(5, 0.62), (40, 0.105)]  # how many, how bright

    def __init__(self, random):
        self.random = random
        self.shape = (self.SIZE, self.SIZE)
        self.y, self.x = np.mgrid[0:self.SIZE, 0:self.SIZE].astype(np.float32)

    def cell(self, x, y, radius, brightness):
        dx, dy = self.x - x, self.y - y
        angle = np.arctan2(dy, dx)
        a, b = 2 * np.pi * self.random.random(2)
        lobes = 1 + 0.14 * np.cos(2 * angle + a) + 0.06 * np.cos(3 * angle + b)
        away = np.hypot(dx, dy) / (radius * lobes)
        body = 0.5 - 0.5 * np.tanh((away - 1) * 4)
        nucleus = np.exp(-(away * 2.2) ** 2)
        return brightness * body * (0.72 + 0.28 * nucleus)

    def photograph(self):
        light = 0.105 + 0.006 * smooth_noise(self.random, self.shape, 5)
        places = []
        for count, brightness in self.KINDS:
            for _ in range(count):
                for _ in range(1000):  # a place that is still free
                    x, y = 16 + (self.SIZE - 32) * self.random.random(2)
                    radius = 8 + 7 * self.random.random()
                    if all(np.hypot(x - u, y - v) > radius + r + 5 for u, v, r in places):
                        break
                places.append((x, y, radius))
                light = light + self.cell(x, y, radius,
                                          brightness * (0.85 + 0.3 * self.random.random()))
        return to_gray(self.random, light, 3.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("valley", help="where to write the valley (PNG)")
    parser.add_argument("cells", help="where to write the cells (PNG)")
    parser.add_argument("pixels", nargs="?", help="where to write the valley with bad pixels (PNG)")
    args = parser.parse_args()
    for path, scene in (args.valley, Valley), (args.cells, Cells), (args.pixels, SpoiltValley):
        if path is None:
            continue
        Image.fromarray(scene(np.random.default_rng(SEED)).photograph()).save(path)


if __name__ == "__main__":
    main()
