# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measure of measure_pages.py: the resolution that is estimated for pages that state none."""
import collections

import numpy as np

import page_maker

PageItem = collections.namedtuple("PageItem", "image name dpi true group")


def cut(image, seed):
    """A part of the page, so that its size tells nothing."""
    rng = np.random.default_rng([seed, 5])
    left, top, right, bottom = rng.uniform(0.02, 0.12, 4)
    return image.crop((round(left * image.width), round(top * image.height),
                       round((1 - right) * image.width), round((1 - bottom) * image.height)))


class Resolution:
    """How close the estimates are; whole pages are A4."""
    name = "resolution"

    def items(self, options):
        for seed in range(options.first, options.first + options.pages):
            page = page_maker.make(seed, options.half)
            text = page.kind in ("book", "ragged", "columns", "letter", "listing")
            kind = "running text" if text else "small print" if page.kind == "small" else \
                "staves" if page.kind == "staves" else "a few lines, titles, tables, forms"
            yield PageItem(lambda page=page: page.image, page.name, 0, page.dpi, "whole pages")
            yield PageItem(lambda page=page, seed=seed: cut(page.image, seed), page.name, 0,
                           page.dpi, f"cut: {kind}")

    def report(self, options, run):
        groups = collections.defaultdict(list)

        def records(paths):
            return run.records(paths, "--enlarge=no", "--no-straighten", "--borders=keep")

        for item, record in run.verdicts(self.items(options), records):
            found = record["resolution"][0]
            known = record["resolution_from"].startswith("estimated")
            factor = max(found / item.true, item.true / found)
            groups[item.group].append((known, factor))
            if options.list:
                print(f"    {item.name:60} {item.group} {item.true} {found:.0f} "
                      f"{record['resolution_from']}", flush=True)
        print("| pages | images | estimated | within 25 % | within 50 % | within a factor of 2 |")
        print("|---|---|---|---|---|---|")
        for group, pairs in sorted(groups.items()):
            factors = [factor for known, factor in pairs if known]
            print(f"| {group} | {len(pairs)} | {len(factors)} | "
                  f"{sum(f <= 1.25 for f in factors)} | {sum(f <= 1.5 for f in factors)} | "
                  f"{sum(f <= 2 for f in factors)} |", flush=True)
