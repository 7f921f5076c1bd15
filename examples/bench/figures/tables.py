# SPDX-License-Identifier: LGPL-2.1-or-later
"""The figures as tables."""
import math
import statistics

from . import cases
from .measure import thread_counts


def number(value):
    """A number with about three significant digits."""
    if value is None:
        return "-"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:.{digits}f}"


def ratio(a, b):
    return a.ms / b.ms if a and b else None


def speed_up(result, times):
    return number(ratio(result.sequential, times))


def sequential(result):
    return ("~" if result.partial else "") + number(result.sequential.ms)


def microseconds(times, spread=False):
    if not times:
        return "-"
    text = number(times.ms * 1e3)
    if not spread:
        return text
    return f"{text} ({number(min(times.runs) * 1e3)}..{number(max(times.runs) * 1e3)})"


class Table:
    """Columns of (head, width, text of a result); the first is left-aligned."""

    def __init__(self, title, columns):
        self.title, self.columns = title, columns

    def show(self, results):
        if not results:
            return
        print("\n" + self.title.format(size="{}x{}".format(*results[0].case.size)))
        print(self._line([head for head, _, _ in self.columns]))
        for result in results:
            print(self._line([text(result) for _, _, text in self.columns]))
            for form, error in result.errors.items():
                print(f"    {form} FAILED: {error}")

    def _line(self, cells):
        line = ""
        for i, (cell, (_, width, _)) in enumerate(zip(cells, self.columns)):
            last = i == len(self.columns) - 1
            line += cell.ljust(width) if i == 0 else ("  " + cell
                                                      if last else " " + cell.rjust(width))
        return line.rstrip()


