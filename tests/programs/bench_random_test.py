# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-bench --random, as a user runs it, and what is made of its results: a section of the
report page, and by scripts/speed_tables.py one of docs/speed.md.

Environment: CUDASCAN_BENCH is the program, CUDASCAN_BENCH_REPORT report.py, SOURCE_ROOT the source
folder.
"""
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile
import unittest
import xml.dom.minidom

import program

try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst
    Gst.init(None)
except (ImportError, ValueError):
    Gst = None

BENCH = os.environ["CUDASCAN_BENCH"]
ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
MACHINE = {"gpu": "Test GPU", "cpu": "Test CPU", "cores": 4, "driver": "1", "cuda": "13",
           "gstreamer": None}
BEGIN, END = (re.search(rf'^{name} = "(.*)"$', (ROOT / "scripts/speed_tables.py").read_text(),
                        re.M)[1] for name in ("BEGIN", "END"))


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)


class Random(WithFolder):
    """Settings that are drawn and timed."""

    def bench(self, *words):
        path = self.folder / "random.json"
        done = program.run([BENCH, "--cpu-only", "--json", path, *words])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(path.read_text())["rows"], done.stdout

    def test_rows_and_tables(self):
        rows, text = self.bench("--random", "3", "--filter", "8 bit")
        self.assertGreater(len(rows), 5)
        for row in rows:
            self.assertEqual((row["table"], row["backend"], row["width"], row["depth"],
                              row["goal_us"]), ("random", "cpu", 1920, 8, 500000))
            self.assertGreater(row["us"], 0)
            self.assertRegex(row["note"], r"^--seed 1 --case \d+$")
            self.assertIn(row["series"], text)
        numbers = [int(row["note"].split()[-1]) for row in rows]
        self.assertEqual(numbers, sorted(set(numbers)))
        all_line = re.search(r"^all +(\d+) .*%", text, re.M)
        self.assertEqual(int(all_line[1]), len(rows))
        self.assertRegex(text, r"share within +settings +16\.7 ms +100 ms +500 ms")
        self.assertRegex(text, rf"\n{len(rows)} settings; \d+ of them take more than 20 ms")

    def test_a_case_is_repeated_as_its_row_says(self):
        rows, _ = self.bench("--random", "1", "--seed", "7", "--filter", "cudanick")
        note = rows[-1]["note"].split(", ")[-1]
        again, text = self.bench(*note.split())
        self.assertEqual([row["name"] for row in again], [rows[-1]["name"]])
        self.assertIn(rows[-1]["name"], text)

    def test_filter_selects_families_and_properties(self):
        rows, _ = self.bench("--random", "1", "--filter", "extrema, ellipse")
        self.assertTrue(rows)
        for row in rows:
            self.assertIn("shape=ellipse", row["name"])
            self.assertTrue(row["series"].startswith("extrema, ellipse up to "))

    def test_filter_without_a_match_ends(self):
        rows, text = self.bench("--random", "60", "--filter", "no such setting")
        self.assertEqual(rows, [])
        self.assertIn("no setting was measured", text)

    def test_content(self):
        rows, text = self.bench("--random", "1", "--content", "random")
        self.assertRegex(rows[0]["note"], r"^--seed 1 --content random --case \d+$")
        self.assertIn("--cpu-only --seed 1 --content random --case N;", text)

    def test_random_settings_are_not_compared(self):
        done = program.run([BENCH, "--random", "1", "--verify"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--verify: random settings are not compared", done.stderr)

    def test_numbers_are_checked(self):
        for option in ("--random", "--seed", "--case"):
            done = program.run([BENCH, option, "0"])
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{option} 0: must be a whole number, 1 or more", done.stderr)

    @unittest.skipIf(Gst is None, "python3-gi or gir1.2-gstreamer-1.0 is not installed")
    def test_elements_can_be_pasted_into_a_pipeline(self):
        if not Gst.ElementFactory.find("cudanick"):
            self.skipTest("the plugin was not built")
        names = {row["name"] for word in ("cuda", "thin", "mask", "roi")
                 for row in self.bench("--random", "1", "--filter", word)[0]}
        names = [name for name in names if name.startswith("cuda")]
        self.assertGreater(len(names), 20)
        for name in names:
            with self.subTest(name):
                try:
                    Gst.parse_launchv(["fakesrc", "!", *shlex.split(name), "!", "fakesink"])
                except GLib.Error as error:
                    self.fail(error.message)


def setting(family, depth, us, **more):
    return {"table": "random", "section": "random, cuda", "name": f"cuda{family} {us}",
            "width": 3840, "height": 2160, "depth": depth, "us": us, "backend": "cuda",
            "operator": "swofilter", "series": family, "goal_us": 100,
            "note": "--seed 1 --case 5", **more}


RANDOM = [setting("extrema, ellipse up to 33", 8, us) for us in (20.0, 70.0, 30.0)] + [
    setting("extrema, ellipse up to 100", 16, 1234.5),
    setting("nick, wolf", 8, 99.0, operator="nick"),
    setting("nick, wolf", 8, 1e6, backend="cpu")]
SWEEP = [{"table": f"swofilter {operator} against window and shape", "section": "x",
          "name": f"{operator} {window}", "width": 3840, "height": 2160, "depth": depth,
          "us": depth * window * cost, "backend": "cuda", "operator": "swofilter",
          "series": f"{shape}, {depth} bit", "parameter": "window", "value": window}
         for operator in ("min", "median") for window in (3, 15, 255) for depth in (8, 16)
         for shape, cost in (("rectangle", 1), ("ellipse", 6), ("cross", 2))]


def written(folder, name, rows, machine=MACHINE):
    path = folder / name
    path.write_text(json.dumps({"machine": machine, "rows": rows}))
    return path


class ReportPage(WithFolder):
    """The section of the page."""

    def test_section(self):
        if program.run([sys.executable, "-c", "import matplotlib"]).returncode:
            self.skipTest("Python has no matplotlib")
        page = self.folder / "page.html"
        failed = setting("rotate", 8, 1.0, error="broken & lost")
        done = program.run([sys.executable, os.environ["CUDASCAN_BENCH_REPORT"], "--kernels",
                            written(self.folder, "r.json", [*RANDOM, failed]), "-o", page])
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = ""
        for text in (page.read_text(), page.with_name("page-all.html").read_text()):
            self.assertIn('<section id="settings">', text)
            shown += " " + " ".join(re.sub(r"<[^>]*>", " ", text).split())
        for words in ("all 5 80.00 % 80.00 % 80.00 % 100.00 % 100.00 % 1.23",
                      "nick 1 100.00 %",
                      "CPU, all cores: share of the settings within a time operator settings",
                      "extrema, ellipse up to 33 8 3 30.0 70.0 100 0.70× cudaextrema, ellipse up "
                      "to 33 70.0 (--seed 1 --case 5)",
                      "12.3×", "broken &amp; lost"):
            self.assertIn(words, shown)
        # Budgets are not goals, and random settings are not listed one by one.
        self.assertNotIn("goals are met", shown)
        self.assertNotIn("up to 33 20.0", shown)


class SpeedTables(WithFolder):
    """The section of docs/speed.md."""

    def setUp(self):
        super().setUp()
        self.page = self.folder / "speed.md"
        self.page.write_text(f"# Speed\n\n{BEGIN}\nold\n{END}\n\n## After\n")

    def write(self, name, rows, machine=MACHINE):
        return written(self.folder, name, rows, machine)

    def tables(self, *paths):
        return program.run([sys.executable, ROOT / "scripts/speed_tables.py", *paths, "--page",
                            self.page])

    def test_section(self):
        files = [self.write("r.json", RANDOM), self.write("s.json", SWEEP)]
        done = self.tables(*files)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.page.read_text()
        self.assertTrue(text.startswith(f"# Speed\n\n{BEGIN}\n## What each setting costs\n"))
        self.assertTrue(text.endswith(f"\n{END}\n\n## After\n"))
        self.assertNotIn("old", text)
        for line in ("These are 5 settings",  # not the one on the CPU
                     "the GPU is Test GPU:",
                     "| all | 80.0 % | 80.0 % | 80.0 % | 100.0 % | 100.0 % | 1.23 |",
                     "| `nick` | 100.0 % | 100.0 % | 100.0 % | 100.0 % | 100.0 % | 0.0990 |",
                     "| extrema, ellipse up to 33 | 30.0 | 70.0 |  |  |\n"
                     "| extrema, ellipse up to 100 |  |  | 1,234 | 1,234 |",
                     "(speed-windows.svg)",
                     "- A rectangle instead of an ellipse: up to 6.00 times as fast, `min` of ",
                     "- 8 bit instead of 16: up to 2.00 times as fast"):
            self.assertIn(line, text)
        self.assertNotIn("{", text)
        before = text
        self.assertEqual(self.tables(*files).returncode, 0)
        self.assertEqual(self.page.read_text(), before)

    def test_plot(self):
        self.tables(self.write("r.json", RANDOM), self.write("s.json", SWEEP))
        svg = (self.folder / "speed-windows.svg").read_text()
        paths = xml.dom.minidom.parseString(svg).getElementsByTagName("path")
        lines = [p.getAttribute("d") for p in paths if p.getAttribute("class") == "ellipse"]
        self.assertEqual([line.count("L") for line in lines], [0, 2, 2, 2, 2])  # the legend first
        heights = [float(point.split()[1]) for point in lines[1][1:].split("L")]
        self.assertEqual(heights, sorted(heights, reverse=True))  # slower is higher
        for words in ("min, 8 bit", "median, 16 bit", "prefers-color-scheme: dark", ">255<"):
            self.assertIn(words, svg)
        self.assertLess(len(svg), 20000)

    def refused(self, sentence, *paths):
        before = self.page.read_text()
        done = self.tables(*paths)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(sentence, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(self.page.read_text(), before)
        self.assertFalse((self.folder / "speed-windows.svg").exists())

    def test_what_is_missing(self):
        random, sweep = self.write("r.json", RANDOM), self.write("s.json", SWEEP)
        self.refused("no file has random settings on a GPU", sweep)
        self.refused("no file has times over the window on a GPU", random)
        self.refused("file not found", self.folder / "none.json")
        other = self.write("o.json", SWEEP, {**MACHINE, "gpu": "Other"})
        self.refused("several GPUs: Other, Test GPU", random, other)
        self.page.write_text("# Speed\n")
        self.refused("does not have the lines", random, sweep)

    def test_the_page_has_the_marks(self):
        text = (ROOT / "docs/speed.md").read_text()
        self.assertLess(0, text.index(BEGIN))
        self.assertLess(text.index(BEGIN), text.index(END))


if __name__ == "__main__":
    program.main()
