# SPDX-License-Identifier: LGPL-2.1-or-later
"""Made paper, lamps and sensors: what turns clean print into a scan. Lengths are millimetres."""
import functools
import os
import pathlib
import sys

import cv2
import numpy as np
from PIL import ImageFont

PACKAGES = "fonts-liberation2 fonts-dejavu-core fonts-freefont-ttf fonts-noto-core"


@functools.lru_cache(None)
def font_path(name):
    roots = [pathlib.Path(d, "fonts") for d in
             os.environ.get("XDG_DATA_DIRS", "/usr/local/share:/usr/share").split(":")]
    for root in [*roots, pathlib.Path.home() / ".local/share/fonts"]:
        for path in sorted(root.rglob(name + ".ttf")):
            return str(path)
    sys.exit(f"{name}.ttf was not found; Debian: apt install {PACKAGES}")


def font(name, pixels):
    return ImageFont.truetype(font_path(name), pixels)


def edge(distance, softness):
    """1 where the distance is negative (inside), 0 outside, with a soft step between."""
    return 0.5 - 0.5 * np.tanh(distance / (2 * softness))


def blurred(picture, sigma):
    return cv2.GaussianBlur(picture, (0, 0), sigma) if sigma > 0.15 else picture


class Sheet:
    """A sheet of paper on the glass. All randomness comes from one generator."""

    def __init__(self, shape, dpi, random):
        self.shape, self.random = shape, random
        self.mm = dpi / 25.4  # pixels in a millimetre
        self.height, self.width = shape[0] / self.mm, shape[1] / self.mm
        self.y = (np.arange(shape[0], dtype=np.float32) / np.float32(self.mm))[:, None]
        self.x = (np.arange(shape[1], dtype=np.float32) / np.float32(self.mm))[None, :]

    def cloud(self, size):
        """Smooth noise of mean 0 and deviation 1 with cells of the given size."""
        cell = max(size * self.mm, 1)
        rough = self.random.standard_normal([int(n / cell) + 3 for n in self.shape])
        wide = cv2.resize(rough.astype(np.float32), None, fx=cell, fy=cell,
                          interpolation=cv2.INTER_CUBIC)
        wide = wide[:self.shape[0], :self.shape[1]]
        return (wide - wide.mean()) / max(wide.std(), 1e-6)

    def between(self, low, high):
        return self.random.uniform(low, high)

    def fibres(self, strength):
        """Paper is never even: fibres, their clumps, and large patches."""
        return 1 + strength * (0.010 * self.cloud(0.25) + 0.008 * self.cloud(1.2)
                               + 0.015 * self.cloud(14))

    def dirt(self, amount):
        """Specks of dust: a share of the pixels, softened and pale."""
        dots = (self.random.random(self.shape) > 1 - amount / self.mm ** 2).astype(np.float32)
        size = 0.07 * self.mm
        return 1 - self.between(0.1, 0.3) * (blurred(dots, size) * 8 * size ** 2).clip(0, 1)

    def ring(self, strength):
        """The mark of a cup: a pale disc with a dark and uneven rim."""
        x, y = self.between(0.1, 0.9) * self.width, self.between(0.1, 0.9) * self.height
        away = np.hypot(self.x - x, self.y - y) + 0.4 * self.cloud(15) - self.between(25, 40)
        rim = np.exp(-((away / 1.2) ** 2)) * (0.75 + 0.3 * self.cloud(25)).clip(0, 1)
        return 1 - strength * (rim + 0.35 * edge(away, 0.8))

    def blot(self, strength):
        x, y = self.between(0.1, 0.9) * self.width, self.between(0.1, 0.9) * self.height
        away = np.hypot(self.x - x, (self.y - y) * self.between(0.8, 1.5)) + 2 * self.cloud(12)
        return 1 - strength * edge(away - self.between(6, 20), self.between(0.5, 2.5))

    def fold(self, strength):
        """A crease across: a dark line with a pale one next to it."""
        at = self.between(0.2, 0.8) * self.height + self.between(-0.03, 0.03) * self.x
        away = self.y - at - 0.3 * self.cloud(20)
        return (1 - strength * np.exp(-((away / 0.4) ** 2))
                + 0.4 * strength * np.exp(-(((away - 1) / 0.5) ** 2)))

    def lamp(self, strength):
        """Light that fades to one side or corner."""
        turn = self.between(0, 2 * np.pi)
        along = ((self.x / self.width - 0.5) * np.cos(turn)
                 + (self.y / self.height - 0.5) * np.sin(turn)) + 0.5
        return 1 - strength * along.clip(0, 1.4) ** 1.7

    def vignette(self, strength):
        far = np.hypot(self.x / self.width - 0.5, self.y / self.height - 0.5) / 0.707
        return 1 - strength * far ** 2

    def spine(self, strength):
        """The shadow where the paper bends away from the glass."""
        x = self.x if self.between(0, 1) < 0.5 else self.width - self.x
        return 1 - strength * np.exp(-((x / self.between(8, 16)) ** 1.5)) + 0 * self.y

    def light_sensor(self, signal, sharpness, noise):
        """Optics and a line sensor; the result is 8-bit gray."""
        signal = blurred(signal.astype(np.float32), sharpness)
        shot = np.sqrt(signal.clip(0)) * 1.2 * noise * self.random.standard_normal(self.shape)
        columns = 1 + 0.5 * noise * self.random.standard_normal(self.shape[1])
        signal = signal * columns + shot + 0.5 * noise * self.random.standard_normal(self.shape)
        return (255 * (0.03 + 0.97 * signal)).clip(0, 255).round().astype(np.uint8)


def jpeg(gray, quality):
    data = cv2.imencode(".jpg", gray, [cv2.IMWRITE_JPEG_QUALITY, int(quality)])[1]
    return cv2.imdecode(data, cv2.IMREAD_GRAYSCALE)
