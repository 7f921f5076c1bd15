#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests that need several GPUs, on 1, 2, 4 and so on and on all of the machine.

    gpu_tests.py [--json FILE]

The test programs are looked up in PATH; they are devices_test and pipelines_test of a build, which
needs GStreamer's plugins and ours. --json writes a row for each program and number of GPUs for
cudascan-bench-report. Exit status: 0; 1, a test failed, a program is missing or there is no GPU.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scan"))
from measure_gpus import counts, machine  # noqa: E402

TABLE = "tests of several GPUs"
# A program, its tests, what they are about, and the fewest GPUs with which they say something.
PROGRAMS = [("devices_test", "CudaDevices.*", "frames of one stream on several GPUs", 1),
            ("pipelines_test", "CudaPeers.*", "elements of one pipeline on several GPUs", 2)]


def run(program, tests, about, gpus):
    """A row."""
    row = {"table": TABLE, "name": f"{program} {tests}: {about}", "backend": "cuda", "gpus": gpus}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tests.json"
        env = {**os.environ, "REQUIRE_GPU": "1",
               "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(gpus)))}
        try:
            done = subprocess.run([program, f"--gtest_filter={tests}",
                                   f"--gtest_output=json:{path}"], env=env, check=False)
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            why = f"{program} is not in PATH" if error.filename == program else (
                f"{program} ended with status {done.returncode}")
            return {**row, "error": why}
    cases = [case for suite in found["testsuites"] for case in suite["testsuite"]]
    failed = [case["name"] for case in cases if case.get("failures")]
    skipped = sum(case["result"] == "SKIPPED" for case in cases)
    row.update(tests=len(cases), passed=len(cases) - len(failed) - skipped, skipped=skipped)
    if failed or skipped or not cases or done.returncode:
        row["error"] = (f"failed: {', '.join(failed)}" if failed else
                        f"{skipped} of {len(cases)} tests were skipped" if skipped else
                        "no test ran" if not cases else
                        f"the program ended with status {done.returncode}")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    here = machine()
    if not here.get("gpus"):
        print("gpu_tests.py: nvidia-smi lists no GPU", file=sys.stderr)
        return 1
    rows = []
    for gpus in counts(here["gpus"]):
        for program, tests, about, least in PROGRAMS:
            if gpus < least:
                continue
            rows.append(run(program, tests, about, gpus))
            print(f"{rows[-1]['name']}, GPUs: {gpus}: "
                  f"{rows[-1].get('error') or str(rows[-1]['passed']) + ' passed'}", flush=True)
            if options.json:  # what follows may be stopped
                options.json.write_text(json.dumps({"machine": here, "rows": rows}, indent=1))
    return any("error" in row for row in rows)


if __name__ == "__main__":
    sys.exit(main())
