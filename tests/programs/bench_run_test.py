# SPDX-License-Identifier: LGPL-2.1-or-later
"""The run of an H200 in docs/: its archive and the two pages that report.py makes of it.

Environment: CUDASCAN_BENCH_REPORT is report.py.
"""
import contextlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import unittest
import unittest.mock

import program
from bench_program import MACHINE, Page, PageTest

BENCH = pathlib.Path(os.environ["CUDASCAN_BENCH_REPORT"]).resolve().parent
DOCS = BENCH.parents[1] / "docs"
ARCHIVE, VISITORS, ALL_ROWS = (DOCS / f"benchmark-h200{end}"
                               for end in (".tar.xz", ".html", "-all.html"))
TITLE = "gst-cudascan on an NVIDIA H200"
COMMAND = (f"cudascan-bench-report --archive docs/{ARCHIVE.name} --title '{TITLE}' -o "
           f"docs/{VISITORS.name}")
SCRIPTS = BENCH.parents[1] / "scripts"
sys.path[:0] = [str(BENCH), str(SCRIPTS)]


def pages_of(results):
    """The texts of both pages with empty plots: these take seconds."""
    from report_page import all_rows, page, plots
    nothing = {name: lambda *_, **__: '<div class="plot"></div>'
               for name in ("lines", "bars", "dots", "stacks")}
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


def several_gpus(most):
    """Rows of 1, 2, 4 ... GPUs of a machine with so many."""
    frame = {"width": 1920, "height": 1080, "depth": 8, "where": "cudamemory", "streams": 1}
    chain = "cudanick{0} ! queue ! cudaequalize{1} ! cudanick{2}"
    rows = [{"table": "gpus", **frame, "name": chain.format(*(
        f" cuda-device-id={gpu}" if gpu is not None else "" for gpu in gpus)), "fps": fps}
        for gpus, fps in (((0, 0, 0), 700), ((0, 1, 1), 800), ((0, 1, 0), 600),
                          ((1, None, None), 500))]
    for n in (2 ** i for i in range(most.bit_length())):
        rows += [
            {"table": "gpus", **frame, "name": chain, "streams": 4 * n, "gpus": n, "fps": 1000 * n},
            {"table": "paper 000 several GPUs", "name": f"Shared 15*15, {n} GPUs", "width": 2500,
             "height": 4000, "series": "Shared 15*15", "value": n, "us": 2000 / n,
             "baseline_us": 3000 / n, "copy_us": 1000 / n, "speedup": n, "backend": "cuda"},
            {"table": "scan", "name": "JPEG of A4 at 300 dpi to TIFF group 4", "backend": "cuda",
             "gpus": n, "threads": 24, "pages_per_second": 300 * n, "gpu_busy": 0.5},
            {"table": "tests of several GPUs", "name": "devices_test CudaDevices.*", "gpus": n,
             "tests": 15, "passed": 15, "skipped": 0},
            {"table": "links between host and GPUs", "name": f"host to {n} GPUs at once",
             "series": "host to GPU", "value": n, "us": 10.0, "gb_per_s": 50.0 * n}]
    return rows


class Run(PageTest):
    def test_pages_are_those_of_the_archive(self):
        for path, text in zip((VISITORS, ALL_ROWS), pages_of(results_of_archive())):
            self.assertEqual(words(path.read_text(encoding="utf-8")), words(text),
                             f"{path.name} is not what {ARCHIVE.name} gives, run: {COMMAND}")

    def test_sizes(self):
        self.assertLessEqual(VISITORS.stat().st_size, 400_000)
        self.assertLessEqual(ALL_ROWS.stat().st_size, 400_000)
        self.assertLessEqual(ARCHIVE.stat().st_size, 150_000)

    def test_links(self):
        for page in (VISITORS, ALL_ROWS):
            links = re.findall(r'href="([^"#:]+)"', page.read_text(encoding="utf-8"))
            self.assertTrue(links)
            for link in links:
                self.assertTrue((page.parent / link).exists(), link)

    def test_no_names_of_files_of_the_run(self):
        with tarfile.open(ARCHIVE) as archive:
            for member in archive:
                self.assertRegex(member.name, r"^[a-z0-9-]+\.json$")
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
            elif row["table"] == "tests of several GPUs":
                continue  # a sentence counts them
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
                 re.findall(r"<t[dh][^>]*>([^<\n]*)", "".join(pages))}
        missing = [row for text, row in numbered.items() if text not in shown]
        self.assertEqual(missing, [])
        for error in errors:
            self.assertIn(error, " ".join(Page("".join(pages)).texts))


