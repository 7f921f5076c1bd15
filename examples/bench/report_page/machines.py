# SPDX-License-Identifier: LGPL-2.1-or-later
"""The machines that measured, in words and as a table."""
from .markup import Cell, table

# What a table of results is about, by the beginning of its name; the first that fits.
ABOUT = (("kernels", "single operators"), ("spreads", "single operators"),
         ("random", "random settings"), ("paper ", "publications"),
         ("nick tables", "publications"), ("links", "several GPUs"), ("tests", "several GPUs"),
         ("pipelines", "pipelines"), ("streams", "pipelines"), ("gpus", "several GPUs"),
         ("live", "live sources"), ("camera", "a camera"), ("peers", "other libraries"),
         ("scan", "cudascan-scan"), ("gswo", "translated filters"),
         ("", "operators over parameters"))
DATE = "date"


def about(tables):
    """In words, what these tables are about."""
    return list(dict.fromkeys(next(words for begin, words in ABOUT if name.startswith(begin))
                              for name in tables))


def cores(machine):
    return machine.get("cores") or machine.get("threads")


def gpus(machine):
    """The name of the GPU, after their number if there are several; None if it is not known."""
    number_of = machine.get("gpus") or 1
    return f"{number_of} {machine['gpu']}" if number_of > 1 and machine.get("gpu") else \
        machine.get("gpu")


def named(machine):
    """GPUs, processor and cores, as far as they are known."""
    words = [word for word in (gpus(machine), machine.get("cpu")) if word]
    if cores(machine):
        words.append(f"{cores(machine)} cores")
    return ", ".join(words) or "an unknown machine"


def sentence(results):
    """The GPUs, or the CPUs without one, and the days."""
    machines = [machine for _, machine in results.machines]
    names = list(dict.fromkeys(m["gpu"] for m in machines if m.get("gpu"))) or list(
        dict.fromkeys(m["cpu"] for m in machines if m.get("cpu")))
    days = sorted({m[DATE] for m in machines if m.get(DATE)})
    when = "" if not days else f", {days[0]}" if len(days) == 1 else f", {days[0]} to {days[-1]}"
    return (" and ".join(names) or "an unknown machine") + when


def section(results):
    """A line for each GPU and CPU."""
    keys = ("driver", "cuda", "gstreamer", "cores", DATE)
    found = {}
    for tables, machine in results.machines:
        line = found.setdefault((gpus(machine) or "–", machine.get("cpu") or "–"),
                                {key: [] for key in ("about", *keys)})
        for key, words in (("about", about(tables)), ("cores", [cores(machine)]),
                           *((key, [machine.get(key)]) for key in keys if key != "cores")):
            line[key] += [word for word in words if word and word not in line[key]]
    return table(["GPU", "CPU", "driver", "CUDA", "GStreamer", "cores", "days", "measured"],
                 [[gpu, *(Cell(word, "word") for word in (
                     cpu, *(", ".join(map(str, sorted(line[key]))) or "–" for key in keys))),
                   Cell(", ".join(line["about"]), "word long")]
                  for (gpu, cpu), line in found.items()])
