#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures 3 to 6 and Tables 8 and 9 of Yang et al., "GSWO: A programming model for GPU-enabled
parallelization of sliding window operations in image processing", 2016, measured on this machine.

Each filter of examples/gswo is measured on pictures of the paper's sizes: as written (g++ -O3, one
core), with OpenMP, with OpenACC if a compiler for it is found, and as gswo-cc translates it. If the
GPU is in another machine (it needs g++, nvcc and Python, but not gswo-cc):

    examples/gswo_figures.py --prepare FOLDER     here
    examples/gswo_figures.py --run FOLDER         there

Columns: `kernel`, the GPU's time for all kernels of a call, repeated on the same picture; `cold`,
the same with other data in the caches; `whole`, a call of the translated function with allocations,
copies from and to pageable memory, and kernels; `x ...`, the sequential time divided by that time.
A sequential time with ~ was measured on the first rows only and scaled up to the whole picture.
Section 5.3 has kernels as the paper's Table 7, with the array of a window in local and in shared
memory. With --double all is computed in double precision, as in the paper; the default is 16 bits a
sample. `pixels`: whether all results equal those of the sequential code; `equal~`: the measured
rows do, and the others equal OpenMP's. Times are medians.

`--figures loops` measures the loops of examples/gswo/loops instead, which are as in public image
code. Pixels of type float may differ by a thousandth, because exp differs in the last bits. A call
with OpenACC also copies the former result to the GPU, since these loops leave the border alone.

`--figures volumes` measures the filters of examples/gswo/programs/volumes.cpp instead: `kernels`,
with other data in the caches; `whole`, a call of the translated function; `first`, its first call;
`copies`, those of a call alone. `floor` is the least time that the bytes to move allow: of the
kernels, and of the call, at the measured speed of the bus from and to locked memory.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "bench"))
from figures import cases, programs, volumes  # noqa: E402
from figures.measure import Measurement  # noqa: E402
from figures.tables import Tables  # noqa: E402


def thread_count(text):
    if not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text} must be a number from 1 to 1024")
    return int(text)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepare", metavar="FOLDER", type=pathlib.Path,
                        help="only translate, into a folder to copy to another machine")
    parser.add_argument("--run", metavar="FOLDER", type=pathlib.Path,
                        help="compile and measure a folder that --prepare made")
    parser.add_argument("--figures", default=",".join(cases.OF_PAPER),
                        help="comma-separated: 3, 4, 5, 6a, 6b, 6c, 5.3 for the section, and 8, 9 "
                             "for the tables (default all of these); loops; all, also with loops; "
                             "or volumes")
    parser.add_argument("--double", action="store_true",
                        help="compute in double precision; NPP has no such filters (with --run, "
                             "the folder decides)")
    parser.add_argument("--filter", default="", help="only filters whose name contains this")
    parser.add_argument("--seconds", type=float,
                        help="about how long to measure each time (default 1)")
    parser.add_argument("--quick", action="store_true", help="0.2 seconds each")
    parser.add_argument("--size", help="WxH instead of the paper's sizes, for a quick try; WxHxD "
                                       "for volumes")
    parser.add_argument("--threads", type=thread_count, default=programs.cores(),
                        help="number of OpenMP threads (default all cores)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path,
                        help="write all numbers, with min and max")
    parser.add_argument("--arch", default="native",
                        help="GPU architecture for nvcc, such as sm_90 (default native)")
    parser.add_argument("--gswo-cc", metavar="PROGRAM")
    parser.add_argument("--openacc", metavar="COMMAND",
                        help="compiler and its options for OpenACC (default nvc++, or g++ if it "
                             "supports it)")
    parser.add_argument("--openacc-libraries", metavar="FOLDER",
                        help="folder of libgomp.so.1 and libgomp-plugin-nvptx.so.1, which "
                             "--prepare packs")
    parser.add_argument("--no-openacc", action="store_true")
    parser.add_argument("--no-cuda", action="store_true")
    arguments = parser.parse_args()
    if arguments.seconds is None:
        arguments.seconds = 0.2 if arguments.quick else 1.0
    if arguments.figures == volumes.NAME:
        return arguments
    if arguments.figures == "all":
        arguments.figures = ",".join(cases.CASES)
    unknown = set(arguments.figures.split(",")) - set(cases.CASES)
    if unknown:
        parser.error(f"--figures {', '.join(sorted(unknown))}: must be of {', '.join(cases.CASES)}")
    return arguments


