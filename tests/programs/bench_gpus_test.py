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
        import whole_run
        self.parts = list(whole_run.PARTS)
        for name in pack_run.of_parts(pack_run.PROGRAMS, self.parts, pack_run.BENCH):
            path = self.folder / "build" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy("/bin/true", path)
        self.write("bundler", '#!/bin/sh\nd=$1; shift\nmkdir -p "$d/bin" "$d/lib" "$d/plugins"\n'
                   'cp "$@" "$d/bin"\necho >"$d/env.sh"\n').chmod(0o755)
        for folder, name in (("scans", "0.jpg"), ("gswo", "mean.cpp"), ("wheels", "some.whl")):
            (self.folder / folder).mkdir()
            self.write(f"{folder}/{name}", "content")

    def pack(self, *parts, words=("--scans", "scans", "--gswo", "gswo"), **more):
        return program.run([sys.executable, BENCH / "pack_run.py", "--build", "build", "--bundler",
                            "bundler", *words, ".run/parts.tar.xz", *parts],
                           cwd=self.folder, **more)

    def packed(self, *parts, **more):
        """The command and the names in the archive, which lie in the folder `there`."""
        done = self.pack(*parts, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(len(done.stdout), 2000)
        shutil.rmtree(self.folder / "there", ignore_errors=True)
        with tarfile.open(self.folder / ".run/parts.tar.xz") as archive:
            self.assertEqual({(m.uname, m.uid) for m in archive}, {("", 0)})
            archive.extractall(self.folder / "there")
            return done.stdout, archive.getnames()

    def test_several_gpus(self):
        command, names = self.packed("several-gpus")
        for name in ("bundle/bin/cudascan-bench", "bundle/bin/devices_test", "bundle/env.sh",
                     "scans/0.jpg", "examples/bench/whole_run.py", "examples/bench/gpu_tests.py",
                     "examples/scan/measure_gpus.py"):
            self.assertIn(name, names)
        self.assertIn(".run/parts.tar.xz", command)
        self.assertIn('--scans $d/scans "$OUT" several-gpus', command)

    def test_what_was_packed_suffices_for_its_scripts(self):
        _, names = self.packed(*self.parts)
        scripts = [name for name in names if name.startswith("examples/") and
                   name.endswith(".py") and "/figures/" not in name]
        self.assertEqual(len(scripts), 5)
        for script in scripts:
            done = program.run([sys.executable, self.folder / "there" / script, "--help"])
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_only_what_the_parts_need_is_packed(self):
        command, names = self.packed("operators", "cpu", words=())
        self.assertEqual({name for name in names if "/bin/" in name or "examples" in name},
                         {"bundle/bin/cudascan-bench", "bundle/bin/libcudascan.so.0",
                          "examples/bench/whole_run.py"})
        self.assertIn('whole_run.py "$OUT" operators cpu', command)
        command, names = self.packed("gswo", words=("--gswo", "gswo"))
        self.assertIn("gswo/mean.cpp", names)
        self.assertIn('--gswo $d/gswo "$OUT" gswo', command)
        _, names = self.packed("python", words=("--wheels", "wheels"))
        self.assertIn("wheels/some.whl", names)
        self.assertIn("examples/bench/python_peers.py", names)

    def test_the_latency_tracer_is_packed_for_pipelines(self):
        plugins = self.folder / "plugins"
        plugins.mkdir()
        (self.folder / "tools").mkdir()
        shutil.copy("/bin/true", plugins / "libgstcoretracers.so")
        self.write("tools/pkg-config", f"#!/bin/sh\necho {plugins}\n").chmod(0o755)
        path = {"PATH": f"{self.folder}/tools:{os.environ['PATH']}"}
        for part, is_there in (("pipelines", True), ("operators", False)):
            _, names = self.packed(part, env=path)
            self.assertEqual("bundle/bin/libgstcoretracers.so" in names, is_there)

    def test_the_command(self):
        """Where the machine has neither GPU nor nvJPEG nor programs: each step says so."""
        command, _ = self.packed("pipelines", "scan")
        out = self.folder / "out"
        out.mkdir()
        command = command.replace("/tmp/whole-run", str(self.folder / "unpacked"))
        done = program.run(["bash", "-c", command], cwd=self.folder,
                           env={"OUT": str(out), "PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({path.name for path in out.iterdir()},
                         {"run-pipelines.tar.xz", "run-scan.tar.xz"})
        self.assertIn("streams: not measured: cudascan-pipeline-bench is not in PATH",
                      done.stdout)

    def test_what_is_missing(self):
        (self.folder / "build/tests/kernels/devices_test").unlink()
        for parts, words, status, complaint in (
                (["several-gpus"], [], 1, "not built: build/tests/kernels/devices_test; run ninja"),
                (["gswo"], [], 1, "part gswo needs --gswo, a folder that gswo_figures.py"),
                (["gswo"], ["--gswo", "none"], 2, "--gswo none: does not exist"),
                (["some"], [], 2, "invalid choice: 'some'"),
                ([], [], 2, "PART")):
            done = self.pack(*parts, words=words)
            self.assertEqual(done.returncode, status)
            self.assertIn(complaint, done.stderr)
        (self.folder / "bundler").unlink()
        self.assertIn("--bundler bundler: does not exist", self.pack("scan").stderr)


if __name__ == "__main__":
    program.main()
