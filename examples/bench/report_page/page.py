# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page for visitors: what this is, how fast, on which machine, how to repeat it."""
from . import (machines, papers, pipelines, scan, settings, several, style, summary,
               sweeps)
from .markup import text

ABOUT = ("gst-cudascan cleans up scans and grayscale video: thresholds, histograms, lines and "
         "sliding windows as GStreamer elements, programs and a library, on NVIDIA GPUs and on "
         "CPUs, with the same bits in the result.")
HOW = ("A time on the GPU is that of one frame in a CUDA graph of many runs, with frames that are "
       "not in a cache; on the CPU it is a median of runs. NPP and OpenCV ran in the same way on "
       "the same frames. Libraries for Python (CuPy, cuCIM, CV-CUDA) were called many times in a "
       "row, on frames that stay on the GPU. "
       "Pipelines are whole GStreamer pipelines.")
REPEAT = """cudascan-bench --json kernels.json
cudascan-pipeline-bench --json pipelines.json
python3 examples/bench/python_peers.py --json python.json
cudascan-bench-report --kernels kernels.json --pipelines pipelines.json --pipelines python.json"""


def repeat(results):
    return (f"<p>{text(HOW)} Every table says its unit; frames/s are frames a second.</p>\n"
            f"<pre>{text(REPEAT)}</pre>\n<p>The programs come with gst-cudascan; docs/benchmark.md "
            "describes them, docs/papers.md the publications.</p>")


# Word, heading, content, lead.
SECTIONS = [
    ("compared", "Compared with other libraries", summary.section,
     "On the GPU and on one core of the CPU: NPP and OpenCV with the same frame in the same run, "
     "libraries for Python with a similar one on the same kind of machine."),
    ("machine", "The machine", machines.section, ""),
    ("repeat", "How it was measured, and how to repeat it", repeat, ""),
    ("pipelines", "In GStreamer pipelines", pipelines.chains,
     "The same work as a bare kernel, in a pipeline in CUDAMemory, and in a pipeline from and to "
     "system memory. There, on a GPU, the copies over PCIe are the limit."),
    ("scan", "Whole pages: cudascan-scan", scan.section,
     "From files to files: decoding, measuring, straightening, black and white, compression."),
    ("camera", "From a camera to the sink", pipelines.camera,
     "What the elements add to the time from the source's push until the result can be read, "
     "compared with a pipeline without elements."),
    ("live", "Live sources", pipelines.live,
     "Frames that a live source offers, and those that were dropped."),
    ("streams", "Several streams at once", pipelines.streams,
     "Pipelines side by side on one device."),
    ("gpus", "Several GPUs", several.section,
     "GPUs of one host that share streams, the frames of one stream, and pages; what it costs if "
     "a chain goes from one to another; and the links that bound them."),
    ("peers", "Elements and Python functions of others", pipelines.peers,
     "GStreamer's opencv elements in system memory, with ours in the same pipeline, and functions "
     "of Python libraries on frames that stay on the GPU."),
    ("sweeps", "Time over parameters", sweeps.section,
     "One frame; on the GPU with cold caches, inside a graph of many. A copy of the plane in the "
     "same run reads and writes each sample once, as an operator has to."),
    ("papers", "The five publications", papers.summary,
     "The same algorithm on this machine, and ours. Published numbers are those of texts and "
     "tables; they are not read from plots."),
    ("settings", "Random settings", settings.shares_section,
     "Settings drawn at random, as users could set them, on one frame: 3840×2160 on the GPU, "
     "1920×1080 on the CPU."),
]


def build(sections, results):
    """The links to the sections and the sections that have content."""
    made = [(word, head, content_of(results), lead) for word, head, content_of, lead in sections]
    links = "".join(f'<a href="#{word}">{text(head)}</a>' for word, head, content, _ in made
                    if content)
    out = [f"<nav>{links}</nav>"]
    for word, head, content, lead in made:
        if content:
            lead = f"<p>{text(lead)}</p>\n" if lead else ""
            out.append(f'<section id="{word}"><h2>{text(head)}</h2>\n{lead}{content}</section>')
    absent = [head for _, head, content, _ in made if not content]
    if absent:
        out.append(f"<p>Not in these results: {text(', '.join(absent))}.</p>")
    return "\n".join(out)


def missing(results):
    sentences = "".join(f"<p>Missing: {text(s)}.</p>" for s in results.missing)
    return f'<div class="missing">{sentences}</div>' if sentences else ""


def tiles(results):
    body = "".join(f"<div><b>{text(big)}</b><span>{text(small)}</span></div>"
                   for big, small in pipelines.headline(results))
    return f'<div class="tiles">{body}</div>' if body else ""


def make(results, title, all_rows, archive=None):
    """The page.
    @param all_rows  name of the page with all rows, in the same folder
    @param archive   name of the archive with the results, in the same folder, or None"""
    more = f'<a href="{text(all_rows)}">All rows and the project\'s own goals</a> are another page'
    if archive:
        more += f', <a href="{text(archive)}">the results</a> are JSON in an archive'
    said = summary.sentence(results)
    said = said and f" {said[0].upper()}{said[1:]}."
    out = [f"<h1>{text(title)}</h1>", missing(results), f"<p>{text(ABOUT)}</p>",
           f"<p>Measured on {text(machines.sentence(results))}.{text(said)}</p>",
           tiles(results), f"<p>{more}.</p>", build(SECTIONS, results)]
    return style.document(text(title), "\n".join(filter(None, out)))
