# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sections of the page; each is text and tables, or empty if there is nothing to show."""
from . import papers, pipelines, plots, settings, style
from .markup import Cell, count, details, quotient, size, table, text, times
from .results import number

BACKENDS = {"cuda": "GPU", "cpu": "one CPU core"}


def machine(results):
    rows = []
    for name, m in results.machines:
        rows.append([name, *(Cell(m.get(key) or "–", "word")
                             for key in ("gpu", "driver", "cuda", "cpu")),
                     m.get("cores") or m.get("threads") or "–",
                     Cell(m.get("gstreamer") or "–", "word")])
    return table(["results", "GPU", "driver", "CUDA", "CPU", "cores", "GStreamer"], rows)


def met(row):
    """Whether a goal is met; None without a goal or a time. Random settings have budgets instead,
    which their section shows."""
    if row["table"] == settings.TABLE:
        return None
    if number(row.get("goal_ratio")) and number(row.get("ratio")):
        return row["ratio"] <= row["goal_ratio"]
    if number(row.get("goal_us")) and number(row.get("us")):
        return row["us"] <= row["goal_us"]
    return None


def goals(results):
    rows = [r for r in results.rows if met(r) is not None]
    if not rows:
        return ""
    # Missed goals first, the worst one at the top.
    def excess(row):
        if number(row.get("goal_ratio")) and number(row.get("ratio")):
            return quotient(row["ratio"], row["goal_ratio"]) or 0
        return quotient(row["us"], row["goal_us"]) or 0

    def line(row):
        by_ratio = number(row.get("goal_ratio")) and number(row.get("ratio"))
        name, word = row.get("name", "–"), row.get("operator", "")
        return [name if word in name else f"{word} {name}", size(row),
                BACKENDS.get(row.get("backend"), row.get("section", "–")),
                times(row["goal_ratio"]) if by_ratio else count(row["goal_us"]) + " us",
                times(row["ratio"]) if by_ratio else count(row["us"]) + " us",
                Cell("met" if met(row) else "missed", "good" if met(row) else "bad")]
    missed = sorted((r for r in rows if not met(r)), key=excess, reverse=True)
    reached = [r for r in rows if met(r)]
    heads = ["goal", "size", "on", "at most", "measured", ""]
    out = [f"<p>{len(reached)} of {len(rows)} goals are met.</p>"]
    if missed:
        out.append(table(heads, map(line, missed), "Missed, the worst first"))
    if reached:
        out.append(details(f"The {len(reached)} goals that are met",
                           table(heads, map(line, reached))))
    return "\n".join(out)


# ---- Sweeps --------------------------------------------------------------------------------------

LABELS = {"window": "window, pixels a side", "length": "length of the segment, pixels",
          "angle": "angle, degrees", "directions": "directions",
          "pixels": "megapixels of the frame"}
PUBLISHED = ("morard", "bartovsky", "zones", "naive", "serial", "Global", "Shared")
PEERS = ("NPP", "OpenCV")


def kind_of(name):
    words = name.replace(",", " ").split()
    if any(w in PEERS for w in words):
        return "peer"
    return "published" if any(w in PUBLISHED for w in words) else "ours"


def sweep(title, rows):
    """One plot and its numbers: a table of one parameter on one backend."""
    parameter = rows[0].get("parameter", "")
    sizes = {(row.get("width"), row.get("height")) for row in rows}
    lines, floors = {}, {}
    for row in rows:
        name = row.get("series") or row.get("name", "")
        x = row.get("value") / 1e6 if parameter == "pixels" else row.get("value")
        line = lines.setdefault(name, plots.Line(name, kind_of(name)))
        line.add(x, row.get("us"))
        if kind_of(name) != "peer" and number(row.get("peer_us")):
            peer = f"{row.get('peer', 'peer')}: {name}"
            lines.setdefault(peer, plots.Line(peer, "peer", line)).add(x, row["peer_us"])
        depth = row.get("depth", 8)
        floor = "copy, " + ("float" if depth == 32 else f"{depth:.0f} bit")
        if parameter != "pixels" and len(sizes) > 1:
            floor += f", {row.get('width')}×{row.get('height')}"
        floors.setdefault(floor, plots.Line(floor, "floor")).add(x, row.get("floor_us"))
    everything = [line for line in [*lines.values(), *floors.values()] if line.points]
    if not everything:
        return ""
    plot = plots.lines(title, LABELS.get(parameter, parameter), "us", everything,
                       parameter != "angle")
    values = sorted({x for line in everything for x in line.points})
    numbers = table([parameter] + [line.name for line in everything],
                    [[f"{v:.4g}", *(count(line.points.get(v)) for line in everything)]
                     for v in values])
    return plots.figure(plot, "Dotted: the floor, a copy of the plane. Dashed: other libraries. "
                              "Dash-dotted: published algorithms.") + details("Numbers, us",
                                                                              numbers)


