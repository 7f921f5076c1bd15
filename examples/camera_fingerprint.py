#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes the fingerprint of a camera, and tells whether a picture is from it.

    examples/camera_fingerprint.py take camera.npy FILE... [--picture fingerprint.png]
    examples/camera_fingerprint.py compare camera.npy FILE...

The pixels of a sensor are not equally sensitive. What a frame has more than its median of 3x3 pixels is
noise, edges and this pattern; the mean over many frames, the more the better, is the pattern. Files are
pictures or videos of one size, neither scaled nor turned; pictures of bright, even things such as the sky
are best. `compare` prints the correlation of the noise of each file with the fingerprint: near 0, up to
3 or 4 divided by the square root of the number of pixels, for another camera, and several times as much
for the same one.

Needs python3-numpy, python3-pil and the environment of `meson devenv -C build -w .`.
"""
import argparse
import os
import sys

import numpy as np
from PIL import Image

import pipelines


def residues(file):
    """Each frame less its median."""
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
    """The mean residue, without what whole rows and columns have: that is in the electronics of all
    cameras of a kind, and in compression."""
    total, n = None, 0
    for file in files:
        for residue in residues(file):
            if total is None:
                total = np.zeros(residue.shape, np.float64)
            if residue.shape != total.shape:
                sys.exit(f"{file}: its size {residue.shape[1]}x{residue.shape[0]} is not that of the "
                         f"others, {total.shape[1]}x{total.shape[0]}")
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
    parser.add_argument("--picture", help="where to draw the fingerprint that is taken")
    args = parser.parse_args()
    if args.action == "take":
        noise, frames = noise_of(args.files)
        np.save(args.fingerprint, noise.astype(np.float32))
        print(f"{args.fingerprint}: of {frames} frames")
        if args.picture:
            levels = 128 + 40 * noise / noise.std()
            Image.fromarray(levels.clip(0, 255).astype(np.uint8)).save(args.picture)
        return
    fingerprint = np.load(args.fingerprint)
    for file in args.files:
        noise, _ = noise_of([file])
        if noise.shape != fingerprint.shape:
            print(f"{file}: another size than the fingerprint, {noise.shape[1]}x{noise.shape[0]}")
        else:
            print(f"{file}: {correlation(noise, fingerprint):+.4f}")


if __name__ == "__main__":
    main()
