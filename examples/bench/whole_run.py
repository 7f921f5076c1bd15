#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures everything that the pages of cudascan-bench-report show, in parts of some minutes, also
on a machine that has neither a network nor the packages of GStreamer.

    whole_run.py FOLDER PART...        writes FOLDER/run-PART.tar.xz for each part
    whole_run.py --list                the parts, and the most seconds that each takes
    whole_run.py --join FOLDER FILE    joins FOLDER/run-*.tar.xz to one archive for
                                       cudascan-bench-report --archive FILE; what FILE has of
                                       steps that FOLDER has not stays

cudascan-bench, cudascan-pipeline-bench and cudascan-scan are looked up in PATH. Part gswo needs
--gswo, a folder that `gswo_figures.py --prepare FOLDER --figures all` made, and nvcc; parts scan
and several-gpus need --scans, a folder that `measure_gpus.py --make` made. Part several-gpus
measures with 1, 2, 4 and so on and with all GPUs of the machine, and needs the test programs of
gpu_tests.py. pack_run.py packs what parts need for a machine that has nothing.

Each step has a limit; what it wrote before that is kept. While a part runs, its results lie in
FOLDER/PART; if all of this is stopped, they stay there, and --join finds them.

Exit status: 0; 1, a step was stopped or failed, or something that it needs is missing: its line
says so; 2, wrong options.
"""
import argparse
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent
# Words of a command that stand for others.
BENCH, PIPELINES = ["cudascan-bench"], ["cudascan-pipeline-bench", "--tables"]
PAPER = [*BENCH, "--patience", "2", "--paper"]
TABLES = [*BENCH, "--tables-only", "--filter"]
GSWO = [sys.executable, EXAMPLES / "gswo_figures.py", "--run", "{gswo}", "--seconds", "0.3"]
SCAN = [sys.executable, EXAMPLES / "scan/measure_gpus.py", "--scans", "{scans}", "--pages"]
# For each part: the name of a step's file, its limit in seconds, its command without --json.
PARTS = {
    "operators": [("gpu", 150, [*BENCH, "--cuda-only", "--no-tables"]),
                  ("random", 80, [*BENCH, "--cuda-only", "--random", "60"])],
    "sweeps": [("sweeps", 340, [*BENCH, "--cuda-only", "--tables-only", "--filter", "against"])],
    "cpu": [("cpu", 220, [*BENCH, "--cpu-only", "--no-tables"])],
    "papers": [(f"paper-{number}", limit, [*PAPER, number]) for number, limit in (
        ("000", 80), ("001", 30), ("002", 150), ("003", 30), ("004", 60))],
    "gswo": [("gswo", 340, GSWO), ("loops", 60, [*GSWO, "--figures", "loops"])],
    "pipelines": [("pipelines", 150, [*PIPELINES, "pipelines", "--seconds", "0.15"]),
                  ("streams", 30, [*PIPELINES, "streams"]), ("live", 40, [*PIPELINES, "live"]),
                  ("camera", 40, [*PIPELINES, "camera"]), ("peers", 20, [*PIPELINES, "peers"])],
    "python": [("python", 60, [sys.executable, HERE / "python_peers.py"])],
    # Many pages with a GPU, as it takes seconds to start.
    "scan": [("scan-cpu", 30, [*SCAN, "{pages}", "--devices", "cpu"]),
             ("scan-jpeg", 50, [*SCAN, "{many}", "--devices", "0"]),
             ("scan-decode", 40, [*SCAN, "{many}", "--devices", "0", "--", "--decode=gpu"]),
             ("scan-png", 60, [*SCAN, "{many}", "--devices", "0", "--format", "png"])],
    # In less than six minutes, as such machines are rarely free.
    "several-gpus": [("gpu-tests", 60, [sys.executable, HERE / "gpu_tests.py"]),
                     ("links", 12, [*TABLES, "links between"]),
                     ("gpus", 45, [*PIPELINES, "gpus", "--seconds", "0.2"]),
                     ("paper-gpus", 60, [*TABLES, "several GPUs"]),
                     ("scan-gpus", 100, [*SCAN, "{most}", "--devices", "each"]),
                     ("scan-gpus-decode", 80, [*SCAN, "{most}", "--devices", "each", "--",
                                               "--decode=gpu"])],
}


class Missing(Exception):
    """Why a step cannot run, as a sentence without its end."""


def command_of(words, given):
    """The command with what was given; raises Missing."""
    command = []
    for word in map(str, words):
        name = word[1:-1] if word.startswith("{") else None
        if name and given[name] is None:
            raise Missing(f"--{name} was not given")
        command.append(str(given[name]) if name else word)
    if not shutil.which(command[0]):
        raise Missing(f"{command[0]} is not in PATH")
    return command


def has_results(path):
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def measure(name, limit, words, given, folder, log):
    """Runs a step and says how it went. Returns whether all is well."""
    begin, path = time.monotonic(), folder / f"{name}.json"
    try:
        command = command_of(words, given)
    except Missing as why:
        print(f"{name}: not measured: {why}", flush=True)
        return False
    # What follows -- goes to another program.
    end = command.index("--") if "--" in command else len(command)
    command[end:end] = ["--json", str(path)]
    print(f"$ {' '.join(command)}", file=log, flush=True)
    # A group of its own, so that what it started is stopped with it.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        status = process.wait(limit)
        how = f"exit status {status}, " if status else ""
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        status, how = None, "stopped, "
    kept = has_results(path)
    if not kept:
        path.unlink(missing_ok=True)
        how += "no results, "
    print(f"{name}: {how}{time.monotonic() - begin:.0f} s", flush=True)
    return kept and status == 0


def run_part(part, given, out):
    print(f"== {part}", flush=True)
    folder = out / part
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with open(folder / f"{part}.log", "w", encoding="utf-8") as log:
        good = [measure(*step, given, folder, log) for step in PARTS[part]]
    pack(out / f"run-{part}.tar.xz", sorted(folder.iterdir()))
    shutil.rmtree(folder)
    return all(good)


def pack(path, files):
    """Writes an archive without the names of users. `files`: paths, or (name, bytes)."""
    with tarfile.open(path, "w:xz") as archive:
        for file in files:
            name, content = file if isinstance(file, tuple) else (file.name, file.read_bytes())
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def shown(content):
    """The same results without numbers that no page reads, as they follow from others."""
    results = json.loads(content)

    def reads(row, key):
        table = row.get("table", "")
        return key != "x_copy" and (key != "mpx_per_s" or table == "kernels") and \
            (key != "gb_per_s" or table.startswith("links"))

    if "rows" in results:
        results["rows"] = [{key: value for key, value in row.items() if reads(row, key)}
                           for row in results["rows"]]
    return json.dumps(results).encode()


def results_in(archive):
    with tarfile.open(archive) as members:
        return {m.name: members.extractfile(m).read() for m in members
                if m.isfile() and m.name.endswith(".json")}


def results_of(part, folder):
    """What a part wrote. Its folder is there if its last run was stopped: this is newer."""
    archive = folder / f"run-{part}.tar.xz"
    found = {}
    if archive.exists():
        found = results_in(archive)
    else:
        print(f"{archive.name} is missing", file=sys.stderr)
    return found | {path.name: path.read_bytes() for path in (folder / part).glob("*.json")
                    if has_results(path)}


def join(folder, path):
    """Results in the order of the steps: a row replaces the same row of an earlier file."""
    earlier = results_in(path) if path.exists() else {}
    found = {}
    for part, steps in PARTS.items():
        new = results_of(part, folder)
        for name in (f"{step[0]}.json" for step in steps):
            if name in new:
                found[name] = shown(new[name])
                earlier.pop(name, None)
            elif name in earlier:
                found[name] = earlier.pop(name)
                print(f"{name} is of the earlier {path.name}")
    for name in earlier:
        print(f"{name} of the earlier {path.name} is of no step, and left out", file=sys.stderr)
    pack(path, list(found.items()))
    print(f"{path}: {len(found)} files")
    return bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--join", nargs=2, metavar=("FOLDER", "FILE"), type=pathlib.Path)
    parser.add_argument("--gswo", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--scans", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--pages", type=int, default=400,
                        help="of a run of cudascan-scan on the CPU (default 400; 20 times as many "
                             "with a GPU, 60 times with several)")
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path, nargs="?")
    parser.add_argument("parts", metavar="PART", nargs="*")
    options = parser.parse_args()
    if options.list:
        for part, steps in PARTS.items():
            print(f"{part:14}{sum(limit for _, limit, _ in steps):4} s")
        return 0
    if options.join:
        return 0 if join(*options.join) else 1
    if not options.parts:
        parser.error("FOLDER and PART are needed, parts: " + ", ".join(PARTS))
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"{part}: must be of {', '.join(PARTS)}")
    for name in ("gswo", "scans"):
        folder = getattr(options, name)
        if folder and not folder.is_dir():
            parser.error(f"--{name} {folder}: this is no folder")
    options.folder.mkdir(parents=True, exist_ok=True)
    given = {**vars(options), "many": 20 * options.pages, "most": 60 * options.pages}
    good = [run_part(part, given, options.folder) for part in options.parts]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
