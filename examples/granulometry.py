#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how large the things in a picture are, by openings of growing size.

    examples/granulometry.py grains.png
    examples/granulometry.py grains.png --shape line --directions 12 --csv lengths.csv
    examples/granulometry.py page.png --dark --shape line --angle 90 --plot strokes.png

An opening by a line of 9 pixels keeps the bright things that such a line fits into. The volume of
an opening is the sum of its pixels. The spectrum at 9 is the volume of the opening by 9 minus that
of the opening by the next size: what is 9 pixels large and no larger. (P. Maragos, Pattern spectrum
and multiscale shape representation, IEEE Transactions on Pattern Analysis and Machine Intelligence
11(7), 1989.) The sum of the spectrum is the volume of the picture minus that of the last opening.
With --dark, the same is measured for what is dark, by closings: volumes are those of the negative.

Lines are those of cudalinearopen. Other shapes are windows of cudaswofilter, whose size is the side
of the window. Prints a line for each size: size, volume, spectrum, and the share of the spectrum in
the volume of the picture. Pictures are read as 8-bit gray.

Needs python3-gi, python3-numpy, gir1.2-gstreamer-1.0, gir1.2-gst-plugins-base-1.0 and the
environment of `meson devenv -C build -w .`; --plot needs python3-matplotlib.
"""
import argparse
import csv
import sys

import gi
import numpy as np

import pipelines

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402

# The sizes of a shape: the first two and the largest. Each is opened by the one before, so that
# no spectrum is negative. This does not hold for ellipses, whose edges have other steps each time.
SIZES = {"line": (1, 2, 4096), "rectangle": (1, 3, 255), "octagon": (1, 3, 255),
         "hexagon": (3, 7, 255), "ellipse": (1, 3, 255)}


class Opening:
    """An element between appsrc and appsink. Its size is set before each frame."""

    def __init__(self, shape, chain, picture):
        self.size_name = "length" if shape == "line" else "window"
        height, width = picture.shape
        try:
            self.pipeline = Gst.parse_launch(
                f"appsrc name=source format=time caps=video/x-raw,format=GRAY8,width={width},"
                f"height={height},framerate=1/1 ! {chain} name=opening ! "
                "appsink name=sink sync=false")
        except GLib.Error as error:
            sys.exit(error.message)
        self.source, self.element, self.sink = (
            self.pipeline.get_by_name(name) for name in ("source", "opening", "sink"))
        # Rows of a frame begin at multiples of four bytes.
        self.rows = np.zeros((height, (width + 3) // 4 * 4), np.uint8)
        self.rows[:, :width] = picture

    def __call__(self, size):
        self.element.set_property(self.size_name, size)
        self.source.emit("push-buffer", Gst.Buffer.new_wrapped(self.rows.tobytes()))
        bus = self.pipeline.get_bus()
        while (sample := self.sink.emit("try-pull-sample", Gst.SECOND // 10)) is None:
            if error := bus.pop_filtered(Gst.MessageType.ERROR):
                sys.exit(error.parse_error()[0].message)
        info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        buffer = sample.get_buffer()
        meta = GstVideo.buffer_get_video_meta(buffer)
        plane = meta if meta else info
        ok, mapped = buffer.map(Gst.MapFlags.READ)
        if not ok:
            sys.exit("a frame cannot be read")
        try:
            return np.ndarray((info.height, info.width), np.uint8, mapped.data, plane.offset[0],
                              (plane.stride[0], 1)).copy()
        finally:
            buffer.unmap(mapped)

    def __enter__(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        return self

    def __exit__(self, *_):
        self.pipeline.set_state(Gst.State.NULL)


def sizes_of(shape, largest):
    """The sizes after 1, which keeps all."""
    first, second, most = SIZES[shape]
    if not second <= largest <= most:
        sys.exit(f"--largest {largest}: must be {second} to {most} for --shape {shape}")
    return [size for size in range(first, largest + 1, second - first) if size > 1]


def chain_of(args):
    """The element and its settings, except for the size."""
    if args.shape == "line":
        operation = "closing" if args.dark else "opening"
        chain = f"cudalinearopen operation={operation} angle={args.angle}"
        return f"{chain} directions={args.directions} span={args.span}"
    operation = "close" if args.dark else "open"
    return f"cudaswofilter operator={operation} shape={args.shape}"


def volume(picture, dark):
    levels = 255 - picture if dark else picture
    return int(levels.sum(dtype=np.int64))


def spectrum(picture, args):
    """Rows of size, volume, spectrum and share. The last one has no spectrum: nothing is known
    about larger sizes."""
    sizes = sizes_of(args.shape, args.largest)
    with Opening(args.shape, chain_of(args), picture) as opening:
        results = [picture, *map(opening, sizes)]
    volumes = [volume(result, args.dark) for result in results]
    whole = max(volumes[0], 1)
    rows = [(size, here, here - after, (here - after) / whole)
            for size, here, after in zip([1, *sizes], volumes, volumes[1:])]
    return [*rows, ([1, *sizes][-1], volumes[-1], "", "")]


def plot(rows, args):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 3.2), dpi=100)
    known = rows[:-1]
    sizes, shares = [row[0] for row in known], [100 * row[3] for row in known]
    width = 0.8 * min(np.diff([row[0] for row in rows]), default=1)
    axes.bar(sizes, shares, width, color="#1f5fa8")
    axes.set_xlabel("length in pixels" if args.shape == "line" else f"side of the {args.shape} "
                    "in pixels")
    axes.set_ylabel("% of the volume")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(args.plot)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", help="any picture")
    parser.add_argument("--shape", choices=SIZES, default="octagon",
                        help="what is fitted into things (default: octagon)")
    parser.add_argument("--dark", action="store_true", help="measure dark things, by closings")
    parser.add_argument("--largest", type=int, default=41,
                        help="the largest size in pixels (default: 41)")
    parser.add_argument("--angle", type=float, default=0,
                        help="of lines, in degrees counter-clockwise (default: 0)")
    parser.add_argument("--directions", type=int, default=1,
                        help="a line in any of so many directions (default: 1)")
    parser.add_argument("--span", type=float, default=180,
                        help="degrees over which the directions are spread (default: 180)")
    parser.add_argument("--csv", help="where to write the table")
    parser.add_argument("--plot", help="where to draw the spectrum (PNG, SVG or PDF)")
    args = parser.parse_args()
    picture = pipelines.read(args.picture)
    Gst.init(None)
    rows = spectrum(picture, args)
    heads = ("size", "volume", "spectrum", "share")
    print("{:>5} {:>12} {:>12} {:>8}".format(*heads))
    for size, here, part, share in rows:
        print(f"{size:>5} {here:>12} {part:>12} {share if share == '' else f'{share:8.4f}':>8}")
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([heads, *rows])
    if args.plot:
        plot(rows, args)


if __name__ == "__main__":
    main()
