# SPDX-License-Identifier: LGPL-2.1-or-later
"""What happens to documents before and while they are scanned: each change takes a gray page and
its truth and returns both. The random generator is the same for the same page."""
import cv2
import numpy as np

from .paper import Sheet


def scaled(factor):
    def change(gray, truth, _):
        size = [max(round(n * factor), 1) for n in gray.shape[::-1]]
        way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        return (cv2.resize(gray, size, interpolation=way),
                cv2.resize(255 * truth.astype(np.uint8), size, interpolation=way) > 127)
    return change


def rounded(picture):
    return picture.clip(0, 255).round().astype(np.uint8)


def gradient(gray, truth, _):
    """The light falls to 40 % from the upper left to the lower right corner."""
    h, w = gray.shape
    along = (np.arange(w)[None, :] / w + np.arange(h)[:, None] / h) / 2
    return rounded(gray * (1 - 0.6 * along)), truth


def margins(gray, truth, random):
    """A scanner's lid that stays open: black around the page, with noise."""
    n = max(gray.shape[0] // 8, 20)
    gray, truth = (np.pad(p, n, constant_values=c) for p, c in ((gray, 12), (truth, False)))
    noise = 12 + 3 * random.standard_normal(gray.shape)
    inside = np.zeros(gray.shape, np.float32)
    inside[n:-n, n:-n] = 1
    inside = cv2.GaussianBlur(inside, (0, 0), 1.0)
    return rounded(gray * inside + noise * (1 - inside)), truth


def pale(gray, truth, _):
    """Contrast times 0.3 around the page's mean, which stays."""
    return rounded(gray.mean() + 0.3 * (gray.astype(np.float32) - gray.mean())), truth


def noisy(gray, truth, random):
    return rounded(gray + 12 * random.standard_normal(gray.shape)), truth


def stained(gray, truth, random):
    """One wide stain that takes 45 % of the light, with a soft edge, around the middle."""
    h, w = gray.shape
    y, x = np.mgrid[0:h, 0:w]
    away = np.hypot((x - 0.45 * w) / (0.25 * w), (y - 0.5 * h) / (0.35 * h))
    away = away + 0.08 * Sheet(gray.shape, 150, random).cloud(12)
    return rounded(gray * (1 - 0.45 * (0.5 - 0.5 * np.tanh((away - 1) / 0.08)))), truth


def inverted(gray, truth, _):
    return 255 - gray, truth


CHANGES = {
    "as it is": lambda gray, truth, _: (gray, truth),
    **{f"scaled {f:g}": scaled(f) for f in (0.5, 0.7, 1.5, 2, 3)},
    "light gradient": gradient,
    "black margins": margins,
    "contrast x 0.3": pale,
    "noise, sigma 12": noisy,
    "stain": stained,
    "white on black": inverted,
}
