# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures of measure_pages.py on the scans of scan_maker.py."""
import collections

import scan_maker

ScanItem = collections.namedtuple("ScanItem", "image name scan dpi")


def item_of(scan):
    return ScanItem(lambda: scan.image, scan.name, scan, scan.dpi)


def in_parts(options, make):
    """Makes so many scans at a time that they fit into memory."""
    seeds = range(options.first, options.first + options.pages)
    for begin in range(0, len(seeds), 16):
        yield [item_of(scan) for seed in seeds[begin:begin + 16] for scan in make(seed)]


class Blank:
    """Which pages are taken for blank."""
    name = "blank"

    def report(self, options, run):
        def make(seed):
            yield scan_maker.make(seed, options.half, blank=True)
            yield scan_maker.make(seed, options.half, kind=scan_maker.NEARLY[seed % 3])
            yield scan_maker.make(seed, options.half)

        counts = collections.defaultdict(lambda: [0, 0])
        for items in in_parts(options, make):
            for item, page in run.verdicts(items, lambda p: run.records(p, "--blank=aside")):
                group = ("blank: " if item.scan.blank else "") + item.scan.kind
                counts[group][0] += 1
                counts[group][1] += page["blank"]
                if options.list and page["blank"] != item.scan.blank:
                    print(f"    {item.name} is wrong")
        print("| pages | images | taken for blank |")
        print("|---|---|---|")
        for group, (images, blank) in sorted(counts.items()):
            print(f"| {group} | {images} | {blank} |", flush=True)
