#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the section of docs/speed.md that tells what each setting costs on the GPU, and its plot.

    cudascan-bench --cuda-only --random 600 --json random.json
    cudascan-bench --cuda-only --tables-only --filter "window and shape" --json sweep.json
    scripts/speed_tables.py random.json sweep.json

The files may also have other rows. The script replaces the text between the two marks on the page,
and speed-windows.svg next to the page. Exit status: 0; 2, nothing is written: a file is missing or
has no such rows, or the page has no marks.
"""
import argparse
import html
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "examples/bench"))
from report_page import settings  # noqa: E402
from report_page.markup import count  # noqa: E402
from report_page.results import Results, Unusable, number  # noqa: E402

BEGIN = "<!-- Written by scripts/speed_tables.py from here to the end mark: do not edit. -->"
END = "<!-- End of what scripts/speed_tables.py writes. -->"
PLOT = "speed-windows.svg"
SWEEP = " against window and shape"
SHAPES = ("rectangle", "ellipse", "cross")
# The section; names in braces are replaced.
INTRO = """## What each setting costs

The other times on this page are those of common settings. These are {settings} settings drawn at
random, as users could set them: all operators but `custom`, all methods, shapes, borders and
outputs, windows and lengths up to the limits, up to 36 directions. The
frames are 3840x2160 of natural content, the GPU is {gpu}:

{shares}

Settings of a family take about the same time. The times are microseconds, of lines with several
directions for all of them. *Worst* is the slowest setting that was drawn. Where a cell is empty,
the next class of the family has these settings:

{families}

The time over the window, for the operators that depend on it most:

![Time over the window for each operator, shape and depth]({plot})

{gains}

