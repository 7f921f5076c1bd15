# SPDX-License-Identifier: LGPL-2.1-or-later
"""What runs and packs the measurements of several GPUs: gpu_tests.py and pack_run.py.

Environment: CUDASCAN_BENCH_REPORT is report.py.
"""
import json
import os
import pathlib
import shutil
import sys
import tarfile

import program
from bench_program import PageTest

BENCH = pathlib.Path(os.environ["CUDASCAN_BENCH_REPORT"]).resolve().parent
sys.path.insert(0, str(BENCH))


class GpuTests(PageTest):
    """gpu_tests.py, with stand-ins for the test programs and two GPUs."""

    def run_with(self, result, status=0):
        """The rows. @param result  of the only case, as GoogleTest writes it"""
        cases = {"testsuites": [{"testsuite": [{"name": "Some", **result}]}]}
        self.write("cases.json", cases)
        for name, command in (("nvidia-smi", "printf 'GPU, 1\\nGPU, 1\\n'"),
                              ("devices_test", f"cp '{self.folder}/cases.json' \"${{2#*json:}}\"; "
                               f"echo $CUDA_VISIBLE_DEVICES >>'{self.folder}/used'; exit {status}"),
                              ("pipelines_test", "exit 3")):
            self.write(name, f"#!/bin/sh\n{command}\n").chmod(0o755)
        rows = self.folder / "rows.json"
        done = program.run([sys.executable, BENCH / "gpu_tests.py", "--json", rows],
                           env={"PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertEqual(done.returncode, 1, "pipelines_test writes nothing")
        return json.loads(rows.read_text())["rows"]

    def test_rows(self):
        one, two, broken = self.run_with({"result": "COMPLETED"})
        self.assertEqual((self.folder / "used").read_text(), "0\n0,1\n")
        self.assertEqual([one["gpus"], two["gpus"], broken["gpus"]], [1, 2, 2])
        self.assertEqual((one["tests"], one["passed"], one.get("error")), (1, 1, None))
        self.assertEqual(broken["error"], "pipelines_test ended with status 3")
        self.page("--pipelines", self.folder / "rows.json")
        for result, status, error in (
                ({"result": "COMPLETED", "failures": [{}]}, 1, "failed: Some"),
                ({"result": "SKIPPED"}, 0, "1 of 1 tests were skipped"),
                ({"result": "COMPLETED"}, 134, "the program ended with status 134")):
            self.assertEqual(self.run_with(result, status)[0]["error"], error)


class Packing(PageTest):
    """pack_run.py, with stand-ins for the programs and the bundler."""

    def setUp(self):
        super().setUp()
        import pack_run
        for name in pack_run.PROGRAMS:
            path = self.folder / "build" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy("/bin/true", path)
        self.write("bundler", '#!/bin/sh\nmkdir -p "$1/bin" "$1/lib" "$1/plugins"\ncp "$2" '
                   '"$1/bin"\necho >"$1/env.sh"\n').chmod(0o755)
        (self.folder / "scans").mkdir()
        self.write("scans/0.jpg", "picture")

    def pack(self, **more):
        return program.run([sys.executable, BENCH / "pack_run.py", "--build", "build", "--bundler",
                            "bundler", "--scans", "scans", ".run/several.tar.xz"],
                           cwd=self.folder, **more)

    def test_the_archive_and_its_command(self):
        done = self.pack()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(len(done.stdout), 2000)
        with tarfile.open(self.folder / ".run/several.tar.xz") as archive:
            names = archive.getnames()
            self.assertEqual({(m.uname, m.uid) for m in archive}, {("", 0)})
            archive.extractall(self.folder / "there")
        for name in ("bundle/bin/cudascan-bench", "bundle/env.sh", "scans/0.jpg",
                     "examples/bench/whole_run.py", "examples/bench/gpu_tests.py",
                     "examples/scan/measure_gpus.py"):
            self.assertIn(name, names)
        # What was packed suffices for its scripts.
        for script in ("bench/whole_run.py", "bench/gpu_tests.py", "scan/measure_gpus.py"):
            done = program.run([sys.executable, self.folder / "there/examples" / script, "--help"])
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(".run/several.tar.xz", self.pack().stdout)

    def test_what_is_missing(self):
        (self.folder / "build/tests/kernels/devices_test").unlink()
        done = self.pack()
        self.assertEqual(done.returncode, 1)
        self.assertIn("not built: build/tests/kernels/devices_test; run ninja -C build",
                      done.stderr)
        (self.folder / "bundler").unlink()
        done = self.pack()
        self.assertEqual(done.returncode, 2)
        self.assertIn("--bundler bundler: does not exist", done.stderr)


if __name__ == "__main__":
    program.main()
