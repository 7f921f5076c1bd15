# SPDX-License-Identifier: LGPL-2.1-or-later
"""The publications in cudascan-bench, and on the page that report.py makes.

Environment: CUDASCAN_BENCH is the program, CUDASCAN_BENCH_REPORT is report.py.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import program
from bench_program import BENCH, MACHINE, REPORT, BenchTest, PageTest

HD = {"width": 1920, "height": 1080, "depth": 8}
GPU = {"section": "x", "backend": "cuda"}
SCAN = {"width": 2500, "height": 4000, "depth": 8}
SQUARE = {"width": 640, "height": 640, "depth": 8, "us": 20.0}
PAPERS = [
    *({"table": f"paper 000 figure {figure}", **GPU, **SCAN, "series": "Global 9*9",
       "name": f"Global 9*9, block {block}*{block}", "parameter": "block", "value": block,
       "us": 20.0, "baseline_us": 200.0, "speedup": 1000.0 + block,
       **({"published": "GTX 480", "published_speedup": 142} if block == 16 else {})}
      for figure in "35" for block in (8, 16, 32)),
    *({"table": "paper 000 figure 4", **GPU, **SCAN, "series": "Shared 9*9", "name": f"Image {i}",
       "parameter": "image", "value": i, "us": 20.0, "baseline_us": 200.0, "speedup": 100.0 * i,
       "published": "GTX 480", "published_speedup": 71 * i,
       "note": "slower than Global here: the reason"} for i in (1, 2)),
    {"table": "paper 000 table 5", **GPU, **SCAN, "name": "Global 33*33", "us": 400.0,
     "published_ms_per_pixel": 0.0000214, "published_ms_offset": 0, "baseline_ms_per_pixel": 1.8e-7,
     "baseline_ms_offset": 0.02, "baseline_r2": 0.99912, "ms_per_pixel": 3.8e-8,
     "ms_offset": -0.01, "r2": 0.5},
    *({"table": "paper 001 table 1", **HD, "section": "x", "backend": backend, "series": "Image 4",
       "name": f"Image 4, {where} total", "us": 300.0, "baseline_us": 900.0, "published": hardware,
       "published_us": 5487} for backend, where, hardware in (("cpu", "CPU", "Core i7"),
                                                              ("cuda", "GPU", "GTX 1650"))),
    *({"table": "paper 001 load factors", **GPU, **HD, "series": "histogram",
       "name": f"histogram, {load} pixels a thread", "parameter": "load", "value": load, "us": 9.0,
       "baseline_us": 90.0 / load} for load in (1, 2, 4)),
    *({"table": "paper 002 table 2", "section": "x", "backend": backend, **SQUARE, "series": "D15",
       "name": f"D15, {column}", "baseline_us": 900.0, "published": hardware, "published_us": us}
      for backend, column, hardware, us in (("cpu", "CPU (Mor)", "Core i7-870", 2014000),
                                            ("cuda", "GPU (Bart)", "Tesla C2050", 58000))),
    *({"table": f"paper 002 figure {figure}", **GPU, **SQUARE, "series": "Morard, vertical",
       "name": "Morard, vertical", "parameter": "pixels", "value": 409600, "baseline_us": 90.0}
      for figure in "258"),
    *({"table": f"paper 002 figure {figure}", **GPU, **SQUARE, "width": width,
       "series": "GPU (Bartovsky), diagonal", "name": "GPU (Bartovsky), diagonal",
       "parameter": "length", "value": 41, "baseline_us": 90.0, "peer": "NPP", "peer_us": 900.0}
      for figure, width in (("9", 640), ("10", 640), ("10", 2560))),
    *({"table": "paper 002 figure 11", **GPU, **SQUARE, "series": f"Z = {zones}",
       "name": f"Z = {zones}", "parameter": "length", "value": 41, "baseline_us": 90.0 / zones,
       "speedup": zones, "published": "equation 5", "published_speedup": zones * 0.9}
      for zones in (1, 2, 4)),
    *({"table": "paper 003 figure 6a", **GPU, "width": side, "height": side, "depth": 8,
       "series": f"Otsu, GPU{copies}", "name": f"Otsu, GPU{copies}", "parameter": "side",
       "value": side, "us": side / 100, "baseline_us": side / 10}
      for side in (256, 512) for copies in ("", " with copies")),
    *({"table": f"paper {paper} several GPUs", **GPU, "width": side, "height": side, "depth": 8,
       "series": series, "name": f"{series}, {gpus} GPUs", "parameter": "GPUs", "value": gpus,
       "us": side / gpus, "baseline_us": 2 * side / gpus, "speedup": gpus}
      for paper, series, side in (("003", "Otsu", 1024), ("003", "Otsu", 4096),
                                  ("000", "Shared 9*9", 1000)) for gpus in (1, 2, 4)),
]


class Tables(BenchTest):
    """What cudascan-bench measures."""

    def test_table_of_a_publication(self):
        content, text = self.bench("--tables-only", "--filter", "paper 001 table 1")
        rows = [r for r in content["rows"] if r["table"] == "paper 001 table 1"]
        self.assertEqual([(r["width"], r["height"], r["published_us"]) for r in rows],
                         [(512, 384, 932), (910, 682, 7946), (1000, 667, 8985), (1920, 1080, 5487),
                          (5120, 2880, 13612)])
        for row in rows:
            self.assertEqual(row["published"], "Core i7-9750H, OpenCV")
            self.assertGreater(row["us"], 0)
        self.assertIn("TABLE 1 of Dobreanu and Chelaru", text)

    def test_baseline_of_a_publication(self):
        content, text = self.bench("--tables-only", "--filter", "paper 003 figure 6a")
        rows = content["rows"]
        self.assertEqual([(r["name"], r["width"]) for r in rows],
                         [("Otsu, CPU", 256), ("Otsu, CPU", 1024)])
        for row in rows:
            self.assertGreater(row["baseline_us"], 0)
        self.assertIn("FIGURE 6a of Prahara", text)

    def test_one_publication(self):
        content, text = self.bench("--paper", "001")
        self.assertEqual({row["table"] for row in content["rows"]},
                         {"paper 001 table 1", "paper 001 screenshots"})
        self.assertEqual(set(re.findall(r"\[(paper ...)", text)), {"paper 001"})

    def test_all_algorithms_and_applications(self):
        content, _ = self.bench("--paper", "002")
        rows = {}
        for row in content["rows"]:
            rows.setdefault(row["table"], []).append(row)
            self.assertGreater(row["us"], 0)
        self.assertEqual(set(rows), {f"paper 002 {name}" for name in
                                     ("table 2", "figure 2", "figure 9", "figure 10")})
        self.assertEqual([(r["name"], r["published_us"]) for r in rows["paper 002 table 2"][:2]],
                         [("Fingerprint, CPU (Bart)", 3768700),
                          ("Fingerprint, CPU (Mor)", 3129200)])
        self.assertEqual(len(rows["paper 002 table 2"]), 6)
        self.assertEqual({row["series"] for row in rows["paper 002 figure 2"]},
                         {f"{name}, {direction}" for direction in ("horizontal", "vertical")
                          for name in ("VanD", "Morard", "Bartovsky", "Bartovsky (lines)",
                                       "Clienti")})
        for row in rows["paper 002 figure 2"]:
            self.assertGreater(row["baseline_us"], 0)

    def test_linear_models(self):
        content, _ = self.bench("--paper", "000")
        self.assertEqual({row["table"] for row in content["rows"]},
                         {"nick tables", "paper 000 table 3", "paper 000 table 5"})
        rows = [row for row in content["rows"] if row["table"] == "paper 000 table 5"]
        self.assertEqual([(row["name"], row["published_ms_per_pixel"], row["published_ms_offset"])
                          for row in rows],
                         [("serial 33*33", 0.002967, -23), ("serial 15*15", 0.000657, -9)])
        for row in rows:
            for of in ("baseline_", ""):
                self.assertGreater(row[of + "ms_per_pixel"], 0)
                self.assertTrue(0 < row[of + "r2"] <= 1)
                ms = row[of + "ms_per_pixel"] * 1e7 + row[of + "ms_offset"]
                self.assertAlmostEqual(row[of + "us"], ms * 1e3, delta=ms * 1e-2)

    def test_publications_are_checked(self):
        for words, sentence in ((["--paper", "5"], "--paper 5: must be 000, 001"),
                                (["--paper", "001", "--random", "1"], "of no publication")):
            done = program.run([BENCH, *words])
            self.assertEqual(done.returncode, 2)
            self.assertIn(sentence, done.stderr)


class PapersOnThePage(PageTest):
    """Tables, plots and notes."""

    def test_papers(self):
        _, text = self.page("--kernels",
                            self.write("k.json", {"machine": MACHINE, "rows": PAPERS}))
        shown = " ".join(self.all_rows()[0].texts)
        for words in ("2.14e-05 P", "1.8e-07 P +0.02", "0.9991", "3.8e-08 P -0.01",
                      "Image 1, Image 2: slower than Global here: the reason."):
            self.assertIn(words, shown)
        plots = self.plots(text)
        for plot in plots.values():
            self.check_plot(plot)
        self.assertEqual(set(plots), {row["table"] for row in PAPERS} -
                         {"paper 000 table 5", "paper 002 figure 10", "paper 002 figure 11",
                          "paper 003 several GPUs", "paper 000 several GPUs"} |
                         {"paper 002 figure 10, 640x640", "paper 002 figure 10, 2560x640",
                          "paper 002 figure 11, 640x640", "paper 003 several GPUs, 1024x1024",
                          "paper 003 several GPUs, 4096x4096",
                          "paper 000 several GPUs, 1000x1000"})
        for name, words in (("000 figure 3", ("block 8*8", "block 32*32", "ours",
                                              "published, GTX 480, block 16*16")),
                            ("000 figure 4", ("Shared 9*9, GTX 480", "ours")),
                            ("001 table 1", ("CPU, OpenCV", "naive GPU", "published, GTX 1650")),
                            ("001 load factors", ("histogram", "ours: histogram")),
                            ("002 table 2", ("CPU (Mor)", "GPU (Bart)", "ours, GPU",
                                             "published, CPU (Mor), Core i7-870")),
                            ("002 figure 2", ("Morard, vertical", "ours, GPU, vertical")),
                            ("002 figure 9", ("NPP, diagonal", "ours, GPU, diagonal")),
                            ("002 figure 11, 640x640", ("Z = 4, equation 5",)),
                            ("003 figure 6a", ("Otsu, GPU with copies", "ours: Otsu, GPU")),
                            ("003 several GPUs, 1024x1024", ("Otsu", "ours: Otsu"))):
            for word in words:
                self.assertIn(word, plots[f"paper {name}"])

    def test_papers_of_an_older_program(self):
        rows = [{name: value for name, value in row.items() if name not in ("series", "value")}
                for row in PAPERS]
        _, text = self.page("--kernels", self.write("k.json", {"machine": MACHINE, "rows": rows}))
        self.assertEqual(self.plots(text), {})


class OpenCvInPython(unittest.TestCase):
    """The script with which cudascan-bench times OpenCV if it has no module in C++."""

    def test_protocol(self):
        if program.run([sys.executable, "-c", "import numpy"]).returncode:
            self.skipTest("Python has no numpy")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "cv2.py").write_text(
                "__version__ = '9.8'\nclass error(Exception): pass\n"
                "def setNumThreads(n): pass\n"
                "def equalizeHist(image, result):\n"
                "    if image.tolist() != [[1, 2], [3, 4]]: raise error\n"
                "    result[:] = 0\n"
                "def medianBlur(image, side, result): raise error\n")
            script = pathlib.Path(REPORT).with_name("opencv_python.py")
            request = b"".join(words.encode() + b"\n" + bytes([1, 2, 99, 3, 4, 99])
                               for words in ("equalize 2 2 8 3 1000 5", "median 2 2 8 3 9 0 5",
                                             "nothing 2 2 8 3 9 0", "thinning 2 2 8 3 9 0 1"))
            done = subprocess.run([sys.executable, script], input=request, capture_output=True,
                                  env={**os.environ, "PYTHONPATH": folder}, check=True)
        version, first, *others = done.stdout.decode().split()
        self.assertEqual(version, "9.8")
        self.assertGreater(float(first), 0)
        self.assertEqual(others, ["nan"] * 3)


class Stopped(BenchTest):
    def test_keeps_its_rows(self):
        rows = self.folder / "rows.json"
        with subprocess.Popen([BENCH, "--cpu-only", "--no-tables", "--json", rows],
                              stdout=subprocess.PIPE, text=True) as process:
            while not process.stdout.readline().startswith("equalize"):
                self.assertIsNone(process.poll(), "it has no row of equalize")
            process.kill()
        self.assertTrue(json.loads(rows.read_text())["rows"])


if __name__ == "__main__":
    program.main()