class Tables:
    def __init__(self, results, measurement):
        self.results, self.missing = results, measurement.missing
        self.all = measurement.threads
        self.filter = ("filter", 21, lambda r: r.case.filter)
        self.with_window = ("filter", 26, lambda r: f"{r.case.filter} {r.case.window_text}")
        self.pixels = ("pixels", 8, lambda r: r.pixels)
        self.sequential = ("one core ms", 12, sequential)
        self.kernel = ("kernel us", 10, lambda r: microseconds(r.warm))
        self.whole = ("whole ms", 9, lambda r: number(r.whole.ms))
        self.up_kernel = ("x kernel", 9, lambda r: speed_up(r, r.warm))
        self.up_whole = ("x whole", 8, lambda r: speed_up(r, r.whole))

    def paper(self, texts, key=lambda case: case.filter):
        return ("paper", 0, lambda r: texts.get(key(r.case), "-"))

    def openmp(self, result, threads=None):
        return result.openmp.get(threads or self.all)

    def of(self, name):
        return [r for c in cases.CASES[name] if (r := self.results.get(c))]

    def acc(self, times):
        """OpenACC's times, or why there are none."""
        def text(result):
            return number(times(result).ms) if times(result) else self.missing.get("openacc", "-")
        return text

    def figure_3(self):
        n = self.all
        columns = [
            self.with_window, self.sequential,
            (f"OpenMP {n}", 10, lambda r: number(self.openmp(r).ms) if self.openmp(r) else "-"),
            ("OpenACC ms", 11, self.acc(lambda r: r.openacc)),
            ("kernel us (min..max)", 26, lambda r: microseconds(r.warm, True)),
            ("cold us", 9, lambda r: microseconds(r.cold)), self.whole,
            ("x OpenMP", 9, lambda r: speed_up(r, self.openmp(r))), self.up_kernel, self.up_whole,
            self.pixels, self.paper(cases.PAPER_3)]
        return Table("Figure 3: speed-ups, windows of 5x5, {size}; then the others of Table 6",
                     columns)

    def loops(self):
        columns = [
            self.filter, self.sequential,
            ("OpenACC loops ms", 16, self.acc(lambda r: r.openacc_loops)),
            ("whole ms", 9, self.acc(lambda r: r.openacc)),
            ("GSWO kernel us", 15, lambda r: microseconds(r.warm)),
            ("cold us", 9, lambda r: microseconds(r.cold)), self.whole, self.up_kernel,
            self.up_whole, self.pixels]
        return Table("Loops of public image code, {size}", columns)

    def figure_4(self):
        columns = [self.with_window, self.sequential, self.kernel, self.whole, self.up_kernel,
                   self.up_whole, self.pixels, self.paper(cases.PAPER_4)]
        return Table("Figure 4: speed-ups against the window, {size}", columns)

    def figure_5(self):
        columns = [self.filter, ("complexity", 10, lambda r: str(cases.complexity(r.case))),
                   self.up_kernel, self.up_whole]
        return Table("Figure 5: speed-ups against the window's complexity (iterations times "
                     "tests), 5x5", columns)

    def figure_6a(self):
        columns = [
            self.filter, self.sequential, ("OpenACC loops ms", 16,
                                           self.acc(lambda r: r.openacc_loops)),
            ("whole ms", 9, self.acc(lambda r: r.openacc)),
            ("x whole", 8, lambda r: speed_up(r, r.openacc)),
            ("GSWO kernel us", 15, lambda r: microseconds(r.warm)), self.whole, self.up_kernel,
            self.up_whole, self.pixels, self.paper(cases.PAPER_6A)]
        return Table("Figure 6a: OpenACC, 9x9, {size}", columns)

    def figure_6b(self):
        def npp(result):
            return microseconds(result.npp_kernel) if result.npp_kernel else self.missing.get("npp",
                                                                                              "-")
        columns = [
            self.with_window, self.sequential, ("NPP kernel us", 14, npp),
            ("whole ms", 9, lambda r: number(r.npp.ms)),
            ("x whole", 8, lambda r: speed_up(r, r.npp)),
            ("GSWO kernel us", 15, lambda r: microseconds(r.warm)), self.whole, self.up_kernel,
            self.up_whole, self.pixels, self.paper(cases.PAPER_6B)]
        return Table("Figure 6b: NPP, which OpenCV 2.4's GPU filters called, {size}", columns)

    def figure_6c(self):
        def times(threads):
            return lambda r: speed_up(r, r.openmp.get(threads))
        columns = [self.filter, self.sequential,
                   *((f"x OpenMP {n}", 11, times(n)) for n in thread_counts(self.all)),
                   self.up_kernel, self.up_whole, self.pixels, self.paper(cases.PAPER_6C)]
        return Table("Figure 6c: OpenMP by cores, 5x5, {size}; in the paper OpenMP with 8, GSWO",
                     columns)

    def section_5_3(self):
        columns = [
            self.filter, ("local us", 9, lambda r: microseconds(r.local)),
            ("shared us", 9, lambda r: microseconds(r.shared)),
            ("x", 6, lambda r: number(ratio(r.local, r.shared))),
            ("GSWO untiled us", 15, lambda r: microseconds(r.untiled)),
            ("GSWO us", 8, lambda r: microseconds(r.warm)),
            ("x", 6, lambda r: number(ratio(r.untiled, r.warm))), self.pixels,
            ("paper", 0, lambda r: cases.PAPER_SHARED)]
        return Table("Section 5.3: kernels as in Table 7, with the window in local and in shared "
                     "memory;\nand those of gswo-cc, without and with tiles in shared memory, 5x5, "
                     "{size}", columns)

    def applications(self, title, paper):
        columns = [
            self.with_window, self.sequential,
            (f"OpenMP {self.all}", 10, lambda r: number(self.openmp(r).ms)
             if self.openmp(r) else "-"),
            ("OpenACC ms", 11, self.acc(lambda r: r.openacc)), self.kernel, self.whole,
            self.up_kernel, self.up_whole, self.pixels, paper]
        return Table(title, columns)

    def show(self, names):
        tables = {
            "3": self.figure_3, "4": self.figure_4, "5": self.figure_5, "6a": self.figure_6a,
            "loops": self.loops,
            "6b": self.figure_6b, "6c": self.figure_6c, "5.3": self.section_5_3,
            "8": lambda: self.applications("Table 8: camera fingerprint, one picture of {size}, "
                                           "and 39",
                                           ("paper (CPU, GPU, speed-up)", 0,
                                            lambda r: cases.PAPER_8.get(r.case.images, "-"))),
            "9": lambda: self.applications(
                "Table 9: document analysis, {size}",
                ("paper (CPU, GPU, speed-up)", 0,
                 lambda r: cases.PAPER_9.get((r.case.filter, r.case.window), "-"))),
        }
        for name in names:
            results = self.of(name)
            if name == "5":
                results.sort(key=lambda r: cases.complexity(r.case))
            tables[name]().show(results)

    # ---- In a few lines --------------------------------------------------------------------------

    def summary(self, names):
        print("\nSummary: speed-ups over one core, smallest to largest")
        results = list(self.results.values())
        for title, chosen in (("light windows 5x5",
                               [r for r in self.of("3") if r.case.filter in cases.TEN and
                                                     r.case.filter not in cases.HEAVY]),
                              ("median, alpha-trimmed mean, mode 5x5",
                               [r for r in self.of("3") if r.case.filter in cases.HEAVY])):
            parts = []
            for name, times in (("kernel", lambda r: r.warm), ("whole call", lambda r: r.whole),
                                (f"OpenMP {self.all}", self.openmp),
                                ("OpenACC whole", lambda r: r.openacc)):
                values = [v for r in chosen if times(r) and (v := ratio(r.sequential, times(r)))]
                if values:
                    parts.append(f"{name} {number(min(values))}..{number(max(values))}")
            if parts:
                print(f"  {title}: {'; '.join(parts)}")
        self._ranks()
        pairs = [(r, v) for r in results if (v := ratio(r.openacc_loops, r.warm))]
        if pairs:
            more = sum(v > 1 for _, v in pairs)
            print(f"  GSWO's kernels against OpenACC's loops: faster in {more} of {len(pairs)}, "
                  f"{number(min(v for _, v in pairs))}..{number(max(v for _, v in pairs))} times "
                  f"as fast")
        wrong = [f"{r.case.program} ({form})" for r in results for form, n in r.different.items()
                 if n]
        failed = [f"{r.case.program} ({form})" for r in results for form in r.errors]
        compared = sum(n for r in results for n in r.compared.values())
        print(f"  DIFFERENT: {', '.join(wrong)}" if wrong else
              f"  pixels compared: {compared}, all equal"
              if compared else "  nothing could be compared")
        if failed:
            print(f"  FAILED: {', '.join(failed)}")
        for form, title in (("cuda", "GSWO (CUDA)"), ("openacc", "OpenACC"), ("npp", "NPP")):
            if form in self.missing:
                print(f"  missing: {title}: {self.missing[form]}")
        return compared > 0 and not wrong and not failed

    def _ranks(self):
        """Figure 5 as one number: Spearman's correlation of complexity and speed-up."""
        pairs = [(cases.complexity(r.case), v) for r in self.of("5")
                 if (v := ratio(r.sequential, r.warm))]
        if len(pairs) < 3:
            return
        columns = [mean_ranks(values) for values in zip(*pairs)]
        if any(len(set(ranks)) == 1 for ranks in columns):
            return
        means = [statistics.mean(ranks) for ranks in columns]
        both = sum((a - means[0]) * (b - means[1]) for a, b in zip(*columns))
        each = [math.sqrt(sum((a - mean) ** 2 for a in ranks))
                for ranks, mean in zip(columns, means)]
        print(f"  rank correlation of complexity and the kernel's speed-up (Figure 5): "
              f"{both / (each[0] * each[1]):.2f}")


def mean_ranks(values):
    """Ranks from 1; equal values share a rank."""
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) + 1) / 2 for v in values]
