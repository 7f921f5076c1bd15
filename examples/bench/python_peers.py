#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times the equivalents of our operators in cuCIM, CuPy and CV-CUDA, with frames that stay on the
GPU.

Rows are written in the format of cudascan-pipeline-bench --json (table "peers", where "kernel"), so
that cudascan-bench-report shows them next to ours. A library that is not installed is named and
left out. A time is that of many successive calls between two waits for the GPU, divided by their
number: what a Python program gets. If Python's calls are slower than the GPU's kernels, it is the
time of the calls.

Exit status: 0 measured or nothing installed, 1 an installed library failed, 2 bad options.
"""
import argparse
import importlib
import json
import os
import statistics
import sys
import time

SIZES = {"720p": (1280, 720), "1080p": (1920, 1080), "4k": (3840, 2160), "8k": (7680, 4320),
         "scan": (2736, 3648)}


def module(name):
    """The module, or None if it is not installed; prints why an installed one does not load."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.split(".")[0] != error.name.split(".")[0]:
            print(f"{name} cannot be loaded: {error}", file=sys.stderr)
        return None
    except Exception as error:  # no driver, for instance
        print(f"{name} cannot be loaded: {error}", file=sys.stderr)
        return None


def make_page(cupy, width, height):
    """Dark strokes on uneven paper with noise; the noise is the same every time."""
    y = cupy.arange(height, dtype=cupy.float32)[:, None]
    x = cupy.arange(width, dtype=cupy.float32)[None, :]
    paper = 200 - 60 * x / width + 30 * y / height
    ink = ((x % 13 < 3) & (y % 29 < 14)).astype(cupy.float32)
    noise = cupy.random.RandomState(1).normal(0, 6, (height, width)).astype(cupy.float32)
    return cupy.clip(paper - 90 * ink + noise, 0, 255).astype(cupy.uint8)


def usable_cupy():
    """CuPy, or None after printing why."""
    cupy = module("cupy")
    if cupy is None:
        print("CuPy: not installed; cuCIM and CV-CUDA need its arrays, too")
        return None
    try:
        cupy.cuda.Device().synchronize()
    except Exception as error:
        print(f"CuPy: no GPU can be used: {error}")
        return None
    return cupy


def cupy_peers(cupy, page):
    """CuPy's own filters: (name of the work, function called, the call)."""
    ndimage = module("cupyx.scipy.ndimage")
    if ndimage is None:
        return []
    out = cupy.empty_like(page)
    return [("median 5", "cupyx.scipy.ndimage.median_filter",
             lambda: ndimage.median_filter(page, size=5, output=out)),
            ("open 15", "cupyx.scipy.ndimage.grey_opening",
             lambda: ndimage.grey_opening(page, size=(15, 15), output=out))]


def cucim_peers(cupy, page):
    exposure, filters = module("cucim.skimage.exposure"), module("cucim.skimage.filters")
    morphology = module("cucim.skimage.morphology")
    peers = []
    if exposure is not None:
        peers += [("equalize", "cucim.skimage.exposure.equalize_hist",
                   lambda: exposure.equalize_hist(page, nbins=256)),
                  ("clahe", "cucim.skimage.exposure.equalize_adapthist",
                   lambda: exposure.equalize_adapthist(page, clip_limit=0.01))]
    if filters is not None:
        peers += [("otsu", "cucim.skimage.filters.threshold_otsu",
                   lambda: page > filters.threshold_otsu(page)),
                  ("niblack 67", "cucim.skimage.filters.threshold_niblack",
                   lambda: page > filters.threshold_niblack(page, window_size=67, k=0.2)),
                  ("sauvola 67", "cucim.skimage.filters.threshold_sauvola",
                   lambda: page > filters.threshold_sauvola(page, window_size=67, k=0.22))]
    if morphology is not None:
        square = cupy.ones((15, 15), dtype=cupy.uint8)
        line = cupy.ones((1, 41), dtype=cupy.uint8)
        peers += [("open 15", "cucim.skimage.morphology.opening",
                   lambda: morphology.opening(page, square)),
                  ("line opening 41", "cucim.skimage.morphology.opening",
                   lambda: morphology.opening(page, line))]
    return peers


