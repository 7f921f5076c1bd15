# SPDX-License-Identifier: LGPL-2.1-or-later
"""Character error rates of Tesseract on what the methods make of a page."""
import functools
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np

from . import methods, pages, scores

ASCII = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
                       "\u2013": "-", "\u2014": "-", "\ufb01": "fi", "\ufb02": "fl"})

# One character of a page is about 0.1 %. Whether Tesseract gets a single one right changes with a
# few pixels anywhere in its line, so this much in percent says nothing about a method.
TIE = 0.1


def normalised(text):
    return " ".join(text.translate(ASCII).split())


def distance(a, b):
    """Levenshtein distance, a row of the table at a time."""
    b = np.array([ord(c) for c in b])
    at = np.arange(len(b) + 1)
    row = at.copy()
    for i, c in enumerate(a, 1):
        new = np.concatenate([[i], np.minimum(row[1:] + 1, row[:-1] + (b != ord(c)))])
        row = np.minimum.accumulate(new - at) + at  # insertions
    return int(row[-1])


def error_rate(read, text):
    """Share of characters that are wrong, in percent, at most 100."""
    read, text = normalised(read), normalised(text)
    return min(100.0 * distance(read, text) / len(text), 100.0)


def run(*command):
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


@functools.lru_cache(None)
def version(program):
    return run(program, "--version").splitlines()[0]


class Reader:
    """Tesseract, with a folder in which results are kept by the content of the picture."""

    def __init__(self, cache):
        self.cache = cache
        if cache:
            cache.mkdir(parents=True, exist_ok=True)

    def kept(self, picture, what, make):
        if not self.cache:
            return make()
        key = hashlib.sha256(repr((picture.shape, what)).encode() + picture.tobytes()).hexdigest()
        path = self.cache / key[:40]
        if not path.exists():
            temporary = path.with_suffix(".part")
            temporary.write_bytes(make())
            temporary.replace(path)
        return path.read_bytes()

    def read(self, picture, dpi):
        def make():
            with tempfile.TemporaryDirectory() as folder:
                path = str(pathlib.Path(folder, "page.pgm"))
                cv2.imwrite(path, picture)
                return run("tesseract", path, "-", "--psm", "6", "-l", "eng", "--dpi",
                           str(dpi)).encode()
        return self.kept(picture, (version("tesseract"), dpi), make).decode()

    def unpaper(self, picture, dpi):
        """What unpaper makes of a picture with its defaults.

        It should be black and white: the filter for gray areas deletes text from darker paper.
        """
        def make():
            with tempfile.TemporaryDirectory() as folder:
                source, result = (str(pathlib.Path(folder, n)) for n in ("in.pgm", "out.pgm"))
                cv2.imwrite(source, picture)
                run("unpaper", "--dpi", str(dpi), source, result)
                return pathlib.Path(result).read_bytes()
        data = self.kept(picture, (version("unpaper"), dpi), make)
        return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE)


def pictures(page, ours, reader):
    """The picture to read, by method."""
    made = {name: scores.black(methods.ink(method, page.gray))
            for name, method in {**ours, **methods.classical()}.items()}
    made["Otsu, unpaper"] = reader.unpaper(made["Otsu"], page.dpi)
    made["gray"] = page.gray
    return made


def wins(rates, ours, tie):
    """Share of the pages, in percent, on which each level is as good as another or better.

    A rate that is higher by at most `tie` is as good.
    """
    names = list(rates)
    for level in ours:
        def share(others, level=level):
            return float(100 * np.mean(np.array(rates[level]) <= np.array(others) + tie))
        best = np.min([rates[n] for n in names if n not in ours], axis=0)
        yield [level, *(share(rates[n]) if n != level else "-" for n in names), share(best)]


def losses(found, all_pages, names, ours):
    """Pages on which a level reads more than one percent of the characters worse than others."""
    for level in ours:
        for rival in ("NICK", "best of the others"):
            def loss(page, level=level, rival=rival):
                others = [rival] if rival in names else [n for n in names if n not in ours]
                return found[page, level] - min(found[page, n] for n in others)
            worse = sorted((p for p in all_pages if loss(p) > 1), key=loss, reverse=True)
            yield [level, rival, len(worse), "; ".join(f"{p} ({loss(p):.1f})" for p in worse[:3])]


def summary(found, ours):
    """Prints the tables of {(page, method): rate}."""
    all_pages = list(dict.fromkeys(page for page, _ in found))
    names = list(dict.fromkeys(name for _, name in found))
    groups = {"all": lambda name: True}
    for part in [*(f"{dpi} dpi" for dpi in pages.SIZES), *pages.STRENGTHS,
                 *(f"{n} pt" for n in (6, 8, 10, 12))]:
        groups[part] = lambda name, part=part: (
            name.startswith(part) if "dpi" in part else f" {part}" in name)
    rows = []
    for group, belongs in groups.items():
        some = [p for p in all_pages if belongs(p)]
        if some:
            rows.append([group, len(some),
                         *(float(np.mean([found[p, n] for p in some])) for n in names)])
    print("Mean character error rate in percent:\n")
    scores.table(["pages", "number", *names], rows)
    rates = {n: [found[p, n] for p in all_pages] for n in names}
    for tie, what in ((TIE, f"; {TIE:g} % more of the characters is no worse"), (0, ", exactly")):
        print("Share of the pages, in percent, on which a level reads as well as another or better"
              f"{what}:\n")
        scores.table(["level", *names, "all but ours"], list(wins(rates, ours, tie)))
    print("Pages on which a level is more than 1 % of the characters worse:\n")
    scores.table(["level", "worse than", "pages", "the worst"],
                 list(losses(found, all_pages, names, ours)))


def command(args):
    ours = methods.ours(args.prototype)
    reader = Reader(args.cache)
    found = {}
    for dpi in args.dpi:
        for number in range(args.first, args.first + args.pages):
            page = pages.make(dpi, number, args.strength)
            if args.save:
                args.save.mkdir(parents=True, exist_ok=True)
                cv2.imwrite(str(args.save / f"{dpi}-{number}.png"), page.gray)
            for name, picture in pictures(page, ours, reader).items():
                found[page.name, name] = error_rate(reader.read(picture, dpi), page.text)
                if args.save:
                    cv2.imwrite(str(args.save / f"{dpi}-{number}-{name}.png"), picture)
            print(f"{page.name}: done", file=sys.stderr)
    names = list(dict.fromkeys(name for _, name in found))
    if args.list:
        scores.table(["page", *names], [[page, *(found[page, n] for n in names)]
                                        for page in dict.fromkeys(p for p, _ in found)])
    summary(found, ours)
