# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program cudascan-scan, and reads its journal and its statistics."""
import collections
import concurrent.futures
import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import urllib.parse

from . import place

JOURNAL = ".cudascan-scan.journal"
PART_NAMES = {"": "", "1": "left", "2": "right"}


class Stop(Exception):
    """The run cannot go on, whatever the volume."""


class Again(Exception):
    """This attempt has failed; another one may not."""


class SetAside(Exception):
    """Another attempt would fail, too."""


def version_of(program):
    """Such as 0.1.0. Throws Stop."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60,
                              check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Stop(f"--program={program} cannot be run on {os.uname().nodename}: {error}; it has "
                   "to be installed on every node, under the same path") from None
    return said.split()[-1]


def wrong_usage(program, words, pdf):
    """What cudascan-scan says to wrong options, or ""."""
    run = subprocess.run([program, *words, "--dry-run", "--files-from=/dev/null", "-o",
                          "x.pdf" if pdf else "x"],
                         capture_output=True, text=True, timeout=60, cwd="/")
    return run.stderr.strip() if run.returncode == 2 else ""


class Program:
    """cudascan-scan, in one process for all runs: it starts with the first one, and again after it
    has ended. It dies with this process. One run at a time."""

    def __init__(self, path):
        self.path, self.child = path, None
        # What `setpriv` starts dies with the thread that has started it, so this one stays.
        self.starter = concurrent.futures.ThreadPoolExecutor(1)

    def run(self, words, stall, on_page):
        """Makes a run. Returns its exit status, that of the process or minus its signal if it
        ended instead of answering, and the last lines that were said. It is killed when it says
        nothing, and so makes no page, for `stall` seconds.

        The protocol is that of examples/scan/serve.h."""
        if self.child is None or self.child.poll() is not None:
            self.end()
            self.child = self.starter.submit(self.started).result()
        lines = Lines(on_page)
        request = [str(len(words)).encode(), *map(os.fsencode, words)]
        with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
            self.child.stdin.write(b"".join(word + b"\0" for word in request))
        try:
            answer = self.answer(stall, lines)
            # What a run says is there before its answer is.
            while self.hear(lines):
                pass
            if not answer:
                return self.child.wait(stall), lines.said()
            understood = re.fullmatch(rb"(\d+)( end)?\n", answer)
            if not understood:
                raise Again(f"cudascan-scan has answered {answer!r} instead of a status")
            status, ends = understood.groups()
            if ends:
                self.child.wait(stall)
            return int(status), lines.said()
        except subprocess.TimeoutExpired:
            self.end()
            raise Again(f"no page was finished for {stall:g} s (--stall); cudascan-scan was "
                        "ended") from None
        except BaseException:
            self.end()
            raise

    def started(self):
        end_with_us = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        child = subprocess.Popen([*end_with_us, self.path, "--serve"], bufsize=0,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        os.set_blocking(child.stderr.fileno(), False)
        return child

    def answer(self, stall, lines):
        """The line that ends the run, or b"" if the process ends instead."""
        answer = b""
        with selectors.DefaultSelector() as streams:
            for stream in (self.child.stderr, self.child.stdout):
                streams.register(stream, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                ready = [key.fileobj for key, _ in streams.select(stall)]
                if not ready:
                    raise subprocess.TimeoutExpired(self.path, stall)
                if self.child.stderr in ready and self.hear(lines) == b"":
                    streams.unregister(self.child.stderr)
                if self.child.stdout in ready:
                    part = os.read(self.child.stdout.fileno(), 1 << 12)
                    if not part:
                        return b""
                    answer += part
        return answer

    def hear(self, lines):
        """Reads what is there. Returns it: b"" at the end, None if there is nothing."""
        try:
            part = os.read(self.child.stderr.fileno(), 1 << 16)
        except BlockingIOError:
            return None
        lines.add(part)
        return part

    def end(self):
        """Ends the process, and what it has started, if it is there."""
        if self.child is None:
            return
        if self.child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            stream.close()
        self.child = None


class Lines:
    """What a run says."""

    def __init__(self, on_page):
        self.on_page, self.part = on_page, b""
        self.last = collections.deque(maxlen=5)

    def add(self, data):
        *lines, self.part = (self.part + data).split(b"\n")
        for line in lines:
            self.last.append(line.decode("utf-8", "replace").rstrip())
            if re.match(rb"\d+/\d+ ", line):
                self.on_page()

    def said(self):
        """The last lines."""
        if self.part:
            self.add(b"\n")
        return "; ".join(self.last)


def read_stats(path):
    try:
        with open(path, "rb") as file:
            return json.loads(file.read().decode("utf-8", "replace"))
    except (OSError, ValueError) as error:
        raise Again(f"the statistics of cudascan-scan cannot be read: {error}") from None


def read_journal(path, base):
    """The pages that are finished, as rows without sizes, in the order of the inputs. The format
    is that of examples/scan/journal.cpp."""
    base = os.path.realpath(base)
    pages = {}
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    for line in lines:
        words = [place.printable(urllib.parse.unquote(word.decode("utf-8", "surrogateescape"),
                                                      errors="surrogateescape"))
                 for word in line.split(b"\t")]
        if words[-1] != "." or words[0] == "settings" or len(words) < 11:
            continue
        number, occurrence, _, _, output, path, read, _, made, state = words[:10]
        if state not in ("made", "claimed", "blank"):
            continue
        page, _, part = number.partition(":")
        also = words[10:-1]
        pages[path, int(page), part, occurrence] = {
            "input": os.path.relpath(path, place.printable(base)), "page": int(page) + 1,
            "part": PART_NAMES[part], "output": output, "sha256": made, "input_sha256": read,
            "blank": state == "blank" or output.startswith("blank/"),
            "also": [{"output": name, "sha256": digest}
                     for name, digest in zip(also[::2], also[1::2])]}
    return [pages[key] for key in sorted(pages)]
