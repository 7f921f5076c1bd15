# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the programs, one at a time, and compares their results."""
import json
import os
import pathlib
import statistics
import subprocess

from . import cases

LONGEST_S = 120  # a program that takes longer is killed
PATIENCE = 3     # a form is given up if this many of its first programs fail


def own_libraries(environment):
    """The environment without folders of C++ libraries that were packed with other programs: those
    of this machine's compiler may be newer."""
    folders = [folder for folder in environment.get("LD_LIBRARY_PATH", "").split(":")
               if folder and not (pathlib.Path(folder) / "libstdc++.so.6").exists()]
    kept = {name: value for name, value in environment.items() if name != "LD_LIBRARY_PATH"}
    return {**kept, "LD_LIBRARY_PATH": ":".join(folders)} if folders else kept


class Times:
    """Milliseconds of several runs; None if not measured."""

    def __init__(self, runs=(), share=1.0):
        self.runs = [run / share for run in runs]

    def __bool__(self):
        return bool(self.runs)

    @property
    def ms(self):
        return statistics.median(self.runs) if self.runs else None

    def json(self):
        return {"median": self.ms, "min": min(self.runs), "max": max(self.runs),
                "runs": len(self.runs)} \
            if self.runs else None


class Result:
    """Times of one case, and whether all programs made the same pixels."""

    def __init__(self, case):
        self.case = case
        self.sequential, self.rows, self.partial = Times(), 0, False
        self.openmp = {}  # Times by number of threads
        self.openacc_loops, self.openacc = Times(), Times()
        self.warm, self.cold, self.whole = Times(), Times(), Times()
        self.npp_kernel, self.npp = Times(), Times()
        self.untiled, self.local, self.shared = Times(), Times(), Times()
        self.launches, self.different, self.compared = 0, {}, {}
        self.errors = {}

    def json(self):
        times = ("sequential", "openacc_loops", "openacc", "warm", "cold", "whole", "npp_kernel",
                 "npp", "untiled", "local", "shared")
        return {"filter": self.case.filter, "window": self.case.window,
                "width": self.case.size[0], "height": self.case.size[1],
                "images": self.case.images,
                "rows_sequential": self.rows,
                **{f"{name}_ms": getattr(self, name).json() for name in times},
                "openmp_ms": {str(n): t.json() for n, t in self.openmp.items()},
                "launches": self.launches, "pixels_compared": self.compared,
                "pixels_different": self.different, "errors": self.errors}

    @property
    def pixels(self):
        """One word: whether all results equal those of the sequential code."""
        wrong = sum(self.different.values())
        if wrong:
            return f"{wrong} DIFFER"
        if not self.different:
            return "-"
        return "equal~" if self.partial else "equal"


