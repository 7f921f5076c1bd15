# SPDX-License-Identifier: LGPL-2.1-or-later
"""The five publications' numbers and the same measured here."""
from . import paper_plots
from .markup import Cell, count, details, quotient, size, some, table, text, times, used
from .results import number

PAPERS = {
    "000": "Najafi, Murali, Lilja, Sartori: GPU-Accelerated Nick Local Image Thresholding "
           "Algorithm, 2015",
    "001": "Dobreanu, Chelaru: Histogram equalization",
    "002": "Karas, Morard, Bartovský, Grandpierre, Dokládalová, Matula, Dokládal: "
           "GPU Implementation of Linear Morphological Openings with Arbitrary Angle",
    "003": "Prahara, Pranolo, Anwar, Mao: Parallel Approach of Adaptive Image Thresholding "
           "Algorithm on GPU, 2021",
    "004": "Yang et al.: GSWO: A Programming Model for GPU-enabled Parallelization of Sliding "
           "Window Operations in Image Processing, 2016",
}
FIGURES = {"3": "Figure 3 and Table 6: windows of 5x5", "4": "Figure 4: windows",
           "5": "Figure 5: complexity",
           "6a": "Figure 6a: OpenACC, 9x9", "6b": "Figure 6b: OpenCV's GPU module (NPP)",
           "6c": "Figure 6c: OpenMP, 5x5", "8": "Table 8: camera fingerprint",
           "9": "Table 9: document analysis", "loops": "Loops of public image code"}


def model(row, of):
    """A linear model of the time in ms, P = number of pixels."""
    slope, offset = row.get(of + "ms_per_pixel"), row.get(of + "ms_offset")
    if not number(slope) or not number(offset):
        return Cell("–", "word")
    return Cell(f"{slope:.3g} P" + (f" {offset:+.3g}" if offset else ""), "word")


def r2(row, of):
    return f"{row[of + 'r2']:.4f}" if number(row.get(of + "r2")) else "–"


def paper_table(rows):
    heads = ["", "size", "on", "published us", "on", "speed-up", "that algorithm here, us",
             "speed-up", "ours us", "floor us", "× that algorithm", "other", "its us",
             "published model, ms", "that algorithm here, ms", "R²", "ours, ms", "R²"]
    lines = []
    for r in rows:
        if r.get("error"):
            lines.append([r.get("name", ""), size(r), Cell(r["error"], "bad")])
            continue
        lines.append([r.get("name", ""), size(r), paper_plots.BACKENDS.get(r.get("backend"), "–"),
                      count(r.get("published_us")),
                      Cell(r.get("published") or "–", "word"), times(r.get("published_speedup")),
                      count(r.get("baseline_us")), times(r.get("speedup")),
                      Cell(count(r.get("us")), "ours"),
                      count(r.get("floor_us")), times(quotient(r.get("baseline_us"), r.get("us"))),
                      Cell(r.get("peer") or "–", "word"), count(r.get("peer_us")),
                      model(r, "published_"), model(r, "baseline_"), r2(r, "baseline_"),
                      model(r, ""), r2(r, "")])
    return table(*used(heads, lines))


def notes(rows):
    """Each note of the rows once, with the names of its rows."""
    names = {}
    for row in rows:
        if row.get("note"):
            names.setdefault(row["note"], []).append(row.get("name", ""))
    return "".join(f"<p>{text(', '.join(of))}: {text(note)}.</p>" for note, of in names.items())


def median(entry):
    value = entry.get("median") if isinstance(entry, dict) else None
    return value if number(value) else None


def capitalised(words):
    """Names such as OpenACC keep their capitals, unlike by str.capitalize()."""
    return words[:1].upper() + words[1:]


def gswo_table(figure, cases):
    """A figure of the GSWO paper, from gswo_figures.py: its filters as written, and translated."""
    heads = ["filter", "size", "one core ms", "OpenMP ms", "OpenACC ms", "NPP kernel us",
             "GSWO kernel us", "whole ms", "× kernel", "× whole", "pixels", "published"]
    lines = []
    for c in cases:
        ms = {name: median(c.get(f"{name}_ms"))
              for name in ("sequential", "openacc", "npp_kernel", "warm", "whole")}
        openmp = [m for m in map(median, (c.get("openmp_ms") or {}).values()) if m]
        wrong = sum((c.get("pixels_different") or {}).values())
        compared = sum((c.get("pixels_compared") or {}).values())
        window = f" {c['window']}×{c['window']}" if c.get("window") else ""
        lines.append([
            c["filter"].replace("_", " ") + window, size(c), count(ms["sequential"]),
            count(min(openmp, default=None)), count(ms["openacc"]),
            count(ms["npp_kernel"] and ms["npp_kernel"] * 1e3),
            Cell(count(ms["warm"] and ms["warm"] * 1e3), "ours"),
            count(ms["whole"]), times(quotient(ms["sequential"], ms["warm"])),
            times(quotient(ms["sequential"], ms["whole"])),
            Cell(f"{wrong} differ", "bad") if wrong else Cell("equal" if compared else "–", "word"),
            Cell((c.get("published") or {}).get(figure, "–"), "word")])
    return table(heads, lines)


def parts(results, content_of, content_of_gswo):
    """The papers' headings, each with its tables."""
    tables = results.tables(lambda t: t.startswith("paper "))
    out = []
    for word, title in PAPERS.items():
        found = [content_of(name, capitalised(name.removeprefix(f"paper {word} ")))
                 for name in tables if name.startswith(f"paper {word}")]
        if word == "004":
            found += [content_of_gswo(figure, what, cases) for content in results.gswo
                      for figure, what in FIGURES.items()
                      if (cases := [c for c in content["cases"] if figure in c.get("figures", [])])]
        found = list(filter(None, found))
        if found:
            out.append(f"<h3>{text(title)}</h3>\n" + "\n".join(found))
    return "\n".join(out)


def short_line(word, title, results):
    """A paper, and how many times as fast as its code on this GPU ours is."""
    gains = sorted(g for row in results.rows if row["table"].startswith(f"paper {word}")
                   and row.get("backend") == "cuda"
                   and (g := quotient(row.get("baseline_us"), row.get("us"))))
    return gains and [title, *map(times, (gains[0], gains[len(gains) // 2], gains[-1]))]


def summary(results):
    """A line for each paper, then the plots."""
    lines = [line for word, title in PAPERS.items() if (line := short_line(word, title, results))]
    if not lines and not results.gswo:
        return ""

    def plots_of(name, head):
        plot = paper_plots.plot(name, results.of(name))
        return plot and details(head, plot)
    shown = parts(results, plots_of, lambda *_: "")
    heads = ["ours over the publication's algorithm on the same GPU", "least", "middle", "most"]
    return (table(heads, lines) if lines else "") + shown


def section(results):
    """All tables."""
    def table_of(name, head):
        rows = results.of(name)
        return details(f"{head} ({some(len(rows), 'row')})", paper_table(rows) + notes(rows))

    def table_of_gswo(figure, what, cases):
        return details(f"{what} ({some(len(cases), 'row')}), translated by gswo-cc",
                       gswo_table(figure, cases))
    return parts(results, table_of, table_of_gswo)
