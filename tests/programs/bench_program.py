# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of cudascan-bench and of the page that report.py makes.

Environment: CUDASCAN_BENCH is the program, CUDASCAN_BENCH_REPORT is report.py.
"""
import html.parser
import json
import os
import pathlib
import sys
import tempfile
import unittest

import program

BENCH = os.environ.get("CUDASCAN_BENCH")
REPORT = os.environ["CUDASCAN_BENCH_REPORT"]
MACHINE = {"gpu": "Test GPU", "cpu": "Test CPU <1>", "cores": 4, "driver": "1.2", "cuda": "13.0",
           "gstreamer": None}


class Page(html.parser.HTMLParser):
    """Checks that tags are closed in order, and collects references, names and texts."""

    EMPTY = {"meta", "br", "img", "link", "hr", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.names, self.texts, self.tags = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "data", "srcset"):
                self.references.append((tag, value))
            if name == "id":
                self.names.append(value)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            raise AssertionError(f"</{tag}> closes {self.open[-3:]}")
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.output = self.folder / "page.html"

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def report(self, *words, **more):
        return program.run([sys.executable, REPORT, "--output", self.output, *words], **more)


@unittest.skipUnless(BENCH, "cudascan-bench was not built")
class BenchTest(WithFolder):
    """With the output of cudascan-bench."""

    def bench(self, *words):
        path = self.folder / "bench.json"
        done = program.run([BENCH, "--quick", "--cpu-only", "--json", path, *words])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(path.read_text()), done.stdout


class PageTest(WithFolder):
    """With pages of results."""

    @classmethod
    def setUpClass(cls):
        done = program.run([sys.executable, "-c", "import matplotlib"])
        if done.returncode:
            raise unittest.SkipTest("Python has no matplotlib")

    def page(self, *words):
        done = self.report(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.output.read_text()
        page = Page(text)
        self.assertEqual(page.open, [])
        return page, text
