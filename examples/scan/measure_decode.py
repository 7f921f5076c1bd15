#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages a second of cudascan-scan with JPEG files that the CPU or a GPU decodes (--decode).

    examples/scan/measure_gpus.py --make FOLDER
    examples/scan/measure_decode.py --scans FOLDER [--pages 400] [--decode cpu gpu gpu-kernels]
        [--jobs 16 24 32] [--program cudascan-scan] [--folder /dev/shm] [-- OPTION...]

It needs only Python and the program. The scans are used in turn for so many pages, in memory. Each
line of the table is one run: pages a second, the milliseconds of all cores that a page takes, those
of its stages in its worker (which sleeps while the GPU works), the share of the time in which the
GPU had work, and what decoded how many pages. Before it, the first pages are made by each decoder,
--verbose says what it uses, and their pixels are compared with those of the first decoder.
Those of nvJPEG differ from libjpeg's by a level or two, and so do a few at the edges of letters."""
import argparse
import collections
import json
import pathlib
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib

COMPARED = 4
STAGES = ("read_ms", "straighten_ms", "clean_ms", "write_ms")


def bits_of(path):
    """The pixels of a black and white PNG as one number, and how many there are."""
    data = path.read_bytes()
    at, packed, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        header = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    width, height, depth = header[:3]
    raw, row_bytes = zlib.decompress(packed), (width * depth + 7) // 8
    above, pixels = bytes(row_bytes), bytearray()
    for y in range(height):
        start = y * (row_bytes + 1)
        row = bytearray(raw[start + 1:start + 1 + row_bytes])
        undo(raw[start], row, above)
        pixels += row
        above = row
    return int.from_bytes(pixels, "big"), width * height * depth


def undo(kind, row, above):
    """Undoes a filter of PNG, for pixels of at most one byte."""
    if kind == 0:
        return
    for i, value in enumerate(row):
        left, up, corner = (row[i - 1] if i else 0), above[i], (above[i - 1] if i else 0)
        near = [abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)]
        paeth = (left, up, corner)[near.index(min(near))]
        row[i] = (value + (0, left, up, (left + up) // 2, paeth)[kind]) & 255


class Runs:
    def __init__(self, options, folder):
        self.options, self.folder, self.pages = options, folder, folder / "pages"
        self.pages.mkdir()
        scans = sorted(options.scans.iterdir())
        for number in range(options.pages):
            scan = scans[number % len(scans)]
            copy = self.pages / f"{number:05}{scan.suffix}"
            if number < len(scans):
                shutil.copyfile(scan, copy)
            else:
                copy.hardlink_to(self.pages / f"{number % len(scans):05}{scan.suffix}")

    def run(self, decode, *words):
        out, stats = self.folder / "out", self.folder / "stats.json"
        shutil.rmtree(out, ignore_errors=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([self.options.program, "--backend=cuda", "--decode=" + decode, "-o", out,
                        "--stats", stats, *words, *self.options.options], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        core_ms = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return json.loads(stats.read_text()), core_ms

    def compare(self):
        """The first pages by each decoder, and the share of pixels that differ."""
        usual = {}
        first = sorted(self.pages.iterdir())[:COMPARED]
        for decode in self.options.decode:
            print(f"--decode={decode}:", flush=True)
            self.run(decode, "--format=png", "--verbose", "--jobs=2", *first)
            for path in sorted((self.folder / "out").glob("*.png")):
                bits, count = bits_of(path)
                share = (usual.setdefault(path.name, bits) ^ bits).bit_count() / count
                print(f"  {path.name}: {100 * share:.4f} % of the pixels differ", flush=True)

    def measure(self):
        print("\n| decode | jobs | pages/s | core ms | read | measure | clean | write | GPU busy | "
              "decoders |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for decode in self.options.decode:
            for jobs in self.options.jobs:
                stats, core_ms = self.run(decode, "--quiet", f"--jobs={jobs}", self.pages)
                pages = stats["page_list"]
                stages = " | ".join(f"{statistics.mean(page[stage] for page in pages):.1f}"
                                    for stage in STAGES)
                decoders = ", ".join(f"{k}: {n}" for k, n in stats.get("decoders", {}).items())
                print(f"| {decode} | {jobs} | {stats['pages_per_second']:.1f} | "
                      f"{core_ms / len(pages):.1f} | {stages} | {100 * stats['gpu_busy']:.0f} % | "
                      f"{decoders} |", flush=True)
                why = collections.Counter(page["not_on_gpu"] for page in pages
                                          if "not_on_gpu" in page)
                for text, count in why.most_common(3):
                    print(f"  {count} pages on the CPU: {text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scans", type=pathlib.Path, required=True)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--decode", nargs="+", default=["cpu", "gpu", "gpu-kernels"])
    parser.add_argument("--jobs", nargs="+", type=int, default=[16, 24, 32])
    parser.add_argument("--program", default="cudascan-scan")
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--no-compare", action="store_true")
    parser.add_argument("options", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        runs = Runs(options, pathlib.Path(name))
        if not options.no_compare:
            runs.compare()
        runs.measure()
    return 0


if __name__ == "__main__":
    sys.exit(main())
