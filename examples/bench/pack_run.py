#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs all that parts of whole_run.py need into one archive, and prints the command that unpacks
and runs it on a machine that has only Python and an NVIDIA driver (for part gswo also nvcc and
g++, for parts scan and several-gpus nvJPEG).

    pack_run.py --build BUILD --bundler SCRIPT [--scans SCANS] [--gswo GSWO] [--wheels WHEELS]
                FILE.tar.xz PART...

BUILD is a build folder with the programs for that machine's GPUs. SCRIPT is called with a folder
and files, and copies GStreamer, the files and their libraries there: programs to bin, libraries to
lib and plugins to plugins, with an env.sh that finds them. GStreamer's latency tracer is packed as
well; the elements of gstreamer1.0-opencv are too large, so that part pipelines lacks its peers.
SCANS is what `measure_gpus.py --make` made; without it, it is called. The first of them are packed,
as many as fit. GSWO is what `gswo_figures.py --prepare GSWO --figures all` made. WHEELS has Python
packages that python_peers.py measures in part python, such as CV-CUDA, with what they need that the
machine lacks. The command expects the archive under its name in the folder where it runs, and $OUT,
a folder for the results.

Exit status: 0; 1, something is missing or the archive is too large; 2, wrong options.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

import whole_run

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent
# For each part: the programs and libraries of BUILD, and the scripts of examples.
BENCH = ["examples/bench/cudascan-bench", "kernels/libcudascan.so.0"]
PIPELINES = ["examples/bench/cudascan-pipeline-bench", "gst/libgstcudascan.so"]
SCAN = ["examples/scan/cudascan-scan", "kernels/libcudascan.so.0"]
SCRIPTS = {"gswo": ["gswo_figures.py", "bench/figures"], "python": ["bench/python_peers.py"],
           "scan": ["scan/measure_gpus.py"],
           "several-gpus": ["bench/gpu_tests.py", "scan/measure_gpus.py"]}
PROGRAMS = {"gswo": [], "pipelines": PIPELINES, "python": [], "scan": SCAN,
            "several-gpus": [*BENCH, *PIPELINES, *SCAN, "tests/kernels/devices_test",
                             "tests/elements/pipelines_test"]}
MOST_BYTES, MOST_SCANS, MOST_COMMAND = 50_000_000, 7_500_000, 2000
COMMAND = """set -e; d=/tmp/whole-run; mkdir -p $d
python3 -c "import tarfile; tarfile.open('{archive}').extractall('$d')"
j=$(find /usr /opt -name 'libnvjpeg.so.1[23]' 2>/dev/null | head -1)
[ -z "$j" ] || export CUDASCAN_NVJPEG=$j; echo "nvJPEG: $j"
nvidia-smi -L || true; nvidia-smi topo -m || true; lscpu | head -25 || true; nproc
[ ! -d $d/wheels ] || python3 -m pip install -q --no-index --no-deps --no-compile \\
--target $d/site $d/wheels/*.whl; export PYTHONPATH=$d/site
. $d/bundle/env.sh
python3 $d/examples/bench/whole_run.py {folders}"$OUT" {parts} || true
for f in "$OUT"/run-*.tar.xz; do python3 -c "import tarfile,sys; \\
t=tarfile.open(sys.argv[1]); print(*(t.extractfile(n).read().decode('utf-8','replace')[-{log}:] \\
for n in t.getnames() if n.endswith('.log')))" $f; done"""


class Unusable(Exception):
    """A sentence for the user."""


def strip(folder):
    """Symbols and debug information are a large part of the programs."""
    for path in [*(folder / "bin").iterdir(), *(folder / "lib").iterdir(),
                 *(folder / "plugins").iterdir()]:
        subprocess.run(["strip", "--strip-unneeded", path], check=True, capture_output=True)


def leave_out_icu_data(folder):
    """libxml2 needs the tables of ICU, 31 MB, only for rare character sets: a library without them
    takes their place."""
    for path in (folder / "lib").glob("libicudata.so.*"):
        source = f"const char icudt{path.name.rpartition('.')[2]}_dat[64];"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", f"-Wl,-soname,{path.name}", "-o",
                        path], input=source, text=True, check=True)


def first(scans):
    """As many as may be packed."""
    size = 0
    for path in sorted(scans.iterdir()):
        size += path.stat().st_size
        if size <= MOST_SCANS:
            yield path


