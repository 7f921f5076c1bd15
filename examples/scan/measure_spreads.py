#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures --split=auto of cudascan-scan on made open books and single pages (spread_maker.py).

    examples/scan/measure_spreads.py [--books 120] [--singles 300] [--half b] [--first 0]
                                     [--folder build/examples/scan] [--list]

A book is right if its gutter is found within 2 mm at both ends of the image; a single page if it
stays whole. Pages of books are also compared with what was printed on them: their angles, and
which are blank. Needs python3-numpy and python3-pil.
"""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import tempfile

import spread_maker

ROOT = pathlib.Path(__file__).resolve().parents[2]
AT_ONCE = 12


def records(options, folder, made):
    """What the program says of the images, for each of them a list of its pages."""
    for path in folder.glob("*.png"):
        path.unlink()
    for number, one in enumerate(made):
        one.image.save(folder / f"{number:03}.png", dpi=(one.dpi, one.dpi), compress_level=1)
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([options.folder.resolve() / "cudascan-scan", "-q", "--backend=cpu",
                        "--split=auto", "--blank=aside", "--stats", f"{out}/stats.json",
                        "-o", f"{out}/pages", folder], check=True)
        pages = json.loads(pathlib.Path(f"{out}/stats.json").read_text())["page_list"]
    found = [[] for _ in made]
    for page in pages:
        found[int(pathlib.Path(page["input"]).stem)].append(page)
    return [sorted(one, key=lambda page: page.get("part", "")) for one in found]


def measured(options, folder, make, count):
    """Pairs of what was made and what the program says of it."""
    for begin in range(0, count, AT_ONCE):
        made = [make(options.first + i, options.half)
                for i in range(begin, min(count, begin + AT_ONCE))]
        yield from zip(made, records(options, folder, made))


def report_books(options, folder):
    rows = collections.defaultdict(list)
    blanks = collections.Counter()
    off = []
    for book, pages in measured(options, folder, spread_maker.make, options.books):
        error = None
        if len(pages) == 2:
            error = max(abs(found - true) for found, true in zip(pages[0]["gutter"], book.gutter))
            error *= 25.4 / book.dpi
            for page, angle, words in zip(pages, book.angles, book.words):
                blanks[(not words, page["blank"])] += 1
                if words and page["turned"]:
                    off.append(abs(page["angle"] - angle))
        rows[book.kind].append(error)
        if options.list:
            print(f"    {book.name} {error}")
    print("| open books | images | split | within 2 mm | median error, mm | largest |")
    print("|---|---|---|---|---|---|")
    for kind, errors in rows.items():
        found = [error for error in errors if error is not None]
        near = sum(error <= 2 for error in found)
        middle = f"{statistics.median(found):.2f} | {max(found):.2f}" if found else "|"
        print(f"| {kind} | {len(errors)} | {len(found)} | {near} | {middle} |")
    print(f"\n{len(off)} pages turned back, {sum(error <= 0.15 for error in off)} of them within "
          f"0.15 degrees, the largest error is {max(off):.2f}")
    for (blank, said), count in sorted(blanks.items()):
        print(f"{count} {'blank' if blank else 'printed'} pages were taken for "
              f"{'blank' if said else 'printed'} ones")


def report_singles(options, folder):
    rows = collections.defaultdict(list)
    for single, pages in measured(options, folder, spread_maker.single, options.singles):
        rows[single.kind].append(len(pages) == 2)
        if options.list and len(pages) == 2:
            print(f"    {single.name} was split: {pages[0]}")
    print("\n| single pages | images | split |")
    print("|---|---|---|")
    for kind, split in rows.items():
        print(f"| {kind} | {len(split)} | {sum(split)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=int, default=120)
    parser.add_argument("--singles", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--half", choices=("a", "b"), default="b")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/examples/scan")
    parser.add_argument("--list", action="store_true", help="print a line for each book")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.books:
            report_books(options, pathlib.Path(folder))
        if options.singles:
            report_singles(options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
