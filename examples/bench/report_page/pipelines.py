# SPDX-License-Identifier: LGPL-2.1-or-later
"""The measurements of cudascan-pipeline-bench."""
from . import plots
from .markup import WHERE, Cell, count, details, latency, quotient, size, some, table, times, used
from .results import number

USUAL = "3840×2160"


def rows_of(results):
    return [r for r in results.of("pipelines") if not number(r.get("streams")) or r["streams"] <= 1]


def name_of(row):
    return row.get("name", "") + (" (queues)" if row.get("queues") is True else "")


def line(row):
    if row.get("error"):
        return [name_of(row), Cell(WHERE.get(row.get("where"), row.get("where", "–")), "word"),
                Cell(row["error"], "bad")]
    return [name_of(row), Cell(WHERE.get(row.get("where"), row.get("where", "–")), "word"),
            Cell(row.get("backend", "–"), "word"),
            Cell("other library" if row.get("peer") is True else "ours", "word"),
            Cell(count(row.get("fps")), "ours"),
            *(count(latency(row, k)) for k in ("p50", "p95", "p99", "max")),
            count(row.get("cpu_us_per_frame")), count(row.get("syncs_per_frame")),
            count(row.get("us")),
            count(row.get("floor_us")), times(quotient(row.get("us"), row.get("floor_us")))]


HEADS = ["pipeline", "where", "backend", "of", "frames/s", "p50 ms", "p95 ms", "p99 ms", "max ms",
         "CPU us a frame", "syncs a frame", "us a frame", "floor us", "× floor"]


def by_size(rows):
    sizes = {}
    for row in rows:
        sizes.setdefault(size(row), []).append(row)
    return sizes


def usual_size(sizes):
    return USUAL if USUAL in sizes else max(sizes, key=lambda s: len(sizes[s]))


def chains(results):
    """Frames of one size."""
    sizes = by_size(rows_of(results))
    if not sizes:
        return ""
    usual = usual_size(sizes)
    groups = {}
    for row in sizes[usual]:
        where = WHERE.get(row.get("where"), row.get("where", ""))
        groups.setdefault(name_of(row), {}).setdefault(where, row.get("fps"))
    plot = plots.dots(f"Frames a second, {usual}", "frames/s", list(groups.items()))
    return plot + details(f"Numbers: {some(len(sizes[usual]), 'pipeline')}",
                          table(*used(HEADS, map(line, sizes[usual]))))


def other_sizes(results):
    sizes = by_size(rows_of(results))
    return "\n".join(details(f"{name}: {some(len(rows), 'pipeline')}",
                             table(*used(HEADS, map(line, rows))))
                     for name, rows in sizes.items() if name != usual_size(sizes))


def live(results):
    """For each pipeline: sizes downwards, rates across, dropped frames in the cells; latencies
    below."""
    pipelines = {}
    for row in results.of("live"):
        where = WHERE.get(row.get("where"), row.get("where", "–"))
        pipelines.setdefault((row.get("name", ""), where, row.get("backend", "–")), []).append(row)
    out = []
    for (name, where, backend), rows in pipelines.items():
        rates = sorted({r["fps_in"] for r in rows if number(r.get("fps_in"))})
        cells = {(size(r), r.get("fps_in")): dropped(r) for r in rows}
        lines = [[s, *(cells.get((s, rate), "–") for rate in rates)]
                 for s in dict.fromkeys(map(size, rows))]
        heads = ["frames dropped at", *(f"{count(rate)} frames/s" for rate in rates)]
        out.append(table(heads, lines, f"{name}: {where}, {backend}"))
        latencies = [[size(r), count(r.get("fps_in")), count(r.get("frames")), dropped(r),
                      *(count(latency(r, k)) for k in ("p50", "p95", "p99", "max")),
                      count(r.get("cpu_us_per_frame"))] for r in rows]
        heads = ["size", "frames/s offered", "offered", "dropped", "p50 ms", "p95 ms", "p99 ms",
                 "max ms", "CPU us a frame"]
        named = "Latencies" if any(r.get("latency_us") for r in rows) else "Numbers"
        out.append(details(named, table(*used(heads, latencies))))
    return "\n".join(out)