def latency_tracer():
    """GStreamer's plugin that has it, as a list, which is empty if there is none."""
    if not shutil.which("pkg-config"):
        return []
    asked = subprocess.run(["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"],
                           capture_output=True, text=True)
    path = pathlib.Path(asked.stdout.strip(), "libgstcoretracers.so")
    return [path] if asked.returncode == 0 and path.is_file() else []


def of_parts(table, parts, usual):
    return sorted({name for part in parts for name in table.get(part, usual)})


def pack(options, folder):
    """Returns the folders that were packed for options of whole_run.py of the same names."""
    files = [options.build / name for name in of_parts(PROGRAMS, options.parts, BENCH)]
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise Unusable(f"not built: {', '.join(missing)}; run ninja -C {options.build} with these "
                       "as targets")
    if "gswo" in options.parts and not options.gswo:
        raise Unusable("part gswo needs --gswo, a folder that gswo_figures.py --prepare made")
    if set(PIPELINES) & set(of_parts(PROGRAMS, options.parts, [])):
        files += latency_tracer()
    bundle = folder / "bundle"
    subprocess.run([options.bundler.resolve(), bundle, *files], check=True)
    strip(bundle)
    leave_out_icu_data(bundle)
    packed = {"bundle": [bundle]}
    if {"scan", "several-gpus"} & set(options.parts):
        scans = options.scans or folder / "scans"
        if not options.scans:
            subprocess.run([sys.executable, EXAMPLES / "scan/measure_gpus.py", "--make", scans],
                           check=True)
        packed["scans"] = first(scans)
    if "gswo" in options.parts:
        packed["gswo"] = options.gswo.iterdir()
    if "python" in options.parts and options.wheels:
        packed["wheels"] = options.wheels.glob("*.whl")
    with tarfile.open(options.archive, "w:xz") as archive:
        def plain(entry):
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            return None if "__pycache__" in entry.name else entry
        for name, paths in packed.items():
            for path in paths:
                archive.add(path, name if path == bundle else f"{name}/{path.name}", filter=plain)
        for name in ["bench/whole_run.py", *of_parts(SCRIPTS, options.parts, [])]:
            archive.add(EXAMPLES / name, f"examples/{name}", filter=plain)
    size = options.archive.stat().st_size
    print(f"{options.archive}: {size / 1e6:.1f} MB", file=sys.stderr)
    if size > MOST_BYTES:
        raise Unusable(f"{options.archive} has more than {MOST_BYTES / 1e6:.0f} MB; give fewer "
                       "parts, or fewer or smaller --scans")
    return [name for name in ("scans", "gswo") if name in packed]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="BUILD", type=pathlib.Path, required=True)
    parser.add_argument("--bundler", metavar="SCRIPT", type=pathlib.Path, required=True)
    for name in ("scans", "gswo", "wheels"):
        parser.add_argument(f"--{name}", metavar=name.upper(), type=pathlib.Path)
    parser.add_argument("archive", metavar="FILE.tar.xz", type=pathlib.Path)
    parser.add_argument("parts", metavar="PART", nargs="+", choices=whole_run.PARTS,
                        help=", ".join(whole_run.PARTS))
    options = parser.parse_args()
    if not options.bundler.is_file():
        parser.error(f"--bundler {options.bundler}: does not exist")
    for name in ("build", "scans", "gswo", "wheels"):
        path = getattr(options, name)
        if path and not path.is_dir():
            parser.error(f"--{name} {path}: does not exist")
    options.archive.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as name:
            packed = pack(options, pathlib.Path(name))
        command = COMMAND.format(
            archive=options.archive, parts=" ".join(options.parts),
            folders="".join(f"--{name} $d/{name} " for name in packed),
            log=9000 // len(options.parts))
        if len(command) > MOST_COMMAND:
            raise Unusable(f"the command has {len(command)} characters, more than {MOST_COMMAND}")
    except (Unusable, OSError, subprocess.CalledProcessError) as error:
        print(f"pack_run.py: {error}", file=sys.stderr)
        return 1
    seconds = sum(limit for part in options.parts for _, limit, _ in whole_run.PARTS[part])
    print(f"It takes {seconds} seconds at most, after it is unpacked.", file=sys.stderr)
    print(command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
