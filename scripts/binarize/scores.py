# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores of a binarization against the truth, and tables of them."""
import cv2
import numpy as np


def black(ink):
    return np.where(ink, 0, 255).astype(np.uint8)


def f_measure(ink, truth):
    """F-measure in percent; 100 where there is no ink in either."""
    both, total = np.count_nonzero(ink & truth), np.count_nonzero(ink) + np.count_nonzero(truth)
    return 200 * both / total if total else 100.0


def pseudo_f(ink, truth):
    """F-measure in percent with the recall on the skeleton of the truth (H-DIBCO 2010)."""
    from skimage.morphology import skeletonize  # only needed here
    bone = skeletonize(truth)
    recall = np.count_nonzero(ink & bone) / max(np.count_nonzero(bone), 1)
    precision = np.count_nonzero(ink & truth) / max(np.count_nonzero(ink), 1)
    return 200 * recall * precision / max(recall + precision, 1e-9)


def performance(ink, truth):
    """F, pseudo-F, DRD and PSNR; all but pseudo-F by Doxa."""
    import doxapy  # only needed here
    found = doxapy.calculate_performance(black(truth), black(ink))
    return found["fm"], pseudo_f(ink, truth), found["drdm"], found["psnr"]


def specks(ink):
    """Number of connected components, 8 neighbours."""
    return cv2.connectedComponents(ink.astype(np.uint8), connectivity=8)[0] - 1


def documents(folder):
    """Yields (name, gray, truth) for NAME.png, ppm or jpg and NAME_gt.png of a folder."""
    for path in sorted(folder.glob("*_gt.png")):
        stem = path.name[:-len("_gt.png")]
        pictures = [p for p in sorted(folder.glob(stem + ".*"))
                    if p.suffix in (".png", ".ppm", ".jpg")]
        if not pictures:
            continue
        gray, truth = (cv2.imread(str(p), cv2.IMREAD_GRAYSCALE) for p in (pictures[0], path))
        if gray is None or truth is None or gray.shape != truth.shape:
            raise SystemExit(f"{pictures[0]}: cannot be read, or {path.name} has another size")
        yield stem, gray, truth < 128


def table(head, rows):
    """Prints a Markdown table; numbers get one decimal."""
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(f"{c:.1f}" if isinstance(c, float) else str(c) for c in row)
              + " |", flush=True)
    print()
