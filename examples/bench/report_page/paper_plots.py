# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plots that the publications print, with their numbers, their code here, and ours."""
from . import plots
from .markup import quotient
from .results import number

BACKENDS = {"cuda": "GPU", "cpu": "CPU"}


def our_speedup(row):
    """Of our algorithm over the publication's code for one core, both measured here."""
    gain = quotient(row.get("baseline_us"), row.get("us"))
    return gain and number(row.get("speedup")) and row["speedup"] * gain or None


def speedups_of_blocks(title, rows):
    """A group of bars for each kernel and window, a bar for each block."""
    groups, marks, ours = {}, {}, {}
    for row in rows:
        if not number(row.get("value")):
            continue
        group, block = row["series"], f"block {row['value']:.0f}*{row['value']:.0f}"
        groups.setdefault(group, {})[block] = row.get("speedup")
        ours[group] = our_speedup(row)
        if row.get("published"):
            name = f"published, {row['published']}, {block}"
            marks.setdefault(name, {})[group] = row.get("published_speedup")
    # After the blocks of all groups, which do not have the same ones.
    blocks = sorted({name for values in groups.values() for name in values},
                    key=lambda name: int(name.split("*")[-1]))
    groups = {group: {**{name: values.get(name) for name in blocks}, "ours": ours[group]}
              for group, values in groups.items()}
    return plots.bars(title, "speed-up over the serial code", groups, marks)


def speedups_of_images(title, rows):
    """A line for each kernel."""
    lines, ours = {}, plots.Line("ours")
    for row in rows:
        for name, kind, y in ((row["series"], "published", row.get("speedup")),
                              (f"{row['series']}, {row.get('published')}", "peer",
                               row.get("published_speedup"))):
            like = lines.get(row["series"])
            lines.setdefault(name, plots.Line(name, kind, like)).add(row.get("value"), y)
        ours.add(row.get("value"), our_speedup(row))
    return plots.lines(title, "image", "speed-up over the serial code", [*lines.values(), ours],
                       False)


def totals_of_images(title, rows):
    """A group of bars for each image: whole times on the CPU and on the GPU."""
    groups, marks = {}, {}
    for row in rows:
        if not row.get("name", "").endswith(" total"):
            continue
        where = "GPU" if row.get("backend") == "cuda" else "CPU"
        theirs = "naive GPU" if where == "GPU" else "CPU, OpenCV"
        group = groups.setdefault(row["series"], {})
        group[theirs], group[f"ours, {where}"] = row.get("baseline_us"), row.get("us")
        name = f"published, {row.get('published', where)}"
        marks.setdefault(name, {})[row["series"]] = row.get("published_us")
    return plots.bars(title, "us", groups, marks)


def times_against(axis):
    """A line for each piece of the publication's code, and one for ours instead of it."""
    def plot_times(title, rows):
        lines = {}
        for row in rows:
            series = row["series"]
            theirs = lines.setdefault(series, plots.Line(series, "published"))
            theirs.add(row.get("value"), row.get("baseline_us"))
            name = f"ours: {series}"
            ours = lines.setdefault(name, plots.Line(name, "ours", theirs))
            ours.add(row.get("value"), row.get("us"))
        return plots.lines(title, axis, "us", list(lines.values()), True)
    return plot_times


def times_of_applications(title, rows):
    """A group of bars for each image: the publication's columns, and ours."""
    groups, marks = {}, {}
    for row in rows:
        column = row["name"].rpartition(", ")[2]
        group = groups.setdefault(row["series"], {})
        group[column] = row.get("baseline_us")
        group[f"ours, {BACKENDS.get(row.get('backend'))}"] = row.get("us")
        name = f"published, {column}, {row.get('published')}"
        marks.setdefault(name, {})[row["series"]] = row.get("published_us")
    # Ours after the publication's in all groups.
    bars = sorted({name for values in groups.values() for name in values},
                  key=lambda name: (name.startswith("ours"), name))
    return plots.bars(title, "us", {group: {name: values.get(name) for name in bars}
                                    for group, values in groups.items()}, marks)


def speeds(title, rows):
    """A line for each algorithm and direction of the lines, one for ours, and one for another
    library."""
    lines = {}
    for row in rows:
        about = row["series"].partition(", ")[2]
        like = lines.setdefault(row["series"], plots.Line(row["series"], "published"))
        others = [(f"ours, {BACKENDS.get(row.get('backend'))}, {about}", "ours", row.get("us"))]
        if row.get("peer"):
            others.append((f"{row['peer']}, {about}", "peer", row.get("peer_us")))
        pixels = row.get("width", 0) * row.get("height", 0)
        like.add(row.get("value"), quotient(pixels, row.get("baseline_us")))
        for name, kind, us in others:
            line = lines.setdefault(name, plots.Line(name, kind, like))
            line.add(row.get("value"), quotient(pixels, us))
    return plots.lines(title, rows[0].get("parameter", ""), "megapixels a second",
                       list(lines.values()), True)


def each_size(one_plot):
    """One plot for each size of images."""
    def plot_all(title, rows):
        sizes = {}
        for row in rows:
            sizes.setdefault(f"{row.get('width')}x{row.get('height')}", []).append(row)
        return "".join(one_plot(f"{title}, {size}", of_size) for size, of_size in sizes.items())
    return plot_all


def speedups_of_zones(title, rows):
    """A line for each number of zones, and one for its prediction."""
    lines = {}
    for row in rows:
        series = row["series"]
        measured = lines.setdefault(series, plots.Line(series, "published"))
        measured.add(row.get("value"), row.get("speedup"))
        name = f"{series}, {row.get('published')}"
        lines.setdefault(name, plots.Line(name, "peer", measured)).add(
            row.get("value"), row.get("published_speedup"))
    return plots.lines(title, "length", "speed-up over Z = 1", list(lines.values()), True, False)


PLOTS = {
    "paper 000 figure 3": speedups_of_blocks,
    "paper 000 figure 4": speedups_of_images,
    "paper 000 figure 5": speedups_of_blocks,
    "paper 000 several GPUs": each_size(times_against("GPUs")),
    "paper 001 table 1": totals_of_images,
    "paper 001 load factors": times_against("pixels a thread"),
    "paper 002 table 2": times_of_applications,
    "paper 002 figure 2": speeds,
    "paper 002 figure 5": speeds,
    "paper 002 figure 8": speeds,
    "paper 002 figure 9": speeds,
    "paper 002 figure 10": each_size(speeds),
    "paper 002 figure 11": each_size(speedups_of_zones),
    "paper 003 figure 6a": times_against("side"),
    "paper 003 figure 6b": times_against("side"),
    "paper 003 figure 6c": times_against("side"),
    "paper 003 several GPUs": each_size(times_against("GPUs")),
}


def plot(name, rows):
    """The plot of a table, if it has one: HTML, or nothing. Published numbers are
    those of texts and tables; they are not read from plots."""
    rows = [row for row in rows if row.get("series") and not row.get("error")]
    found = PLOTS[name](name, rows) if rows and name in PLOTS else ""
    return found and f'<div class="plots">{found}</div>'
