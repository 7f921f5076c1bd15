# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-pipeline-bench and python_peers.py: measurements are complete and plausible. The only
times that are checked are lower limits by sleeping elements."""
import json
import os
import pathlib
import sys
import tempfile
import unittest

import program

BENCH, PEERS = os.environ["PIPELINE_BENCH"], os.environ["PYTHON_PEERS"]
sys.path.insert(0, str(pathlib.Path(PEERS).resolve().parents[1]))  # examples/
from elements import elements  # noqa: E402


def plugin_is_found():
    return program.run(["gst-inspect-1.0", "cudanick"]).returncode == 0


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def bench(self, *options, status=0, **more):
        """Rows of a run."""
        file = os.path.join(self.folder, "rows.json")
        done = program.run([BENCH, "--backend", "cpu", "--json", file, *options], **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        with open(file, encoding="utf-8") as text:
            self.result = json.load(text)
        self.output = done.stdout
        return self.result["rows"]

    def refused(self, *options):
        done = program.run([BENCH, *options])
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr


class Options(Case):
    def test_bad_ones_are_refused_with_what_would_be_right(self):
        for options, words in ((["--sizes", "5k"], "--sizes 5k: must be 720p, 1080p"),
                               (["--sizes", "0x4"], "--sizes 0: must be a number from 1"),
                               (["--rates", "30,a"], "--rates a: must be a number from 1"),
                               (["--streams", "-1"], "--streams -1: must be a number from 1"),
                               (["--tables", "lives"], "--tables lives: must be of pipelines"),
                               (["--backend", "gpu"], "--backend gpu: must be auto, cuda or cpu"),
                               (["--seconds", "-1"], "must be above 0"),
                               (["--width", "100"], "need --element"),
                               (["--element", "identity", "--chain", "identity"],
                                "use either --element or --chain"),
                               (["--element", "identity", "--format", "GREY"], "--format GREY"),
                               (["--json", "/nowhere/rows.json"], "cannot be written"),
                               (["--fast"], "--fast"), (["fast"], "unknown argument fast")):
            with self.subTest(options):
                self.assertIn(words, self.refused(*options))

    def test_help_tells_of_tables_and_exit_status(self):
        done = program.run([BENCH, "--help"])
        self.assertEqual(done.returncode, 0)
        for word in ("--tables", "streams", "live", "peers", "Exit status"):
            self.assertIn(word, done.stdout)

    def test_a_chain_that_cannot_be_made_is_a_row_with_its_error(self):
        rows = self.bench("--chain", "nosuchelement", "--tables", "pipelines", "--sizes", "64x64",
                          status=1)
        self.assertIn("nosuchelement", rows[0]["error"])
        self.assertNotIn("us", rows[0])
        self.assertIn("Nothing was measured", self.output)


class Pipelines(Case):
    """Tests without our elements: identity replaces them, and its sleep replaces their work."""

    def test_latency_and_time_are_at_least_what_the_chain_sleeps(self):
        row, = self.bench("--chain", "identity sleep-time=5000", "--tables", "pipelines", "--sizes",
                          "64x48", "--seconds", "0.2")
        self.assertEqual((row["table"], row["where"], row["width"], row["height"]),
                         ("pipelines", "system", 64, 48))
        self.assertGreaterEqual(row["us"], 5000)
        self.assertGreaterEqual(row["latency_us"]["p50"], 5000)
        self.assertLessEqual(row["fps"], 200)
        latency = row["latency_us"]
        self.assertEqual(sorted(latency.values()),
                         [latency[p] for p in ("p50", "p95", "p99", "max")])

    def test_latency_adds_up_along_the_chain(self):
        row, = self.bench("--chain", "identity sleep-time=3000 ! identity sleep-time=4000",
                          "--tables", "pipelines", "--sizes", "64x48", "--seconds", "0.2")
        self.assertGreaterEqual(row["latency_us"]["p50"], 7000)

    def test_frames_are_dropped_where_the_chain_is_too_slow(self):
        rows = self.bench("--chain", "identity sleep-time=10000", "--tables", "live", "--sizes",
                          "64x48", "--rates", "25,240", "--seconds", "0.4")
        slow, fast = rows
        self.assertEqual([slow["fps_in"], fast["fps_in"]], [25, 240])
        self.assertEqual(fast["frames"], 288)
        self.assertLess(slow["dropped"], 0.5 * slow["frames"])
        # No more than 100 of 240 frames a second come through; a busy machine lets fewer through.
        self.assertGreater(fast["dropped"], 0.5 * fast["frames"])
        self.assertLess(fast["dropped"], fast["frames"])
        self.assertGreaterEqual(fast["latency_us"]["p50"], 10000)

    def test_a_camera_has_what_the_chain_adds(self):
        bare, slow = self.bench("--chain", "identity sleep-time=5000", "--tables", "camera",
                                "--sizes", "64x48", "--rates", "50", "--seconds", "0.1")
        self.assertEqual([(row["table"], row["fps_in"], row["frames"]) for row in (bare, slow)],
                         [("camera", 50, 50)] * 2)
        self.assertEqual(slow["threads"], min(4, len(os.sched_getaffinity(0))))
        self.assertNotIn("added_us", bare)
        for percent in ("p50", "p99"):
            self.assertAlmostEqual(slow["added_us"][percent], delta=0.1, second=(
                slow["latency_us"][percent] - bare["latency_us"][percent]))
            for times in ("latency_us", "sensor_us"):
                self.assertGreaterEqual(slow[times][percent], 5000)
        # The source does not push a frame before its timestamp.
        self.assertGreaterEqual(bare["sensor_us"]["p50"], 0)

    def test_a_camera_of_the_usual_elements(self):
        if not plugin_is_found():
            self.skipTest("the plugin is not found")
        rows = self.bench("--tables", "camera", "--sizes", "64x48", "--seconds", "0.02")
        names = [[part.split()[0] for part in row["name"].split(" ! ")] for row in rows]
        self.assertEqual(names[0], ["identity"])
        self.assertEqual([len(name) for name in names], [1, 1, 1, 1, 3])
        self.assertEqual(names[4], [name for one in names[1:4] for name in one])
        for row in rows:
            self.assertNotIn("error", row)
            self.assertEqual((row["fps_in"], row["backend"]), (60, "cpu"))

    def test_streams_run_at_once(self):
        one, four = self.bench("--chain", "identity sleep-time=20000", "--tables", "streams",
                               "--sizes", "64x48", "--streams", "1,4", "--seconds", "0.3")
        self.assertEqual([one["streams"], four["streams"]], [1, 4])
        self.assertGreater(four["fps"], 1.5 * one["fps"])  # they sleep at the same time
        self.assertGreaterEqual(four["latency_us"]["p50"], 20000)

    def test_several_gpus_are_needed_for_their_table(self):
        self.assertEqual(self.bench("--tables", "gpus", status=1), [])
        self.assertIn("no table of several GPUs", self.output)

    def test_machine_is_described(self):
        self.bench("--chain", "identity", "--tables", "pipelines", "--sizes", "16x16", "--seconds",
                   "0.05")
        machine = self.result["machine"]
        self.assertEqual(machine["cores"], len(os.sched_getaffinity(0)))
        self.assertIn("GStreamer", machine["gstreamer"])
        self.assertIn("gpu", machine)
        self.assertRegex(machine["date"], r"^\d{4}-\d\d-\d\d$")


class Elements(Case):
    def setUp(self):
        super().setUp()
        if not plugin_is_found():
            self.skipTest("the plugin is not found")

    def test_every_element_and_chain_has_its_rows(self):
        rows = self.bench("--tables", "pipelines", "--sizes", "96x64", "--seconds", "0.02")
        names = []
        for row in rows:
            self.assertNotIn("error", row)
            self.assertEqual(row["backend"], "cpu")
            if row["where"] == "system":
                names.append(row["name"])
                self.assertGreater(row["cpu_us_per_frame"], 0)
                self.assertEqual(row["syncs_per_frame"], 0)
                self.assertGreater(row["floor_us"], 0)
                self.assertIn("p99", row["latency_us"])
        singles = [name for name in names if "!" not in name]
        self.assertGreaterEqual(len(singles), 8)
        chains = [[part.split()[0] for part in name.split(" ! ")] for name in names]
        self.assertEqual([len(chain) for chain in chains],
                         [1] * len(singles) + [2, 3, 4, len(elements())])
        self.assertEqual(sorted(chains[-1]), sorted(elements()), "the longest chain has them all")
        for element in elements():
            self.assertTrue(any(name.split()[0] == element for name in singles), element)
        self.assertEqual(sum(row["where"] == "kernel" for row in rows), len(names))

    def test_the_sum_of_kernels_is_that_of_the_elements(self):
        rows = self.bench("--tables", "pipelines", "--sizes", "96x64", "--seconds", "0.02",
                          "--filter", "cudaequalize")
        kernels = {row["name"]: row["us"] for row in rows if row["where"] == "kernel"}
        chain = "cudaequalize ! cudanick"
        self.assertGreater(kernels[chain], kernels["cudaequalize"])
        self.assertNotIn("cudanick", kernels)

    def peers(self, **more):
        """Rows of other elements, and those of ours."""
        if program.run(["gst-inspect-1.0", "cvequalizehist"]).returncode != 0:
            self.skipTest("gstreamer1.0-opencv is not installed")
        rows = self.bench("--tables", "peers", "--sizes", "96x64", "--seconds", "0.02", **more)
        self.assertEqual([row["peer"] for row in rows], [True, False] * 4)
        return rows[::2], rows[1::2]

    def test_peers_do_the_same_in_the_same_pipelines(self):
        for theirs, ours in zip(*self.peers()):
            self.assertNotIn("error", theirs)
            self.assertNotIn("error", ours)
            self.assertNotIn("peer_us", theirs)
            self.assertEqual(ours["peer_us"], theirs["us"])
            self.assertGreater(theirs["cpu_us_per_frame"], 0)

    def test_a_peer_that_crashes_is_a_row_with_its_error(self):
        theirs, ours = self.peers(status=1, env={"LD_PRELOAD": os.environ["CRASHING_PEER"]})
        self.assertEqual(theirs[0]["element"], "cvequalizehist")
        self.assertEqual(theirs[0]["error"],
                         "its process ended by signal 11, Segmentation fault, 3 times")
        self.assertIn("not measured: its process ended by signal 11", self.output)
        self.assertNotIn("peer_us", ours[0])
        for row in [*theirs[1:], *ours]:
            self.assertNotIn("error", row)

    def test_one_element_beside_every_kind_of_memory(self):
        done = program.run([BENCH, "--quick", "--element", "cudanick", "--width", "64", "--height",
                            "48", "--seconds", "0.02"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("pageable source", done.stdout)
        self.assertIn("kernel-mean", done.stdout)


# Replaces the GPU: just enough of CuPy and cuCIM to be called.
FAKES = {
    "cupy/__init__.py": """