def choose(arguments):
    """The cases of the figures, each once."""
    if arguments.size:
        size = tuple(map(int, arguments.size.split("x")))
        for name, wanted in cases.CASES.items():
            cases.CASES[name] = [cases.Case(c.filter, c.window, size, c.images) for c in wanted]
    chosen = {}
    for name in arguments.figures.split(","):
        for case in cases.CASES[name]:
            if arguments.filter in case.filter:
                chosen[case] = None
    return list(chosen)


def cases_of(arguments, *names):
    """The wanted cases of the figures in `names`."""
    return {case for n in arguments.figures.split(",") if n in names for case in cases.CASES[n]}


def write_json(path, machine, results, names):
    rows = []
    for case, result in results.items():
        figures = [n for n in names if case in cases.CASES[n]]
        published = {n: words for n in figures if (words := cases.published(n, case))}
        rows.append({"figures": figures, "published": published, **result.json()})
    path.write_text(json.dumps({"machine": machine, "cases": rows}, indent=1) + "\n")


def measure(folder, chosen, arguments):
    begin = time.monotonic()
    made = programs.Programs(folder, chosen, cases_of(arguments, *cases.OPENACC), arguments)
    for failure in made.failures:
        print(f"not compiled: {failure}")
    print(f"compiled in {time.monotonic() - begin:.0f} s", flush=True)
    measurement = Measurement(made, arguments.seconds, arguments.threads)
    names = arguments.figures.split(",")
    scaling, npp = cases_of(arguments, "6c"), cases_of(arguments, "6b")
    openacc, shared = cases_of(arguments, *cases.OPENACC), cases_of(arguments, "5.3")
    results = {}
    labels = {form: c.label for form, c in made.compilers.items() if c.command}
    machine = {"cpu": made.cpu_name(), "threads": arguments.threads,
               "date": time.strftime("%Y-%m-%d"), "double": made.double, "compilers": labels,
               "openacc": made.openacc}
    for i, case in enumerate(chosen):
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {len(chosen)}: {case.program:<30}", end="", file=sys.stderr,
                  flush=True)
        results[case] = measurement.measure(case, case in scaling, case in npp, case in openacc,
                                            case in shared)
        gpu = measurement.devices.get("cuda")
        machine.update({"gpu": gpu, "seconds": time.monotonic() - begin})
        if arguments.json:  # after each case: a run that is stopped keeps them
            write_json(arguments.json, machine, results, names)
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    print(f"CPU: {machine['cpu']}, {arguments.threads} threads; {labels['sequential']}, -O3 "
          f"-march=native")
    if gpu:
        print(f"GPU: {gpu}; {labels['cuda']}")
    else:
        why = measurement.missing.get("cuda", "no program ran")
        print(f"GPU: {why}. Only what needs no GPU is measured")
    print(f"OpenACC: {machine['openacc']}")
    print(f"Samples: {'double precision' if made.double else '16 bit'}")
    tables = Tables(results, measurement)
    tables.show([name for name in cases.CASES if name in names])
    good = tables.summary(names) and not made.failures
    print(f"  {len(results)} cases in {machine['seconds']:.0f} s")
    return 0 if good else 1


def run_volumes(arguments):
    if arguments.prepare:
        volumes.prepare(arguments.prepare, arguments)
        return 0
    if arguments.run:
        return volumes.measure(arguments.run, arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "volumes"
        volumes.prepare(folder, arguments)
        return volumes.measure(folder, arguments)


def main():
    arguments = parse()
    if arguments.figures == volumes.NAME:
        return run_volumes(arguments)
    chosen = choose(arguments)
    with_openacc, shared = cases_of(arguments, *cases.OPENACC), cases_of(arguments, "5.3")
    shared &= set(chosen)
    if arguments.prepare:
        programs.prepare(arguments.prepare, chosen, with_openacc, shared, arguments)
        return 0
    if arguments.run:
        return measure(arguments.run, chosen, arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "figures"
        # It is compiled below with the others.
        arguments.no_openacc, without = True, arguments.no_openacc
        programs.prepare(folder, chosen, with_openacc, shared, arguments)
        arguments.no_openacc = without
        return measure(folder, chosen, arguments)


if __name__ == "__main__":
    sys.exit(main())
