#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   tests/kernels/swofilter/make_reference.py
#
# Prints the table of reference_test.cpp: results of scikit-image (version 0.19.3) for pictures that
# the test makes by the same formulas. Needs python3-skimage.
import numpy as np
from skimage import morphology
from skimage.filters import rank

WIDTH, HEIGHT = 203, 151
HEIGHT_OF_MARKERS = 32  # the default
MASKS = {
    "window=3": np.ones((3, 3), np.uint8),
    "window-width=7 window-height=5": np.ones((5, 7), np.uint8),
    "shape=cross window=9": np.array([[4 in (x, y) for x in range(9)] for y in range(9)], np.uint8),
    "shape=11000;00100;00111": np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 1, 1]],
                                        np.uint8),
}
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)


def noise_at(x, y):
    n = (x * 374761393 + y * 668265263) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    return n ^ (n >> 16)


def pictures():
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.int64)
    noise = noise_at(x, y)
    wave = ((x * x + 2 * y * y) // 97 + 3 * x + 5 * y) % 1024
    deep = (wave * 3 + noise % 1024).astype(np.uint16)
    bilevel = (((x * x + 2 * y * y) // 400 + x * y // 300) % 3 != 0) ^ (noise % 61 == 0)
    return {"gray": (deep // 16).astype(np.uint8), "deep": deep,
            "bilevel": bilevel.astype(np.uint8) * 255}


def fnv1a(picture):
    value = 14695981039346656037
    for byte in np.ascontiguousarray(picture).tobytes():
        value = ((value ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return value


def row(kind, settings, result):
    print('    {"%s", "%s", 0x%016xu},' % (kind, settings, fnv1a(result)))


def ranks(kind, picture):
    for settings, mask in MASKS.items():
        row(kind, "operator=median " + settings, rank.median(picture, mask))
        row(kind, "operator=mode " + settings, rank.modal(picture, mask))
        for percentile in (12.5, 100):  # exact in binary, as scikit-image computes with fractions
            row(kind, "operator=rank percentile=%g %s" % (percentile, settings),
                rank.percentile(picture, mask, p0=percentile / 100))


def reconstructions(kind, picture):
    largest = np.iinfo(picture.dtype).max
    edges = np.zeros(picture.shape, bool)
    edges[[0, -1], :] = edges[:, [0, -1]] = True
    for connectivity, mask in ((8, np.ones((3, 3), np.uint8)), (4, CROSS)):
        def reconstruct(marker, method):
            return morphology.reconstruction(marker, picture, method, mask).astype(picture.dtype)

        common = " connectivity=%d" % connectivity
        if kind != "bilevel":
            lower, higher = np.minimum(picture, HEIGHT_OF_MARKERS), \
                np.minimum(largest - picture, HEIGHT_OF_MARKERS)
            grown = reconstruct(picture - lower, "dilation")
            shrunk = reconstruct(picture + higher, "erosion")
            row(kind, "operator=reconstruct" + common, grown)
            row(kind, "operator=h-dome" + common, picture - grown)
            row(kind, "operator=h-basin" + common, shrunk - picture)
        filled = reconstruct(np.where(edges, picture, largest), "erosion")
        row(kind, "operator=fill-holes" + common, filled)
        cleared = picture - reconstruct(np.where(edges, picture, 0), "dilation")
        row(kind, "operator=clear-border" + common, cleared)


made = pictures()
print("    // clang-format off")
for kind in "gray", "deep":
    ranks(kind, made[kind])
for kind in "gray", "deep", "bilevel":
    reconstructions(kind, made[kind])
# Its first step is the second step of Guo and Hall, so everything is rotated by 180 degrees.
turned = made["bilevel"][::-1, ::-1]
for passes in 0, 1, 3:
    settings = " thinning=guo-hall iterations=%d" % passes
    thinned = morphology.thin(turned, max_iter=passes or None)[::-1, ::-1]
    row("bilevel", "operator=thin" + settings, thinned.astype(np.uint8) * 255)
    thickened = ~morphology.thin(turned == 0, max_iter=passes or None)[::-1, ::-1]
    row("bilevel", "operator=thicken" + settings, thickened.astype(np.uint8) * 255)
print("    // clang-format on")
