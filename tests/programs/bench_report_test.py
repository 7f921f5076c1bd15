# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-bench --json, and the page that report.py makes from it.

Environment: CUDASCAN_BENCH is the program, CUDASCAN_BENCH_REPORT is report.py.
"""
import json
import os
import re
import tarfile

import program
from bench_program import BENCH, MACHINE, BenchTest, PageTest
from bench_rows import GSWO, KERNELS, PIPELINES


class Json(BenchTest):
    """The output of cudascan-bench."""

    def test_machine(self):
        content, _ = self.bench("--filter", "no such case")
        self.assertEqual(set(content), {"machine", "rows"})
        self.assertEqual(set(content["machine"]),
                         {"gpu", "cpu", "cores", "driver", "cuda", "gstreamer", "date"})
        self.assertRegex(content["machine"]["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertGreaterEqual(content["machine"]["cores"], 1)
        self.assertIsNone(content["machine"]["gstreamer"])
        self.assertEqual(content["rows"], [])

    def test_sweep(self):
        content, text = self.bench("--tables-only", "--filter", "nick against window")
        rows = content["rows"]
        self.assertEqual({r["value"] for r in rows}, {3, 15, 255})
        self.assertEqual({r["depth"] for r in rows}, {8, 16})
        for row in rows:
            self.assertEqual((row["table"], row["operator"], row["parameter"], row["backend"]),
                             ("nick against window", "nick", "window", "cpu"))
            self.assertGreater(row["us"], 0)
            self.assertGreater(row["floor_us"], 0)
            self.assertNotIn("error", row)
        self.assertIn("nick against window, one CPU core", text)

    def test_cases_have_their_parameter(self):
        content, _ = self.bench("--no-tables", "--repeat", "1", "--filter", "swofilter erode 9")
        self.assertTrue(content["rows"])
        for row in content["rows"]:
            self.assertEqual([row[name] for name in ("table", "operator", "series", "parameter",
                                                     "value")],
                             ["kernels", "swofilter", "erode", "window", 9])

    def test_patience_is_checked(self):
        done = program.run([BENCH, "--patience", "soon"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--patience soon", done.stderr)

    def test_file_that_cannot_be_written(self):
        path = self.folder / "none" / "b.json"
        done = program.run([BENCH, "--cpu-only", "--filter", "none", "--json", path])
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot write", done.stderr)


class ReportPage(PageTest):
    """The page of results."""

    full = None  # the pages for all files, which are made only once

    def full_pages(self):
        if not ReportPage.full:
            ReportPage.full = self.page(*self.archived()), self.all_rows()
        return ReportPage.full

    def archived(self):
        """The files of all_files() in an archive."""
        with tarfile.open(self.folder / "rows.tar.xz", "w:xz") as archive:
            for path in self.all_files()[1::2]:
                archive.add(path, "run/" + path.name)
        return ["--archive", self.folder / "rows.tar.xz"]

    def all_files(self):
        return ["--kernels", self.write("k.json", {"machine": MACHINE, "rows": KERNELS}),
                "--pipelines", self.write("p.json", {"machine": MACHINE, "rows": PIPELINES}),
                "--gswo", self.write("g.json", {
                    "machine": {"gpu": "Test GPU", "cpu": "x", "threads": 2}, "cases": GSWO})]

    def test_pages_stand_alone(self):
        for (page, text), others in zip(self.full_pages(), (
                {"page-all.html", "rows.tar.xz"}, {"page.html"})):
            for tag, reference in page.references:
                if reference not in others:
                    self.assertTrue(reference.startswith("#"), f"{tag} refers to {reference}")
                    self.assertIn(reference[1:], page.names)
            self.assertLessEqual(others, {reference for _, reference in page.references})
            self.assertEqual(len(page.names), len(set(page.names)))
            self.assertFalse({"script", "link", "img", "iframe", "object", "embed"} &
                             set(page.tags))
            self.assertNotRegex(text, r"@import|url\(|https?://")
            self.assertIn("prefers-color-scheme: dark", text)
            for name in (str(self.folder), "k.json", "p.json", "g.json"):
                self.assertNotIn(name, text)

    def test_filters_that_gswo_cc_translates(self):
        text = self.full_pages()[1][1]
        for words in ("Figure 3 and Table 6: windows of 5x5 (1 row), translated by gswo-cc",
                      "Loops of public image code (1 row), translated by gswo-cc"):
            self.assertIn(words, text)

    def test_visitors_come_first(self):
        page, text = self.full_pages()[0]
        self.assertNotIn("goals are met", text)
        heads = [text.index(f'<section id="{word}"') for word in ("compared", "machine", "repeat")]
        self.assertEqual(heads, sorted(heads))
        self.assertEqual(text.index("<section"), heads[0])
        shown = " ".join(page.texts)
        for words in ("Measured on Test GPU, 2026-11-27. On the GPU the fastest other library "
                      "takes 7.00 to 61.2 times as long as gst-cudascan, in the middle 34.1 times; "
                      "on one core of the CPU OpenCV takes 1.25 times as long as gst-cudascan.",
                      "cudascan-bench --json kernels.json"):
            self.assertIn(words, shown)

    def test_comparison(self):
        """The same work of all libraries in one line, and as a dot each."""
        text = self.full_pages()[0][1]
        rows = re.findall(r"<tr>(.*?)(?=\n|</thead>)", text[text.index('id="compared"'):])
        cells = [re.findall(r"<t[hd][^>]*>([^<]*)", row) for row in rows]
        self.assertEqual(cells[:3], [
            ["one frame of 3840×2160, 8 bit", "ours, GPU, us", "NPP, us", "CuPy, us",
             "× the fastest", "ours, one core, ms", "OpenCV, ms", "× OpenCV"],
            ["local threshold, window 33 (NPP: of the mean)", "20.0", "1\N{THIN SPACE}224", "–",
             "61.2×", "–", "–", "–"],
            ["median of 5×5", "30.0", "210", "609", "7.00×", "8.00", "10.0", "1.25×"]])
        self.assertEqual(self.check_plot(next(iter(self.plots(text).values()))), 2 + 5)

    def test_sections(self):
        for (page, text), sections, sentences in zip(self.full_pages(), (
                ("compared", "machine", "repeat", "pipelines", "scan", "live", "camera", "peers",
                 "streams", "gpus", "sweeps", "papers"),
                ("kernels", "goals", "spreads", "pipelines", "sweeps", "papers", "others")), (
                ("Test GPU", "Test CPU <1>", "cudanick ! cudaequalize", "other library",
                 "43\N{THIN SPACE}210", "0.063", "17 (5.7 %)", "equalizehist", "3.00×",
                 "1920×1080, 60 frames/s, cpu, 4 threads", "5.43", "6.54", "9.87", "1.85",
                 "1\N{THIN SPACE}234", "Measured on Test GPU, Test CPU <1>, 4 cores.",
                 "JPEG to TIFF", "276", "97 %", "158×"),
                ("nick 15", "17.2", "1 of 3 goals are met", "windows 3..255",
                 "launch failed & lost", "Image 5, equalize", "GTX 1650", "11\N{THIN SPACE}958",
                 "cvdilate", "median 5×5", "10-30", "equal", "serial 9*9, 33",
                 "pixels 6\N{THIN SPACE}000"))):
            shown = " ".join(page.texts)
            for words in sentences:
                self.assertIn(words, shown)
            self.assertEqual(set(re.findall(r'<section id="(\w+)"', text)), set(sections))

    def test_plots(self):
        """Every point is in the plot, and the axis has its number."""
        text = self.full_pages()[0][1]
        plots = self.plots(text)
        us = "Time of one frame, 3840×2160, 8 bit (less is better)"
        self.assertEqual({title: self.check_plot(plot) for title, plot in plots.items()},
                         {us: 7, "nick against window, GPU": 6,
                          "nick against window, one CPU core": 6, "Frames a second, 3840×2160": 1,
                          "Frames a second of all streams together": 3,
                          "Where the time of a page goes": 0})
        sweep = plots["nick against window, GPU"]
        for words in ("nick, 8 bit", "copy, 8 bit", "Other: nick, 8 bit", "window, pixels a side",
                      ">3<", ">15<", ">255<"):
            self.assertIn(words, sweep)
        for words in (">1<", ">4<", ">16<"):
            self.assertIn(words, plots["Frames a second of all streams together"])
        self.assertNotRegex(sweep, "#0[0-9a-f]{5}")

    def test_breakdown_of_a_page(self):
        """A bar for each step that takes time, one after the other."""
        plot = self.plots(self.full_pages()[0][1])["Where the time of a page goes"]
        self.assertEqual(re.findall(r"</svg>(\w+)</li>", plot), ["read", "write"])
        (left, first), (second, right) = (
            map(float, bar) for bar in re.findall(r'd="M([\d.]+) [\d.]+L([\d.]+)[^"]*z"', plot))
        self.assertAlmostEqual(first, second, delta=0.11)
        self.assertAlmostEqual((right - second) / (first - left), 0.2 / 29, delta=0.001)

    def test_streams_of_a_quick_run(self):
        rows = [{**row, "streams": n} for row, n in zip(
            [row for row in PIPELINES if row["name"] == "cudanick"], (1, 4))]
        plot = self.plots(self.page("--pipelines", self.write("p.json", {
            "machine": MACHINE, "rows": rows}))[1])["Frames a second of all streams together"]
        self.assertEqual(self.check_plot(plot), 2)
        self.assertIn(">1<", plot)
        self.assertIn(">4<", plot)

    def test_only_kernels(self):
        page, text = self.page(*self.all_files()[:2])
        self.assertNotIn('<section id="pipelines">', text)
        self.assertIn("Not in these results: In GStreamer pipelines, Whole pages: cudascan-scan, "
                      "From a camera to the sink, Live sources", " ".join(page.texts))

    def test_pipelines_that_were_not_measured(self):
        kernel = {**PIPELINES[0], "where": "kernel"}
        failed = {**PIPELINES[0], "error": "no element"}
        del failed["fps"]
        for rows, plots in (([kernel, failed], 1), ([failed], 0)):
            _, text = self.page("--pipelines",
                                self.write("p.json", {"machine": MACHINE, "rows": rows}))
            self.assertEqual(len(self.plots(text)), plots)

    def test_latencies_that_were_not_measured(self):
        """No table has a column without a number."""
        rows = [{key: value for key, value in row.items() if key != "latency_us"}
                for row in PIPELINES if row["table"] in ("pipelines", "live")]
        for given, there in ((PIPELINES, self.assertIn), (rows, self.assertNotIn)):
            _, text = self.page("--pipelines",
                                self.write("p.json", {"machine": MACHINE, "rows": given}))
            there(">p50 ms<", text)
            there(">Latencies<", text)
            self.assertIn(">CPU us a frame<", text)

    def test_later_files_replace_rows(self):
        again = [{**KERNELS[1], "us": 15.5}]
        first = self.write("a.json", {"machine": MACHINE, "rows": KERNELS})
        second = self.write("b.json", {"machine": MACHINE, "rows": again})
        self.page("--kernels", first, "--kernels", second)
        shown = " ".join(self.all_rows()[0].texts)
        self.assertIn("0 of 3 goals are met", shown)
        self.assertIn("15.5", shown)
        self.assertNotIn("14.5", shown)

    def test_empty_results_make_a_page(self):
        page, _ = self.page("--kernels", self.write("k.json", {"machine": MACHINE, "rows": []}))
        self.assertIn("Not in these results: Compared with other libraries, In GStreamer pipelines",
                      " ".join(page.texts))
        self.assertIn("Not in these results: Goals, All operators",
                      " ".join(self.all_rows()[0].texts))

    def refused(self, words, *sentences):
        self.output.write_text("the page before")
        done = self.report(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        for sentence in sentences:
            self.assertIn(sentence, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(self.output.read_text(), "the page before")

    def test_missing_file(self):
        self.refused(["--kernels", self.folder / "none.json"], "--kernels",
                     "none.json: file not found")

    def test_folder(self):
        self.refused(["--pipelines", self.folder], "--pipelines", "Is a directory")

    def test_not_json(self):
        path = self.write("k.json", '{"machine": {}, "rows": [')
        self.refused(["--kernels", path], "this is not JSON", "cudascan-bench --json")

    def test_binary(self):
        path = self.folder / "k.json"
        path.write_bytes(b"\xff\xfe\x00\x01")
        self.refused(["--kernels", path], "this is not JSON")

    def test_wrong_keys(self):
        cases = (("[]", "not an object with"), ({"rows": []}, '"machine" is missing'),
                 ({"machine": MACHINE}, '"rows" is missing'),
                 *(({"machine": MACHINE, "rows": [row]}, sentence) for row, sentence in (
                     ({}, 'no "table"'), ({"table": "live", "name": 3}, '"name" of entry 1'),
                     ({"table": "kernels", "us": "1"}, '"us" of entry 1'),
                     ({"table": "live", "latency_us": 1}, '"latency_us" of'),
                     ({"table": "camera", "added_us": 1}, '"added_us" of'))))
        for content, sentence in cases:
            with self.subTest(sentence):
                self.refused(["--kernels", self.write("k.json", content)], sentence)
        self.refused(["--gswo", self.write("g.json", {"machine": {}, "rows": []})],
                     '"cases" is missing')
        broken = {"machine": {}, "cases": [{"filter": "median", "warm_ms": 3}]}
        self.refused(["--gswo", self.write("g.json", broken)],
                     '"warm_ms" of entry 1 of "cases" is not of type object')

    def test_archives(self):
        self.refused(["--archive", self.folder / "none.tar"], "none.tar: file not found")
        self.refused(["--archive", self.write("a.tar", "no archive")], "this is not a tar archive")
        broken = self.folder / "rows.tar.xz"
        self.archived()
        broken.write_bytes(broken.read_bytes()[:200])
        self.refused(["--archive", broken], "rows.tar.xz: this is not a tar archive")
        with tarfile.open(self.folder / "b.tar", "w") as archive:
            archive.add(self.write("k.txt", "{}"), "k.txt")
        self.refused(["--archive", self.folder / "b.tar"], "no file NAME.json")
        with tarfile.open(self.folder / "c.tar", "w") as archive:
            archive.add(self.write("k.json", "[]"), "k.json")
        self.refused(["--archive", self.folder / "c.tar"], "c.tar, k.json: not an object with")

    def test_no_folder_for_the_page(self):
        path = self.write("k.json", {"machine": MACHINE, "rows": []})
        done = self.report("--kernels", path, "--output", self.folder / "none" / "page.html")
        self.assertEqual(done.returncode, 2)
        self.assertIn("does not exist", done.stderr)

    def test_no_benchmark(self):
        done = self.report("--build", self.folder, env={"PATH": "/nonexistent"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("cudascan-bench was not found", done.stderr)
        self.assertFalse(self.output.exists())

    def stand_in(self, name, rows):
        """Makes a program that writes these rows to the file named by its last argument."""
        content = json.dumps({"machine": MACHINE, "rows": rows})
        script = ("#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n"
                  f"cat >\"$1\" <<'END'\n{content}\nEND\n")
        self.write(name, script).chmod(0o755)

    def test_runs_what_is_there(self):
        """If one benchmark works and the other fails, the page says so."""
        self.stand_in("cudascan-bench", KERNELS)
        self.write("cudascan-pipeline-bench", "#!/bin/sh\nexit 3\n").chmod(0o755)
        self.stand_in("python3", [{**PIPELINES[-2], "element": "ndimage.median_filter"}])
        done = self.report("--build", self.folder,
                           env={**os.environ, "PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cudascan-pipeline-bench ended with status 3", done.stderr)
        for (page, _), sentences in ((self.read(self.output), ["ndimage.median_filter"]),
                                     (self.all_rows(), ["nick 15"])):
            for words in ("cudascan-pipeline-bench ended with status 3", *sentences):
                self.assertIn(words, " ".join(page.texts))

    def test_benchmarks_of_a_build_find_its_elements(self):
        self.stand_in("cudascan-bench", KERNELS)
        bench = self.folder / "examples" / "bench"
        (self.folder / "gst").mkdir()
        bench.mkdir(parents=True)
        (self.folder / "gst" / "libgstcudascan.so").touch()
        script = (self.folder / "cudascan-bench").read_text()
        script = script.replace("nick 15", "at $GST_PLUGIN_PATH")
        (bench / "cudascan-pipeline-bench").write_text(script.replace("'END'", "END"))
        (bench / "cudascan-pipeline-bench").chmod(0o755)
        done = self.report("--build", self.folder, env={**os.environ, "GST_PLUGIN_PATH": "/other"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"at {self.folder}/gst:/other", self.all_rows()[1])

    def test_a_broken_result_does_not_spoil_the_page(self):
        for name, rows in (("cudascan-bench", KERNELS), ("cudascan-pipeline-bench", PIPELINES)):
            self.stand_in(name, rows)
        script = (self.folder / "cudascan-bench").read_text().replace('"rows"', "")
        self.write("python3", script).chmod(0o755)
        done = self.report("--build", self.folder,
                           env={**os.environ, "PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("python_peers.py ended with status 0", done.stderr)
        self.assertIn("this is not JSON", done.stderr)
        self.assertIn("nick 15", self.all_rows()[1])

    def test_python_without_other_libraries(self):
        for name, rows in (("cudascan-bench", KERNELS), ("cudascan-pipeline-bench", PIPELINES)):
            self.stand_in(name, rows)
        self.write("cupy.py", "raise ModuleNotFoundError(name='cupy')")
        done = self.report("--build", self.folder,
                           env={**os.environ, "PYTHONPATH": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CuPy: not installed", done.stderr)
        self.assertNotIn('class="missing"', self.output.read_text())


if __name__ == "__main__":
    program.main()
