#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures cudascan-scan on pages whose angle, orientation and words are known.

    examples/scan/measure_pages.py [--pages 132] [--half b] [--first 0] [--data FOLDER]
                                   [--measures skew,orientation,blank,crop,resolution,pictures]
                                   [--folder build/examples/scan]

Pages are those of page_maker.py and scan_maker.py. With --data, also the images in FOLDER/pages,
whose angles are listed here, each as it is and turned; and the images in its other folders
(textures, photos, fingerprints, vessels_cracks), which are no pages and must not be turned, as they
are, enlarged and turned. Other programs are measured on the same files where they are installed:
Leptonica (scan-peer-leptonica), unpaper, ImageMagick and Tesseract. --list prints a line for each
page.

A measure is a class with a name and the method report(), which prints a table. measure_scans.py has
those whose pages scan_maker.py makes; measure_pictures.py has one that pastes photographs and needs
--data. To add one, for instance of the words that Tesseract
recognises (Page.words has the truth), write the class and add it to MEASURES.

Needs python3-numpy and python3-pil.
"""
import argparse
import collections
import itertools
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

import measure_resolution
import measure_pictures
import measure_scans
import page_maker
import peers

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRONG = 0.2  # degrees: a page that is turned and further than this from its angle is wrong
RIGHT = 0.1
# Degrees counter-clockwise by Postl's method, and None for pages whose lines are curved.
ANGLES = {
    "music_rondo_skewed": 2.18, "ortiz-02": 0.0, "handwritten_sheet_F1550": 1.22, "notesA1": -0.04,
    "typed_memo_4152x6172": 1.40, "article_colour": 2.78, "w91frag": -0.56, "scots-frag": 0.18,
    "feyn": -0.94, "book_eiteritz1719_p206": -0.65, "8071_093.3B": -0.42, "linn": -0.01,
    "paper_rotated_blackbg": -7.08, "receipt_IMG0003": 0.30, "cat.035": None, "1555.007": None,
}
NO_PAGES = ("textures", "photos", "fingerprints", "vessels_cracks")
PHOTOS_OF_PAGES = ("page",)  # in folders of NO_PAGES
TURNS = (0, -8.13, -4.7, -2.13, 1.2, 3.3, 6.9, 8.4)
FURTHEST = 9.3  # degrees that shared pages may have in the end

Item = collections.namedtuple("Item", "image name group angle turns dpi words")
Verdict = collections.namedtuple("Verdict", "angle turned quarters note")


def gray(path):
    with Image.open(path) as image:
        if not image.mode.startswith("I"):
            return image.convert("L")
        levels = np.asarray(image).astype(float)
    low, high = np.percentile(levels, [1, 99])
    return Image.fromarray(((levels - low) / (high - low) * 255).clip(0, 255).astype(np.uint8))


def turned(image, angle):
    return image.rotate(angle, Image.BICUBIC, fillcolor=255)


def cropped(image, angle):
    """Turned, without the corners."""
    image = image.rotate(angle, Image.BICUBIC)
    edge = int(max(image.size) * math.tan(math.radians(abs(angle))) / 2) + 2 if angle else 0
    return image.crop((edge, edge, image.width - edge, image.height - edge))


def images_in(folder):
    return [path for path in sorted(folder.iterdir()) if path.is_file() and "_gt" not in path.name]


class Run:
    """The programs that are measured; each gives a verdict on each file."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def records(self, paths, *words):
        """What the program says of the pages, in the order of their names."""
        out, stats = self.folder / "out", self.folder / "stats.json"
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([self.options.folder.resolve() / "cudascan-scan", "-q", "--backend=cpu",
                        f"--stats={stats}", "-o", out, *words, *paths], check=True)
        records = json.loads(stats.read_text())["page_list"]  # in the order of completion
        return sorted(records, key=lambda record: record["input"])

    def cudascan(self, paths, *words):
        for record in self.records(paths, *words):
            yield Verdict(record["angle"], record["turned"], record["orientation"] // 90,
                          f"{record['confidence']:.2f} {record.get('not_turned', '')}")

    def leptonica(self, paths):
        program = self.options.folder.resolve() / "scan-peer-leptonica"
        said = subprocess.run([program, "--skew", *paths], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in said.splitlines():
            angle, confidence = map(float, line.split())
            yield Verdict(angle, confidence >= 3 and abs(angle) >= 0.01, 0, f"{confidence:.2f}")

    def unpaper(self, paths):
        for path in paths:
            with Image.open(path) as page:
                page.convert("L").save(self.folder / "page.pgm")
            said = subprocess.run(
                ["unpaper", "-vv", "--overwrite", "--no-blackfilter", "--no-noisefilter",
                 "--no-blurfilter", "--no-grayfilter", "--no-mask-center", "--no-border-align",
                 self.folder / "page.pgm", self.folder / "page.pbm"], text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
            angle = 0.0
            for line in said.splitlines():
                if line.strip().startswith("rotate ("):  # rotate (x,y): radians
                    angle = -math.degrees(float(line.rsplit(":", 1)[1]))
            yield Verdict(angle, angle != 0, 0, "")

    def magick(self, paths):
        for path in paths:
            said = subprocess.run(["convert", path, "-deskew", "40%", "-format",
                                   "%[deskew:angle]", "info:"], text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            angle = -float(said or 0)
            yield Verdict(-angle, angle != 0, 0, "")

    def upright(self, paths):
        return self.cudascan(paths, "--orientation=auto")

    def osd(self, paths):
        """Tesseract's orientation, where it is confident."""
        for path in paths:
            said = subprocess.run(["tesseract", path, "-", "--psm", "0"], text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            facts = dict(line.split(": ", 1) for line in said.splitlines() if ": " in line)
            clockwise = int(facts.get("Rotate", 0))  # that would make it upright
            confidence = float(facts.get("Orientation confidence", 0))
            yield Verdict(0, False, clockwise // 90 if confidence >= 2 else 0, f"{confidence}")

    def tools(self):
        """Names and functions of the installed programs."""
        named = {"cudascan-scan": self.cudascan,
                 "Leptonica": self.leptonica, "unpaper": self.unpaper, "ImageMagick": self.magick}
        return peers.installed(self.options, named)

    def verdicts(self, items, tool):
        """Pairs of items and verdicts. Pages are made and measured some at a time."""
        items = iter(items)
        while part := list(itertools.islice(items, 16)):
            paths = []
            for number, item in enumerate(part):
                paths.append(self.folder / f"{number:03}.png")
                item.image().save(paths[-1], dpi=(item.dpi, item.dpi), compress_level=1)
            yield from zip(part, tool(paths))


class Skew:
    """How exactly pages are straightened, and what is left alone."""
    name = "skew"

    def items(self, options):
        for seed in range(options.first, options.first + options.pages):
            page = page_maker.make(seed, options.half)
            yield Item(lambda page=page: page.image, page.name, "printed", page.angle, 0, page.dpi,
                       page.words)
        for seed in range(options.first, options.first + options.pages // 8):
            page = page_maker.make(seed, options.half, kind="book", curve=True)
            yield Item(lambda page=page: page.image, page.name, "curved", None, 0, page.dpi, [])
        if options.data:
            yield from self.shared(options.data)

    def shared(self, data):
        for path in images_in(data / "pages"):
            true = ANGLES.get(path.stem)
            for angle in TURNS:
                if true is None or abs(true + angle) <= FURTHEST:
                    yield Item(lambda p=path, a=angle: turned(gray(p), a), f"{path.name} {angle}",
                               "curved" if true is None else path.name,
                               None if true is None else true + angle, 0, 300, [])
        for folder in NO_PAGES:
            for path in images_in(data / folder):
                if path.stem in PHOTOS_OF_PAGES:
                    continue
                for angle in (0, -7.3, -2.6, 1.7, 4.9):
                    for scale in (1, 3):
                        for turn in (cropped, turned)[:1 if angle == 0 else 2]:
                            def image(path=path, angle=angle, scale=scale, turn=turn):
                                made = turn(gray(path), angle)
                                return made.resize([scale * side for side in made.size],
                                                   Image.BICUBIC)
                            yield Item(image, f"{path.name} {angle} x{scale} {turn.__name__}",
                                       folder, None, 0, 300, [])

    def report(self, options, run):
        items = list(self.items(options))
        print(f"{len(items)} pages of half {options.half}, {options.first} on\n")
        print("| program | pages | images | turned | right | wrong | median error | largest |")
        print("|---|---|---|---|---|---|---|---|")
        for tool_name, tool in run.tools().items():
            groups = collections.defaultdict(list)
            for item, verdict in run.verdicts(items, tool):
                groups[item.group].append((item, verdict))
                if options.list:
                    print(f"    {item.name:60} true {item.angle} found {verdict.angle:.3f} "
                          f"{'turned' if verdict.turned else 'kept'} {verdict.note}")
            for group, pairs in groups.items():
                print(self.row(tool_name, group, pairs), flush=True)

    @staticmethod
    def row(tool, group, pairs):
        """A line of the table. Pages that a turn would not change count as turned."""
        acted = [(item, verdict) for item, verdict in pairs if verdict.turned]
        if pairs[0][0].angle is None:
            return f"| {tool} | {group} | {len(pairs)} | {len(acted)} | | {len(acted)} | | |"
        errors = []
        wrong = 0
        for item, verdict in pairs:
            left = abs(item.angle - (verdict.angle if verdict.turned else 0))
            right = left <= RIGHT
            errors.append((left, right))
            wrong += verdict.turned and left > WRONG
        found = [left for (left, _), (_, verdict) in zip(errors, pairs) if verdict.turned]
        median = f"{statistics.median(found):.3f} | {max(found):.3f}" if found else "|"
        return (f"| {tool} | {group} | {len(pairs)} | {len(acted)} | "
                f"{sum(right for _, right in errors)} | {wrong} | {median} |")


class Orientation:
    """Which pages that lie on their side or upside down are turned, and which upright ones."""
    name = "orientation"

    def items(self, options):
        for seed in range(options.first, options.first + options.pages):
            for turns in (0, 1 + seed % 3):
                page = page_maker.make(seed, options.half, turns=turns)
                yield Item(lambda page=page: page.image, page.name, page.kind, page.angle, turns,
                           page.dpi, page.words)
        for path in images_in(options.data / "pages") if options.data else []:
            if path.stem == "receipt_IMG0003":  # it lies on its side
                continue
            for turns in range(4):
                yield Item(lambda p=path, t=turns: gray(p).rotate(90 * t, expand=True), path.name,
                           "shared pages", None, turns, 300, [])

    def report(self, options, run):
        items = list(self.items(options))
        named = {"cudascan-scan --orientation=auto": run.upright}
        wanted = not options.tools or "Tesseract" in options.tools.split(",")
        if wanted and shutil.which("tesseract"):
            named["Tesseract, confidence from 2 on"] = run.osd
        print("| program | pages | upright | turned | lying otherwise | put right | put wrong |")
        print("|---|---|---|---|---|---|---|")
        for tool_name, tool in named.items():
            groups = collections.defaultdict(list)
            for item, verdict in run.verdicts(items, tool):
                groups[item.group].append((item, verdict))
                if options.list:
                    print(f"    {item.name:60} true {item.turns} found {verdict.quarters}")
            for group, pairs in groups.items():
                upright = [verdict.quarters for item, verdict in pairs if item.turns == 0]
                others = [(item.turns, verdict.quarters) for item, verdict in pairs if item.turns]
                right = sum(true == found for true, found in others)
                wrong = sum(found not in (0, true) for true, found in others)
                print(f"| {tool_name} | {group} | {len(upright)} | {sum(map(bool, upright))} | "
                      f"{len(others)} | {right} | {wrong} |", flush=True)


MEASURES = {measure.name: measure
            for measure in (Skew, Orientation, measure_scans.Blank, measure_scans.Crop,
                            measure_resolution.Resolution, measure_pictures.Pictures)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=132)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--half", choices=("a", "b"), default="b")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/examples/scan")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--measures", default=",".join(MEASURES))
    parser.add_argument("--tools", help="names of programs, with commas; all that are installed")
    parser.add_argument("--list", action="store_true", help="print a line for each page")
    options = parser.parse_args()
    for name in options.measures.split(","):
        if name not in MEASURES:
            sys.exit(f"--measures={name}: must be of " + ", ".join(MEASURES))
        with tempfile.TemporaryDirectory() as folder:
            MEASURES[name]().report(options, Run(options, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
