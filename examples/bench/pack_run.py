#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs all that the part several-gpus of whole_run.py needs into one archive, and prints the
command that unpacks and runs it on a machine that has only Python and an NVIDIA driver.

    pack_run.py --build BUILD --bundler SCRIPT [--scans SCANS] FILE.tar.xz

BUILD is a build folder with the programs for that machine's GPUs. SCRIPT is called with a folder
and files, and copies GStreamer, the files and their libraries there: programs to bin, libraries to
lib and plugins to plugins, with an env.sh that finds them. SCANS is what `measure_gpus.py --make`
made; without it, it is called. The first of them are packed, as many as fit. The command expects
the archive under its name in the folder where it runs, and $OUT, a folder for the results. nvJPEG
has to be on the machine.

Exit status: 0; 1, something is missing or the archive is too large; 2, wrong options.
"""
import argparse
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCAN = HERE.parent / "scan"
PROGRAMS = ["examples/bench/cudascan-bench", "examples/bench/cudascan-pipeline-bench",
            "examples/scan/cudascan-scan", "tests/kernels/devices_test",
            "tests/elements/pipelines_test", "gst/libgstcudascan.so", "kernels/libcudascan.so.0"]
SCRIPTS = [HERE / "whole_run.py", HERE / "gpu_tests.py", SCAN / "measure_gpus.py"]
MOST_BYTES, MOST_SCANS, MOST_COMMAND = 50_000_000, 7_500_000, 2000
COMMAND = """set -e; d=/tmp/several-gpus; mkdir -p $d
python3 -c "import tarfile; tarfile.open('{archive}').extractall('$d')"
j=$(find /usr /opt -name 'libnvjpeg.so.1[23]' 2>/dev/null | head -1)
[ -z "$j" ] || export CUDASCAN_NVJPEG=$j; echo "nvJPEG: $j"
nvidia-smi -L || true; nvidia-smi topo -m || true; lscpu | head -25 || true; nproc
. $d/bundle/env.sh
python3 $d/examples/bench/whole_run.py "$OUT" several-gpus --scans $d/scans || true
python3 -c "import tarfile,sys; t=tarfile.open(sys.argv[1]); \\
print(t.extractfile('several-gpus.log').read().decode('utf-8','replace')[-9000:])" \\
"$OUT/run-several-gpus.tar.xz\""""


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


def pack(options, folder):
    files = [options.build / name for name in PROGRAMS]
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise Unusable(f"not built: {', '.join(missing)}; run ninja -C {options.build} with these "
                       "as targets")
    bundle, scans = folder / "bundle", options.scans or folder / "scans"
    subprocess.run([options.bundler.resolve(), bundle, *files], check=True)
    strip(bundle)
    leave_out_icu_data(bundle)
    if not options.scans:
        subprocess.run([sys.executable, SCAN / "measure_gpus.py", "--make", scans], check=True)
    with tarfile.open(options.archive, "w:xz") as archive:
        def plain(entry):
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            return entry
        archive.add(bundle, "bundle", filter=plain)
        for path in first(scans):
            archive.add(path, f"scans/{path.name}", filter=plain)
        for path in SCRIPTS:
            archive.add(path, path.relative_to(HERE.parents[1]), filter=plain)
    size = options.archive.stat().st_size
    print(f"{options.archive}: {size / 1e6:.1f} MB", file=sys.stderr)
    if size > MOST_BYTES:
        raise Unusable(f"{options.archive} has more than {MOST_BYTES / 1e6:.0f} MB; give fewer or "
                       "smaller --scans")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="BUILD", type=pathlib.Path, required=True)
    parser.add_argument("--bundler", metavar="SCRIPT", type=pathlib.Path, required=True)
    parser.add_argument("--scans", metavar="SCANS", type=pathlib.Path)
    parser.add_argument("archive", metavar="FILE.tar.xz", type=pathlib.Path)
    options = parser.parse_args()
    for name, path, good in (("--build", options.build, options.build.is_dir()),
                             ("--bundler", options.bundler, options.bundler.is_file()),
                             ("--scans", options.scans,
                              not options.scans or options.scans.is_dir())):
        if not good:
            parser.error(f"{name} {path}: does not exist")
    options.archive.parent.mkdir(parents=True, exist_ok=True)
    command = COMMAND.format(archive=options.archive)
    try:
        with tempfile.TemporaryDirectory() as folder:
            pack(options, pathlib.Path(folder))
        if len(command) > MOST_COMMAND:
            raise Unusable(f"the command has {len(command)} characters, more than {MOST_COMMAND}")
    except (Unusable, OSError, subprocess.CalledProcessError) as error:
        print(f"pack_run.py: {error}", file=sys.stderr)
        return 1
    print(command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
