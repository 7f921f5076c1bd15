#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the best window and weight k of the local thresholds for scanned documents.

    tests/kernels/nick/choose_defaults.py FOLDER [--method nick,sauvola,...] [--markdown FILE]

FOLDER holds documents and their ground truth: NAME.png (or ppm, jpg ...) and NAME_gt.png, where
text is darker than 128. The formulas are those of kernels/nick.h, in double precision: the window
is clipped at the border, T is not rounded, and a pixel is text if it is not above T. The score of
a setting is the mean F-measure of the documents, in percent.

Needs python3-numpy and python3-opencv. Every threshold is of the form base + k * weight, so a pixel
becomes text at one value of k. For each window, a histogram of these values gives the scores of
all k at once.
"""
import argparse
import pathlib
import sys

import cv2
import numpy as np

METHODS = {  # name: (first k, last k), a superset of what is published
    "nick": (-0.4, 0.1),
    "niblack": (-2.0, 0.2),
    "sauvola": (0.0, 0.8),
    "wolf": (0.0, 0.8),
    "bradley": (-0.1, 0.6),
    "phansalkar": (0.0, 0.8),
}
STEP = 0.01  # of k; smaller steps change the score by less than 0.01
FIRST_WINDOWS = [*range(9, 64, 6), 75, 85, 95, 115, 135, 155, 185, 215, 255, 315]
R = 128.0


def window_sums(integral, side):
    """Sums over the side x side window of each pixel, clipped to the image."""
    r = side // 2
    h, w = integral.shape[0] - 1, integral.shape[1] - 1
    y0, y1 = np.clip([np.arange(h) - r, np.arange(h) + r + 1], 0, h)
    x0, x1 = np.clip([np.arange(w) - r, np.arange(w) + r + 1], 0, w)
    rows = integral[y1] - integral[y0]
    return rows[:, x1] - rows[:, x0], (y1 - y0)[:, None] * (x1 - x0)[None, :]


class Document:
    def __init__(self, picture, truth):
        self.name = picture.name
        self.gray = cv2.imread(str(picture), cv2.IMREAD_GRAYSCALE)
        expected = cv2.imread(str(truth), cv2.IMREAD_GRAYSCALE)
        if self.gray is None or expected is None or self.gray.shape != expected.shape:
            sys.exit(f"{picture}: cannot be read, or {truth.name} has another size")
        self.text = expected < 128
        p = self.gray.astype(np.int64)
        self.sums, self.squares = (
            np.pad(x, ((1, 0), (1, 0))).cumsum(0).cumsum(1) for x in (p, p * p)
        )

    def formulas(self, side, methods):
        """Yields (method, base, weight) with T = base + k * weight."""
        s, n = window_sums(self.sums, side)
        q, _ = window_sums(self.squares, side)
        m = s / n
        if "nick" in methods:
            yield "nick", m, np.sqrt((q - m * m) / n)
        sd = np.sqrt((q * n - s * s).astype(np.float64)) / n
        if "niblack" in methods:
            yield "niblack", m, sd
        if "sauvola" in methods:
            yield "sauvola", m, m * (sd / R - 1)
        if "wolf" in methods:
            most = sd.max()
            weight = (sd / most - 1) * (m - self.gray.min()) if most > 0 else np.zeros_like(m)
            yield "wolf", m, weight
        if "bradley" in methods:
            yield "bradley", m, -m
        if "phansalkar" in methods:
            yield "phansalkar", m * (1 + 2 * np.exp(-10 * m / 255)), m * (sd / R - 1)

    def scores(self, side, methods):
        """F-measure in percent for every k of the method's grid, by method."""
        result = {}
        for method, base, weight in self.formulas(side, methods):
            first, last = METHODS[method]
            bins = round((last - first) / STEP) + 1
            falling = weight.max() <= 0  # a larger k gives less text: counts from the last k down
            distance = self.gray - base  # text where distance <= k * weight
            with np.errstate(divide="ignore", invalid="ignore"):
                turn = distance / weight
                steps = (last - turn if falling else turn - first) / STEP
            # Where the weight is 0, k has no effect.
            steps = np.where(weight != 0, steps, np.where(distance > 0, np.inf, -np.inf))
            index = np.ceil(steps.clip(0, bins) - 1e-9).astype(np.int64)
            found, false = (
                np.bincount(index[pixels], minlength=bins + 1)[:bins].cumsum()
                for pixels in (self.text, ~self.text)
            )
            f = 200.0 * found / (found + false + self.text.sum())
            result[method] = f[::-1] if falling else f
        return result


