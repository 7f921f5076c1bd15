# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a visitor wants first: how fast, compared with what people use today. One table, one
plot."""
import statistics

from . import plots
from .markup import Cell, count, quotient, table, times
from .results import number

FRAME = {"width": 3840, "height": 2160, "depth": 8}
# The work in words, the case of cudascan-bench, and the name of the same work in python_peers.py.
WORKS = (("local threshold, window 33 (NPP: of the mean)", "nick 33", None),
         ("local threshold with deviation, window 67 (ours 75)", "niblack 75", "niblack 67"),
         ("local threshold by the mean, window 67 (ours 75)", "bradley 75", "mean threshold 67"),
         ("Otsu's threshold", "otsu", "otsu"),
         ("histogram equalization", "equalize", "equalize"),
         ("CLAHE, 8×8 tiles", "clahe 8x8", "clahe"),
         ("median of 5×5", "median 5", "median 5"),
         ("median of 15×15", "median 15", None),
         ("mean of 15×15", "mean 15", None),
         ("erosion by 15×15", "erode 15", None),
         ("opening by 15×15", "open 15", "open 15"),
         ("opening by a line of 41 at 0 degrees", "opening 41 at 0", "line opening 41"),
         ("opening by a line of 41 at 45 degrees", "opening 41 at 45", None))


class Work:
    """Microseconds of one frame, where they were measured: ours and others' by library, on the GPU
    and on one core."""

    def __init__(self, label, case, python, results):
        self.label = label
        self.ours, self.others = {}, {"cuda": {}, "cpu": {}}
        for row in results.of("kernels"):
            if row.get("name") != case or row.get("section") not in ("cuda", "cpu 1") or any(
                    row.get(key) != value for key, value in FRAME.items()):
                continue
            backend = row.get("backend")
            if backend in self.others and number(row.get("us")):
                self.ours[backend] = row["us"]
                self.add(backend, row.get("peer"), row.get("peer_us"))
        for row in results.of("peers"):
            if python and row.get("name") == python and row.get("where") == "kernel" and all(
                    row.get(key) == value for key, value in FRAME.items()):
                self.add("cuda", row.get("library", "").partition(" ")[0], row.get("us"))

    def add(self, backend, library, us):
        """The faster one of a library's functions for the same work counts."""
        if library and number(us):
            others = self.others[backend]
            others[library] = min(us, others.get(library, us))

    def gain(self, backend):
        """Over the fastest other library."""
        return quotient(min(self.others[backend].values(), default=None), self.ours.get(backend))

    def dots(self, found):
        """For the plot, with the same series for all that were found."""
        where = {"cuda": "GPU", "cpu": "one core"}
        return {f"{name}, {where[backend]}": us for backend in where
                for name, us in (("gst-cudascan", self.ours.get(backend)),
                                 *((name, self.others[backend].get(name))
                                   for name in libraries(found, backend)))}


def works(results):
    found = [Work(*work, results) for work in WORKS]
    return [work for work in found if work.ours]


def libraries(found, backend):
    return list(dict.fromkeys(name for work in found for name in work.others[backend]))


def gains(found, backend, whose):
    values = sorted(g for g in (work.gain(backend) for work in found) if g)
    if not values:
        return ""
    least, most = count(values[0]), count(values[-1])
    if len(values) == 1:
        return f"{whose} takes {most} times as long as gst-cudascan"
    return (f"{whose} takes {least} to {most} times as long as gst-cudascan, in the middle "
            f"{count(statistics.median(values))} times")


def sentence(results):
    found = works(results)
    return "; ".join(words for words in (
        gains(found, "cuda", "On the GPU the fastest other library"),
        gains(found, "cpu", "on one core of the CPU OpenCV")) if words)


def section(results):
    found = works(results)
    if not found:
        return ""
    gpu = [b for b in ("cuda",) if any(b in work.ours for work in found)]
    cpu = [b for b in ("cpu",) if any(b in work.ours for work in found)]
    heads, columns = ["one frame of 3840×2160, 8 bit"], []
    for backend, unit, factor in [*((b, "us", 1) for b in gpu), *((b, "ms", 1000) for b in cpu)]:
        where = "GPU" if backend == "cuda" else "one core"
        names = libraries(found, backend)
        heads += [f"ours, {where}, {unit}", *(f"{name}, {unit}" for name in names)]
        heads += ["× the fastest" if len(names) > 1 else f"× {names[0]}"] if names else []
        columns.append((backend, factor, names))
    lines = []
    for work in found:
        line = [work.label]
        for backend, factor, names in columns:
            line.append(Cell(count(quotient(work.ours.get(backend), factor)), "ours"))
            line += [count(quotient(work.others[backend].get(name), factor)) for name in names]
            line += [times(work.gain(backend))] if names else []
        lines.append(line)
    plot = plots.dots("Time of one frame, 3840×2160, 8 bit (less is better)", "us",
                      [(work.label, work.dots(found)) for work in found])
    return plot + table(heads, lines)