class SpeedPage(PageTest):
    """run_tables.py and docs/speed.md."""

    def test_tables_are_those_of_the_archive(self):
        import run_tables
        text = run_tables.PAGE.read_text(encoding="utf-8")
        results = results_of_archive()
        self.assertTrue(run_tables.written(text, results) == text,
                        "docs/speed.md is not what the archive gives, run: scripts/run_tables.py")
        readme = run_tables.README.read_text(encoding="utf-8")
        self.assertTrue(run_tables.written(readme, results, run_tables.IN_README) == readme,
                        "README.md is not what the archive gives, run: scripts/run_tables.py")

    def test_tables(self):
        """Known values; what was not measured stays as it was."""
        import run_tables
        from report_page.results import Results
        rows = [{"table": "gpus", "name": "x", "where": "cudamemory", "gpus": gpus,
                 "streams": 4 * gpus, "fps": fps} for gpus, fps in ((1, 98.76), (2, 12345.6))]
        results = Results()
        results.read("pipelines", self.write("p.json", {"machine": MACHINE, "rows": rows}))
        marks = [(f"<!-- Run of an H200: {name}. scripts/run_tables.py writes it. -->",
                  f"<!-- End of {name}. -->") for name in run_tables.BLOCKS]
        page = "# Speed\n" + "".join(f"{begin}\nold\n{end}\n\n" for begin, end in marks)
        text = run_tables.written(page, results)
        self.assertEqual(text.count("\nold\n"), len(marks) - 1)
        self.assertIn("| | one GPU | 2 GPUs |\n|---|---|---|\n"
                      "| 4 pipelines on each GPU, CUDA memory | 99 | 12,300 |\n", text)
        self.assertEqual(run_tables.written(text, results), text)
        self.assertEqual([run_tables.short(value) for value in (5.472, 9.96, 83.4, 999.6, 1226.7,
                                                               9996, None)],
                         ["5.5", "10", "83", "1000", "1230", "10,000", ""])

    def test_several_gpus(self):
        """The machine with most GPUs counts; nothing is said that was not measured."""
        import run_tables
        from report_page.results import Results
        results = Results()
        self.assertEqual(run_tables.in_readme(run_tables.Run(results)), "")
        for gpus in (4, 2):
            machine = {**MACHINE, "gpu": "NVIDIA H200", "gpus": gpus, "cores": 16 * gpus}
            content = {"machine": machine, "rows": several_gpus(gpus)}
            results.read("pipelines", self.write(f"{gpus}.json", content))
        run = run_tables.Run(results)
        text = run_tables.gpus(run)
        self.assertIn("with 4 NVIDIA H200, Test CPU <1>, 64 cores.\n\n"
                      "| | one GPU | 2 GPUs | 4 GPUs |\n", text)
        for line in ("| 4 pipelines on each GPU, CUDA memory | 1000 | 2000 | 4000 |",
                     "| one pipeline, halves on two GPUs, CUDA memory | 700 | 800 | |",
                     "| one pipeline, in turn on two GPUs, CUDA memory | 700 | 600 | |",
                     "| `Devices` of the library: NICK, window 15, 2500x4000 in pinned memory, "
                     "with the copies | 500 | 1000 | 2000 |",
                     "| `cudascan-scan`, JPEG of A4 at 300 dpi to TIFF group 4, pages a second | "
                     "300 | 600 | 1200 |", "| copies from the host, GB/s | 50 | 100 | 200 |"):
            self.assertIn(line, text)
        self.assertEqual(
            run_tables.in_readme(run),
            "Results are the same bits on any number of GPUs. One, two and four H200 of one host "
            "with 64 cores make 1000, 2000 and 4000 frames/s of 1920x1080 through all elements, "
            "four pipelines on each GPU; 500, 1000 and 2000 frames/s of one stream of 2500x4000 by "
            "NICK, with the copies: [several GPUs](docs/speed.md#several-gpus).")
        # Both machines are on the page, and each line is of one machine.
        page = " ".join(words(pages_of(results)[0]))
        for part in ("4 NVIDIA H200, Test CPU <1>, 64 cores", "2 NVIDIA H200, Test CPU <1>, 32 c",
                     "halves on two GPUs", "the rest follows", "host to 4 GPUs at once"):
            self.assertIn(part, page)
        self.assertEqual(page.count("host to 2 GPUs at once"), 2)
        self.assertLess(page.index("Measured on 4 NVIDIA"), page.index("Measured on 2 NVIDIA"))

    def test_copy_of_the_frame(self):
        """Not that of a plane with the same width, which comes later."""
        import run_tables
        from report_page.results import Results
        rows = [{"table": "nick against window", "name": "nick 3", "series": "nick, 8 bit",
                 "value": 3, "us": 15.0, "backend": "cuda"},
                *({"table": "kernels", "section": "cuda", "name": "copy", "width": 3840,
                   "height": height, "depth": 8, "us": us, "backend": "cuda"}
                  for height, us in ((2160, 5.4), (3240, 10.4)))]
        results = Results()
        results.read("kernels", self.write("k.json", {"machine": MACHINE, "rows": rows}))
        self.assertIn("| copy of the frame, 8 bit | 5.4 | | |",
                      run_tables.local_thresholds(run_tables.Run(results)))

    def test_what_is_missing(self):
        page = self.write("speed.md", "# Speed\n")
        for words, sentence in (([], "does not have the lines <!-- Run of an H200: local"),
                                ([self.folder / "none.tar"], "none.tar: file not found")):
            done = program.run([sys.executable, SCRIPTS / "run_tables.py", *words, "--page", page])
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(page.read_text(), "# Speed\n")


