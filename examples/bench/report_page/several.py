# SPDX-License-Identifier: LGPL-2.1-or-later
"""What several GPUs of one host do together, and what bounds them."""
import re

from . import machines
from .markup import (WHERE, Cell, count, details, latency, quotient, size, some, table, text,
                     times, used)
from .results import LINKS, number, of_several

TESTS = "tests of several GPUs"
PAPERS = {"paper 000 several GPUs": "NICK's kernels of Najafi et al., and ours",
          "paper 003 several GPUs": "Thresholds of Prahara et al., and ours"}


def spread(row):
    """In words, how the elements of a chain name their GPUs."""
    name = row.get("name", "")
    elements = [part for part in name.split(" ! ") if not part.startswith("queue")]
    gpus = re.findall(r"cuda-device-id=(\d+)", name)
    changes = sum(a != b for a, b in zip(gpus, gpus[1:]))
    if len(gpus) < len(elements):
        return f"the first half on GPU {gpus[0]}, the rest follows" if gpus else "any GPU"
    return {0: "all on one GPU", 1: "halves on two GPUs"}.get(changes, "in turn on two GPUs")


def error_or(row, value):
    return Cell(row["error"], "bad") if row.get("error") else value


def passed(rows):
    lines = [[row.get("name", ""), count(row.get("gpus")), count(row.get("tests")),
              error_or(row, Cell("all", "good"))] for row in rows]
    return table(["tests", "GPUs", "run", "passed"], lines,
                 "Tests whose results must not depend on the number of GPUs")


def pipelines(rows):
    def on_each(row):
        return row.get("where"), row["streams"] / row["gpus"]

    def rest(row):
        return [count(latency(row, "p50")), count(latency(row, "p99")),
                count(row.get("cpu_us_per_frame"))]

    def frames(row):
        return error_or(row, Cell(count(row.get("fps")), "ours"))

    one = {on_each(row): row.get("fps") for row in rows if row.get("gpus") == 1}
    shared = [[count(row["gpus"]), count(round(on_each(row)[1])), size(row),
               Cell(WHERE.get(row.get("where"), "–"), "word"), frames(row),
               times(quotient(row.get("fps"), one.get(on_each(row)))), *rest(row)]
              for row in rows if row.get("gpus")]
    across = [[spread(row), Cell(row.get("name", ""), "word long"), size(row), frames(row),
               count(row.get("peer_copies_per_frame")), *rest(row)]
              for row in rows if not row.get("gpus")]
    tail = ["p50 ms", "p99 ms", "CPU us a frame"]
    tables = ((["GPUs", "pipelines on each", "size", "where", "frames/s", "of one GPU", *tail],
               shared, "Pipelines on each GPU: all GPUs together"),
              (["elements", "pipeline", "size", "frames/s", "GPU to GPU, copies a frame", *tail],
               across, "One chain whose neighbours are on different GPUs, CUDAMemory"))
    return "\n".join(table(*used(heads, lines), caption)
                     for heads, lines, caption in tables if lines)


def frames_of_one_stream(rows, caption):
    """Frames a second of all GPUs together, copies included."""
    def rate(row, key):
        return quotient(1e6, row.get(key))

    latest = {(row.get("series"), size(row), row.get("value")): row for row in rows}
    if all(gpus == 1 for _, _, gpus in latest):
        return ""
    one = {key[:2]: row for key, row in latest.items() if key[2] == 1}
    lines = []
    for row in latest.values():
        of_one = one.get((row.get("series"), size(row)), {})
        lines.append([row.get("series", ""), size(row), count(row.get("value")),
                      error_or(row, Cell(count(rate(row, "us")), "ours")),
                      times(quotient(of_one.get("us"), row.get("us"))),
                      count(rate(row, "baseline_us")), times(row.get("speedup")),
                      count(rate(row, "copy_us"))])
    heads = ["", "size", "GPUs", "ours, frames/s", "of one GPU", "the paper's, frames/s",
             "of one GPU", "copies alone, frames/s"]
    return table(heads, lines, f"{caption}: frames of one stream in pinned memory, copies included")


def pages(rows):
    """cudascan-scan, whose GPUs share the pages."""
    one = {row.get("name"): row.get("pages_per_second") for row in rows if row.get("gpus") == 1}
    lines = [[row.get("name", ""), count(row.get("gpus")),
              error_or(row, Cell(count(row.get("pages_per_second")), "ours")),
              times(quotient(row.get("pages_per_second"), one.get(row.get("name")))),
              f"{100 * row['gpu_busy']:.0f} %" if number(row.get("gpu_busy")) else "–",
              count(row.get("threads"))] for row in rows]
    return table(["", "GPUs", "pages/s", "of one GPU", "GPU busy", "pages at once"], lines,
                 "cudascan-scan: pages shared out")


def links(rows):
    lines = [[row.get("name", ""), error_or(row, Cell(count(row.get("gb_per_s")), "ours"))]
             for row in rows]
    return details(f"What bounds them: {some(len(rows), 'link')} and the host's memory",
                   table(["copies", "GB/s"], lines))


def of_machine(rows):
    """The tables of one machine."""
    found = {}
    for row in rows:
        found.setdefault(row["table"], []).append(row)
    made = [passed(found[TESTS])] if TESTS in found else []
    if "gpus" in found:
        made.append(pipelines(found["gpus"]))
    made += [frames_of_one_stream(found[name], caption) for name, caption in PAPERS.items()
             if name in found]
    if len({row.get("gpus") for row in found.get("scan", ())}) > 1:
        made.append(pages(found["scan"]))
    if LINKS in found:
        made.append(links(found[LINKS]))
    return "\n".join(filter(None, made))


def section(results):
    """By machine, those with more GPUs first."""
    hosts = {}
    for row in results.rows:
        if of_several(row):
            hosts.setdefault(machines.named(row["machine"]), []).append(row)
    made = {name: of_machine(rows) for name, rows in sorted(
        hosts.items(), key=lambda host: -(host[1][0]["machine"].get("gpus") or 0))}
    return "\n".join(f"<p>Measured on {text(name)}.</p>\n{tables}"
                     for name, tables in made.items() if tables)
