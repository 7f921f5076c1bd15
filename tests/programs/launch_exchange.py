# SPDX-License-Identifier: LGPL-2.1-or-later
"""gst-launch-1.0 on a machine without a camera, a display or a GPU, for launch_lines_test.py:
exchanges sources and sinks that this machine lacks, and runs the rest of the line as it is.

LAUNCH is the path of the real gst-launch-1.0, MISSING lists the elements that are not installed.
"""
import os
import sys

FRAMES = "num-buffers=3"
CAMERAS = ("v4l2src", "aravissrc", "pylonsrc", "libcamerasrc")
WINDOWS = ("autovideosink", "ximagesink", "xvimagesink", "waylandsink", "glimagesink", "gtksink")
# What windows of X and Wayland accept. None of them accepts gray.
DISPLAY = ["video/x-raw,format={I420,YV12,NV12,YUY2,BGRx,BGRA}", "!", "fakesink"]
# For elements of NVIDIA. Their frames are then in system memory, not in CUDAMemory.
ON_CPU = {"nvh264dec": "avdec_h264", "nvh264enc": "x264enc", "nvjpegdec": "jpegdec",
          "cudaupload": "identity", "cudadownload": "identity", "cudaconvert": "videoconvert"}


def segments(words):
    """The parts of a line between the exclamation marks."""
    parts = [[]]
    for word in words:
        if word == "!":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def exchange(words, missing):
    """The words of a line after gst-launch-1.0, as this machine can run them: a few frames of a
    test picture instead of a camera, and so on.

    @param missing  names of elements that are not installed
    """
    options = [word for word in words if word.startswith("-")]
    parts = segments([word for word in words if not word.startswith("-")])
    on_cpu = any(part[0] in ON_CPU and part[0] in missing for part in parts)
    result = []
    for part, following in zip(parts, parts[1:] + [[""]]):
        name = part[0]
        if name in CAMERAS:
            part = ["videotestsrc", FRAMES]
            if following[0].startswith("image/jpeg"):
                part += ["!", "jpegenc"]
        elif name == "videotestsrc" and not any(word.startswith("num-buffers=") for word in part):
            part = part + [FRAMES]
        elif name in WINDOWS:
            part = DISPLAY
        elif on_cpu and name in ON_CPU and name in missing:
            part = [ON_CPU[name]]
        elif on_cpu and "(memory:CUDAMemory)" in name:
            part = [name.replace("(memory:CUDAMemory)", "")]
        result += [*part, "!"]
    return options + result[:-1]


if __name__ == "__main__":
    launch = os.environ["LAUNCH"]
    os.execv(launch, [launch, *exchange(sys.argv[1:], os.environ["MISSING"].split())])
