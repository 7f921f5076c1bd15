#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the tables of docs/speed.md that come from the run of an H200, from its archive, and what
README.md says of several GPUs.

    scripts/run_tables.py [FILE]     (default docs/benchmark-h200.tar.xz)

The pages have a mark before and after each; what the run did not measure keeps its table. Exit
status: 0; 2, nothing is written: the archive cannot be read, or a page has not all marks.
"""
import argparse
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "examples/bench"))
from report_page.markup import count  # noqa: E402
from report_page import several  # noqa: E402
from report_page.results import LINKS, Results, Unusable, number, of_several  # noqa: E402

PAGE, ARCHIVE = ROOT / "docs/speed.md", ROOT / "docs/benchmark-h200.tar.xz"
README = ROOT / "README.md"
NUMBERS = {1: "one", 2: "two", 4: "four", 8: "eight"}
SHAPES = ("rectangle", "ellipse", "cross")


def short(value):
    """Two digits below 10, three above 1000, with a comma from 10,000 on; empty for what was not
    measured."""
    if not number(value):
        return ""
    if value < 10:
        return f"{value:.2g}"
    rounded = round(value) if value < 1000 else round(value, 2 - len(str(int(value))) + 1)
    return f"{rounded:,.0f}" if rounded >= 10000 else f"{rounded:.0f}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines).replace("|  |", "| |").replace("|  |", "| |")


class Rows:
    """Some of the rows of results."""

    def __init__(self, rows):
        self.rows = rows

    def of(self, table_name):
        return [row for row in self.rows if row["table"] == table_name]


class Run:
    """Looks up rows."""

    def __init__(self, results):
        self.results = results

    def rows(self, table_name, **keys):
        """The rows of a table that have these values."""
        return [row for row in self.results.of(table_name)
                if all(row.get(key) == wanted for key, wanted in keys.items())]

    def get(self, table_name, key="us", **keys):
        """A value of the last such row that has it, or None."""
        found = [row[key] for row in self.rows(table_name, **keys) if number(row.get(key))]
        return found[-1] if found else None


def local_thresholds(run):
    windows = (3, 15, 33, 75, 151, 255)

    def swept(series, key="us", **keys):
        return lambda window: run.get("nick against window", key, series=series, value=window,
                                      backend="cuda", **keys)

    def kernel(name):
        return run.get("kernels", name=name, section="cuda", width=3840, height=2160, depth=8)

    def wolf(window):
        return kernel(f"wolf {window}")

    def copy(window):
        return kernel("copy") if window == windows[0] else None
    lines = (("`nick`, 8 bit", swept("nick, 8 bit")), ("`sauvola`, 8 bit", swept("sauvola, 8 bit")),
             ("`nick`, 16 bit", swept("nick, 16 bit")),
             ("`wolf`, 8 bit (it has to see the whole image first)", wolf),
             ("NPP's adaptive threshold (mean only), 8 bit",
              swept("nick, 8 bit", "peer_us", peer="NPP")), ("copy of the frame, 8 bit", copy))
    return run.rows("nick against window") and table(
        ["window", *map(str, windows)],
        [[label, *(short(us(window)) for window in windows)] for label, us in lines])


def windows_and_shapes(run):
    windows, lines = (9, 33, 127, 255), []
    for operator in ("median", "alpha-trimmed-mean", "mode"):
        for depth in (8, 16):
            label = "; ".join(shape.replace("rectangle", "square") for shape in SHAPES)
            cells = ["; ".join(short(run.get(f"swofilter {operator} against window and shape",
                                             series=f"{shape}, {depth} bit", value=window,
                                             backend="cuda")) for shape in SHAPES)
                     for window in windows]
            lines.append([f"`{operator}`, {depth} bit: {label}", *cells])
    return run.rows("swofilter median against window and shape") and table(
        ["window", *map(str, windows)], lines)


def span(values):
    return f"{short(min(values))} to {short(max(values))}"


def pipelines(run):
    """Frames a second from and to system memory, and the times of chains in CUDA memory."""
    usual = {"width": 3840, "height": 2160, "depth": 8, "streams": 1}
    system, chains, kernels = ([row for row in run.rows("pipelines", where=where, **usual)
                                if number(row.get("fps"))]
                               for where in ("system", "cudamemory", "kernel"))
    if not system or not chains:
        return ""
    sums = {row["name"]: row["kernels_us"] for row in kernels}
    lines = [[f"`{row['name'].removesuffix(', with queues')}`" +
              (" with a `queue` between each two" if row.get("queues") else ""), short(row["us"]),
              short(row.get("kernels_us", sums.get(row["name"])))]
             for row in chains if " ! " in row["name"] or row["name"] == "cudanick"]
    nick = run.get("pipelines", "fps", where="system", name="cudanick", **usual)
    said = [f"A pipeline from system memory through `cudanick` and back, 3840x2160 GRAY8, makes "
            f"{short(nick)} frames/s, all elements and chains {span([r['fps'] for r in system])}. "
            "The copies over the PCIe link, in both directions at once, are the limit, or the "
            f"kernels if they take longer. The CPU time is "
            f"{span([r['cpu_us_per_frame'] for r in system])} us per frame.",
            "Chains in CUDA memory, compared with the sum of their kernels, microseconds per "
            "frame:", table(["chain", "chain", "sum of kernels"], lines)]
    last = []
    streams = run.rows("streams", where="cudamemory")
    if streams:
        best = max(streams, key=lambda row: row.get("fps", 0))
        last.append(f"{best['streams']} such chains of six elements at once, of 1920x1080, make "
                    f"{short(best['fps'])} frames/s.")
    live = run.rows("live")
    if live and not any(row.get("dropped") for row in live):
        last.append(f"At {span([row['fps_in'] for row in live])} frames a second from 720p to 8K "
                    "no frame is lost.")
    return "\n\n".join([*said, *([" ".join(last)] if last else [])])


def of_largest(run):
    """The rows of several GPUs of the machine that has most, and their counts of GPUs."""
    rows = run.rows("gpus")
    host = max((row["machine"] for row in rows), key=lambda m: m.get("gpus", 0), default=None)
    found = Run(Rows([row for row in run.results.rows if of_several(row)
                      and row["machine"].get("gpus") == (host or {}).get("gpus")]))
    return found, sorted({row["gpus"] for row in found.rows("gpus") if row.get("gpus")}), host


def gpus(run):
    run, counts, host = of_largest(run)
    rows = run.rows("gpus")
    if not rows:
        return ""
    where = {"cudamemory": "CUDA memory", "system": "system memory"}
    lines = []
    for place in where:
        for each in sorted({row["streams"] // row["gpus"] for row in rows if row.get("gpus")}):
            label = "a pipeline" if each == 1 else f"{each} pipelines"
            lines.append([f"{label} on each GPU, {where[place]}",
                          *(short(run.get("gpus", "fps", where=place, gpus=n, streams=each * n))
                            for n in counts)])
    chains = {several.spread(row): row.get("fps") for row in rows if not row.get("gpus")}
    on_one = chains.get("all on one GPU")
    for how in ("halves on two GPUs", "in turn on two GPUs"):
        if how in chains:
            lines.append([f"one pipeline, {how}, CUDA memory",
                          *(short({1: on_one, 2: chains[how]}.get(n)) for n in counts)])
    for paper, series, words in (("003", "Otsu", "Otsu"),
                                 ("000", "Shared 15*15", "NICK, window 15")):
        name = f"paper {paper} several GPUs"
        for width, height in dict.fromkeys((row["width"], row["height"])
                                           for row in run.rows(name, series=series)):
            rate = [run.get(name, value=n, series=series, width=width, height=height)
                    for n in counts]
            lines.append([f"`Devices` of the library: {words}, {width}x{height} in pinned memory, "
                          "with the copies",
                          *(short(us and 1e6 / us) for us in rate)])
    for name in dict.fromkeys(row["name"] for row in run.rows("scan")):
        rate = [run.get("scan", "pages_per_second", name=name, gpus=n) for n in counts]
        if sum(map(number, rate)) > 1:
            lines.append([f"`cudascan-scan`, {name}, pages a second", *map(short, rate)])
    for series, words in (("host to GPU", "from the host"), ("GPU to host", "to the host"),
                          ("both directions", "from and to the host"),
                          ("GPU to GPU, a ring", "from each GPU to the next")):
        rate = [run.get(LINKS, "gb_per_s", series=series, value=n) for n in counts]
        if any(rate):
            lines.append([f"copies {words}, GB/s", *map(short, rate)])
    lines = [line for line in lines if any(line[1:])]
    named = several.machines.named({**host, "gpus": host.get("gpus") or counts[-1]})
    lines = table(["", *("one GPU" if n == 1 else f"{n} GPUs" for n in counts)], lines)
    return f"Measured on one host with {named}.\n\n{lines}"


def in_readme(run):
    """What README.md says of several GPUs: nothing but what was measured."""
    run, counts, host = of_largest(run)
    if len(counts) < 2:
        return ""
    said = []
    for label, table_name, key, where in (
            ("frames/s of 1920x1080 through all elements, four pipelines on each GPU", "gpus",
             "fps", lambda n: {"where": "cudamemory", "streams": 4 * n, "gpus": n}),
            ("frames/s of one stream of 4096x4096 by Otsu's threshold, with the copies",
             "paper 003 several GPUs", "us", lambda n: {"series": "Otsu", "width": 4096,
                                                         "value": n}),
            ("frames/s of one stream of 2500x4000 by NICK, with the copies",
             "paper 000 several GPUs", "us", lambda n: {"series": "Shared 15*15", "width": 2500,
                                                         "value": n})):
        rates = [run.get(table_name, key, **where(n)) for n in counts]
        if all(map(number, rates)):
            said.append(listed([short(1e6 / rate if key == "us" else rate) for rate in rates]) +
                        f" {label}")
    cores = several.machines.cores(host)
    numbers = listed([NUMBERS.get(n, n) for n in counts])
    return (f"Results are the same bits on any number of GPUs. {numbers[0].upper()}{numbers[1:]} "
            f"{host['gpu'].removeprefix('NVIDIA ')} of one host with {cores} cores make " +
            "; ".join(said) +
            ": [several GPUs](docs/speed.md#several-gpus).") if said else ""


def listed(values):
    values = list(map(str, values))
    return " and ".join(filter(None, (", ".join(values[:-1]), values[-1])))


def camera(run):
    """What elements add, on the GPU and on the CPU, in milliseconds."""
    rows = [row for row in run.rows("camera") if row.get("added_us")]
    lines = [[f"`{name}`", *(f"{us / 1000:.2f}" if number(us) else "" for us in (
        next((row["added_us"].get(key) for row in rows
              if row["name"] == name and row["backend"] == backend), None)
        for backend in ("cuda", "cpu") for key in ("p50", "p99")))]
        for name in dict.fromkeys(row["name"] for row in rows)]
    threads = next((row["threads"] for row in rows if row.get("threads")), 0)
    return rows and table(["", "GPU, the middle", "99 %", f"{threads:g} cores, the middle", "99 %"],
                          lines)


IN_README = {"several GPUs": in_readme}
BLOCKS = {"local thresholds": local_thresholds, "windows and shapes": windows_and_shapes,
          "pipelines": pipelines, "several GPUs": gpus, "camera": camera}


def wrapped(text):
    """Lines of at most 120 columns; tables stay as they are."""
    return "\n\n".join(part if part.startswith("|") else textwrap.fill(part, 120)
                       for part in text.split("\n\n"))


def written(page, results, blocks=None):
    """The page with the tables of these results; raises Unusable.
    @param blocks  of the page (BLOCKS)"""
    run = Run(results)
    for name, make in (blocks or BLOCKS).items():
        begin, end = f"<!-- Run of an H200: {name}. scripts/run_tables.py writes it. -->", \
            f"<!-- End of {name}. -->"
        before, found, rest = page.partition(begin)
        old, found_end, after = rest.partition(end)
        if not found or not found_end:
            raise Unusable(f"the page does not have the lines {begin} and {end}")
        text = make(run)
        page = before + begin + (f"\n{wrapped(text)}\n" if text else old) + end + after
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", metavar="FILE", nargs="?", type=pathlib.Path, default=ARCHIVE)
    parser.add_argument("--page", metavar="FILE", type=pathlib.Path, default=PAGE,
                        help="(default docs/speed.md)")
    parser.add_argument("--readme", metavar="FILE", type=pathlib.Path, default=README,
                        help="(default README.md)")
    arguments = parser.parse_args()
    try:
        results = Results()
        results.read_archive(arguments.archive)
        texts = {path: written(path.read_text(encoding="utf-8"), results, blocks)
                 for path, blocks in ((arguments.page, BLOCKS), (arguments.readme, IN_README))}
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except (Unusable, OSError) as error:
        print(f"run_tables.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