from types import SimpleNamespace as N
__version__ = "1.2"
float32 = uint8 = None
class Array:
    shape = (2, 2)
    def any(self, *a, **k): return Array()
    __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = any
    __mod__ = __lt__ = __gt__ = __and__ = astype = reshape = any
def make(*a, **k): return Array()
arange = clip = ones = full = zeros = empty_like = make
random = N(RandomState=lambda seed: N(normal=make))
class Device:
    def synchronize(self): pass
cuda = N(Device=Device, runtime=N(getDeviceProperties=lambda i: {"name": b"Fake"},
                                  runtimeGetVersion=lambda: 13010))
""",
    "cupyx/__init__.py": "", "cupyx/scipy/__init__.py": "",
    "cupyx/scipy/ndimage.py": """
def median_filter(*a, **k): pass
def grey_opening(*a, **k): raise ValueError("no such opening")
""",
}


class PythonPeers(Case):
    def peers(self, *options):
        file = os.path.join(self.folder, "rows.json")
        done = program.run([sys.executable, PEERS, "--json", file, "--seconds", "0.001", *options],
                           env={"PYTHONPATH": self.folder})
        with open(file, encoding="utf-8") as text:
            return done, json.load(text)

    def write(self, fakes):
        for name, text in fakes.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def test_what_is_not_installed_is_named(self):
        self.write({"cupy/__init__.py": "raise ModuleNotFoundError(name='cupy')"})
        done, result = self.peers()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CuPy: not installed", done.stdout)
        self.assertEqual(result["rows"], [])

    def test_rows_are_as_those_of_the_bench(self):
        self.write(FAKES)
        done, result = self.peers("--sizes", "720p")
        self.assertEqual(result["machine"]["gpu"], "Fake")
        self.assertEqual(result["machine"]["cuda"], "13.1")
        median, opening = result["rows"]
        self.assertEqual((median["table"], median["where"], median["peer"], median["library"]),
                         ("peers", "kernel", True, "CuPy 1.2"))
        self.assertGreater(median["us"], 0)
        self.assertEqual(opening["error"], "no such opening")
        self.assertEqual(done.returncode, 1)

    def test_bad_options_are_refused(self):
        done = program.run([sys.executable, PEERS, "--sizes", "5k"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--sizes 5k: must be of", done.stderr)


program.main()