def camera(results):
    """For each size, rate and backend: what the elements add, and the times to the sink."""
    tables = {}
    for row in results.of("camera"):
        threads = f", {count(row['threads'])} threads" if number(row.get("threads")) else ""
        caption = (f"{size(row)}, {count(row.get('fps_in'))} frames/s, "
                   f"{row.get('backend', '–')}{threads}")
        cells = [Cell(row["error"], "bad")] if row.get("error") else [
            *(Cell(count(latency(row, k, "added_us")), "ours") for k in ("p50", "p99")),
            *(count(latency(row, k, of)) for of in ("latency_us", "sensor_us")
              for k in ("p50", "p99", "max")), dropped(row)]
        tables.setdefault(caption, []).append([row.get("name", ""), *cells])
    heads = ["pipeline", "added ms", "99 %", "from the push ms", "99 %", "most",
             "from the timestamp ms", "99 %", "most", "dropped"]
    return "\n".join(table(heads, lines, caption) for caption, lines in tables.items())


def dropped(row):
    if row.get("error"):
        return Cell(row["error"], "bad")
    lost, share = row.get("dropped"), quotient(row.get("dropped"), row.get("frames"))
    if not number(lost):
        return "–"
    share = f" ({100 * share:.1f} %)" if share else ""
    return Cell(f"{lost:.0f}{share}", "good" if lost == 0 else "bad")


def peers(results):
    """Other libraries next to ours, measured in the same run."""
    sizes = by_size(results.of("peers"))
    heads = ["work", "by", "", "where", "frames/s", "us a frame", "× ours", "CPU us a frame"]
    out = []
    for name, rows in sizes.items():
        ours = {(r.get("name"), r.get("where")): r.get("us") for r in rows
                if r.get("peer") is not True}
        lines = []
        for r in rows:
            other = r.get("peer") is True
            where = WHERE.get(r.get("where"), r.get("where", "–"))
            by = r.get("element") or ("–" if other else "ours, " + {
                "cuda": "GPU", "cpu": "CPU"}.get(r.get("backend"), "–"))
            head = [r.get("name", ""), Cell(by, "word"), Cell(r.get("library") or "–", "word"),
                    Cell(where, "word")]
            if r.get("error"):
                lines.append([*head, Cell(r["error"], "bad")])
                continue
            of_ours = quotient(r.get("us"), ours.get((r.get("name"),
                                                      r.get("where")))) if other else None
            lines.append([*head, Cell(count(r.get("fps")), "plain" if other else "ours"),
                          count(r.get("us")), times(of_ours), count(r.get("cpu_us_per_frame"))])
        out.append(details(f"{name}: {some(len(lines), 'row')}", table(heads, lines),
                           len(sizes) == 1))
    return "\n".join(out)


def streams(results):
    rows = [r for r in results.of("streams") or results.of("pipelines") if number(r.get("streams"))]
    several = {(r.get("name"), size(r), r.get("where")) for r in rows if r["streams"] > 1}
    rows = [r for r in rows if (r.get("name"), size(r), r.get("where")) in several]
    if not rows:
        return ""
    names = {row.get("name", "") for row in rows}
    lines = {}
    for row in rows:
        name = f"{size(row)}, {WHERE.get(row.get('where'), row.get('where', ''))}"
        if len(names) > 1:
            name = f"{row.get('name', '')}; {name}"
        lines.setdefault(name, plots.Line(name)).add(row["streams"], row.get("fps"))
    plot = plots.lines("Frames a second of all streams together", "streams", "frames/s",
                       lines.values(), True, log_y=False)
    numbers = [[count(row["streams"]), *([Cell(row.get("name", ""), "word")]
                                         if len(names) > 1 else []),
                size(row), Cell(WHERE.get(row.get("where"), row.get("where", "–")), "word"),
                Cell(row["error"], "bad") if row.get("error")
                else Cell(count(row.get("fps")), "ours"),
                count(quotient(row.get("fps"), row["streams"])),
                *(count(latency(row, k)) for k in ("p50", "p99")),
                count(row.get("cpu_us_per_frame"))]
               for row in rows]
    heads = ["streams", *(["pipeline"] if len(names) > 1 else []), "size", "where", "frames/s",
             "each", "p50 ms", "p99 ms", "CPU us a frame"]
    caption = names.pop() if len(names) == 1 else ""
    return plot + table(*used(heads, numbers), caption)


def headline(results):
    """(frames a second, where) of NICK alone, whose time is that of the copies or of its kernel."""
    return [(count(row["fps"]), f"frames/s of {USUAL}, {name_of(row)}, {WHERE[row['where']]}")
            for row in rows_of(results)
            if row.get("name") == "cudanick" and row.get("queues") is not True
            and size(row) == USUAL and number(row.get("fps")) and row.get("peer") is not True
            and row.get("where") in ("cudamemory", "system")]
