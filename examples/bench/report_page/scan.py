# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages a second of cudascan-scan, from examples/scan/measure_gpus.py, and where the time goes."""
from . import machines, plots
from .markup import Cell, count, table, text
from .results import number

TABLE = "scan"


def times_of(row):
    """Milliseconds of a core for one page, by the work, in the order of the work."""
    times = row.get("breakdown_ms") or {}
    return {name: ms for name, ms in times.items() if number(ms)}


def section(results):
    rows = results.of(TABLE)
    if not rows:
        return ""
    lines = []
    for row in rows:
        where = [row.get("name", "–"), Cell({"cuda": "GPU", "cpu": "CPU"}.get(
            row.get("backend"), "–"), "word"), count(row.get("gpus")), count(row.get("threads"))]
        if row.get("error"):
            lines.append([*where, Cell(row["error"], "bad")])
            continue
        busy = row.get("gpu_busy")
        lines.append([*where, Cell(count(row.get("pages_per_second")), "ours"),
                      f"{100 * busy:.0f} %" if number(busy) else "–",
                      Cell(machines.named(row["machine"]), "word")])
    out = table(["pages", "on", "GPUs", "at once", "pages/s", "GPU busy", "machine"], lines)
    broken_down = [(f"{row.get('name', '–')}, {row.get('backend', '–')}, {count(row.get('gpus'))}",
                    times_of(row)) for row in rows if times_of(row)]
    if broken_down:
        out += plots.stacks("Where the time of a page goes", "ms of a core for one page",
                            broken_down)
    return out
