# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan: several GPUs share the pages. The program is linked with the emulated GPUs, of
which there are three; CUDASCAN_EMULATED_FAILURES makes them fail. CUDASCAN_SCAN is the usual
program."""
import json
import os
import pathlib
import sys
import shutil

import program
import scanners
import scans

EMULATED = os.environ["CUDASCAN_SCAN_EMULATED"]
MEASURE = pathlib.Path(__file__).resolve().parents[3] / "examples/scan/measure_gpus.py"
COUNT = 6
# Pages of few pixels: an emulated GPU is slow.
USUAL = ["--method=otsu", "--enlarge=no", "--resolution=100", "--despeckle=2"]
# Launches of a page: to measure it, to turn it, for the threshold, to despeckle and to compress it.
LEAST, MOST = 22, 24


class Gpus(scans.Case):
    def setUp(self):
        super().setUp()
        for number in range(COUNT):
            page = scans.text_page(420 + 10 * number, 560, seed=number)
            self.save(scans.turned(page, 2), f"in/{number}.png", dpi=(100, 100))

    def gpus(self, *words, status=0, fail=""):
        """Runs the program on the emulated GPUs. @return what it said, and its statistics"""
        stats = self.folder / "stats.json"
        stats.unlink(missing_ok=True)
        env = {"CUDASCAN_EMULATED_FAILURES": fail} if fail else {}
        result = program.run([EMULATED, *USUAL, "--verbose", "--stats", stats, *words],
                             cwd=self.folder, env=env)
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, status, said)
        return said, json.loads(stats.read_text()) if stats.exists() else None

    def usual(self):
        """The pages that the CPU makes."""
        out = self.folder / "usual"
        self.scan("in", "-o", out, *USUAL)
        return self.contents(out)

    def shares(self, stats):
        """How many pages each device made: by the totals and by the list of pages."""
        totals = {device["device"]: device["pages"] for device in stats["devices"]}
        for device, pages in totals.items():
            of_list = sum(page["device"] == device for page in stats["page_list"])
            self.assertEqual(of_list, pages, device)
        return totals

    def check_all(self, stats, out=None):
        self.assertEqual(self.contents(out), self.usual())
        self.assertEqual((stats["pages"], stats["failed"]), (COUNT, 0))
        self.assertEqual(sum(self.shares(stats).values()), COUNT)

    def test_any_number_of_gpus_makes_the_same_files(self):
        usual = self.usual()
        journals = []
        listed_before = None
        for gpus, expected in (("0", {0}), ("1", {1}), ("0,2", {0, 2}), ("all", {0, 1, 2})):
            out = self.folder / gpus.replace(",", "-")
            said, stats = self.gpus("in", "-o", out, "--cuda-device=" + gpus, "--jobs=3")
            self.assertEqual(self.contents(out), usual)
            self.assertEqual(stats["backend"], "cuda")
            shares = self.shares(stats)
            self.assertEqual(set(shares), expected)
            self.assertEqual(sum(shares.values()), COUNT)
            for device, pages in shares.items():
                self.assertIn(f"GPU {device}: {pages} pages, busy", said)
            journals.append(sorted((out / scans.JOURNAL).read_text().splitlines()))
            self.assertNotIn("device", journals[-1][0])
            listed = [{key: value for key, value in page.items()
                       if key not in ("device", "output") and not key.endswith("_ms")}
                      for page in sorted(stats["page_list"], key=lambda page: page["input"])]
            self.assertTrue(all(page["turned"] for page in listed))
            listed_before = listed_before or listed
            self.assertEqual(listed, listed_before)
        self.assertTrue(all(journal == journals[0] for journal in journals))

    def test_gpus_measure_as_the_cpu_does(self):
        """Borders, even light, ink and content, in 8, 16 and 1 bit: the same files and numbers."""
        page = scans.turned(scans.text_page(430, 577), 1)
        framed = scans.Image.new("L", (480, 640), 12)
        framed.paste(page.point(lambda level: level * 200 // 255), (31, 40))
        deep = scans.np.array(framed).astype(scans.np.uint16) * 257 - 5
        pages = {"framed": framed, "deep": scans.Image.fromarray(deep.clip(0, 65535)),
                 "bilevel": framed.point(lambda level: 255 * (level > 99)).convert("1"),
                 "white": scans.Image.new("L", (333, 301), 255),
                 "black": scans.Image.new("L", (333, 301), 0), "small": page.crop((0, 0, 90, 71))}
        for name, page in pages.items():
            self.save(page, f"measured/{name}.png", dpi=(100, 100))
        for words in (["--method=nick"], ["--crop=content", "--blank=aside"],
                      ["--crop=page", "--borders=keep", "--method=nick", "--no-straighten"]):
            shutil.rmtree(self.out, ignore_errors=True)
            found = []
            for run in (self.measured, lambda *more: self.gpus(*more)[1]):
                folder = self.out / str(len(found))
                listed = run("measured", "-o", folder, *USUAL, *words)["page_list"]
                found.append([{key: value for key, value in page.items()
                               if key not in ("device", "output") and not key.endswith("_ms")}
                              for page in sorted(listed, key=lambda page: page["input"])])
            self.assertEqual(*found)
            self.assertEqual(len(found[0]), len(pages))
            if "--borders=keep" not in words:
                self.assertTrue(all(page["border"] > 0.1 for page in found[0]
                                    if "framed" in page["input"] or "deep" in page["input"]))
            folders = [{path.relative_to(self.out / name): path.read_bytes()
                        for path in (self.out / name).rglob("*.tif")} for name in "01"]
            self.assertEqual(*folders)
            self.assertEqual(len(folders[0]), len(pages))

    def test_the_first_gpu_is_the_default(self):
        _, stats = self.gpus("in", "-o", self.out)
        self.assertEqual(self.shares(stats), {0: COUNT})
        cores = len(os.sched_getaffinity(0))
        self.assertEqual(stats["jobs"], cores + cores // 2)

    def test_the_time_in_which_gpus_have_work(self):
        said, stats = self.gpus("in", "-o", self.out, "--cuda-device=0,2", "--jobs=3")
        shares = {device["device"]: device["gpu_busy"] for device in stats["devices"]}
        self.assertEqual(set(shares), {0, 2})
        for share in shares.values():
            self.assertGreater(share, 0)
            self.assertLessEqual(share, 1)
        self.assertAlmostEqual(stats["gpu_busy"], sum(shares.values()) / 2, 2)
        self.assertAlmostEqual(stats["breakdown_ms"]["gpu_busy"] * COUNT,
                               1000 * sum(shares.values()) * stats["seconds"], delta=10)
        self.assertRegex(said, "(?m)^ms of a core for a page: .*, GPU busy [0-9.]+$")

    def test_a_gpu_that_cannot_be_opened_leaves_its_pages_to_the_others(self):
        said, stats = self.gpus("in", "-o", self.out, "--cuda-device=all", "--jobs=4", fail="1:0")
        self.assertRegex(said, "GPU 1 cannot be opened: CUDA: .*; the other GPUs make its pages")
        self.assertEqual(said.count("cannot be opened"), 1)
        self.assertEqual(self.shares(stats)[1], 0)
        self.check_all(stats)

    def test_a_gpu_that_fails_in_the_middle_loses_no_page(self):
        for launch in (1, LEAST // 2, LEAST):
            out = self.folder / f"out{launch}"
            said, stats = self.gpus("in", "-o", out, "--cuda-device=0,1", "--jobs=2",
                                    "--also=gray.png", fail=f"1:{launch}")
            self.assertRegex(said, "GPU 1 has failed: CUDA: .*; the other GPUs make its pages")
            self.assertEqual((stats["pages"], stats["failed"]), (COUNT, 0))
            whole = self.folder / "whole"
            if not whole.exists():
                self.scan("in", "-o", whole, *USUAL, "--also=gray.png")
            self.assertEqual(self.contents(out), self.contents(whole))

    def test_without_a_gpu_left_the_cpu_makes_the_rest(self):
        said, stats = self.gpus("in", "-o", self.out, "--cuda-device=0,2", "--jobs=2",
                                fail=f"0:{LEAST},2:1")
        self.assertIn("; the other GPUs make its pages", said)
        self.assertIn("; the CPU makes the remaining pages", said)
        shares = self.shares(stats)
        self.assertGreater(shares["cpu"], 0)
        self.check_all(stats)

    def test_without_the_cpu_the_run_ends_and_can_be_resumed(self):
        book = self.folder / "book.pdf"
        # A worker begins its second page when its first one is written.
        said, _ = self.gpus("in", "-o", book, "--backend=cuda", "--jobs=2", status=3,
                            fail=f"0:{2 * MOST + 1}")
        self.assertIn("no GPU is left, and --backend=cuda does not use the CPU", said)
        self.assertIn("--resume continues with them", said)
        self.assertNotIn("left out", said)
        self.assertFalse(book.exists())
        self.gpus("in", "-o", book, "--backend=cuda", "--resume", "--cuda-device=2")
        whole = self.folder / "whole" / "book.pdf"
        whole.parent.mkdir()
        self.scan("in", "-o", whole, *USUAL)
        self.assertEqual(book.read_bytes(), whole.read_bytes())

    def test_a_page_without_a_gpu_is_not_forgotten(self):
        """The other worker makes an empty page, with a single launch, and ends as usual."""
        self.save(scans.Image.new("L", (420, 560), 255), "in/empty.png", dpi=(100, 100))
        book = self.folder / "book.pdf"
        said, stats = self.gpus("in/empty.png", "in/0.png", "-o", book, "--backend=cuda",
                                "--jobs=2", status=3, fail=f"0:{LEAST - 2}")
        self.assertEqual((stats["pages"], stats["failed"]), (1, 0), said)
        self.assertFalse(book.exists(), said)

    def test_errors(self):
        def refused(status, *words):
            return self.gpus("in", "-o", self.out, *words, status=status)[0]
        self.assertIn("--cuda-device=7: there is no such device; the devices are 0 to 2",
                      refused(3, "--cuda-device=0,7"))
        for wrong in ("", "x", "0,", "0;1", "-1", "all,1", "0x1"):
            self.assertIn("must be all, a number, or numbers such as 0,2",
                          refused(2, "--cuda-device=" + wrong))
        self.assertIn("names 1 twice", refused(2, "--cuda-device=1,0,1"))
        self.assertIn("--backend=cpu does not use a GPU",
                      refused(2, "--cuda-device=all", "--backend=cpu"))
        for name in ("all", "0", "0,2"):
            self.assertIn("--cuda-device=" + name, refused(2, "--device=" + name))
        self.assertFalse(self.out.exists())

    def test_without_gpus_only_all_of_them_is_the_cpu(self):
        nothing = {"CUDA_VISIBLE_DEVICES": ""}
        run = program.run([scans.SCAN, *USUAL, "in", "-o", self.out, "--cuda-device=0"],
                          cwd=self.folder, env=nothing)
        self.assertEqual(run.returncode, 3)
        self.assertIn("--cuda-device: no CUDA device can be opened", run.stderr)
        run = program.run([scans.SCAN, *USUAL, "in", "-o", self.out, "--cuda-device=all"],
                          cwd=self.folder, env=nothing)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.contents(), self.usual())

    def test_measuring(self):
        """measure_gpus.py writes the rows of the benchmark's page."""
        rows = self.folder / "rows.json"
        done = program.run([sys.executable, MEASURE, "--scans", self.folder / "in", "--pages", 3,
                            "--devices", "0", "all", "cpu", "--jobs", 3, "--program", EMULATED,
                            "--json", rows, "--", *USUAL])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        content = json.loads(rows.read_text())
        self.assertEqual(content["machine"]["cores"], len(os.sched_getaffinity(0)))
        for row, backend, gpus in zip(content["rows"], ("cuda", "cuda", "cpu"), (1, 3, None),
                                      strict=True):
            self.assertEqual((row["table"], row["backend"], row.get("gpus"), row["threads"]),
                             ("scan", backend, gpus, 3))
            self.assertEqual(row["name"], " ".join(["PNG of A4 at 300 dpi to TIFF group 4",
                                                    *USUAL]))
            self.assertGreater(row["pages_per_second"], 0)

    def test_measuring_each_number_of_gpus(self):
        """As many as nvidia-smi lists; --jobs is left to the program."""
        smi = self.folder / "nvidia-smi"
        smi.write_text("#!/bin/sh\nprintf 'Test GPU, 1.2\\n%.0s' 1 2 3\n")
        smi.chmod(0o755)
        rows = self.folder / "rows.json"
        done = program.run([sys.executable, MEASURE, "--scans", self.folder / "in", "--pages", 3,
                            "--devices", "each", "--program", EMULATED, "--json", rows, "--",
                            *USUAL], env={"PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        content = json.loads(rows.read_text())
        self.assertEqual((content["machine"]["gpu"], content["machine"]["gpus"]), ("Test GPU", 3))
        self.assertEqual([row["gpus"] for row in content["rows"]], [1, 2, 3])
        for row in content["rows"]:
            self.assertGreaterEqual(row["threads"], len(os.sched_getaffinity(0)))

    def test_pages_that_no_gpu_decoded_are_no_measurement(self):
        rows = self.folder / "rows.json"
        done = program.run([sys.executable, MEASURE, "--scans", self.folder / "in", "--pages", 1,
                            "--devices", "0", "--program", EMULATED, "--json", rows, "--", *USUAL,
                            "--decode=gpu"])
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(json.loads(rows.read_text())["rows"][0]["error"],
                         "no page was decoded on the GPU")

    def test_measuring_a_gpu_that_is_not_there(self):
        rows = self.folder / "rows.json"
        done = program.run([sys.executable, MEASURE, "--scans", self.folder / "in", "--pages", 1,
                            "--devices", "7", "cpu", "--program", EMULATED, "--json", rows, "--",
                            *USUAL])
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        failed, measured = json.loads(rows.read_text())["rows"]
        self.assertRegex(failed["error"], "--cuda-device=7 ended with status [1-9]")
        self.assertGreater(measured["pages_per_second"], 0)


class Sheets(scanners.Case):
    def test_sheets_of_a_scanner_are_made_although_no_gpu_is_left(self):
        """They cannot be read again."""
        words = ["--scan", "--source=Automatic Document Feeder", "--pages=4", "--no-straighten",
                 "--method=otsu", "--enlarge=no", "--jobs=2"]
        env = {**self.environment, "CUDASCAN_EMULATED_FAILURES": f"0:{LEAST // 2}"}
        run = program.run([EMULATED, *words, "-o", self.out, "--backend=cuda"], cwd=self.folder,
                          env=env)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("; the CPU makes the remaining pages", run.stderr)
        self.scan(*words, "-o", self.folder / "usual")
        self.assertEqual(self.contents(), self.contents(self.folder / "usual"))
        self.assertEqual(len(self.outputs()), 4)


if __name__ == "__main__":
    program.main()
