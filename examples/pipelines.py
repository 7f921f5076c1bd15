# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gray pictures through GStreamer pipelines, for the examples in this folder.

Needs python3-numpy and gst-launch-1.0, which must find the elements: run this in `meson devenv -C
build -w .`.
"""
import io
import subprocess
import sys

import numpy as np


def read_pgm(stream):
    """The next picture of a stream of PGM; None at its end."""
    if stream.readline().strip() != b"P5":
        return None
    line = stream.readline()
    while line.startswith(b"#"):
        line = stream.readline()
    width, height = map(int, line.split())
    stream.readline()  # the largest sample, 255
    return np.frombuffer(stream.read(width * height), np.uint8).reshape(height, width)


def launch(words, **options):
    return subprocess.Popen(["gst-launch-1.0", "-q", *words], stdout=subprocess.PIPE, **options)


def finish(process, what):
    """Ends the program if a pipeline has failed; the pipeline has printed why."""
    if process.wait() != 0:
        sys.exit(f"{what}: the pipeline failed")


def gray(file):
    """The words of a pipeline that begins with any picture or video."""
    return ["filesrc", f"location={file}",
            *"! decodebin ! videoconvert ! video/x-raw,format=GRAY8".split()]


def read(file):
    """A picture from a file, in gray."""
    process = launch([*gray(file), *"! pnmenc ! fdsink".split()])
    picture = read_pgm(process.stdout)
    process.stdout.close()
    finish(process, file)
    return picture


def apply(picture, chain):
    """A picture after a chain of elements."""
    process = launch(f"fdsrc ! pnmdec ! {chain} ! pnmenc ! fdsink".split(), stdin=subprocess.PIPE)
    height, width = picture.shape
    head = b"P5\n%d %d\n255\n" % (width, height)
    result, _ = process.communicate(head + np.ascontiguousarray(picture).tobytes())
    finish(process, chain)
    return read_pgm(io.BytesIO(result))
