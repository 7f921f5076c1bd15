# SPDX-License-Identifier: LGPL-2.1-or-later
"""The methods that are compared: a name and a function from a gray page to its ink."""
import functools
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cv2
import numpy as np

try:
    import doxapy
except ImportError:
    doxapy = None

LEVELS = ("fast", "sized", "full")
BLANK_SHARE = 0.0002  # a page with less ink than this is blank, if the method does not say

# name: (element and its settings, name in Doxa, Doxa's parameters)
CLASSICAL = {
    "NICK": ("cudanick method=nick window=67 k=-0.19", "NICK", {"window": 67, "k": -0.19}),
    "Wolf": ("cudanick method=wolf window=19 k=0.2", "WOLF", {"window": 19, "k": 0.2}),
    "Sauvola": ("cudanick method=sauvola window=39 k=0.22", "SAUVOLA", {"window": 39, "k": 0.22}),
    "Otsu": ("cudaautothreshold method=otsu", "OTSU", {}),
}
DOXA = {"ISauvola": "ISAUVOLA", "Gatos": "GATOS", "Singh": "TRSINGH", "Bataineh": "BATAINEH",
        "Su": "SU", "WAN": "WAN"}


@functools.lru_cache(None)
def has_element(name):
    if not shutil.which("gst-inspect-1.0"):
        return False
    # Without a version gst-inspect-1.0 asks for that of GStreamer.
    return subprocess.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.0.0", name],
                          check=False, capture_output=True).returncode == 0


def element(launch):
    """A function that sends a page through one element and returns (ink, blank).

    blank is None if the element does not report it.
    """
    def run(gray):
        with tempfile.TemporaryDirectory() as folder:
            source, result = (str(pathlib.Path(folder, n)) for n in ("in.png", "out.png"))
            cv2.imwrite(source, gray, [cv2.IMWRITE_PNG_COMPRESSION, 1])
            done = subprocess.run(
                ["gst-launch-1.0", "-m", "filesrc", f"location={source}", "!", "pngdec", "!",
                 "video/x-raw,format=GRAY8", "!", *launch.split(), "!", "pngenc",
                 "compression-level=1", "snapshot=true", "!", "filesink", f"location={result}"],
                check=False, capture_output=True, text=True)
            out = cv2.imread(result, cv2.IMREAD_GRAYSCALE)
            if done.returncode or out is None:
                sys.exit(f"{launch}: failed\n{done.stdout[-2000:]}\n{done.stderr}")
        flag = re.search(r"\bblank=\(boolean\)(true|false)", done.stdout)
        return out < 128, flag.group(1) == "true" if flag else None
    return run


def doxa(algorithm, parameters):
    def run(gray):
        binarization = doxapy.Binarization(getattr(doxapy.Binarization.Algorithms, algorithm))
        binarization.initialize(gray)
        out = np.empty_like(gray)
        binarization.to_binary(out, parameters)
        return out == 0, None
    return run


def load(path):
    """Loads a Python file that has binarize(gray, level)."""
    spec = importlib.util.spec_from_file_location("prototype", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prototype(module, level):
    """A function that calls binarize of a Python file; it returns ink or (ink, blank)."""
    def run(gray):
        result = module.binarize(gray, level)
        if isinstance(result, tuple):
            return result
        if hasattr(module, "threshold"):  # the first prototype has its flag here
            return result, bool(module.threshold(gray, module.COARSE, module.EROSION)[3])
        return result, None
    return run


def ours(path=None):
    """The levels of cudabinarize, or of the Python file at path."""
    if path:
        module = load(path)
        return {level: prototype(module, level) for level in LEVELS}
    if not has_element("cudabinarize"):
        sys.exit("cudabinarize was not found: set GST_PLUGIN_PATH to the folder of "
                 "libgstcudascan.so, or give another implementation with --prototype FILE.py")
    # `report=message` posts what was measured, and with it whether the page is blank.
    return {level: element(f"cudabinarize level={level} report=message") for level in LEVELS}


def classical():
    """NICK, Wolf, Sauvola and Otsu by the elements of the plugin, or else by Doxa."""
    methods = {}
    for name, (launch, algorithm, parameters) in CLASSICAL.items():
        if has_element(launch.split()[0]):
            methods[name] = element(launch)
        elif doxapy:
            methods[name] = doxa(algorithm, parameters)
        else:
            sys.exit("set GST_PLUGIN_PATH to the folder of libgstcudascan.so, or "
                     "pip install doxapy")
    return methods


def of_doxa():
    """The methods that only Doxa has, with its defaults."""
    if not doxapy:
        print("doxapy is missing: without the methods of Doxa", file=sys.stderr)
        return {}
    return {name: doxa(algorithm, {}) for name, algorithm in DOXA.items()}


def ink(method, gray):
    return method(gray)[0]
