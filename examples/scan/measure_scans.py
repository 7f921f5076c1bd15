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


def common(a, b):
    """Intersection over union of two boxes."""
    def area(box):
        return max(0, box[2] - box[0]) * max(0, box[3] - box[1])

    both = area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))
    return both / (area(a) + area(b) - both)


def box_of(page):
    """The box in pixels of the scan, if the page is written larger."""
    return [side / page["enlarged"] for side in page["crop"]]


class Crop:
    """How exactly pages are cropped, without margins."""
    name = "crop"

    def report(self, options, run):
        found = {"page": collections.defaultdict(list), "content": collections.defaultdict(list)}

        def make(seed):
            yield scan_maker.make(seed, options.half)

        for items in in_parts(options, make):
            for what, by_surround in found.items():
                def measure(paths, what=what):
                    return run.records(paths, f"--crop={what}", "--margin=0")

                for item, page in run.verdicts(items, measure):
                    scan = item.scan
                    straight = page["turned"] or abs(scan.angle) < 0.1
                    true = scan.page(straight) if what == "page" else scan.content(straight)
                    share = common(box_of(page), true)
                    by_surround[scan.surround].append(share)
                    if options.list:
                        print(f"    {item.name:60} {what} {share:.3f} {box_of(page)} {true} "
                              f"{'' if page['turned'] else 'not turned'}", flush=True)
        print("| cropped to | surround | images | mean | least |")
        print("|---|---|---|---|---|")
        for what, by_surround in found.items():
            for surround, shares in by_surround.items():
                print(f"| {what} | {surround} | {len(shares)} | {sum(shares) / len(shares):.3f} | "
                      f"{min(shares):.3f} |")