def cvcuda_peers(cvcuda, cupy, page):
    source = cvcuda.as_tensor(page.reshape(1, *page.shape, 1), "NHWC")
    result, half = (cvcuda.Tensor(source.shape, source.dtype, source.layout) for _ in range(2))
    white = cvcuda.as_tensor(cupy.full((1,), 255.0), "N")
    level = cvcuda.as_tensor(cupy.zeros((1,)), "N")

    def opening(width, height):
        for kind, (src, dst) in ((cvcuda.MorphologyType.ERODE, (source, half)),
                                 (cvcuda.MorphologyType.DILATE, (half, result))):
            cvcuda.morphology_into(dst, src, kind, [width, height], [-1, -1],
                                   border=cvcuda.Border.REPLICATE)

    otsu = cvcuda.ThresholdType.OTSU | cvcuda.ThresholdType.BINARY
    return [("equalize", "cvcuda.histogrameq", lambda: cvcuda.histogrameq_into(result, source)),
            ("median 5", "cvcuda.median_blur",
             lambda: cvcuda.median_blur_into(result, source, [5, 5])),
            ("open 15", "cvcuda.morphology", lambda: opening(15, 15)),
            ("line opening 41", "cvcuda.morphology", lambda: opening(41, 1)),
            ("otsu", "cvcuda.threshold",
             lambda: cvcuda.threshold_into(result, source, level, white, otsu)),
            ("mean threshold 67", "cvcuda.adaptivethreshold",
             lambda: cvcuda.adaptivethreshold_into(result, source, 255.0,
                                                   cvcuda.AdaptiveThresholdType.MEAN_C,
                                                   cvcuda.ThresholdType.BINARY, 67, 10))]


def time_us(call, wait, budget):
    """Median time of a call in microseconds, in about `budget` seconds."""
    call()  # compiles
    wait()

    def once(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        return (time.perf_counter() - begin) / calls

    estimate = max(once(1), 1e-7)
    calls = max(1, min(1000, int(budget / 5 / estimate)))
    return 1e6 * statistics.median(once(calls) for _ in range(5))


def machine_of(cupy):
    machine = {"gpu": None, "cpu": None, "cores": len(os.sched_getaffinity(0)), "driver": None,
               "date": time.strftime("%Y-%m-%d"),
               "cuda": None, "gstreamer": None}
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                machine["cpu"] = line.split(":", 1)[1].strip()
                break
    if cupy is not None:
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
        machine["gpu"] = name.decode() if isinstance(name, bytes) else name
        version = cupy.cuda.runtime.runtimeGetVersion()
        machine["cuda"] = f"{version // 1000}.{version % 1000 // 10}"
    return machine


def measure(options, cupy, libraries):
    """Rows of all installed libraries."""
    rows = []
    for size in options.sizes:
        width, height = SIZES[size]
        page = make_page(cupy, width, height)
        for library, version, peers_of in libraries:
            try:
                peers = peers_of(page)
            except Exception as error:
                peers = []
                print(f"{library}: {error}", file=sys.stderr)
                rows.append({"table": "peers", "name": library, "error": str(error)})
            for name, function, call in peers:
                row = {"table": "peers", "name": name, "where": "kernel", "backend": "cuda",
                       "width": width, "height": height, "depth": 8, "streams": 1, "peer": True,
                       "element": function, "library": f"{library} {version}"}
                try:
                    row["us"] = time_us(call, cupy.cuda.Device().synchronize, options.seconds)
                    row["fps"] = 1e6 / row["us"]
                    print(f"{size:6} {name:18} {row['us']:12.1f} us  {function}", flush=True)
                except Exception as error:
                    row["error"] = str(error)
                    print(f"{size:6} {name:18} failed: {function}: {error}", flush=True)
                rows.append(row)
    return rows


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--json", metavar="FILE", help="write all rows")
    parser.add_argument("--sizes", metavar="LIST", default="1080p,4k",
                        help="720p,1080p,4k,8k,scan (1080p,4k)")
    parser.add_argument("--seconds", type=float, default=0.1, help="time for each row (0.1)")
    options = parser.parse_args(arguments)
    options.sizes = options.sizes.split(",")
    for size in options.sizes:
        if size not in SIZES:
            parser.error(f"--sizes {size}: must be of 720p,1080p,4k,8k,scan")
    if not 0 < options.seconds <= 600:
        parser.error(f"--seconds {options.seconds}: must be above 0, up to 600")
    return options


def main(arguments):
    options = parse(arguments)
    cupy = usable_cupy()
    libraries = []
    if cupy is not None:
        libraries.append(("CuPy", cupy.__version__, lambda page: cupy_peers(cupy, page)))
        for name, word, peers_of in (("cuCIM", "cucim", lambda page: cucim_peers(cupy, page)),
                                     ("CV-CUDA", "cvcuda",
                                      lambda page: cvcuda_peers(module("cvcuda"), cupy, page))):
            library = module(word)
            if library is None:
                print(f"{name}: not installed")
            else:
                libraries.append((name, getattr(library, "__version__", ""), peers_of))
    rows = measure(options, cupy, libraries) if libraries else []
    if options.json:
        try:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump({"machine": machine_of(cupy), "rows": rows}, file, indent=1)
        except OSError as error:
            print(f"--json {options.json}: {error.strerror}", file=sys.stderr)
            return 2
    return int(any("error" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
