# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages a second of cudascan-scan, from examples/scan/measure_gpus.py, and where the time goes."""
from . import machines, plots
from .markup import Cell, count, some, table
from .results import number

TABLE = "scan"


def times_of(row):
    """Milliseconds of a core for one page, by the step, in their order. The GPU's own time is part
    of a step."""
    times = row.get("breakdown_ms") or {}
    return {name: ms for name, ms in times.items() if name != "gpu_busy" and number(ms) and ms > 0}


def on(row):
    if row.get("backend") != "cuda":
        return "CPU"
    gpus = row.get("gpus")
    return some(gpus, "GPU") if number(gpus) else "GPU"


def section(results):
    rows = results.of(TABLE)
    if not rows:
        return ""
    lines = []
    for row in rows:
        where = [Cell(on(row), "word"), count(row.get("threads")),
                 Cell(machines.named(row["machine"]), "word")]
        busy = row.get("gpu_busy")
        done = [Cell(row["error"], "bad"), "–"] if row.get("error") else [
            Cell(count(row.get("pages_per_second")), "ours"),
            f"{100 * busy:.0f} %" if number(busy) else "–"]
        lines.append([row.get("name", "–"), *done, *where])
    out = table(["", "pages/s", "GPU busy", "on", "pages at once", "machine"], lines)
    broken_down = [(f"{row.get('name', '–')}, {on(row)}", times_of(row)) for row in rows
                   if times_of(row)]
    if broken_down:
        out += plots.stacks("Where the time of a page goes", "ms of a core for one page",
                            broken_down)
    return out