`cudascan-bench --random 60` [measures random settings](benchmark.md#random-settings) on your
machine."""


def words(value):
    """A number in Markdown, with a comma for thousands as on the rest of the page."""
    return count(value).replace("\N{THIN SPACE}", ",")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def share_table(rows):
    limits = settings.LIMITS_MS["cuda"]
    return table(["operator", *(f"within {ms:g} ms" for ms in limits), "worst, ms"],
                 [[operator if operator == "all" else f"`{operator}`",
                   *(f"{100 * share:.1f} %" for share in of_limits), words(worst / 1000)]
                  for operator, _, of_limits, worst in settings.shares(rows, limits)])


def family_table(rows):
    by_name = {}
    for family in settings.families(rows):
        by_name.setdefault(family.name, {})[family.depth] = family

    def cells(family):
        return [words(family.median), words(family.rows[-1]["us"])] if family else ["", ""]
    return table(["family", "8 bit, median", "worst", "16 bit, median", "worst"],
                 [[name, *cells(depths.get(8)), *cells(depths.get(16))]
                  for name, depths in by_name.items()])


# ---- The plot ------------------------------------------------------------------------------------

STYLE = """text { font: 11px sans-serif; fill: #1c1f23; } .axis { stroke: #c9ced6; }
.ground { fill: #fff; } path { fill: none; stroke-width: 1.8; }
.rectangle { stroke: #1f6fb2; } .ellipse { stroke: #c2610c; stroke-dasharray: 6 3; }
.cross { stroke: #24814f; stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) { text { fill: #e4e7eb; } .axis { stroke: #3c444e; }
.ground { fill: #14171b; } .rectangle { stroke: #6cb2ff; } .ellipse { stroke: #f0a15c; }
.cross { stroke: #56c271; } }"""
PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP_X, GAP_Y = 290, 120, 62, 52, 34, 44


def sweeps(results):
    """Operator to depth to shape to points (window, us)."""
    found = {}
    for name in results.tables(lambda t: t.endswith(SWEEP)):
        operator = name.removesuffix(SWEEP).removeprefix("swofilter ")
        for row in results.of(name):
            if row.get("backend") == "cuda" and number(row.get("us")) and number(row.get("value")):
                shape = row.get("series", "").partition(",")[0]
                found.setdefault(operator, {}).setdefault(row.get("depth", 8), {}).setdefault(
                    shape, {})[row["value"]] = row["us"]
    return found


def powers_of_ten(values):
    return range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)


def tick(us):
    return f"{us:g} us" if us < 1000 else f"{us / 1000:g} ms" if us < 1e6 else f"{us / 1e6:g} s"


def plot(operators):
    """A row of two panels, 8 and 16 bits, for each operator; all have the same axes."""
    everything = [(window, us) for depths in operators.values() for shapes in depths.values()
                  for points in shapes.values() for window, us in points.items()]
    decades = powers_of_ten([us for _, us in everything])
    low, high = decades[0], max(decades[-1], decades[0] + 1)
    windows = sorted({window for window, _ in everything})
    first, last = math.log(windows[0]), math.log(max(windows[-1], windows[0] + 1))
    width = LEFT + 2 * PANEL_WIDTH + GAP_X + 16
    height = TOP + len(operators) * (PANEL_HEIGHT + GAP_Y)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}">',
           f"<title>Time over the window</title><style>{STYLE}</style>",
           f'<rect class="ground" width="{width}" height="{height}"/>']

    def label(x, y, content, anchor="start", bold=False):
        weight = ' style="font-weight: bold"' if bold else ""
        out.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{weight}>'
                   f"{html.escape(content)}</text>")

    for i, shape in enumerate(SHAPES):
        x = LEFT + 110 * i
        out.append(f'<path class="{shape}" d="M{x} 14h28"/>')
        label(x + 34, 18, shape)
    label(width - 16, 18, "time over the side of the window, pixels", "end")
    for row, (operator, depths) in enumerate(operators.items()):
        for column, depth in enumerate((8, 16)):
            left = LEFT + column * (PANEL_WIDTH + GAP_X)
            top = TOP + row * (PANEL_HEIGHT + GAP_Y)

            def place_x(window):
                return left + PANEL_WIDTH * (math.log(window) - first) / (last - first)

            def place_y(us):
                return top + PANEL_HEIGHT * (high - math.log10(us)) / (high - low)
            label(left, top - 6, f"{operator}, {depth} bit", bold=True)
            for power in range(low, high + 1):
                y = place_y(10 ** power)
                out.append(f'<path class="axis" style="stroke-width: .7" '
                           f'd="M{left} {y:.1f}h{PANEL_WIDTH}"/>')
                if column == 0 and (power - low) % 2 == 0:
                    label(left - 6, y + 4, tick(10 ** power), "end")
            for window in windows:
                if window not in (5, 99, 127) or len(windows) < 7:
                    label(place_x(window), top + PANEL_HEIGHT + 14, f"{window:g}", "middle")
            for shape in SHAPES:
                points = sorted(depths.get(depth, {}).get(shape, {}).items())
                if points:
                    line = "L".join(f"{place_x(w):.1f} {place_y(us):.1f}" for w, us in points)
                    out.append(f'<path class="{shape}" d="M{line}"/>')
    return "\n".join(out) + "\n</svg>\n"


# ---- The section ---------------------------------------------------------------------------------

def gain(operators, slow, fast):
    """The largest quotient of two times with the same operator and window: (quotient, words).
    @param slow, fast  (depth, shape)"""
    best = (1, "")
    for operator, depths in operators.items():
        slower = depths.get(slow[0], {}).get(slow[1], {})
        faster = depths.get(fast[0], {}).get(fast[1], {})
        for window in slower.keys() & faster.keys():
            best = max(best, (slower[window] / faster[window], f"`{operator}` of {window:g}"))
    return best


def gains(operators):
    """What other settings would gain, as a list; small gains are left out."""
    lines = []
    for words_of_gain, slow, fast in (
            ("A rectangle instead of an ellipse", (8, "ellipse"), (8, "rectangle")),
            ("A cross instead of an ellipse", (8, "ellipse"), (8, "cross")),
            ("8 bit instead of 16", (16, "rectangle"), (8, "rectangle")),
            ("8 bit instead of 16, with an ellipse", (16, "ellipse"), (8, "ellipse"))):
        times, where = gain(operators, slow, fast)
        if times >= 1.5:
            lines.append(f"- {words_of_gain}: up to {words(times)} times as fast, {where}.")
    return "\n".join(["What makes a slow setting faster, with the window as it is:", "", *lines]
                     if lines else ["No shape and no depth is much slower than another."])


def section(results):
    rows, operators = settings.rows_of(results, "cuda"), sweeps(results)
    if not rows:
        raise Unusable("no file has random settings on a GPU: cudascan-bench --cuda-only --random")
    if not operators:
        raise Unusable("no file has times over the window on a GPU: cudascan-bench --cuda-only "
                       '--tables-only --filter "window and shape"')
    gpus = {machine.get("gpu") or "unknown GPU" for _, machine in results.machines}
    if len(gpus) > 1:
        raise Unusable(f"the files are from several GPUs: {', '.join(sorted(gpus))}")
    text = INTRO.format(settings=f"{len(rows):,}", gpu=gpus.pop(), shares=share_table(rows),
                        families=family_table(rows), plot=PLOT,
                        gains=gains(operators))
    return text, plot(operators)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="+", type=pathlib.Path,
                        help="what `cudascan-bench --json FILE` wrote, or an archive of such "
                             "files, NAME.tar.xz")
    parser.add_argument("--page", metavar="FILE", type=pathlib.Path, default=ROOT / "docs/speed.md",
                        help="(default docs/speed.md)")
    arguments = parser.parse_args()
    try:
        results = Results()
        for path in arguments.files:
            if path.suffix == ".xz":
                results.read_archive(path)
            else:
                results.read("kernels", path)
        text, svg = section(results)
        page = arguments.page.read_text(encoding="utf-8")
        before, begin, rest = page.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise Unusable(f"{arguments.page} does not have the lines {BEGIN} and {END}")
        arguments.page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
        arguments.page.with_name(PLOT).write_text(svg, encoding="utf-8")
    except (Unusable, OSError) as error:
        print(f"speed_tables.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
