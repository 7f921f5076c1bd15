#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well cudabinarize separates ink from paper, next to other methods.

    scripts/binarize_quality.py dibco FOLDER        documents with ground truth
    scripts/binarize_quality.py robustness FOLDER   the same, scaled, stained, pale ...
    scripts/binarize_quality.py ocr                 how many characters Tesseract gets wrong
    scripts/binarize_quality.py blank               blank pages, and pages with one line

FOLDER holds documents and their ground truth: NAME.png (or ppm, jpg) and NAME_gt.png, where text is
darker than 128. The elements are found if GST_PLUGIN_PATH is set, as in `meson devenv`. With
--prototype FILE.py another implementation takes the place of cudabinarize: a function
binarize(gray, level) that returns the ink, or the ink and whether the page is blank.

Needs python3-numpy, python3-opencv and python3-pil; `dibco` needs python3-skimage, and doxapy from
PyPI; `ocr` needs tesseract-ocr and unpaper. Without the plugin doxapy computes NICK, Wolf, Sauvola
and Otsu. All pages that are made are the same on every run with the same fonts and libraries.

With one core and the first prototype, dibco takes 20 s, robustness 40 s, blank 1 minute,
and ocr 2 minutes for its 24 pages of 150 to 300 dpi, and 12 s a page of 600 dpi. With --cache, ocr
takes 15 s when no result has changed, and runs Tesseract again only on pictures that have.
"""
import argparse
import pathlib

from binarize import blank, documents, ocr, pages


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name, what, run):
        command = commands.add_parser(name, help=what, description=what)
        command.add_argument("--prototype", metavar="FILE.py",
                             help="try another implementation instead of cudabinarize")
        command.set_defaults(run=run)
        return command

    command = add("dibco", "scores on documents with ground truth", documents.dibco)
    command.add_argument("folder", type=pathlib.Path)

    command = add("robustness", "scores on changed documents and on a made page",
                  documents.robustness)
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("--photo", type=pathlib.Path,
                         help="a photograph for the made page, instead of a made one")
    command.add_argument("--save", type=pathlib.Path, metavar="DIR",
                         help="write the made page and its results here")
    command.add_argument("--only", choices=("documents", "page"), help="do a half of it")

    command = add("ocr", "character error rate of Tesseract on made pages", ocr.command)
    command.add_argument("--pages", type=int, default=8, help="number for each resolution")
    command.add_argument("--first", type=int, default=0, help="number of the first page")
    command.add_argument("--dpi", type=int, nargs="+", choices=list(pages.SIZES),
                         default=[150, 200, 300])
    command.add_argument("--strength", choices=pages.STRENGTHS,
                         help="how bad the scans are; without it they take turns")
    command.add_argument("--list", action="store_true", help="print the rates of every page")
    command.add_argument("--cache", type=pathlib.Path, metavar="DIR",
                         help="keep what Tesseract and unpaper found for a picture")
    command.add_argument("--save", type=pathlib.Path, metavar="DIR",
                         help="write the pages and the results here")

    command = add("blank", "blank pages, and pages with one line of text", blank.command)
    command.add_argument("--pages", type=int, default=200, help="number of each kind")
    command.add_argument("--method", default="full", help="fast, sized, full, NICK, Wolf ...")
    command.add_argument("--save", type=pathlib.Path, metavar="DIR",
                         help="write the pages that were decided wrong here")

    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
