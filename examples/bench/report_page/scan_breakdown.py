# SPDX-License-Identifier: LGPL-2.1-or-later
"""A picture of what the cores do in cudascan-scan: a stacked bar for each run."""
import json
import pathlib

from matplotlib import pyplot

from .plots import COLOURS, INK, embed, figure

STEPS = ("read", "decode", "measure", "compute", "text", "encode", "write")
LEAST_SHARE = 0.06  # of the longest bar: narrower parts have no number


def read(paths):
    """Files of `cudascan-scan --stats` as pairs of a name, that of the file, and statistics."""
    return [(pathlib.Path(path).stem, json.loads(pathlib.Path(path).read_text()))
            for path in paths]


def draw(runs, caption="What a core does for a page, in milliseconds"):
    """@param runs  pairs of a name and the statistics of a run
    @return a figure in HTML; a stroke in "compute" ends the time in which the GPU worked
    @raise ValueError  for statistics without a breakdown"""
    for name, stats in runs:
        if "breakdown_ms" not in stats:
            raise ValueError(f"{name}: breakdown_ms is missing; run this version of cudascan-scan "
                             "with --stats")
    times = [stats["breakdown_ms"] for _, stats in runs]
    used = [step for step in STEPS if any(ms.get(step, 0) > 0 for ms in times)]
    longest = max(sum(ms.get(step, 0) for step in used) for ms in times)
    picture, axes = pyplot.subplots(figsize=(7, 1.3 + 0.45 * len(runs)), layout="constrained")
    for step in used:
        before = [sum(ms.get(other, 0) for other in used[:used.index(step)]) for ms in times]
        widths = [ms.get(step, 0) for ms in times]
        bars = axes.barh(range(len(runs)), widths, left=before, height=0.6, label=step,
                         color=COLOURS[STEPS.index(step)])
        axes.bar_label(bars, [f"{ms:.1f}" if ms >= LEAST_SHARE * longest else "" for ms in widths],
                       label_type="center", fontsize=8)
        if step == "compute":
            busy = [(ms["gpu_busy"] + left, at) for at, (ms, left) in enumerate(zip(times, before))
                    if ms.get("gpu_busy", 0) > 0]
            if busy:
                axes.plot(*zip(*busy), "|", color=INK, markersize=12, label="GPU busy")
    axes.set_yticks(range(len(runs)), [
        f"{name}\n{stats['pages_per_second']:.1f} pages/s" for name, stats in runs])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_axisbelow(True)
    axes.set_xlabel("ms")
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncol=4)
    return figure(embed(picture, caption), caption)
