#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages a second of cudascan-scan on one GPU, on several, and on the CPU.

    examples/scan/measure_gpus.py --make FOLDER [--dpi 300] [--suffix jpg]
    examples/scan/measure_gpus.py --scans FOLDER [--pages 1000] [--devices 0 all cpu]
        [--jobs 0 8 32] [--format jpg] [--program cudascan-scan] [--json FILE] [-- OPTION...]

--make draws scans by scan_maker.py, of A4 with the noise of a scanner, and ends; it needs numpy,
Pillow and fonts. Above 300 dpi they are enlarged. Measuring needs only Python and the program: the
scans are used in turn for so many pages. Each line of the table is one run, with the words of
--devices for --cuda-device (cpu: --backend=cpu; each: the first 1, 2, 4 and so on of the GPUs that
nvidia-smi lists, then all). The files of all runs must be the same, or the exit status is 1. --jobs
0 is the program's own choice. --format png turns the scans into PNG first, which needs Pillow.
--json writes the rows of the table `scan` for cudascan-bench-report. Options after -- are those of
cudascan-scan."""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SCANS = 8


def make(folder, dpi, suffix):
    import numpy
    import scan_maker
    from PIL import Image
    folder.mkdir(parents=True, exist_ok=True)
    seed = made = 0
    while made < SCANS:
        scan = scan_maker.make(seed, kind="book")
        seed += 1
        if scan.dpi == 300:
            image = scan.image
            if dpi != 300:
                image = image.resize([side * dpi // 300 for side in image.size], Image.BICUBIC)
                noise = numpy.random.default_rng(seed).normal(0, 3, image.size[::-1])
                levels = numpy.asarray(image.convert("L")) + noise
                image = Image.fromarray(levels.clip(0, 255).astype(numpy.uint8))
            image.save(folder / f"{made}.{suffix}", quality=90, dpi=(dpi, dpi))
            made += 1


def converted(scans, suffix, folder):
    """The scans in another format, with their resolution."""
    from PIL import Image
    folder.mkdir()
    paths = []
    for scan in scans:
        paths.append(folder / f"{scan.stem}.{suffix}")
        with Image.open(scan) as image:
            image.save(paths[-1], dpi=image.info.get("dpi", (300, 300)))
    return paths


def machine():
    """As cudascan-bench describes it."""
    cpu = next((line.partition(": ")[2].strip() for line in open("/proc/cpuinfo", errors="replace")
                if line.startswith("model name")), None)
    found = {"gpu": None, "driver": None}
    gpus = {}
    try:
        lines = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                                "--format=csv,noheader"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        found = dict(zip(("gpu", "driver"), lines[0].split(", ")))
        gpus = {"gpus": len(lines)}
    except (OSError, subprocess.CalledProcessError, IndexError):
        pass
    return {**found, **gpus, "cuda": None, "cpu": cpu, "cores": len(os.sched_getaffinity(0)),
            "gstreamer": None, "date": time.strftime("%Y-%m-%d")}


def counts(gpus):
    """1, 2, 4, 8 and so on, then all; none without a GPU."""
    return [*(2 ** i for i in range(gpus.bit_length()) if 2 ** i < gpus), *([gpus] if gpus else [])]


def each(gpus):
    """The words for --cuda-device of each of these counts. The program finds all GPUs itself."""
    return [",".join(map(str, range(n))) for n in counts(gpus)[:-1]] + ["all"]


def row(run, name, device, options):
    """A row of the table `scan`."""
    devices = [d for d in run.get("devices", []) if d["device"] != "cpu"]
    return {"table": "scan", "name": name, "backend": "cpu" if device == "cpu" else "cuda",
            **({} if device == "cpu" else {"gpus": len(devices), "gpu_busy": run["gpu_busy"]}),
            "threads": run["jobs"], "pages_per_second": run["pages_per_second"],
            **({"error": "no page was decoded on the GPU"}
               if "--decode=gpu" in options and not on_gpu(run) else {}),
            **({"breakdown_ms": run["breakdown_ms"]} if "breakdown_ms" in run else {})}


def on_gpu(run):
    """The pages that nvJPEG has decoded."""
    return sum(pages for decoder, pages in run.get("decoders", {}).items() if "gpu" in decoder)


def failure(name, device, status):
    return {"table": "scan", "name": name, "backend": "cpu" if device == "cpu" else "cuda",
            "error": f"cudascan-scan --cuda-device={device} ended with status {status}"}


def digest(folder):
    whole = hashlib.sha256()
    for path in sorted(folder.glob("*.tif")):
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()


def measure(options, pages, out, device, jobs):
    where = ["--backend=cpu"] if device == "cpu" else ["--backend=cuda", "--cuda-device=" + device]
    stats = out.with_suffix(".json")
    subprocess.run([options.program, pages, "-o", out, "--quiet", "--stats", stats, *where,
                    *([f"--jobs={jobs}"] if jobs else []), *options.options], check=True)
    return json.loads(stats.read_text())


def write(path, rows):
    """After each run, as the next one may be stopped."""
    if path:
        path.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=pathlib.Path)
    parser.add_argument("--dpi", type=int, default=300)
    parser.add_argument("--suffix", choices=("jpg", "png"), default="jpg")
    parser.add_argument("--scans", type=pathlib.Path)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--devices", nargs="+", default=["0", "all", "cpu"])
    parser.add_argument("--jobs", nargs="+", type=int, default=[0])
    parser.add_argument("--format", choices=["jpg", "png"], help="of the scans (as they are)")
    parser.add_argument("--program", default="cudascan-scan")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("options", nargs="*")
    options = parser.parse_args()
    if options.make:
        make(options.make, options.dpi, options.suffix)
        return 0
    scans = sorted(options.scans.iterdir()) if options.scans else []
    if not scans:
        parser.error("--scans FOLDER: must be a folder of images; --make makes one")
    print("| GPUs | jobs | pages/s | GPU busy | pages of each |\n|---|---|---|---|---|", flush=True)
    digests, rows = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = folder / "pages"
        pages.mkdir()
        if options.format and any(scan.suffix != f".{options.format}" for scan in scans):
            scans = converted(scans, options.format, folder / "scans")
        kind = {".jpg": "JPEG", ".png": "PNG"}.get(scans[0].suffix, scans[0].suffix)
        name = " ".join([f"{kind} of A4 at 300 dpi to TIFF group 4", *options.options])
        for i in range(options.pages):
            (pages / f"{i:05}{scans[i % len(scans)].suffix}").symlink_to(
                scans[i % len(scans)].resolve())
        devices = [word for device in options.devices
                   for word in (each(machine().get("gpus", 0)) if device == "each" else [device])]
        for device in devices:
            for jobs in options.jobs:
                out = folder / f"{device.replace(',', '-')}-{jobs}"
                try:
                    run = measure(options, pages, out, device, jobs)
                except subprocess.CalledProcessError as error:
                    rows.append(failure(name, device, error.returncode))
                    write(options.json, rows)
                    print(f"| {device} | {jobs} | {rows[-1]['error']} | | |", flush=True)
                    continue
                digests.append(digest(out))
                rows.append(row(run, name, device, options.options))
                if digests[-1] != digests[0]:
                    rows[-1]["error"] = "the files differ from those of the first run"
                write(options.json, rows)
                shares = ", ".join(f"{d['device']}: {d['pages']}" for d in run.get("devices", []))
                print(f"| {device} | {run['jobs']} | {run['pages_per_second']:.1f} | "
                      f"{100 * run['gpu_busy']:.0f} % | {shares} |", flush=True)
    if len(set(digests)) > 1:
        print("The files of these runs differ.", file=sys.stderr)
    return any("error" in row for row in rows)


if __name__ == "__main__":
    sys.exit(main())
