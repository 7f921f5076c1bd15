# SPDX-License-Identifier: LGPL-2.1-or-later
"""Filters of volumes and sequences of frames, examples/gswo/programs/volumes.cpp: times on one
core, with OpenMP, and on the GPU, next to the least that the bytes to move allow."""
import json
import os
import re
import shutil
import statistics
import subprocess

from . import programs
from .sources import LAUNCH, PRAGMA
from .tables import number

NAME = "volumes"
SIZE = (259, 256, 128)
GPU_BYTES_PER_MS = 4e9  # of the memory of an H100 or H200, approximately
FORMS = ("sequential", "openmp", "cuda")
HEADERS = ("harness.h", "cuda_times.h", "volumes_times.h")


def sources(translator):
    """The filters in their forms, each with a main()."""
    path = programs.ROOT / "examples/gswo/programs/volumes.cpp"
    text = path.read_text()
    done = subprocess.run([translator, "--emit", "standalone", str(path)], capture_output=True,
                          text=True)
    if done.returncode:
        raise SystemExit(f"{path}: gswo-cc failed\n{done.stderr}")
    cuda = LAUNCH.sub(r"figures::launch([&] { \1; });", done.stdout)
    cuda = re.sub(r"^#line .*\n", "", cuda, flags=re.M)
    openmp = {"parallel": "#pragma omp parallel", "for": "#pragma omp for"}
    end = '\n#include "volumes_times.h"\n'
    return {"sequential": text + end,
            "openmp": PRAGMA.sub(lambda m: openmp.get(m.group(1), ""), text) + end,
            "cuda": '#define FIGURES_CUDA\n#include "cuda_times.h"\n' + cuda + end}


def prepare(folder, arguments):
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty; choose another folder or empty this one")
    for name in HEADERS:
        shutil.copy(programs.HERE / name, folder)
    for path in (programs.ROOT / "kernels/gswo").glob("gswo_*.h"):
        shutil.copy(path, folder)
    made = sources(programs.find_translator(arguments.gswo_cc))
    for form, text in made.items():
        (folder / f"{NAME}_{form}.{'cu' if form == 'cuda' else 'cpp'}").write_text(text)
    print(f"{folder}: {len(made)} programs")


def compile_all(folder, arguments):
    """The programs by form, and the reasons for those that are missing."""
    cxx, include = os.environ.get("CXX", "g++"), ["-I", str(folder)]
    flags = [cxx, *programs.HOST_FLAGS, "-march=native", *include]
    compilers = {"sequential": programs.Compiler(flags),
                 "openmp": programs.Compiler([*flags, "-fopenmp"]),
                 "cuda": programs.find_nvcc(arguments, include)}
    made, missing, built = {}, {}, folder / "build"
    shutil.rmtree(built, ignore_errors=True)
    built.mkdir()

    def compile_one(form):
        if not compilers[form].command:
            return compilers[form].why
        source = folder / f"{NAME}_{form}.{'cu' if form == 'cuda' else 'cpp'}"
        return compilers[form].compile(source, built / form)

    for form, failure in zip(FORMS, programs.in_parallel(compile_one, FORMS)):
        if failure:
            missing[form] = failure
        else:
            made[form] = built / form
    return made, missing


def run(program, form, arguments):
    """The reports of a program by filter, and its error if it failed."""
    size = [int(n) for n in arguments.size.split("x")] if arguments.size else SIZE
    if len(size) != 3:
        raise SystemExit(f"--size {arguments.size}: volumes need WxHxD")
    words = ["--width", size[0], "--height", size[1], "--images", size[2],
             "--seconds", arguments.seconds, "--picture", arguments.filter,
             "--threads", arguments.threads if form == "openmp" else 1]
    done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True)
    reports = {}
    for line in done.stdout.splitlines():
        report = json.loads(line) if line.startswith("{") else {}
        if "error" in report:
            return reports, report["error"]
        reports[report.get("filter")] = report
    error = f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"
    return reports, error if done.returncode else ""


def measure(folder, arguments):
    made, missing = compile_all(folder, arguments)
    reports = {}
    for form, program in made.items():
        reports[form], error = run(program, form, arguments)
        if error:
            missing[form] = error
    for form, why in missing.items():
        print(f"{form}: {why}")
    good = set(missing) <= {"cuda"} and all(why in ("no GPU", "no nvcc", "not wanted")
                                            for why in missing.values())
    bus = reports.get("cuda", {}).get(None)
    if bus:
        print(f"GPU: {bus['device']}; bus {bus['up']:.1f} GB/s up, {bus['down']:.1f} down")
    good &= show(reports, bus, arguments.threads)
    if arguments.json:
        arguments.json.write_text(json.dumps(reports, indent=1) + "\n")
    return 0 if good else 1


def show(reports, bus, threads):
    """Prints the table. @return whether all pixels are equal"""
    heads = ["ms", "1 core", f"OpenMP {threads}", "kernels", "floor", "whole", "first", "floor",
             "copies", "pixels"]
    print("\n" + heads[0].ljust(24) + "".join(head.rjust(10) for head in heads[1:]))
    equal = True
    for name, one in reports.get("sequential", {}).items():
        def time(form, key, scale=1.0, name=name):
            report = reports.get(form, {}).get(name)
            return statistics.median(report[key]) * scale if report else None

        many, gpu = (reports.get(form, {}).get(name) for form in ("openmp", "cuda"))
        same = all(r["hash"] == one["hash"] for r in (many, gpu) if r)
        equal &= same
        kernel_floor = whole_floor = first = None
        if gpu and bus:
            kernel_floor = gpu["launches"] * (gpu["up"] + gpu["down"]) / GPU_BYTES_PER_MS
            whole_floor = gpu["up"] / bus["up"] / 1e6 + gpu["down"] / bus["down"] / 1e6
            whole_floor += kernel_floor
            first = gpu["first_ms"]
        cells = [time("sequential", "ms"), time("openmp", "ms"), time("cuda", "cold_us", 1e-3),
                 kernel_floor, time("cuda", "ms"), first, whole_floor, time("cuda", "copies_ms")]
        print(name.ljust(24) + "".join(number(c).rjust(10) for c in cells) +
              ("equal" if same else "DIFFER").rjust(10), flush=True)
    return equal
