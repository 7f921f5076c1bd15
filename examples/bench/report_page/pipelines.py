# SPDX-License-Identifier: LGPL-2.1-or-later
"""What cudascan-pipeline-bench measured."""
from . import plots
from .markup import Cell, count, details, quotient, size, table, times
from .results import number

WHERE = {"kernel": "bare kernel", "cudamemory": "CUDAMemory", "system": "system memory"}


def latency(row, key):
    value = (row.get("latency_us") or {}).get(key)
    return value / 1e3 if number(value) else None


def rows_of(results):
    return [r for r in results.of("pipelines") if not number(r.get("streams")) or r["streams"] <= 1]


def line(row):
    if row.get("error"):
        return [row.get("name", ""), Cell(WHERE.get(row.get("where"), row.get("where", "–")), "word"),
                Cell(row["error"], "bad")]
    return [row.get("name", ""), Cell(WHERE.get(row.get("where"), row.get("where", "–")), "word"),
            Cell(row.get("backend", "–"), "word"),
            Cell("other library" if row.get("peer") is True else "ours", "word"),
            Cell(count(row.get("fps")), "ours"),
            *(count(latency(row, k)) for k in ("p50", "p95", "p99", "max")),
            count(row.get("cpu_us_per_frame")), count(row.get("syncs_per_frame")), count(row.get("us")),
            count(row.get("floor_us")), times(quotient(row.get("us"), row.get("floor_us")))]


HEADS = ["pipeline", "where", "backend", "of", "frames/s", "p50 ms", "p95 ms", "p99 ms", "max ms",
         "CPU us a frame", "syncs a frame", "us a frame", "floor us", "× floor"]


def chains(results):
    rows = rows_of(results)
    if not rows:
        return ""
    out = []
    by_size = {}
    for row in rows:
        by_size.setdefault(size(row), []).append(row)
    plotted = "3840×2160" if "3840×2160" in by_size else max(by_size, key=lambda s: len(by_size[s]))
    groups = {}
    for row in by_size[plotted]:
        where = WHERE.get(row.get("where"), row.get("where", ""))
        groups.setdefault(row.get("name", ""), {}).setdefault(where, row.get("fps"))
    svg = plots.dots(f"Frames a second, {plotted}", "frames/s", list(groups.items()))
    if svg:
        out.append(plots.figure(svg, "A line for each pipeline; its numbers are below."))
    for name, some in by_size.items():
        out.append(details(f"{name}: {len(some)} pipelines", table(HEADS, map(line, some)), name == plotted))
    return "\n".join(out)


def live(results):
    rows = results.of("live")
    if not rows:
        return ""
    lines = []
    for row in rows:
        dropped = row.get("dropped")
        frames = row.get("frames")
        kind = "good" if dropped == 0 else "bad" if number(dropped) else ""
        share = f"{100 * dropped / frames:.1f} %" if number(dropped) and number(frames) and frames else "–"
        lines.append([row.get("name", "live source"), size(row), Cell(row.get("where", "–"), "word"),
                      Cell(row.get("backend", "–"), "word"), count(row.get("fps_in")), count(frames),
                      Cell(f"{dropped:.0f}" if number(dropped) else "–", kind), share,
                      count(latency(row, "p50")), count(latency(row, "p99"))])
    return table(["pipeline", "size", "where", "backend", "frames/s offered", "frames", "dropped", "share",
                  "p50 ms", "p99 ms"], lines)


def streams(results):
    rows = [r for r in results.of("pipelines") + results.of("streams") if number(r.get("streams"))]
    several = {(r.get("name"), size(r), r.get("where")) for r in rows if r["streams"] > 1}
    rows = [r for r in rows if (r.get("name"), size(r), r.get("where")) in several]
    if not rows:
        return ""
    lines = {}
    for row in rows:
        name = f"{row.get('name', '')}, {size(row)}, {WHERE.get(row.get('where'), row.get('where', ''))}"
        lines.setdefault(name, plots.Line(name)).add(row["streams"], row.get("fps"))
    svg = plots.lines("Frames a second of all streams together", "streams", "frames/s", lines.values(), True)
    numbers = [[row.get("name", ""), size(row),
                Cell(WHERE.get(row.get("where"), row.get("where", "–")), "word"),
                count(row["streams"]), Cell(count(row.get("fps")), "ours"),
                count(quotient(row.get("fps"), row["streams"])),
                *(count(latency(row, k)) for k in ("p50", "p99")), count(row.get("cpu_us_per_frame"))]
               for row in rows]
    return plots.figure(svg, "All streams together.") + table(
        ["pipeline", "size", "where", "streams", "frames/s", "each", "p50 ms", "p99 ms", "CPU us a frame"],
        numbers)


def headline(results):
    best = {}
    for row in rows_of(results):
        if size(row) == "3840×2160" and number(row.get("fps")) and row.get("peer") is not True:
            where = row.get("where")
            if where in ("cudamemory", "system") and row["fps"] > best.get(where, ("", 0))[1]:
                best[where] = (row.get("name", ""), row["fps"])
    return [(count(fps), f"frames/s of 3840×2160, {name}, {WHERE[where]}")
            for where, (name, fps) in best.items()]