class Measurement:
    def __init__(self, programs, seconds, threads):
        self.programs, self.seconds, self.threads = programs, seconds, threads
        self.folder = programs.built
        self.devices = {}   # names of the devices of CUDA and of OpenACC
        self.missing = {}   # why a form has no times in all cases
        self.failures, self.worked = {}, set()
        self.pictures = {}
        self.own = own_libraries(os.environ)
        packed = str((self.folder / "openacc").absolute())
        own = self.own.get("LD_LIBRARY_PATH")
        self.with_openacc = {**self.own, "LD_LIBRARY_PATH": f"{packed}:{own}" if own else packed}
        for form in ("cuda", "openacc"):
            compiler = programs.compilers[form]
            if not compiler.command and not (form == "openacc"
                                             and (self.folder / "openacc").exists()):
                self.missing[form] = compiler.why

    def picture(self, case):
        kind = cases.picture(case)
        key = (kind, case.size)
        if key not in self.pictures:
            path = self.folder / f"{kind}_{case.size[0]}x{case.size[1]}.raw"
            subprocess.run([str(self.folder / "picture"), kind, *map(str, case.size), str(path)],
                           check=True)
            self.pictures[key] = path
        return self.pictures[key]

    def run(self, form, result, *words, before=(), program=None):
        """The report of a program, or None."""
        case = result.case
        program = program or self.programs.path(form, case)
        if form in self.missing or not program.exists():
            return None
        command = [str(program), *before, "--width", str(case.size[0]), "--height",
                   str(case.size[1]),
                   "--seconds", str(self.seconds), "--picture", str(self.picture(case)),
                   "--reach", str(cases.reach(case)), "--images", str(case.images),
                   *map(str, words)]
        environment = self.with_openacc if form == "openacc" else self.own
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S,
                                  env=environment)
            report = json.loads(done.stdout.strip().splitlines()[-1])
        except subprocess.TimeoutExpired:
            report = {"error": f"took longer than {LONGEST_S} s"}
        except (IndexError, ValueError):
            report = {"error": f"ended with {done.returncode}: "
                               f"{(done.stdout + done.stderr).strip()[-200:]}"}
        if "error" in report:
            if report["error"] in ("no GPU", "no NPP"):
                self.missing[form] = report["error"]
            else:
                result.errors[form] = report["error"]
                self.failures[form] = self.failures.get(form, 0) + 1
                if self.failures[form] == PATIENCE and form not in self.worked:
                    self.missing[form] = "failed"
            return None
        self.worked.add(form)
        if "compared" in report and report["compared"]:
            result.compared[form] = report["compared"]
            result.different[form] = report["different"]
        return report

    def measure(self, case, scaling, npp, openacc, shared):
        """@param scaling  measure OpenMP with fewer threads, too
        @param shared  measure the kernels of section 5.3
        @param npp  measure NPP's filter
        @param openacc  measure OpenACC"""
        result = Result(case)
        height = case.size[1]
        expected, whole = self.folder / "sequential.raw", self.folder / "openmp.raw"
        report = self.run("sequential", result, "--result", expected)
        if not report:
            return result
        run = report["runs"][0]
        result.rows, result.partial = run["rows"], run["rows"] < height
        result.sequential = Times(run["ms"], result.rows / height)
        rows = height if not result.partial else max(0, result.rows - cases.reach(case))
        # All threads come first: their result is complete. It replaces the rows that the sequential
        # code left out.
        report = self.run("openmp", result, "--threads", self.threads, "--whole", "yes", "--expect",
                          expected,
                          "--expect-rows", rows, *(["--result", whole] if result.partial else []))
        self._openmp(result, report, height)
        good = report and not result.different.get("openmp")
        if result.partial and good:
            expected, rows = whole, height
        expectation = ("--expect", expected, "--expect-rows", rows)
        if scaling:
            fewer = [word for n in thread_counts(self.threads)[:-1] for word in ("--threads", n)]
            if fewer:
                self._openmp(result, self.run("openmp", result, *fewer, *expectation), height)
        report = self.run("cuda", result, *expectation)
        if report:
            self.devices["cuda"] = report["device"]
            result.launches = report["launches"]
            result.warm = Times([us / 1e3 for us in report["warm_us"]])
            result.cold = Times([us / 1e3 for us in report["cold_us"]])
            result.whole = Times(report["ms"])
        report = openacc and self.run("openacc", result, *expectation)
        if report:
            self.devices["openacc"] = report["device"]
            if report["device"] == "host":
                self.missing["openacc"] = "no GPU"  # the loops ran on the host: no times to show
            else:
                result.openacc_loops = Times(report["loops_ms"])
                result.openacc = Times(report["ms"])
        if npp and "cuda" not in self.missing and not self.programs.double:
            report = self.run("npp", result, *expectation, before=(case.filter, str(case.window)),
                              program=self.folder / "npp")
            if report:
                result.npp_kernel = Times([us / 1e3 for us in report["warm_us"]])
                result.npp = Times(report["ms"])
        if shared and "cuda" not in self.missing:
            for form, words in (("untiled", ()), ("local", ("window_memory", "local")),
                                ("shared", ("window_memory", "shared"))):
                path = self.programs.path(words[0] if words else form, case)
                report = self.run(form, result, *expectation, before=words[1:], program=path)
                if report:
                    setattr(result, form, Times([us / 1e3 for us in report["warm_us"]]))
        for path in (self.folder / "sequential.raw", self.folder / "openmp.raw"):
            path.unlink(missing_ok=True)
        return result

    @staticmethod
    def _openmp(result, report, height):
        for run in report["runs"] if report else ():
            result.openmp[run["threads"]] = Times(run["ms"], run["rows"] / height)


def thread_counts(most):
    """1, 2, 4, ... and all."""
    counts = [1]
    while counts[-1] * 2 < most:
        counts.append(counts[-1] * 2)
    return counts + [most] if most > 1 else counts
