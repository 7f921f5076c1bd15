# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page for developers: the goals, and every row with its ratio to the floor."""
from . import goals, machines, papers, pipelines, settings, style, sweeps
from .markup import Cell, count, details, quotient, size, some, table, text, times
from .page import build, missing
from .results import number
from .several import TESTS


def kernels(results):
    rows = results.of("kernels")
    out = []
    for section in dict.fromkeys(r.get("section", "") for r in rows):
        cuda = section == "cuda"
        heads = ["case", "size", "cold us" if cuda else "us", *(["warm us"] if cuda else []),
                 "Mpx/s", "floor us", "× floor", "other", "its us", "× ours"]
        lines = []
        for r in (r for r in rows if r.get("section", "") == section):
            if r.get("error"):
                lines.append([r.get("name", ""), size(r), Cell(r["error"], "bad")])
                continue
            lines.append([r.get("name", ""), size(r), Cell(count(r.get("us")), "ours"),
                          *([count(r.get("warm_us"))] if cuda else []), count(r.get("mpx_per_s")),
                          count(r.get("floor_us")), times(quotient(r.get("us"), r.get("floor_us"))),
                          Cell(r.get("peer") or "–", "word"), count(r.get("peer_us")),
                          times(quotient(r.get("peer_us"), r.get("us")))])
        names = {"cuda": "GPU", "npp": "NPP", "cpu 1": "one CPU core"}
        name = names.get(section) or section.replace("cpu ", "CPU, cores: ")
        out.append(details(f"{name}; {some(len(lines), 'case')}", table(heads, lines)))
    return "\n".join(out)


def spreads(results):
    """Groups of cases that should take the same time."""
    rows = results.of("spreads")
    lines = [[f"{row.get('operator', '')} {row.get('name', '')}".strip(), size(row),
              count(row.get("us")), times(row.get("ratio"))] for row in rows]
    return table(["group", "size", "largest less smallest, us", "largest over smallest"],
                 lines) if rows else ""


# Tables that have a section of their own, here or on the page for visitors.
SHOWN = ("kernels", "spreads", "pipelines", "live", "camera", "peers", "streams", "gpus", "scan",
         TESTS, settings.TABLE)


def others(results):
    """Other tables. Those of a parameter have a line for each name and a column for each value."""
    out = []
    for name in results.tables(lambda t: t not in SHOWN and " against " not in t
                               and not t.startswith("paper ")):
        rows = results.of(name)
        values = sorted({row["value"] for row in rows if number(row.get("value"))})
        cells = {}
        for row in rows:
            error = row.get("error")
            cells.setdefault((row.get("name", ""), row.get("backend", "–")), {})[
                row.get("value")] = Cell(error, "bad") if error else count(row.get("us"))
        parameter = rows[0].get("parameter", "value")
        heads = ["us", "on", *([f"{parameter} {count(v)}" for v in values] or [""])]
        lines = [[case, Cell(backend, "word"), *(of_case.get(v, "–") for v in values or [None])]
                 for (case, backend), of_case in cells.items()]
        out.append(details(f"{name} ({some(len(rows), 'row')})", table(heads, lines)))
    return "\n".join(out)


SECTIONS = [
    ("goals", "Goals", goals.section,
     "The project's own goals, near the limits of an H200 and of one core with AVX-512, and "
     "whether this run meets them. A smaller machine misses them, and nothing is wrong."),
    ("kernels", "All operators", kernels, "Every case, as measured."),
    ("spreads", "Cases that should take the same time", spreads, ""),
    ("pipelines", "Pipelines of other sizes", pipelines.other_sizes, ""),
    ("sweeps", "Times over parameters", sweeps.numbers, ""),
    ("papers", "The five publications", papers.section,
     "What was published, the same algorithm on this machine, and ours. Speed-ups are those of the "
     "published GPU code over the serial CPU code. docs/papers.md lists every table and figure."),
    ("settings", "Random settings", settings.section,
     "Budgets are for an H200, those of lines for each direction. cudascan-bench repeats a setting "
     "with the options after it."),
    ("others", "Other tables", others, ""),
]


def make(results, title, visitors):
    """The page.
    @param visitors  name of the page for visitors, in the same folder"""
    title = f"{title}: all rows"
    out = [f"<h1>{text(title)}</h1>", missing(results),
           f"<p>Measured on {text(machines.sentence(results))}. This page is for developers; "
           f'<a href="{text(visitors)}">the other one</a> has the summary and the plots.</p>',
           build(SECTIONS, results)]
    return style.document(text(title), "\n".join(filter(None, out)))
