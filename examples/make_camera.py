#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes pictures of two cameras to try camera_fingerprint.py on.

    examples/make_camera.py FOLDER [--pictures 20]

The pictures show clouds in different light: a-00.png and so on by one camera, b-00.png and so on by
the other. The sensors have 640x480 pixels; their sensitivities have a standard deviation of 1 %,
and there is photon noise. All are 8-bit gray and the same on every run.

Needs python3-numpy and python3-pil.
"""
import argparse
import pathlib

import numpy as np
from PIL import Image

from make_scenes import SEED, smooth_noise, to_gray

SHAPE = (480, 640)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pictures", type=int, default=20, help="by each camera")
    args = parser.parse_args()
    random = np.random.default_rng(SEED)
    for camera in "ab":
        sensitivity = 1 + 0.01 * random.standard_normal(SHAPE)
        for number in range(args.pictures):
            clouds = smooth_noise(random, SHAPE, 4) + 0.4 * smooth_noise(random, SHAPE, 15)
            light = (0.4 + 0.3 * random.random() + 0.07 * clouds).clip(0, 1)
            picture = to_gray(random, light * sensitivity, 3)
            Image.fromarray(picture).save(args.folder / f"{camera}-{number:02}.png")


if __name__ == "__main__":
    main()
