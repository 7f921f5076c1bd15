# SPDX-License-Identifier: LGPL-2.1-or-later
"""The time of operators over a parameter: a plot, and its numbers."""
from . import plots
from .markup import BACKENDS, count, details, table
from .results import number

LABELS = {"window": "window, pixels a side", "length": "length of the segment, pixels",
          "angle": "angle, degrees", "directions": "directions",
          "pixels": "megapixels of the frame"}
PUBLISHED = ("morard", "bartovsky", "zones", "naive", "serial", "Global", "Shared")
PEERS = ("NPP", "OpenCV")
SHAPES = " against window and shape"


def kind_of(name):
    words = name.replace(",", " ").split()
    if any(w in PEERS for w in words):
        return "peer"
    return "published" if any(w in PUBLISHED for w in words) else "ours"


class Sweep:
    """A table of one parameter on one backend."""

    def __init__(self, name, backend, rows):
        self.title, self.rows = f"{name}, {BACKENDS[backend]}", rows
        self.parameter = rows[0].get("parameter", "")
        sizes = {(row.get("width"), row.get("height")) for row in rows}
        lines, floors = {}, {}
        for row in rows:
            series = row.get("series") or row.get("name", "")
            x = row["value"] / 1e6 if self.parameter == "pixels" else row["value"]
            line = lines.setdefault(series, plots.Line(series, kind_of(series)))
            line.add(x, row.get("us"))
            if kind_of(series) != "peer" and number(row.get("peer_us")):
                peer = f"{row.get('peer', 'peer')}: {series}"
                lines.setdefault(peer, plots.Line(peer, "peer", line)).add(x, row["peer_us"])
            depth = row.get("depth", 8)
            floor = "copy, " + ("float" if depth == 32 else f"{depth:.0f} bit")
            if self.parameter != "pixels" and len(sizes) > 1:
                floor += f", {row.get('width')}×{row.get('height')}"
            floors.setdefault(floor, plots.Line(floor, "floor")).add(x, row.get("floor_us"))
        self.lines = [line for line in [*lines.values(), *floors.values()] if line.points]

    def plot(self):
        return plots.lines(self.title, LABELS.get(self.parameter, self.parameter), "us", self.lines,
                           self.parameter != "angle")

    def numbers(self):
        values = sorted({x for line in self.lines for x in line.points})
        return table([self.parameter] + [line.name for line in self.lines],
                     [[f"{v:.4g}", *(count(line.points.get(v)) for line in self.lines)]
                      for v in values])


def all_of(results):
    for name in results.tables(lambda t: " against " in t):
        for backend in BACKENDS:
            rows = [r for r in results.of(name)
                    if r.get("backend") == backend and number(r.get("value"))]
            sweep = rows and Sweep(name, backend, rows)
            if sweep and sweep.lines:
                yield sweep


def section(results):
    """The plots."""
    found = "".join(sweep.plot() for sweep in all_of(results))
    return found and (
        f'<div class="plots">{found}</div>\n<p>Dotted: a copy of the plane. Dashed: other '
        "libraries. Dash-dotted: published algorithms.</p>")


def numbers(results):
    return "\n".join(details(f"{sweep.title}, us", sweep.numbers()) for sweep in all_of(results))
