#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages a second of cudascan-scan on one GPU, on several, and on the CPU.

    examples/scan/measure_gpus.py --make FOLDER
    examples/scan/measure_gpus.py --scans FOLDER [--pages 1000] [--devices 0 all cpu]
        [--jobs 0 8 32] [--program cudascan-scan] [-- OPTION...]

--make draws scans by scan_maker.py, JPEGs of A4 at 300 dpi with the noise of a scanner, and ends;
it needs numpy, Pillow and fonts. Measuring needs only Python and the program: the scans are used
in turn for so many pages. Each line of the table is one run, with the words of --devices for
--cuda-device (cpu: --backend=cpu). The files of all runs must be the same, or the exit status is 1.
--jobs 0 is the number of cores. Options after -- are those of cudascan-scan."""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCANS = 8


def make(folder):
    import scan_maker
    folder.mkdir(parents=True, exist_ok=True)
    seed = made = 0
    while made < SCANS:
        scan = scan_maker.make(seed, kind="book")
        seed += 1
        if scan.dpi == 300:
            scan.image.save(folder / f"{made}.jpg", quality=90, dpi=(300, 300))
            made += 1


def digest(folder):
    whole = hashlib.sha256()
    for path in sorted(folder.glob("*.tif")):
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()


def measure(options, pages, out, device, jobs):
    where = ["--backend=cpu"] if device == "cpu" else ["--backend=cuda", "--cuda-device=" + device]
    stats = out.with_suffix(".json")
    subprocess.run([options.program, pages, "-o", out, "--quiet", "--stats", stats, "--jobs",
                    str(jobs), *where, *options.options], check=True)
    return json.loads(stats.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=pathlib.Path)
    parser.add_argument("--scans", type=pathlib.Path)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--devices", nargs="+", default=["0", "all", "cpu"])
    parser.add_argument("--jobs", nargs="+", type=int, default=[0])
    parser.add_argument("--program", default="cudascan-scan")
    parser.add_argument("options", nargs="*")
    options = parser.parse_args()
    if options.make:
        make(options.make)
        return 0
    scans = sorted(options.scans.iterdir()) if options.scans else []
    if not scans:
        parser.error("--scans FOLDER: must be a folder of images; --make makes one")
    print("| GPUs | jobs | pages/s | GPU busy | pages of each |\n|---|---|---|---|---|", flush=True)
    digests = set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = folder / "pages"
        pages.mkdir()
        for i in range(options.pages):
            (pages / f"{i:05}{scans[i % len(scans)].suffix}").symlink_to(
                scans[i % len(scans)].resolve())
        for device in options.devices:
            for jobs in options.jobs:
                out = folder / f"{device.replace(',', '-')}-{jobs}"
                run = measure(options, pages, out, device, jobs or os.cpu_count())
                digests.add(digest(out))
                devices = run.get("devices", [])
                shares = ", ".join(f"{d['device']}: {d['pages']}" for d in devices)
                print(f"| {device} | {run['jobs']} | {run['pages_per_second']:.1f} | "
                      f"{100 * run['gpu_busy']:.0f} % | {shares} |", flush=True)
    if len(digests) > 1:
        print("The files of these runs differ.", file=sys.stderr)
    return len(digests) > 1


if __name__ == "__main__":
    sys.exit(main())
