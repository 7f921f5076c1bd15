# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part several-gpus of whole_run.py, from its programs to the page, on three emulated GPUs.

Environment: the programs linked with the emulated GPUs, EMULATED_BENCH, EMULATED_PIPELINE_BENCH,
EMULATED_SCAN, EMULATED_DEVICES_TEST and EMULATED_PIPELINES_TEST; EMULATED_PLUGINS, the folder of
their plugin and driver; NVJPEG_STAND_INS; CUDASCAN_BENCH_REPORT is report.py.
"""
import contextlib
import io
import json
import os
import pathlib
import sys
import tarfile

import program
from bench_program import PageTest

BENCH = pathlib.Path(os.environ["CUDASCAN_BENCH_REPORT"]).resolve().parent
sys.path[:0] = [str(BENCH), str(pathlib.Path(__file__).resolve().parent / "scan")]
import scans  # noqa: E402
import whole_run  # noqa: E402
# As whole_run.py calls a program, and what makes it fast enough on emulated GPUs.
PROGRAMS = {"cudascan-bench": '"$EMULATED_BENCH" --quick "$@"',
            "cudascan-pipeline-bench": '"$EMULATED_PIPELINE_BENCH" "$@" --seconds 0.02 --sizes '
                                       "64x48 --chain 'cudaequalize ! cudanick ! cudanick'",
            "cudascan-scan": '"$EMULATED_SCAN" --method=otsu --enlarge=no --resolution=100 '
                             '--despeckle=2 "$@"',
            "devices_test": '"$EMULATED_DEVICES_TEST" "$@"',
            "pipelines_test": '"$EMULATED_PIPELINES_TEST" "$@"',
            "nvidia-smi": "printf 'Emulated GPU, 1.2\\n%.0s' 1 2 3"}
# The limits of the steps are those of a fast machine.
RUN = """import sys
sys.path.insert(0, sys.argv.pop(1))
import whole_run
whole_run.PARTS["several-gpus"] = [(name, 600, words)
                                   for name, _, words in whole_run.PARTS["several-gpus"]]
sys.exit(whole_run.main())
"""


class SeveralGpus(PageTest):
    def setUp(self):
        super().setUp()
        (self.folder / "scans").mkdir()
        for i in range(2):
            scans.text_page(420 + 10 * i, 560, seed=i).convert("L").save(
                self.folder / f"scans/{i}.jpg", dpi=(100, 100))
        (self.folder / "bin").mkdir()
        for name, command in PROGRAMS.items():
            script = self.write(f"bin/{name}", f"#!/bin/sh\n{command}\n")
            script.chmod(0o755)
        plugins = os.environ["EMULATED_PLUGINS"]
        self.env = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                    "GST_PLUGIN_PATH_1_0": plugins,
                    "GST_REGISTRY": str(self.folder / "registry.bin"),
                    "LD_LIBRARY_PATH": f"{plugins}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                    "CUDASCAN_NVJPEG": os.environ["NVJPEG_STAND_INS"].split(":")[0]}
        # The test programs run all of their cases in every share of the cases.
        for name in ("GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"):
            os.environ.pop(name, None)

    def test_all_of_it(self):
        run = self.folder / "run"
        done = program.run([sys.executable, self.write("run.py", RUN), BENCH, run, "several-gpus",
                            "--scans", self.folder / "scans", "--pages", 1], env=self.env,
                           timeout=850)
        with tarfile.open(run / "run-several-gpus.tar.xz") as archive:
            found = {member.name: archive.extractfile(member).read() for member in archive}
            log = found.pop("several-gpus.log").decode()
        self.assertNotRegex(done.stdout, "stopped|no results|not measured", log)
        self.assertEqual(set(found), {f"{name}.json" for name, _, _ in
                                      whole_run.PARTS["several-gpus"]})
        rows = [row for text in found.values() for row in json.loads(text)["rows"]]
        # On a busy machine the tracer may see no frame of the shortest time.
        self.assertEqual([row["error"] for row in rows if "error" in row and
                          row["error"] != "latency: the tracer reported no latency"], [], log)
        counts = {}
        for row in rows:
            gpus = row["value"] if row.get("parameter") == "GPUs" else row.get("gpus")
            counts.setdefault(row["table"], set()).add(gpus)
        for table, expected in (("tests of several GPUs", {1, 2, 3}), ("gpus", {1, 2, 3, None}),
                                ("links between host and GPUs", {1, 2, 3, None}),
                                ("paper 000 several GPUs", {1, 2, 3}),
                                ("paper 003 several GPUs", {1, 2, 3}), ("scan", {1, 2, 3})):
            self.assertEqual(counts[table], expected, table)
        for text in found.values():
            self.assertEqual(json.loads(text)["machine"]["gpus"], 3)
        self.check_copies([row for row in rows if row["table"] == "gpus" and "gpus" not in row])
        self.check_page(run)

    def check_copies(self, chains):
        """The four ways to spread a chain, and whether its frames go to another GPU."""
        self.assertEqual([row["peer_copies_per_frame"] > 0 for row in chains],
                         [False, True, True, False])

    def check_page(self, run):
        """Every row is there."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            whole_run.join(run, self.folder / "all.tar.xz")
        page, _ = self.page("--archive", self.folder / "all.tar.xz")
        text = " ".join(page.texts)
        for words in ("Pipelines on each GPU: all GPUs together", "halves on two GPUs",
                      "Thresholds of Prahara et al.", "NICK's kernels of Najafi et al.",
                      "cudascan-scan: pages shared out", "--decode=gpu", "GPU 2 to GPU 1",
                      "host to 3 GPUs at once", "CudaPeers.*"):
            self.assertIn(words, text)


if __name__ == "__main__":
    program.main()
