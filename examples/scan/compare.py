#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares cudascan-scan with unpaper and a Leptonica program: gray A4 pages at 300 dpi to TIFF G4.

    examples/scan/compare.py [--pages 16] [--jobs 2] [--folder build/examples/scan] [--data FOLDER]

Pages are the sample of make_sample.py at 300 dpi, rotated by -2 to 2 degrees. With --data, also the
images in FOLDER that are scans of at least 2000 pixels, scaled to A4. Each program processes all
pages, --jobs at a time, and the best of --repeat runs counts. unpaper reads PNM and writes PBM. Its
input is converted before the clock starts; compressing its output (pnmtotiff -g4) is part of its
time, because the other programs do that, too.

Needs python3-numpy and python3-pil; unpaper, netpbm and scan-peer-leptonica for the comparison with
these.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
A4 = (2480, 3508)


def sample_pages(folder, count, data):
    """Gray pages of A4 at 300 dpi, as images."""
    sample = folder / "sample.png"
    subprocess.run([sys.executable, ROOT / "examples/make_sample.py", sample, "--scale", "2"],
                   check=True, stdout=subprocess.DEVNULL)
    with Image.open(sample) as image:
        bases = [image.convert("L").resize(A4)]
    for path in sorted(pathlib.Path(data).iterdir()) if data else []:
        try:
            with Image.open(path) as image:
                if min(image.size) > 2000:
                    bases.append(image.convert("L").resize(A4, Image.BICUBIC))
        except OSError:
            continue
    for number in range(count):
        angle = -2 + 4 * number / max(1, count - 1)
        yield bases[number % len(bases)].rotate(angle, resample=Image.BICUBIC, fillcolor=230)


def write_pages(folder, count, data):
    for kind in ("png", "jpg", "pgm"):
        (folder / kind).mkdir()
    for number, page in enumerate(sample_pages(folder, count, data)):
        page.save(folder / f"png/{number:03}.png", dpi=(300, 300))
        page.save(folder / f"jpg/{number:03}.jpg", dpi=(300, 300), quality=90)
        page.save(folder / f"pgm/{number:03}.pgm")


def each(command, inputs, jobs):
    """Runs a shell command for each file ({} is its path), `jobs` at a time."""
    script = f"printf '%s\\n' \"$@\" | xargs -P{jobs} -I{{}} sh -c '{command}'"
    return ["sh", "-c", script, "sh", *map(str, inputs)]


def programs(tools, inputs, out, jobs):
    """Names and command lines of the installed programs."""
    scan, leptonica = tools / "cudascan-scan", tools / "scan-peer-leptonica"
    for kind in ("png", "jpg", "pgm"):
        words = ["--backend=cpu", "-q", f"--jobs={jobs}", inputs / kind, "-o", out]
        yield f"cudascan-scan, {kind}", [scan, *words]
        yield f"--method=nick, {kind}", [scan, *words, "--method=nick"]
    if leptonica.exists():
        for kind in ("png", "jpg"):
            pages = sorted((inputs / kind).iterdir())
            yield f"Leptonica, {kind}", each(f"{leptonica} {out} {{}}", pages, jobs)
    if shutil.which("unpaper") and shutil.which("pnmtotiff"):
        command = f"p={out}/$(basename {{}} .pgm); unpaper -q -t pbm {{}} $p.pbm 2>/dev/null && " \
                  "pnmtotiff -g4 $p.pbm > $p.tif 2>/dev/null; rm -f $p.pbm"
        yield "unpaper, pgm", each(command, sorted((inputs / "pgm").iterdir()), jobs)


def measure(command, out, repeat, pages):
    """Wall and processor seconds per page in the best run."""
    best = None
    for _ in range(repeat):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic()
        subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL)
        wall = time.monotonic() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        made = len(list(out.glob("*.tif")))
        if made != pages:
            raise SystemExit(f"{made} of {pages} pages came out of {command[0]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (wall, cpu), (wall, cpu), key=lambda times: times[0])
    return [seconds / pages for seconds in best]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/examples/scan")
    parser.add_argument("--data")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_pages(folder, options.pages, options.data)
        print(f"{options.pages} pages of {A4[0]}x{A4[1]}, {options.jobs} at a time; "
              f"{os.cpu_count()} cores")
        print(f"{'':24}{'wall ms/page':>14}{'CPU ms/page':>14}{'pages/s':>10}")
        for title, command in programs(options.folder.resolve(), folder, folder / "out",
                                       options.jobs):
            wall, cpu = measure(command, folder / "out", options.repeat, options.pages)
            print(f"{title:24}{1000 * wall:14.1f}{1000 * cpu:14.1f}{1 / wall:10.2f}", flush=True)


if __name__ == "__main__":
    main()
