# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of cudascan-scan --serve: a process that makes runs, and the comparison of
its runs with the same runs in processes of their own."""
import json
import os
import pathlib
import re
import select
import shutil
import subprocess

import program
import scans

TIMES = {"seconds", "pages_per_second", "cpu_seconds", "gpu_busy", "breakdown_ms", "devices"}


class Server:
    """A process that makes runs, in a folder."""

    def __init__(self, test, folder, path=scans.SCAN, env=None):
        self.test = test
        self.process = subprocess.Popen(
            [path, "--serve"], cwd=folder, env={**os.environ, **(env or {})}, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(self.process.stderr.fileno(), False)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            test.addCleanup(stream.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def ask(self, *words):
        """Begins a run."""
        words = [str(len(words)).encode(), *map(os.fsencode, words)]
        self.process.stdin.write(b"".join(word + b"\0" for word in words))

    def answer(self, seconds=60):
        """The line that ends a run, and what the run said."""
        line = said = b""
        streams = [self.process.stdout, self.process.stderr]
        while not line.endswith(b"\n"):
            ready = select.select(streams, [], [], seconds)[0]
            self.test.assertTrue(ready, "no answer")
            if self.process.stderr in ready:
                said += self.heard()
            if self.process.stdout in ready:
                part = os.read(self.process.stdout.fileno(), 100)
                self.test.assertTrue(part, "the process has ended without an answer: " +
                                     repr(said + self.heard()))
                line += part
        said += self.heard()
        return line.decode().strip(), said.decode("utf-8", "replace")

    def heard(self):
        heard = b""
        while True:
            try:
                part = os.read(self.process.stderr.fileno(), 1 << 16)
            except BlockingIOError:
                return heard
            if not part:
                return heard
            heard += part

    def run(self, *words):
        self.ask(*words)
        return self.answer()

    def end(self, status=0):
        """Ends the input."""
        self.process.stdin.close()
        self.test.assertEqual(self.process.wait(60), status, self.heard().decode())

    def facts(self, name):
        """A number of /proc/PID/status."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"(?m)^{name}:\s*(\d+)", text)[1])


class Case(scans.Case):
    def setUp(self):
        super().setUp()
        self.here, self.alone = self.folder / "here", self.folder / "alone"
        self.fill("here/in")
        shutil.copytree(self.here, self.alone)  # with the same times

    def fill(self, name):
        for number in range(3):
            self.save(scans.text_page(248, 350, seed=number), f"{name}/{number}.png",
                      dpi=(100, 100))
        (self.folder / name / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\nxx")

    @staticmethod
    def said(text):
        """Messages without times and numbers that differ by chance, in any order."""
        text = re.sub(r"in [0-9.]+ s, [0-9.]+ pages/s", "in TIME", text)
        text = re.sub(r"  ms: read .*", "", text)
        text = re.sub(r"ms of a core for a page: .*", "TIMES", text)
        text = re.sub(r"busy [0-9.]+ %", "busy", text)
        text = re.sub(r"GPU (\d): \d pages", r"GPU \1: N pages", text)
        text = re.sub(r"on GPU \d", "on GPU N", text)
        text = re.sub(r"(?m)^\d+/(\d+) ", r"N/\1 ", text)
        return sorted(text.splitlines())

    def statistics_of(self, path):
        """Statistics without times, and without what differs by chance."""
        if not path.exists():
            return None
        stats = {key: value for key, value in json.loads(path.read_text()).items()
                 if key not in TIMES}
        stats["page_list"] = sorted(
            ({key: value for key, value in page.items()
              if not key.endswith("_ms") and key != "device"} for page in stats["page_list"]),
            key=lambda page: page["input"])
        return stats

    def files(self, root):
        """{name: bytes} of all files of runs; lines of a journal in any order, without times."""
        return {str(path.relative_to(root)): sorted(path.read_bytes().replace(
                    bytes(root), b"ROOT").splitlines()) if path.name == scans.JOURNAL else
                path.read_bytes() for path in root.rglob("*")
                if path.is_file() and path.name != "stats.json"}

    def compare(self, runs, server, path=scans.SCAN, env=None):
        """Makes runs both ways. Returns the answers."""
        answers = []
        for words in runs:
            for root in (self.here, self.alone):
                (root / "stats.json").unlink(missing_ok=True)
            with self.subTest(words):
                status, said = server.run(*words)
                own = program.run([path, *words], cwd=self.alone, env=env or {})
                self.assertEqual(status.split()[0], str(own.returncode), said + own.stderr)
                self.assertEqual(self.said(said), self.said(own.stdout + own.stderr))
                self.assertEqual(*(self.statistics_of(root / "stats.json")
                                   for root in (self.here, self.alone)))
                self.assertEqual(self.files(self.here), self.files(self.alone))
            answers.append(status)
        return answers
