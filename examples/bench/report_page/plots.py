# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots as HTML: axes as SVG inside the page, title and key as text. They take the page's colours,
light or dark, and stay readable on a narrow screen."""
import io
import re
import textwrap

import matplotlib
from matplotlib import pyplot, ticker

from .markup import text
from .results import number
from .style import COLOURS

matplotlib.use("svg")
# Placeholders for the page's colours.
INK, PALE = "#010203", "#040506"
SERIES = [f"#0708{i:02x}" for i in range(len(COLOURS))]
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "cudascan", "font.family": "sans-serif",
    "font.size": 10, "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": PALE,
    "xtick.color": INK, "ytick.color": INK, "xtick.bottom": False, "ytick.left": False,
    "xtick.minor.bottom": False, "ytick.minor.left": False, "grid.color": PALE,
    "grid.linewidth": 0.5, "axes.grid": True, "axes.axisbelow": True,
    "axes.facecolor": "none", "figure.facecolor": "none",
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.6,
    "path.simplify": False})
WIDTH, HEIGHT = 4.8, 2.9  # inches of 72 units
SMALLEST_GAP = 5  # units between two labels of an axis
LETTER = 6  # about the width of a digit


# ---- Small SVG -----------------------------------------------------------------------------------

def dots_path(match):
    """Marks of one look as one path: a line of no length with round ends is a dot."""
    marks = match[0]
    style = re.search(r'style="fill: (#\w+)', marks)
    moves = "".join(f"M{x} {y}h0" for x, y in re.findall(r'x="([^"]*)" y="([^"]*)"', marks))
    return f'<path d="{moves}" style="stroke: {style[1] if style else INK}" class="dots"/>'


def embed(figure, axes, title):
    """The figure's SVG for a page, in a fifth of the characters that matplotlib writes. Its
    attribute data-axes is the rectangle of the axes: left, top, right, bottom."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    width, height = (72 * inches for inches in figure.get_size_inches())
    box = axes.get_position()
    frame = f"{box.x0 * width:.1f} {(1 - box.y1) * height:.1f} " \
            f"{box.x1 * width:.1f} {(1 - box.y0) * height:.1f}"
    pyplot.close(figure)
    svg = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>|<defs>.*?</defs>|<!--.*?-->", "",
                 svg[svg.index(">", svg.index("<svg")) + 1:], flags=re.S)
    svg = re.sub(r"</?g\b[^>]*>", "", svg)
    svg = re.sub(r' (?:clip-path|id)="[^"]*"', "", svg)
    svg = re.sub(r"\d+\.\d+", lambda m: f"{float(m[0]):.1f}".removesuffix(".0"), svg)
    svg = re.sub(r'(<use [^>]*style="([^"]*)"/>\s*)(?:<use [^>]*style="\2"/>\s*)*', dots_path, svg)
    svg = re.sub(r"\s+", " ", svg)
    svg = re.sub(r'd="([^"]*)"', lambda m: f'd="{short_path(m[1])}"', svg)
    svg = re.sub(r'style="([^"]*)"', short_style, svg)
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", svg)
    svg = re.sub(r'<path d="[^"]*" style="fill: none"/>', "", svg)  # the background
    svg = re.sub(r"> <", "><", svg).strip()
    return (f'<svg viewBox="0 0 {width:.0f} {height:.0f}" data-axes="{frame}" role="img" '
            f'aria-label="{text(title)}">{svg}')


def short_path(path):
    return re.sub(r" ?([MLCQz]) ?", r"\1", path).strip()


def short_style(match):
    """A style without what the page's style sheet says already. The page replaces equal styles by
    classes."""
    kept = []
    for part in re.split(r"; ?", match[1]):
        name, _, value = part.partition(": ")
        if name in ("stroke-linejoin", "stroke-linecap", "stroke-dashoffset", "font"):
            continue
        if name == "text-anchor" and value == "start":
            continue
        kept.append(f"{name}: {value}")
    style = "; ".join(kept).replace(INK, "currentColor").replace(PALE, "var(--pale)")
    style = re.sub(r"#0708(\w\w)", lambda m: f"var(--c{int(m[1], 16)})", style)
    return f'style="{style}"' if style else ""


def key_entry(name, style, dots=False):
    """A line of the key: the line's or dot's look, and its name."""
    look = '<path d="M14 4h0" class="dots" style="{0}"/>' if dots else '<path d="M1 4h26" ' \
        'style="{0}"/>'
    return f'<li><svg viewBox="0 0 28 8">{look.format(style)}</svg>{text(name)}</li>'