def sweeps(results):
    out = []
    for name in results.tables(lambda t: " against " in t):
        for backend, where in BACKENDS.items():
            rows = [r for r in results.of(name)
                    if r.get("backend") == backend and number(r.get("value"))]
            if rows:
                out.append(f"<div>{sweep(f'{name}, {where}', rows)}</div>")
    return f'<div class="plots">{"".join(out)}</div>' if out else ""


# ---- Single operators ----------------------------------------------------------------------------

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
        out.append(details(f"{name}; {len(lines)} cases", table(heads, lines)))
    return "\n".join(out)


def headline(results):
    tiles = []
    for backend, where in BACKENDS.items():
        gains = [quotient(r.get("baseline_us"), r.get("us")) for r in results.rows
                 if r["table"].startswith("paper ") and r.get("backend") == backend]
        gains = sorted(g for g in gains if g)
        if gains:
            tiles.append((times(gains[len(gains) // 2]),
                          f"the speed of the papers' algorithms on the same {where} (median)"))
    tiles += pipelines.headline(results)
    judged = [met(r) for r in results.rows if met(r) is not None]
    if judged:
        tiles.append((f"{sum(judged)} of {len(judged)}", "goals met"))
    body = "".join(f"<div><b>{text(big)}</b><span>{text(small)}</span></div>"
                   for big, small in tiles)
    return f'<div class="tiles">{body}</div>' if tiles else ""


SECTIONS = [
    ("machine", "Machine", machine, ""),
    ("pipelines", "Elements and chains in pipelines", pipelines.chains,
     "The same work as a bare kernel, in a pipeline in CUDAMemory, and in a pipeline from and to "
     "system "
     "memory."),
    ("live", "Live sources", pipelines.live,
     "Frames that a live source offers, and those that were dropped."),
    ("camera", "From a camera to the sink", pipelines.camera,
     "What the elements add to the time from the source's push until the result can be read, "
     "compared with a pipeline without elements."),
    ("peers", "Other libraries", pipelines.peers,
     "Alternatives for users, measured in the same run on the same frames."),
    ("streams", "Several streams at once", pipelines.streams,
     "Pipelines side by side on one device."),
    ("gpus", "Several GPUs", pipelines.gpus,
     "Pipelines on each of them at the same time, and what it costs if a chain goes from one to "
     "another."),
    ("sweeps", "Time against parameters", sweeps,
     "One frame; on the GPU with cold caches, inside a graph of many. The floor is a copy of the "
     "plane in "
     "the same run, which reads and writes each sample once, as an operator has to."),
    ("papers", "The five papers", papers.section,
     "What was published, the same algorithm on this machine, and ours. Speed-ups are those of the "
     "published "
     "GPU code over the serial CPU code. docs/papers.md and docs/benchmark.md list every table "
     "and figure."),
    ("settings", "Random settings", settings.section,
     "Settings drawn at random, as users could set them, on one frame: 3840×2160 on the GPU, "
     "1920×1080 on the CPU. Budgets are for an H200, those of lines for each direction. "
     "cudascan-bench repeats a setting with the options after it."),
    ("kernels", "All operators", kernels, "Every case, as measured."),
    ("goals", "Goals", goals,
     "The project's own goals, near the limits of an H200 and of one core with AVX-512, and "
     "whether this run meets them."),
]


def make(results, title):
    """The page."""
    made = [(word, head, build(results), lead) for word, head, build, lead in SECTIONS]
    out = [f"<h1>{text(title)}</h1>"]
    if results.missing:
        sentences = "".join(f"<p>Missing: {text(s)}.</p>" for s in results.missing)
        out.append(f'<div class="missing">{sentences}</div>')
    out.append(headline(results))
    links = "".join(f'<a href="#{word}">{text(head)}</a>' for word, head, content, _ in made
                    if content)
    out.append(f"<nav>{links}</nav>")
    absent = []
    for word, head, content, lead in made:
        if not content:
            absent.append(head)
            continue
        lead = f"<p>{text(lead)}</p>" if lead else ""
        out.append(f'<section id="{word}"><h2>{text(head)}</h2>{lead}\n{content}</section>')
    if absent:
        out.append(f"<p>Not in these results: {text(', '.join(absent))}.</p>")
    return style.document(text(title), "\n".join(out))
