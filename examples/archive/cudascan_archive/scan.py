# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program cudascan-scan, and reads its journal and its statistics."""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
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


def wrong_usage(program, words):
    """What cudascan-scan says to wrong options, or ""."""
    run = subprocess.run([program, *words, "--dry-run", "--files-from=/dev/null", "-o", "x"],
                         capture_output=True, text=True, timeout=60, cwd="/")
    return run.stderr.strip() if run.returncode == 2 else ""


def run(program, words, inputs, lock, stall, on_page):
    """Returns the exit status and the last lines that it said. It is killed when it makes no page
    for `stall` seconds, and dies with this process.

    @param lock  file descriptor that stays locked while the program runs
    """
    end_with_us = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
    child = subprocess.Popen([*end_with_us, program, *words, "--files-from=-", "--null"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, pass_fds=[lock], start_new_session=True)
    stalled = threading.Event()

    def end():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    def give_up():
        stalled.set()
        end()
    timer = threading.Timer(stall, give_up)
    timer.start()
    last = collections.deque(maxlen=5)
    try:
        try:
            child.stdin.write(b"".join(os.fsencode(name) + b"\0" for name in inputs))
            child.stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and says why
        for line in child.stdout:
            timer.cancel()
            timer = threading.Timer(stall, give_up)
            timer.start()
            last.append(line.decode("utf-8", "replace").rstrip())
            if re.match(rb"\d+/\d+ ", line):
                on_page()
        status = child.wait()
    finally:
        timer.cancel()
        if child.poll() is None:
            end()
            child.wait()
    if stalled.is_set():
        raise Again(f"no page was finished for {stall:g} s (--stall); cudascan-scan was ended")
    return status, "; ".join(last)


def read_stats(path):
    try:
        with open(path, "rb") as file:
            return json.loads(file.read().decode("utf-8", "replace"))
    except (OSError, ValueError) as error:
        raise Again(f"the statistics of cudascan-scan cannot be read: {error}") from None


def read_journal(folder, base):
    """The pages that are finished, as rows without sizes, in the order of the inputs. The format
    is that of examples/scan/journal.cpp."""
    base = os.path.realpath(base)
    pages = {}
    try:
        with open(os.path.join(folder, JOURNAL), "rb") as file:
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