def assemble(title, svg, key):
    key = f'<ul class="key">{"".join(key)}</ul>' if key else ""
    return f'<div class="plot"><b>{text(title)}</b>{svg}{key}</div>'


def figure(plot, caption):
    return f"<figure>{plot}<figcaption>{text(caption)}</figcaption></figure>"


def colour(i):
    return SERIES[i % len(SERIES)]


def stroke(i):
    return f"stroke: var(--c{i % len(SERIES)})"


# ---- Axes ----------------------------------------------------------------------------------------

class Line:
    """Points of one name. `kind`: "ours", "published" (an algorithm of a publication), "peer",
    or "floor"."""

    DASHES = {"ours": (), "published": (7, 2, 1.5, 2), "peer": (5, 2.5), "floor": (1.5, 3)}

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
    return f"{value:.4g}" if value < 1e4 else f"{value:,.0f}".replace(",", "\N{THIN SPACE}")


def room_for(values, place):
    """Those of the values, in order, whose labels fit into the axis without touching: the first and
    the last of all, and as many as possible between them.
    @param place  position of a value in units"""
    def half(value):
        return (len(plain(value)) * LETTER + SMALLEST_GAP) / 2

    def fits(a, b):
        return place(b) - place(a) >= half(a) + half(b)
    kept = values[:1]
    for value in values[1:-1]:
        if fits(kept[-1], value) and fits(value, values[-1]):
            kept.append(value)
    return kept + [v for v in values[-1:] if len(values) > 1 and fits(kept[0], v)]


def set_up_x(fig, axes, values, log, x_label):
    """Ticks at the values that were measured, as many as there is room for."""
    if log:
        axes.set_xscale("log")
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    if log or len(values) <= 12:
        fig.canvas.draw()
        axes.set_xticks(room_for(values, lambda x: axes.transData.transform((x, 1))[0]
                                 * 72 / fig.dpi))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.set_xlabel(x_label)


def set_up_log(axis, low, high):
    """Ticks at powers of ten, and between them if there are few."""
    subs = (1, 2, 5) if high < 50 * low else (1,)
    axis.set_major_locator(ticker.LogLocator(subs=subs, numticks=20))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(plain))


def set_up_y(axes, values, log, y_label):
    if log:
        low, high = min(values), max(values)
        axes.set_yscale("log")
        axes.set_ylim(low / 1.25, high * 1.25)
        set_up_log(axes.yaxis, low, high)
    else:
        axes.set_ylim(0, 1.06 * max(values))
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axes.set_ylabel(y_label)


def lines(title, x_label, y_label, all_lines, log_x, log_y=True):
    """A plot of Lines, or nothing if none has a point."""
    all_lines = [line for line in all_lines if line.points]
    if not all_lines:
        return ""
    fig, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT), layout="constrained")
    key, colour_of, floors = [], {}, 0
    for line in all_lines:
        dashes = Line.DASHES[line.kind]
        if line.kind == "floor":
            shade, dashes = None, (dashes[0], dashes[1] + 3 * floors)
            floors += 1
        else:
            shade = colour_of.get(id(line.like))
            if shade is None:
                shade = len(set(colour_of.values()))
            colour_of[id(line)] = shade
        drawn, = axes.plot(*line.xy(), color=INK if shade is None else colour(shade),
                           marker="" if shade is None and len(line.points) > 1 else "o",
                           markersize=4, clip_on=False)
        if dashes:
            drawn.set_dashes([d / 1.6 for d in dashes])
        style = "stroke: currentColor" if shade is None else stroke(shade)
        if dashes:
            style += "; stroke-dasharray: " + ",".join(f"{d:g}" for d in dashes)
        key.append(key_entry(line.name, style))
    set_up_y(axes, [y for line in all_lines for y in line.points.values()], log_y, y_label)
    set_up_x(fig, axes, sorted({x for line in all_lines for x in line.points}), log_x, x_label)
    return assemble(title, embed(fig, axes, title), key)


