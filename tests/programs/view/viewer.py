# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of cudascan-view."""
import json
import os
import pathlib
import tempfile
import unittest

import program

try:
    from PIL import Image
except ImportError:
    Image = None

VIEW = os.environ["CUDASCAN_VIEW"]
# A picture without edges: all levels of gray.
SLOPE = ("videotestsrc num-buffers={} pattern=gradient ! "
         "video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1")


def view(*words, **more):
    return program.run([VIEW, *words], env={"DISPLAY": "", **more.pop("env", {})}, **more)


def stats_of(result):
    return json.loads(result.stdout.strip().splitlines()[-1])


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
