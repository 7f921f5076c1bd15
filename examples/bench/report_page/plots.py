# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots as SVG inside the page: its text and lines take the page's colours, light or dark."""
import io
import re

import matplotlib
from matplotlib import pyplot, ticker

from .markup import text
from .results import number

matplotlib.use("svg")
INK, PALE = "#010203", "#040506"  # placeholders for colours that the page's style sets
COLOURS = ["#3a86c8", "#d9822b", "#2f9e69", "#c44e8a", "#8b6fd1", "#a88f00", "#d0524a", "#3d9c9c",
           "#8a8a8a", "#6c9a2f", "#b0714a", "#5b7fb0", "#cf6fb0"]
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "cudascan", "font.family": "sans-serif", "font.size": 9,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": PALE, "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": PALE, "grid.linewidth": 0.4, "axes.grid": True, "axes.facecolor": "none",
    "figure.facecolor": "none", "legend.frameon": False, "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False, "lines.linewidth": 1.6, "lines.markersize": 4,
    "path.simplify": True})

_plots = 0


def embed(figure, title):
    """The figure's SVG for embedding: without the parts of a separate file, and with unique
    names."""
    global _plots
    _plots += 1
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.S)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'^<svg[^>]*?viewBox="([^"]*)"[^>]*>',
                 rf'<svg viewBox="\1" role="img" aria-label="{text(title)}">', svg)
    svg = shorten(svg, f"p{_plots}")
    svg = re.sub(r'id="', f'id="p{_plots}-', svg)
    svg = re.sub(r'url\(#', f'url(#p{_plots}-', svg)
    svg = re.sub(r'(?:xlink:)?href="#', f'href="#p{_plots}-', svg)
    return svg.replace(INK, "currentColor").replace(PALE, "var(--pale)")


def shorten(svg, prefix):
    """The same plot in a third of the characters: a class for each style, no names of groups, and
    coordinates to a tenth of a point."""
    classes = {}

    def class_of(match):
        style = re.sub(r"(font: [^ ]+) [^;]*", r"\1 sans-serif", match[1])
        return f'class="{classes.setdefault(style, f"{prefix}s{len(classes)}")}"'

    svg = re.sub(r'style="([^"]*)"', class_of, svg)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = re.sub(r"\d+\.\d{2,}", lambda m: f"{float(m.group()):.1f}", svg)
    svg = re.sub(r">\s+<", "><", re.sub(r"\s*\n\s*", " ", svg))
    rules = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    return svg.replace(">", f"><style>{rules}</style>", 1)


def figure(svg, caption):
    return f"<figure>{svg}<figcaption>{text(caption)}</figcaption></figure>"


class Line:
    """Points of one name. `kind`: "ours", "published" (an algorithm of a publication), "peer",
    or "floor"."""

    STYLES = {"ours": ("-", "o"), "published": ("-.", "s"), "peer": ("--", "x"), "floor": ("", "")}

    def __init__(self, name, kind="ours", like=None):
        """@param like  another Line whose colour it takes"""
        self.name, self.kind, self.like, self.points = name, kind, like, {}

    def add(self, x, y):
        if number(x) and number(y) and y > 0:
            self.points[x] = y

    def xy(self):
        return zip(*sorted(self.points.items()))


def plain(value, _=None):
    """A tick's number without a power of ten."""
    return f"{value:g}" if value < 1e5 else f"{value:,.0f}".replace(",", "\N{THIN SPACE}")


