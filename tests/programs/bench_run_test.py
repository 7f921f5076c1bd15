# SPDX-License-Identifier: LGPL-2.1-or-later
"""The run of an H200 in docs/: its archive and the two pages that report.py makes of it.

Environment: CUDASCAN_BENCH_REPORT is report.py.
"""
import os
import pathlib
import re
import sys
import unittest
import unittest.mock

import program
from bench_program import Page, PageTest

BENCH = pathlib.Path(os.environ["CUDASCAN_BENCH_REPORT"]).resolve().parent
DOCS = BENCH.parents[1] / "docs"
ARCHIVE, VISITORS, ALL_ROWS = (DOCS / f"benchmark-h200{end}"
                               for end in (".tar.xz", ".html", "-all.html"))
TITLE = "gst-cudascan on an NVIDIA H200"
COMMAND = (f"cudascan-bench-report --archive docs/{ARCHIVE.name} --title '{TITLE}' -o "
           f"docs/{VISITORS.name}")
sys.path.insert(0, str(BENCH))


def pages_of(results):
    """The texts of both pages with empty plots: these take seconds."""
    from report_page import all_rows, page, plots
    nothing = {name: lambda *_, **__: '<div class="plot"></div>' for name in ("lines", "bars", "dots", "stacks")}
    with unittest.mock.patch.multiple(plots, **nothing):
        return [page.make(results, TITLE, ALL_ROWS.name, ARCHIVE.name),
                all_rows.make(results, TITLE, VISITORS.name)]


def results_of_archive():
    from report_page.results import Results
    results = Results()
    results.read_archive(ARCHIVE)
    return results


def words(text):
    """The texts of a page without its style sheet and its plots."""
    text = re.sub(r'<div class="plot">.*?</div>|<style>.*?</style>', "", text, flags=re.S)
    return [line for words in Page(text).texts for line in words.split("\n") if line]


def number(numbered, entry, key, factor=1):
    """Gives an entry a value that the pages write as a number of its own."""
    value = 20000 + len(numbered)
    entry[key] = {"median": value / factor} if isinstance(entry.get(key), dict) else value / factor
    numbered[f"{value:,}".replace(",", "\N{THIN SPACE}")] = entry


class Run(PageTest):
    def test_pages_are_those_of_the_archive(self):
        for path, text in zip((VISITORS, ALL_ROWS), pages_of(results_of_archive())):
            self.assertEqual(words(path.read_text(encoding="utf-8")), words(text),
                             f"{path.name} is not what {ARCHIVE.name} gives, run: {COMMAND}")

    def test_sizes(self):
        self.assertLessEqual(VISITORS.stat().st_size, 400_000)
        self.assertLessEqual(ALL_ROWS.stat().st_size, 600_000)
        self.assertLessEqual(ARCHIVE.stat().st_size, 150_000)

    def test_no_names_of_files_of_the_run(self):
        import tarfile
        with tarfile.open(ARCHIVE) as archive:
            for member in archive:
                self.assertRegex(member.name, r"^[a-z-]+\.json$")
                self.assertEqual((member.uid, member.gid), (0, 0))
                text = archive.extractfile(member).read().decode()
                self.assertNotRegex(text, r"/(tmp|home|root|work|mnt)\b")
        for path in (VISITORS, ALL_ROWS):
            text = path.read_text(encoding="utf-8")
            self.assertNotRegex(text, r"/(tmp|home|root|work|mnt)\b")
            self.assertNotIn(".json", re.sub(r"<pre>.*?</pre>", "", text, flags=re.S))

    def test_all_points_are_inside_the_axes(self):
        plots = self.plots(VISITORS.read_text(encoding="utf-8"))
        self.assertGreater(len(plots), 30)
        points = {title: self.check_plot(plot) for title, plot in plots.items()}
        streams = [row for row in results_of_archive().of("streams") if row.get("fps")]
        self.assertEqual(points["Frames a second of all streams together"], len(streams))
        for row in streams:
            self.assertIn(f">{row['streams']}<", plots["Frames a second of all streams together"])

    def test_every_row_is_on_a_page(self):
        """With a number of its own in each row. Random settings are shown as families only."""
        results, numbered = results_of_archive(), {}
        # Rows without a time have their errors.
        errors = [row["error"] for row in results.rows if row.get("error")]
        for row in results.rows:
            if row["table"] == "random" or row.get("error"):
                continue
            if row["table"] == "scan":
                number(numbered, row, "pages_per_second")
            elif row["table"] in ("live", "camera"):
                row["latency_us"] = {}
                number(numbered, row["latency_us"], "p50", 1e-3)
            elif row["table"] in ("streams", "gpus"):
                number(numbered, row, "fps")
            elif row.get("us") is None:
                key = "ratio" if row["table"] == "spreads" else "baseline_us"
                self.assertIsNotNone(row.get(key), row)
                number(numbered, row, key)
            else:
                number(numbered, row, "us")
        for content in results.gswo:
            for case in content["cases"]:
                number(numbered, case, "whole_ms")
        self.assertGreater(len(numbered), 2000)
        pages = pages_of(results)
        shown = {cell.removesuffix("×") for cell in
                 re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", "".join(pages))}
        missing = [row for text, row in numbered.items() if text not in shown]
        self.assertEqual(missing, [])
        for error in errors:
            self.assertIn(error, " ".join(Page("".join(pages)).texts))


if __name__ == "__main__":
    program.main()
