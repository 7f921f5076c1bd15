# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan --decode: pages of several workers are decoded together. The stand-in for nvJPEG
has three engines, decodes nothing until the test has seen all pages, and writes down the sizes."""
import collections
import os
import shutil
import signal
import subprocess
import time

import decoding
import program
import scans
from decoding import EMULATED, STAND_IN, USUAL

COUNT, ENGINES = 8, 3
# The stand-in decodes no file with this comment.
BAD = b"no nvJPEG"


class Batches(decoding.Case):
    count = COUNT

    def setUp(self):
        super().setUp()
        self.log, self.hold = self.folder / "log", self.folder / "hold"

    def lines(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def start(self, *words, told=""):
        """Begins a run, in which nothing is decoded as long as the file `hold` is there."""
        self.log.unlink(missing_ok=True)
        if "--resume" not in words:
            shutil.rmtree(self.out, ignore_errors=True)
        self.hold.touch()
        env = {**os.environ, "CUDASCAN_NVJPEG": STAND_IN, "NVJPEG_STAND_IN": told,
               "NVJPEG_STAND_IN_LOG": str(self.log), "NVJPEG_STAND_IN_HOLD": str(self.hold)}
        run = subprocess.Popen([EMULATED, *USUAL, "--decode=gpu", "--stats=stats.json", "--verbose",
                                "-o", self.out, "in", *words], cwd=self.folder, env=env, text=True,
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(run.kill)
        return run

    def finish(self, run, waiting=COUNT, status=0):
        """Lets the run decode when so many pages wait. @return what it said, and its statistics"""
        program.wait_until(lambda: self.lines().count("header") >= waiting, "pages that wait")
        time.sleep(0.1)  # from their header to the queue
        self.hold.unlink()
        said = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, status, said)
        return said, self.statistics()

    def batches(self, name="engines"):
        """How many pictures each call decoded, and its status."""
        calls = [line.split() for line in self.lines() if line.startswith(name + " ")]
        return [(int(count), int(status)) for _, count, status in calls]

    def check_all(self, stats, **decoders):
        self.assertEqual((stats["pages"], stats["failed"]), (COUNT, 0))
        self.assertEqual(self.contents(), self.usual("in")[0])
        expected = {name.replace("_", "-"): count for name, count in decoders.items()}
        self.assertEqual(stats["decoders"], expected)

    def test_pages_that_wait_are_decoded_together(self):
        for gpus in (1, 2):
            with self.subTest(gpus=gpus):
                devices = ",".join(map(str, range(gpus)))
                run = self.start("--jobs=8", "--cuda-device=" + devices)
                said, stats = self.finish(run)
                self.check_all(stats, gpu_engines=COUNT)
                batches = self.batches()
                self.assertTrue(all(status == 0 for _, status in batches), batches)
                sizes = [count for count, _ in batches]
                self.assertEqual(sum(sizes), COUNT)
                self.assertLessEqual(max(sizes), ENGINES)
                if gpus == 1:  # at least two pages waited while two batches were at work
                    self.assertGreater(max(sizes), 1)
                made = sorted(line for line in self.lines() if line.startswith("create"))
                self.assertEqual(made, [f"create engines {gpu}" for gpu in range(gpus)])
                self.assertIn("GPU 0: gpu-engines decode JPEG, 3 at a time", said)

    def test_a_page_alone_does_not_wait(self):
        _, stats = self.finish(self.start("--jobs=1"), 1)
        self.check_all(stats, gpu_engines=COUNT)
        self.assertEqual(self.batches(), [(1, 0)] * COUNT)

    def test_many_workers_and_small_pages(self):
        for number in range(40):
            self.save(scans.text_page(90, 90, seed=number), f"many/{number:02}.jpg",
                      dpi=(100, 100), quality=80)
        usual, _ = self.usual("many")
        for by, told in (("gpu", ""), ("gpu", "batches-fail"), ("gpu-kernels", "")):
            for devices in ("0", "all"):
                with self.subTest(by=by, told=told, devices=devices):
                    _, stats = self.decode("many", "--jobs=16", "--cuda-device=" + devices,
                                           told=told, by=by)
                    name = "gpu-engines" if by == "gpu" else by
                    self.assertEqual(stats["decoders"], {name: 40})
                    self.assertEqual(self.contents(), usual)

    def test_a_bad_page_costs_no_other(self):
        path = self.folder / "in/3.jpg"
        data = path.read_bytes()
        comment = b"\xff\xfe" + (2 + len(BAD)).to_bytes(2, "big") + BAD
        path.write_bytes(data[:2] + comment + data[2:])
        said, stats = self.finish(self.start("--jobs=8"))
        self.check_all(stats, gpu_engines=COUNT - 1, cpu=1)
        [page] = [page for page in stats["page_list"] if page["decoder"] == "cpu"]
        self.assertEqual(page["input"], "in/3.jpg")
        self.assertEqual(page["not_on_gpu"], "gpu-engines: nvjpegDecodeBatched: bad JPEG (3); "
                         "gpu-kernels: nvjpegDecodeBatched: bad JPEG (3)")
        good = sum(count for count, status in self.batches() if status == 0)
        self.assertEqual(good, COUNT - 1)
        self.assertIn((1, 3), self.batches())

    def test_batches_that_fail_are_decoded_page_by_page(self):
        said, stats = self.finish(self.start("--jobs=8", told="batches-fail"))
        self.check_all(stats, gpu_engines=COUNT)
        self.assertRegex(said, r"gpu-engines: a batch of [23]: nvjpegDecodeBatched: execution "
                         r"failed \(6\)")
        counts = collections.Counter(self.batches())
        self.assertEqual(counts[1, 0], COUNT)
        self.assertTrue(counts[2, 6] + counts[3, 6] > 0, counts)

    def test_a_gpu_that_fails_in_a_batch_loses_no_page(self):
        for devices in ("0,1", "1"):
            with self.subTest(devices=devices):
                run = self.start("--jobs=8", "--cuda-device=" + devices, told="gpu-1-fails")
                said, stats = self.finish(run)
                self.assertIn("GPU 1 has failed: CUDA: ", said)
                self.assertEqual((stats["pages"], stats["failed"]), (COUNT, 0))
                self.assertEqual(self.contents(), self.usual("in")[0])
                by_gpu = stats["decoders"].get("gpu-engines", 0)
                self.assertEqual(by_gpu > 0, devices == "0,1")

    def test_a_signal_while_pages_wait(self):
        """They are finished, and no other is begun."""
        run = self.start("--jobs=3")
        program.wait_until(lambda: self.lines().count("header") == 3, "pages that wait")
        run.send_signal(signal.SIGINT)
        _, stats = self.finish(run, 3, status=128 + signal.SIGINT)
        self.assertTrue(stats["interrupted"])
        self.assertEqual((stats["pages"], stats["failed"]), (3, 0))
        _, stats = self.finish(self.start("--jobs=3", "--resume"), 3)
        self.assertEqual((stats["pages"], stats["skipped"]), (COUNT - 3, 3))
        self.assertEqual(self.contents(), self.usual("in")[0])


if __name__ == "__main__":
    program.main()