def bars(title, y_label, groups, marks):
    """@param groups  {group: {bar: value}}, groups from left to right
    @param marks   {name: {group: value}}, points over the groups"""
    names = list(dict.fromkeys(name for values in groups.values() for name in values))
    names = [name for name in names if any(number(v.get(name)) for v in groups.values())]
    marks = {name: {g: v for g, v in values.items() if number(v) and g in groups}
             for name, values in marks.items()}
    if not names:
        return ""
    measured = [values[name] for values in groups.values() for name in names
                if number(values.get(name))]
    measured += [value for values in marks.values() for value in values.values()]
    fig, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT + 0.4), layout="constrained")
    set_up_y(axes, measured, True, y_label)
    low = min(measured) / 1.8  # the smallest bar is seen as well
    axes.set_ylim(bottom=low)
    width, key = 0.8 / len(names), []
    for i, name in enumerate(names):
        known = [(x, values[name]) for x, values in enumerate(groups.values())
                 if number(values.get(name))]
        axes.bar([x + width * (i + 0.5) - 0.4 for x, _ in known], [y - low for _, y in known],
                 width, low, color=colour(i), clip_on=False)
        key.append(key_entry(name, stroke(i) + "; stroke-width: 7"))
    places = {group: x for x, group in enumerate(groups)}
    for i, (name, values) in enumerate((m for m in marks.items() if m[1]), len(names)):
        axes.plot([places[group] for group in values], list(values.values()), "o", markersize=5,
                  color=colour(i), clip_on=False)
        key.append(key_entry(name, stroke(i), dots=True))
    axes.grid(axis="x", visible=False)
    axes.set_xticks(range(len(groups)), list(groups), rotation=25, ha="right")
    return assemble(title, embed(fig, axes, title), key)


def dots(title, x_label, groups):
    """@param groups  [(name, {series: value})], a line of dots each, from top to bottom, below its
    name"""
    series = [name for name in dict.fromkeys(name for _, values in groups for name in values)
              if any(number(values.get(name)) for _, values in groups)]
    groups = [(name, values) for name, values in groups if any(map(number, values.values()))]
    if not groups:
        return ""
    names = [textwrap.wrap(name, 56) for name, _ in groups]
    places, below = [], 0.0  # in lines of text
    for name in names:
        places.append((below + 0.2, below + len(name) + 0.75))
        below += len(name) + 1.5
    height = 0.55 + 0.165 * below
    fig, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
    axes.set_xscale("log")
    known = [v for _, values in groups for v in values.values() if number(v)]
    axes.set_xlim(min(known) / 1.15, max(known) * 1.15)
    for name, (top, y), (_, values) in zip(names, places, groups):
        of_group = [v for v in values.values() if number(v)]
        axes.plot([min(of_group), max(of_group)], [y, y], color=PALE, clip_on=False)
        for i, words in enumerate(name):
            axes.text(0, top + i, words, va="top", transform=axes.get_yaxis_transform())
    for i, name in enumerate(series):
        points = [(values[name], y) for (_, y), (_, values) in zip(places, groups)
                  if number(values.get(name))]
        axes.plot(*zip(*points), "o", markersize=6, color=colour(i), clip_on=False)
    axes.set_yticks([])
    axes.set_ylim(below, 0)
    axes.grid(axis="y", visible=False)
    set_up_log(axes.xaxis, min(known), max(known))
    axes.set_xlabel(x_label)
    axes.spines["left"].set_visible(False)
    key = [key_entry(name, stroke(i), dots=True) for i, name in enumerate(series)]
    return assemble(title, embed(fig, axes, title), key)


def stacks(title, x_label, groups):
    """@param groups  [(name, {part: value})], a bar each, from top to bottom, below its name; the
    parts of all have the same order"""
    parts = list(dict.fromkeys(name for _, values in groups for name, v in values.items()
                               if number(v)))
    if not parts:
        return ""
    fig, axes = pyplot.subplots(figsize=(WIDTH, 0.6 + 0.45 * len(groups)), layout="constrained")
    for y, (name, values) in enumerate(groups):
        left = 0
        for i, part in enumerate(parts):
            value = values.get(part) or 0
            axes.barh(y + 0.25, value, 0.4, left, color=colour(i), clip_on=False)
            left += value
        axes.text(0, y - 0.02, textwrap.shorten(name, 60, placeholder=" …"), va="bottom",
                  transform=axes.get_yaxis_transform())
    axes.set_yticks([])
    axes.set_ylim(len(groups) - 0.4, -0.5)
    axes.set_xlim(0, 1.02 * max(sum(v for v in values.values() if number(v))
                                for _, values in groups))
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(x_label)
    key = [key_entry(part, stroke(i) + "; stroke-width: 7") for i, part in enumerate(parts)]
    return assemble(title, embed(fig, axes, title), key)
