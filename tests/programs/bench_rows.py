# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows as the benchmarks write them, for tests of the pages."""
FRAME = {"width": 3840, "height": 2160, "depth": 8}
HD = {"width": 1920, "height": 1080, "depth": 8}
KERNELS = [
    {"table": "kernels", "section": "cuda", "name": "nick 15", **FRAME, "us": 17.25,
     "warm_us": 12.0, "floor_us": 5.4, "goal_us": 15, "backend": "cuda", "operator": "nick",
     "series": "nick", "parameter": "window", "value": 15, "peer": "NPP", "peer_us": 1223},
    {"table": "kernels", "section": "cuda", "name": "nick 3", **FRAME, "us": 14.5, "goal_us": 15,
     "backend": "cuda"},
    {"table": "kernels", "section": "cuda", "name": "broken 3", "width": 8, "height": 8,
     "backend": "cuda", "error": "launch failed & lost"},
    {"table": "spreads", "section": "cuda", "name": "windows 3..255", **FRAME, "us": 12.0,
     "ratio": 1.8, "goal_ratio": 1.3, "backend": "cuda"},
    *({"table": "nick against window", "section": "x", "name": f"nick {w}", **FRAME, "us": 10.0 + w,
       "floor_us": 5.5, "backend": backend, "operator": "nick", "series": "nick, 8 bit",
       "parameter": "window", "value": w, "peer": "Other", "peer_us": 3000.0 * w}
      for w in (3, 15, 255) for backend in ("cuda", "cpu")),
    {"table": "paper 001 table 1", "section": "cuda", "name": "Image 5, equalize", "width": 5120,
     "height": 2880, "depth": 8, "us": 16.5, "baseline_us": 2613.0, "published_us": 11958.0,
     "published": "GTX 1650", "floor_us": 9.0, "backend": "cuda"},
    *({"table": "kernels", "section": section, "name": name, **FRAME, "backend": backend, "us": us,
       "peer": peer, "peer_us": peer_us} for section, backend, name, us, peer, peer_us in (
           ("cuda", "cuda", "nick 33", 20.0, "NPP", 1224.0),
           ("cuda", "cuda", "median 5", 30.0, "NPP", 210.0),
           ("cpu 1", "cpu", "median 5", 8000.0, "OpenCV", 10000.0))),
    *({"table": "nick tables", "section": "x", "name": "serial 9*9, 33", **FRAME, "us": us,
       "backend": "cpu", "parameter": "pixels", "value": value}
      for us, value in ((55.5, 6000), (66.6, 7000))),
]
PIPELINES = [
    {"table": "pipelines", "name": "cudanick ! cudaequalize", "where": "cudamemory", **FRAME,
     "streams": 1, "backend": "cuda", "fps": 43210.0,
     "latency_us": {"p50": 41.0, "p95": 52.0, "p99": 63.0, "max": 74.0},
     "cpu_us_per_frame": 9.5, "syncs_per_frame": 0, "us": 23.1, "floor_us": 21.0, "peer": False},
    *({"table": "pipelines", "name": "cudanick", "where": "system", **HD, "streams": n,
       "backend": "cuda", "fps": 1000.0 * n ** 0.5, "peer": False} for n in (1, 4, 16)),
    {"table": "pipelines", "name": "cvdilate", "where": "system", **HD, "streams": 1,
     "backend": "cpu", "fps": 77.0, "peer": True},
    *({"table": "gpus", "name": "cudanick", "where": "cudamemory", **HD, "streams": 4 * n,
       "gpus": n, "backend": "cuda", "fps": fps} for n, fps in ((1, 2000.0), (2, 3700.0))),
    {"table": "gpus", "name": "cudanick cuda-device-id=0 ! cudanick cuda-device-id=1", **HD,
     "where": "cudamemory", "streams": 1, "backend": "cuda", "fps": 1234.0},
    {"table": "live", "name": "cudanick", **HD, "where": "system", "fps_in": 240, "frames": 300,
     "dropped": 17, "latency_us": {"p50": 2000.0}},
    *({"table": "camera", "name": name, **HD, "where": "system", "backend": "cpu", "threads": 4,
       "fps_in": 60, "frames": 180, "dropped": 0, **times} for name, times in (
           ("identity", {"latency_us": {"p50": 300.0}, "sensor_us": {"p50": 450.0}}),
           ("cudanick ! cudaequalize", {"latency_us": {"p50": 5700.0},
                                        "sensor_us": {"p50": 5850.0, "max": 9870.0},
                                        "added_us": {"p50": 5430.0, "p99": 6540.0}}))),
    {"table": "peers", "name": "equalize", "where": "system", **HD, "peer": True,
     "element": "equalizehist", "us": 1200.0, "fps": 833.3},
    {"table": "peers", "name": "equalize", "where": "system", **HD, "peer": False, "us": 400.0,
     "fps": 2500.0, "peer_us": 1200.0, "queues": False},
    {"table": "peers", "name": "median 5", "where": "kernel", **FRAME, "peer": True,
     "element": "median_filter", "library": "CuPy 14.2", "us": 609.0, "backend": "cuda"},
    {"table": "scan", "name": "JPEG to TIFF", "backend": "cuda", "gpus": 1, "threads": 16,
     "pages_per_second": 276.0, "gpu_busy": 0.97,
     "breakdown_ms": {"read": 29.0, "text": 0, "write": 0.2, "gpu_busy": 3}},
]
GSWO = [{"figures": ["3", "5"], "published": {"3": "10-30"}, "filter": "median", "window": 5,
         "width": 3325, "height": 4765, "sequential_ms": {"median": 8000.0},
         "warm_ms": {"median": 0.25}, "whole_ms": None,
         "openmp_ms": {"1": {"median": 8000.0}, "2": {"median": 4000.0}},
         "pixels_different": {"cuda": 0}, "pixels_compared": {"cuda": 100}},
        {"figures": ["loops"], "filter": "census", "window": 0, "width": 1052, "height": 1524,
         "sequential_ms": {"median": 54.0}, "openacc_ms": {"median": 1.5},
         "warm_ms": {"median": 0.02}}]
