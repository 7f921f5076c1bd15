#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the text in PDFs of cudascan-scan --ocr on printed pages whose words are known: which
share of them is found, and by tesseract in the unchanged images. It needs tesseract-ocr and
poppler-utils.

    examples/scan/measure_text.py build/examples/scan/cudascan-scan
"""
import argparse
import collections
import os
import pathlib
import subprocess
import tempfile

import page_maker

KINDS = ("book", "small", "columns", "letter")


def output_of(*words):
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    return subprocess.run([str(word) for word in words], text=True, check=True, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def found(text, page):
    """How many of its words are in a text."""
    return (collections.Counter(text.split()) & collections.Counter(page.words)).total()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("scan", help="the program cudascan-scan")
    parser.add_argument("--half", choices="ab", default="b", help="of fonts and texts")
    parser.add_argument("--first", type=int, default=0, help="seed of the first page")
    parser.add_argument("--pages", type=int, default=4, help="for each resolution")
    parser.add_argument("--resolutions", type=int, nargs="+", default=[100, 150, 200, 300])
    parser.add_argument("--options", default="", help="more options for cudascan-scan")
    options = parser.parse_args()
    print("| dots per inch | words | in the PDF | in the image |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path, pdf = (pathlib.Path(folder) / name for name in ("page.png", "page.pdf"))
        for dpi in options.resolutions:
            words = in_pdf = in_image = 0
            for seed in range(options.first, options.first + options.pages):
                page = page_maker.make(seed, options.half, KINDS[seed % len(KINDS)], dpi=dpi)
                page.image.save(path, dpi=(dpi, dpi))
                pdf.unlink(missing_ok=True)
                output_of(options.scan, "--backend=cpu", "--quiet", "--ocr=eng", path, "-o", pdf,
                          *options.options.split())
                words += len(page.words)
                in_pdf += found(output_of("pdftotext", pdf, "-"), page)
                in_image += found(output_of("tesseract", path, "-", "--dpi", dpi), page)
            print(f"| {dpi} | {words} | {100 * in_pdf / words:.1f} % | "
                  f"{100 * in_image / words:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