class WholeRun(PageTest):
    """whole_run.py, with stand-ins for the benchmarks."""

    def setUp(self):
        super().setUp()
        rows = [{"table": "kernels", "section": "cpu 1", "name": "nick 15", "width": 8, "height": 8,
                 "depth": 8, "backend": "cpu", "us": 12345.0}]
        self.write("rows", json.dumps({"machine": MACHINE, "rows": rows}))
        self.stand_in("cudascan-bench", f"cp '{self.folder}/rows' \"$1\"")

    def stand_in(self, name, command):
        script = self.write(name, f"#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n{command}\n")
        script.chmod(0o755)

    def run_parts(self, *words):
        return program.run([sys.executable, BENCH / "whole_run.py", *words],
                           env={"PATH": f"{self.folder}:/usr/bin:/bin"})

    def test_results_come_to_the_page(self):
        done = self.run_parts(self.folder / "out", "cpu", "papers")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"^== cpu\ncpu: \d+ s\n== papers\npaper-000: \d+ s\n")
        with tarfile.open(self.folder / "out/run-cpu.tar.xz") as archive:
            self.assertEqual([(m.name, m.uname, m.uid) for m in archive],
                             [("cpu.json", "", 0), ("cpu.log", "", 0)])
        done = self.run_parts("--join", self.folder / "out", self.folder / "all.tar.xz")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("6 files", done.stdout)
        self.assertIn("run-gswo.tar.xz is missing", done.stderr)
        self.page("--archive", self.folder / "all.tar.xz")
        self.assertIn("12\N{THIN SPACE}345", " ".join(self.all_rows()[0].texts))

    def test_results_of_another_run_stay(self):
        """Those of a part that was stopped are found, too."""
        import whole_run
        path = self.folder / "all.tar.xz"

        def content(value):
            return json.dumps({"rows": [{"table": "kernels", "us": value}]}).encode()

        whole_run.pack(path, [(f"{name}.json", content(1)) for name in ("loops", "cpu", "old")])
        whole_run.pack(self.folder / "run-operators.tar.xz",
                       [("gpu.json", content(2)), ("operators.log", b"")])
        whole_run.pack(self.folder / "run-cpu.tar.xz", [("cpu.json", content(4))])
        (self.folder / "cpu").mkdir()
        self.write("cpu/cpu.json", content(3).decode())
        (self.folder / "python").mkdir()
        self.write("python/python.json", "{")
        done = self.run_parts("--join", self.folder, path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("loops.json is of the earlier all.tar.xz\n", done.stdout)
        self.assertIn("old.json of the earlier all.tar.xz is of no step", done.stderr)
        self.assertEqual({name: json.loads(text)["rows"][0]["us"]
                          for name, text in whole_run.results_in(path).items()},
                         {"gpu.json": 2, "cpu.json": 3, "loops.json": 1})

    def test_a_part_that_is_stopped_leaves_its_results(self):
        self.stand_in("cudascan-bench", f"cp '{self.folder}/rows' \"$1\"\n"
                                        f"echo $$ >'{self.folder}/pid'; exec sleep 60")
        pid = self.folder / "pid"
        run = subprocess.Popen([sys.executable, BENCH / "whole_run.py", self.folder / "out", "cpu"],
                               stdout=subprocess.DEVNULL,
                               env={"PATH": f"{self.folder}:/usr/bin:/bin"})
        program.wait_until(lambda: pid.exists() and pid.read_text().strip(), "the results")
        run.kill()
        run.wait()
        os.kill(int(pid.read_text()), signal.SIGKILL)
        results = json.loads((self.folder / "out/cpu/cpu.json").read_text())
        self.assertEqual(results["rows"][0]["name"], "nick 15")

    def test_an_archive_has_only_what_pages_show(self):
        import whole_run
        rows = [{"table": table, "us": 2.0, "mpx_per_s": 1.0, "gb_per_s": 3.0, "x_copy": 4.0}
                for table in ("random", "kernels", "links between host and GPUs")]
        kept = json.loads(whole_run.shown(json.dumps({"machine": {}, "rows": rows})))["rows"]
        self.assertEqual([sorted(row) for row in kept],
                         [["table", "us"], ["mpx_per_s", "table", "us"],
                          ["gb_per_s", "table", "us"]])

    def test_programs_compiled_here_use_the_compilers_library(self):
        from figures.measure import own_libraries
        (self.folder / "bundle").mkdir()
        self.write("bundle/libstdc++.so.6", "")
        packed = str(self.folder / "bundle")
        for path, kept in ((f"{packed}:/usr/lib", "/usr/lib"), (packed, None), (None, None)):
            given = {"HOME": "/", **({"LD_LIBRARY_PATH": path} if path else {})}
            self.assertEqual(own_libraries(given).get("LD_LIBRARY_PATH"), kept)

    def test_several_gpus_take_less_than_six_minutes(self):
        import whole_run
        self.assertLessEqual(sum(limit for _, limit, _ in whole_run.PARTS["several-gpus"]), 360)

    def test_what_follows_two_dashes_is_for_another_program(self):
        import whole_run
        words = ["sh", "-c", 'echo "{\\"rows\\": [1]}" >"$2"; echo "$1 $3 $4" >"$2.words"', "sh",
                 "--", "--decode=gpu"]
        with open(self.folder / "log", "w") as log, contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(whole_run.measure("some", 60, words, {}, self.folder, log))
        self.assertEqual((self.folder / "some.json.words").read_text().split(),
                         ["--json", "--", "--decode=gpu"])

    def test_what_is_missing_is_named(self):
        done = self.run_parts(self.folder / "out", "gswo", "scan", "pipelines")
        self.assertEqual(done.returncode, 1, done.stderr)
        for words in ("gswo: not measured: --gswo was not given",
                      "scan-png: not measured: --scans was not given",
                      "live: not measured: cudascan-pipeline-bench is not in PATH"):
            self.assertIn(words, done.stdout)
        for words, sentence in (([self.folder, "cup"], "cup: must be of operators, sweeps"),
                                ([self.folder], "PART are needed"),
                                (["--scans", self.folder / "none", self.folder, "scan"],
                                 "this is no folder")):
            done = self.run_parts(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)

    def test_failures_and_broken_files_are_no_results(self):
        for command, how in (("exit 3", "exit status 3, no results"),
                             ("echo '{' >\"$1\"", "no results")):
            self.stand_in("cudascan-bench", command)
            done = self.run_parts(self.folder / "out", "cpu")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"cpu: {how}, ", done.stdout)
            with tarfile.open(self.folder / "out/run-cpu.tar.xz") as archive:
                self.assertEqual(archive.getnames(), ["cpu.log"])

    def test_what_takes_too_long_is_stopped_and_kept(self):
        """With all that it started."""
        import whole_run
        words = ["sh", "-c", 'echo "{\\"rows\\": []}" >"$2"; sleep 60 & echo $! >"$2.pid"; wait',
                 "sh"]
        with open(self.folder / "log", "w") as log, \
                contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertFalse(whole_run.measure("long", 0.5, words, {}, self.folder, log))
        self.assertIn("long: stopped, ", said.getvalue())
        self.assertEqual(json.loads((self.folder / "long.json").read_text()), {"rows": []})
        sleeper = pathlib.Path("/proc", (self.folder / "long.json.pid").read_text().strip())

        def ended():
            return not sleeper.exists() or ") Z" in (sleeper / "stat").read_text()
        program.wait_until(ended, "the end of what the step started")


if __name__ == "__main__":
    program.main()
