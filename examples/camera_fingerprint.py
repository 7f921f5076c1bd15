#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes the fingerprint of a camera, and tells whether a picture is from it.

    examples/camera_fingerprint.py take camera.npy FILE... [--picture fingerprint.png]
    examples/camera_fingerprint.py compare camera.npy FILE...

The pixels of a sensor are not equally sensitive; this pattern is the fingerprint. A frame minus its
3x3 median leaves noise, edges and the pattern. The mean over many frames leaves the pattern: the
more frames, the better. Files are pictures or videos of one size that were neither scaled nor
rotated. Pictures of bright, even areas such as the sky are best. `compare` prints, for each file,
the correlation of its noise with the fingerprint. For another camera it is near 0: at most 3 or 4
divided by the square root of the number of pixels. For the same camera it is several times as much.

Needs python3-numpy, python3-pil and the environment of `meson devenv -C build -w .`.
"""
import argparse
import os
import sys

import numpy as np
from PIL import Image

import pipelines


def residues(file):
    """Each frame minus its median."""
    reader, writer = os.pipe()
    chain = ("! tee name=frame  frame. ! queue ! pnmenc ! fdsink  frame. ! queue ! "
             f"cudaswofilter operator=median border=replicate ! pnmenc ! fdsink fd={writer}")
    process = pipelines.launch([*pipelines.gray(file), *chain.split()], pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader, "rb") as medians, process.stdout as frames:
        while (frame := pipelines.read_pgm(frames)) is not None:
            median = pipelines.read_pgm(medians)
            if median is not None:
                yield frame.astype(np.float32) - median
    pipelines.finish(process, file)


def noise_of(files):
    """The mean residue without the means of whole rows and columns: these come from the
    electronics, which all cameras of a model share, and from compression."""
    total, n = None, 0
    for file in files:
        for residue in residues(file):
            if total is None:
                total = np.zeros(residue.shape, np.float64)
            if residue.shape != total.shape:
                sys.exit(f"{file}: its size is {residue.shape[1]}x{residue.shape[0]}, but the "
                         f"others "
                         f"have {total.shape[1]}x{total.shape[0]}")
            total += residue
            n += 1
    noise = total / n
    noise -= noise.mean(axis=1, keepdims=True)
    return noise - noise.mean(axis=0, keepdims=True), n


def correlation(a, b):
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("take", "compare"))
    parser.add_argument("fingerprint", help="file of the fingerprint")
    parser.add_argument("files", nargs="+", help="pictures or videos")
    parser.add_argument("--picture", help="where to draw the new fingerprint")
    args = parser.parse_args()
    if args.action == "take":
        noise, frames = noise_of(args.files)
        np.save(args.fingerprint, noise.astype(np.float32))
        print(f"{args.fingerprint}: made from {frames} frames")
        if args.picture:
            levels = 128 + 40 * noise / noise.std()
            Image.fromarray(levels.clip(0, 255).astype(np.uint8)).save(args.picture)
        return
    fingerprint = np.load(args.fingerprint)
    for file in args.files:
        noise, _ = noise_of([file])
        if noise.shape != fingerprint.shape:
            print(f"{file}: its size {noise.shape[1]}x{noise.shape[0]} differs from the "
                  f"fingerprint's")
        else:
            print(f"{file}: {correlation(noise, fingerprint):+.4f}")


if __name__ == "__main__":
    main()
