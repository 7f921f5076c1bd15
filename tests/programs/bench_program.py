# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of cudascan-bench and of the page that report.py makes.

Environment: CUDASCAN_BENCH is the program, CUDASCAN_BENCH_REPORT is report.py.
"""
import html.parser
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import program

BENCH = os.environ.get("CUDASCAN_BENCH")
REPORT = os.environ["CUDASCAN_BENCH_REPORT"]
MACHINE = {"gpu": "Test GPU", "cpu": "Test CPU <1>", "cores": 4, "driver": "1.2", "cuda": "13.0",
           "gstreamer": None, "date": "2026-11-27"}


class Page(html.parser.HTMLParser):
    """Checks that tags are closed in order, and collects references, names and texts."""

    EMPTY = {"meta", "br", "img", "link", "hr", "input"}
    #: What a tag ends that may be left open.
    ENDS = {"td": {"td", "th"}, "th": {"td", "th"}, "tr": {"td", "th", "tr"},
            "/thead": {"td", "th", "tr"}, "/tbody": {"td", "th", "tr"}}

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.names, self.texts, self.tags = [], [], [], [], []
        self.feed(text)
        self.close()

    def end_others(self, tag):
        while self.open and self.open[-1] in self.ENDS.get(tag, ()):
            self.open.pop()

    def handle_starttag(self, tag, attributes):
        self.end_others(tag)
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
        self.end_others("/" + tag)
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
    """With pages of results: the one for visitors, and the one with all rows next to it."""

    @classmethod
    def setUpClass(cls):
        done = program.run([sys.executable, "-c", "import matplotlib"])
        if done.returncode:
            raise unittest.SkipTest("Python has no matplotlib")

    def read(self, path):
        text = path.read_text()
        page = Page(text)
        self.assertEqual(page.open, [])
        return page, text

    def page(self, *words):
        """The page for visitors: parsed, and as text."""
        done = self.report(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.read(self.output)

    def all_rows(self):
        """The other page of the same run."""
        return self.read(self.folder / "page-all.html")

    def plots(self, text):
        """Each plot with its key, by its title."""
        return {re.search('aria-label="(.*?)"', plot)[1]: plot
                for plot in re.findall(r'<div class="plot">.*?</div>', text, re.S)}

    def check_plot(self, plot):
        """All points and bars are inside the axes, and all labels inside the picture. Returns the
        number of points."""
        svg = plot[plot.index("<svg"):plot.index("</svg>")]
        width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
        left, top, right, bottom = map(float, re.search('data-axes="(.*?)"', svg)[1].split())
        self.assertTrue(0 <= left < right <= width and 0 <= top < bottom <= height, svg[:200])
        points = 0
        for path in re.findall(r'<path d="([^"]*)"', svg):
            for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path):
                self.assertTrue(left - .2 <= float(x) <= right + .2, (x, left, right, path))
                self.assertTrue(top - .2 <= float(y) <= bottom + .2, (y, top, bottom, path))
            points += path.count("h0")
        for x, y, words in re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)', svg):
            self.assertTrue(0 <= float(x) <= width and 0 <= float(y) <= height, words)
        return points