def documents(folder):
    pairs = []
    for truth in sorted(folder.glob("*_gt.png")):
        stem = truth.name[: -len("_gt.png")]
        pictures = [p for p in folder.glob(stem + ".*") if p.suffix in (".png", ".ppm", ".jpg")]
        if pictures:
            pairs.append(Document(pictures[0], truth))
    if not pairs:
        sys.exit(f"{folder}: no pairs NAME.png and NAME_gt.png")
    return pairs


def grid(method):
    first, last = METHODS[method]
    return np.round(first + STEP * np.arange(round((last - first) / STEP) + 1), 6)


class Search:
    """Scores by method and window: arrays with a row per document and a column per k."""

    def __init__(self, docs, methods):
        self.docs = docs
        self.table = {method: {} for method in methods}

    def evaluate(self, windows, methods):
        for window in windows:
            wanted = [m for m in methods if window not in self.table[m]]
            if wanted:
                scores = [d.scores(window, wanted) for d in self.docs]
                for m in wanted:
                    self.table[m][window] = np.array([s[m] for s in scores])
                print(f"window {window} done", file=sys.stderr)

    def best(self, method, without=None):
        """(score, window, index of k), over all documents but one."""
        keep = np.arange(len(self.docs)) != (-1 if without is None else without)
        means = {w: s[keep].mean(0) for w, s in self.table[method].items()}
        window = max(sorted(means), key=lambda w: means[w].max())
        i = int(means[window].argmax())
        return means[window][i], window, i

    def left_out(self, method):
        """Mean score of each document with the setting that is best for all the others."""
        choices = [self.best(method, without=d) for d in range(len(self.docs))]
        return np.mean([self.table[method][w][d, i] for d, (_, w, i) in enumerate(choices)])


def report(search, method):
    top, window, i = search.best(method)
    ks = grid(method)
    means = {w: s.mean(0) for w, s in search.table[method].items()}
    near = [(w, ks[j]) for w in means for j in np.flatnonzero(means[w] > top - 0.1)]
    columns = sorted({i, *range(i % 2, len(ks), 2)} & set(range(i - 10, i + 11)))
    rows = sorted({window, *(w for w in FIRST_WINDOWS if w in means)})
    yield f"Best: window {window}, k {ks[i]:g}. Within 0.1 of it lie settings with windows"
    yield (f"{min(w for w, _ in near)} to {max(w for w, _ in near)} and "
           f"k {min(k for _, k in near):g} to {max(k for _, k in near):g}.")
    yield ""
    yield "| window | " + " | ".join(f"k {ks[j]:g}" for j in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for w in rows:
        yield f"| {w} | " + " | ".join(f"{means[w][j]:.2f}" for j in columns) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--method", default=",".join(METHODS), help="comma-separated names")
    args = parser.parse_args()
    methods = args.method.split(",")
    unknown = [m for m in methods if m not in METHODS]
    if unknown:
        parser.error(f"no such method: {', '.join(unknown)}; there are {', '.join(METHODS)}")

    search = Search(documents(args.folder), methods)
    search.evaluate(FIRST_WINDOWS, methods)
    for method in methods:  # then every odd window around the best one, until it stays
        before = None
        while (window := search.best(method)[1]) != before:
            search.evaluate(range(max(window - 10, 3), min(window + 11, 1024), 2), [method])
            before = window

    print(f"Mean F-measure over {len(search.docs)} documents, in percent. Left out: each document")
    print("scored with the setting that is best for the others.\n")
    print("| method | window | k | F | left out |\n|---|---|---|---|---|")
    for method in methods:
        f, window, i = search.best(method)
        print(f"| {method} | {window} | {grid(method)[i]:g} | {f:.2f} "
              f"| {search.left_out(method):.2f} |")
    for method in methods:
        print(f"\n## {method}\n")
        print("\n".join(report(search, method)))


if __name__ == "__main__":
    main()
