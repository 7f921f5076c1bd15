#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures --dewarp of cudascan-scan on pages whose lines are curved in a known way
(curve_maker.py), next to Leptonica's dewarpSinglePage() (scan-peer-leptonica).

    examples/scan/measure_dewarp.py [--pages 36] [--half b] [--first 0] [--words]
                                    [--folder build/examples/scan] [--list]

Each page is compared with the one that was printed, in parts of half an inch with text: by how much
the rows of a part must be shifted until they are alike. What is left after the best shift and tilt
of the page is the error. --words also lets Tesseract read the pages, and counts the words that were
printed. Needs python3-numpy and python3-pil.
"""
import argparse
import collections
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np
from PIL import Image

import curve_maker

ROOT = pathlib.Path(__file__).resolve().parents[2]


def error_of(path, page):
    """Millimetres that a twentieth of the parts exceed; None if hardly any part is alike."""
    with Image.open(path) as image:
        made = 255 - np.asarray(image.convert("L"), np.float32)
    ink, dpi = np.asarray(page.ink, np.float32), page.dpi
    wide, high, reach = dpi // 2, dpi * 2 // 5, dpi // 4
    found = []
    for x in range(0, ink.shape[1] - wide, wide):
        rows, true = made[:, x:x + wide].sum(1), ink[:, x:x + wide].sum(1)
        for y in range(reach, ink.shape[0] - high - reach, high):
            if (ink[y:y + high, x:x + wide] > 128).mean() < 0.03:
                continue
            part = true[y:y + high] - true[y:y + high].mean()
            best = (0, 0)
            for shift in range(-reach, reach + 1):
                other = rows[y + shift:y + shift + high]
                if other.size < high:
                    continue
                other = other - other.mean()
                norm = np.sqrt((part ** 2).sum() * (other ** 2).sum()) + 1e-9
                best = max(best, ((part * other).sum() / norm, shift))
            if best[0] > 0.6:
                found.append((x, best[1]))
    if len(found) < 8:
        return None
    x, shift = np.array(found, float).T
    equations = np.stack([np.ones_like(x), x], 1)
    rest = shift - equations @ np.linalg.lstsq(equations, shift, rcond=None)[0]
    return float(np.percentile(np.abs(rest), 95) * 25.4 / dpi)


def words_of(path, page):
    """The share of the printed words that Tesseract reads."""
    said = subprocess.run(["tesseract", path, "-", "--psm", "3", "--dpi", str(page.dpi)], text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    printed = collections.Counter(page.words)
    return sum((printed & collections.Counter(said.split())).values()) / max(1, len(page.words))


def measured(options, folder):
    """For each page, the names of programs and the files that they made: of pages that were not
    turned, and of those that were straightened."""
    scan = [options.folder.resolve() / "cudascan-scan", "-q", "--backend=cpu"]
    peer = options.folder.resolve() / "scan-peer-leptonica"

    def made_of(source, name, words):
        made = []
        for how in (words, words[1:]):
            out = folder / f"{name.replace(' ', '-')}{len(how)}"
            subprocess.run([*scan, *how, source, "-o", f"{out}/"], check=True)
            made.append(out / f"{source.stem}.tif")
        return made

    for seed in range(options.first, options.first + options.pages):
        page = curve_maker.make(seed, options.half)
        source = folder / f"{seed}.png"
        page.image.save(source, dpi=(page.dpi, page.dpi))
        files = {}
        for name, words in (("as it is", ["--no-straighten"]),
                            ("cudascan-scan", ["--no-straighten", "--dewarp"])):
            files[name] = made_of(source, name, words)
        if peer.exists():
            flat = folder / f"{seed}-leptonica.png"
            subprocess.run([peer, "--dewarp", source, flat], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            files["Leptonica"] = made_of(flat, "Leptonica", ["--no-straighten"])
        yield page, files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=36)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--half", choices=("a", "b"), default="b")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/examples/scan")
    parser.add_argument("--words", action="store_true", help="let Tesseract read the pages")
    parser.add_argument("--list", action="store_true", help="print a line for each page")
    options = parser.parse_args()
    errors, words = collections.defaultdict(list), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for page, files in measured(options, pathlib.Path(folder)):
            line = {}
            for name, (path, straight) in files.items():
                line[name] = error_of(path, page)
                errors[name].append(line[name])
                if options.words:
                    words[name].append(words_of(straight, page))
            if options.list:
                print(f"    {page.name:30}", line, {n: round(w[-1], 2) for n, w in words.items()},
                      flush=True)
    print("| | pages | measured | median error, mm | below 0.5 mm | words read |")
    print("|---|---|---|---|---|---|")
    for name, found in errors.items():
        known = [error for error in found if error is not None]
        read = f"{100 * statistics.mean(words[name]):.1f} %" if words else ""
        print(f"| {name} | {len(found)} | {len(known)} | {statistics.median(known):.2f} | "
              f"{sum(error < 0.5 for error in known)} | {read} |")


if __name__ == "__main__":
    main()