def lines(title, x_label, y_label, all_lines, log_x, log_y=True):
    """A plot of Lines, or nothing if none has a point."""
    all_lines = [line for line in all_lines if line.points]
    if not all_lines:
        return ""
    fig, axes = pyplot.subplots(figsize=(7.2, 3.5), layout="constrained")
    colours, colour_of = iter(COLOURS * 4), {}
    floors = iter([(0, (2, 2)), (0, (1, 4)), (0, (1, 7))] * 2)
    for line in all_lines:
        style, marker = Line.STYLES[line.kind]
        if line.kind == "floor":
            axes.plot(*line.xy(), linestyle=next(floors), color=INK, label=line.name, linewidth=1.3)
            continue
        colour = colour_of.get(id(line.like)) or next(colours)
        colour_of[id(line)] = colour
        axes.plot(*line.xy(), style, marker=marker, color=colour, label=line.name)
    if log_x:
        axes.set_xscale("log")
        values = sorted({x for line in all_lines for x in line.points})
        if len(values) <= 8 and x_label.startswith("window"):
            axes.set_xticks(values)
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(plain))
        axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    if log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
        low, high = axes.get_ylim()
        few = high < 10 * low  # too few powers of ten to read from
        axes.yaxis.set_minor_formatter(ticker.FuncFormatter(plain)
                                       if few else ticker.NullFormatter())
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_title(title, fontsize=10, loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=2.6)
    return embed(fig, title)


def bars(title, y_label, groups, marks):
    """@param groups  {group: {bar: value}}, groups from left to right
    @param marks   {name: {group: value}}, points over the groups"""
    names = list(dict.fromkeys(name for values in groups.values() for name in values))
    names = [name for name in names if any(number(v.get(name)) for v in groups.values())]
    marks = {name: {g: v for g, v in values.items() if number(v) and g in groups}
             for name, values in marks.items()}
    if not names:
        return ""
    fig, axes = pyplot.subplots(figsize=(7.2, 3.5), layout="constrained")
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        known = [(x, values[name]) for x, values in enumerate(groups.values())
                 if number(values.get(name))]
        axes.bar([x + width * (i + 0.5) - 0.4 for x, _ in known], [y for _, y in known], width,
                 color=COLOURS[i % len(COLOURS)], label=name)
    places = {group: x for x, group in enumerate(groups)}
    for i, (name, values) in enumerate(m for m in marks.items() if m[1]):
        axes.scatter([places[group] for group in values], list(values.values()), s=20,
                     marker="D^vsox*P"[i % 8], color=INK, label=name, zorder=3)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.grid(axis="x", visible=False)
    axes.set_xticks(range(len(groups)), list(groups), rotation=25, ha="right")
    axes.set_ylabel(y_label)
    axes.set_title(title, fontsize=10, loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return embed(fig, title)


def dots(title, x_label, groups):
    """@param groups  [(name, {series: value})], a line of dots each, from top to bottom"""
    series = list(dict.fromkeys(name for _, values in groups for name, v in values.items()
                                if number(v)))
    groups = [(name, values) for name, values in groups if any(map(number, values.values()))]
    if not groups:
        return ""
    names = [wrapped(name) for name, _ in groups]
    places, below = [], 0.0  # in lines of text
    for name in names:
        lines_of_name = name.count("\n") + 1.6
        places.append(below + lines_of_name / 2)
        below += lines_of_name
    height = 0.9 + 0.14 * below
    fig, axes = pyplot.subplots(figsize=(7.2, height), layout="constrained")
    for y, (_, values) in zip(places, groups):
        known = [v for v in values.values() if number(v)]
        axes.plot([min(known), max(known)], [y, y], color=PALE, linewidth=1, zorder=1)
    for i, name in enumerate(series):
        points = [(values[name], y) for y, (_, values) in zip(places, groups)
                  if number(values.get(name))]
        axes.scatter(*zip(*points), s=22, color=COLOURS[i % len(COLOURS)], marker="osD^v"[i % 5],
                     label=name, zorder=2)
    axes.set_yticks(places, names)
    axes.set_ylim(below, 0)
    axes.grid(axis="y", visible=False)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel(x_label)
    axes.set_title(title, fontsize=10, loc="left")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0 + 0.25 / height), ncols=len(series),
                borderpad=0)
    return embed(fig, title)


def wrapped(name, width=36):
    """A pipeline's name in lines that leave room for the plot."""
    lines = [""]
    for word in name.split(" ! "):
        part = f"{lines[-1]} ! {word}" if lines[-1] else word
        if len(part) > width and lines[-1]:
            lines[-1] += " !"
            part = word
            lines.append("")
        lines[-1] = part
    return "\n".join(lines)
