#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Types docs/tutorial.md into a shell as it stands, and looks at what comes of it.

    scripts/check_tutorial.py [--debian ROOT] FOLDER

What is indented is typed. What is in ```text must be in the output of the command before it, with
"..." for any characters. Files are saved and changed where the page says so. The address of the
repository is that of this one: its last commit is cloned. FOLDER, which must be empty, is the home
of the shell, and keeps pictures of the windows; its display is made by Xvfb. CXXFLAGS is handed
on, so that the builds may leave out optimisation.

With --debian the shell is that of a new user in a folder with a whole Debian, which has sudo and
needs nothing else, such as make_debian of setup.sh makes it. It is changed, and this machine is
not. This needs root.

Without it, run it only on a machine that may be changed, as root or with sudo: quickstart installs
packages. Needs python3-pexpect, python3-numpy, python3-pil, poppler-utils and xvfb.
"""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pexpect
from PIL import Image, ImageGrab

ROOT = pathlib.Path(__file__).resolve().parents[1]
STEPS = re.compile(
    r"^## (?P<part>\d+\. [^\n]*)$|"
    r"Save\s+this\s+as\s+`(?P<name>[^`]+)`[^`]*^```\w+\n(?P<file>.*?)^```$|"
    r"Change\s+`(?P<old>[^`]+)`\s+to\s+`(?P<new>[^`]+)`\s+in\s+`(?P<changed>[^`]+)`|"
    r"^```text\n(?P<output>.*?)^```$|"
    r"^ {4}(?P<command>[^\n]*)$", re.M | re.S)
STATUS = r"status (\d+)\r"
MINUTES = 15  # for one command; far more than it takes


def gray(path):
    return np.asarray(Image.open(path).convert("L")).astype(int)


def is_bilevel(image):
    return bool(np.isin(image, (0, 255)).all())


def tilt(image):
    """How far the lines of a page climb, in degrees: where the sums of rows vary most."""
    page = Image.fromarray(image.astype(np.uint8)).resize((1240, 1754))
    angles = np.arange(-1.5, 1.51, 0.05)
    return max(angles, key=lambda angle: np.var(np.asarray(
        page.rotate(-angle, fillcolor=255)).astype(int).sum(axis=1)))


def agreement(one, other):
    return np.mean(one == other)


# Ends with all its processes. The repository is at its own place there, to be cloned.
IN_DEBIAN = """
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mkdir -p "$1$2"
mount --bind -o ro "$2" "$1$2"
exec /usr/sbin/chroot --userspec=visitor "$1" /bin/bash -c 'cd && exec bash --norc'
"""


def add_user(debian):
    """Adds the user "visitor" and returns the home, as seen from there."""
    subprocess.run(["/usr/sbin/chroot", debian, "/usr/sbin/useradd", "-m", "visitor"], check=True)
    (debian / "etc/sudoers.d/visitor").write_text("visitor ALL=(ALL) NOPASSWD: ALL\n")
    for name in ("hosts", "resolv.conf"):
        shutil.copy(pathlib.Path("/etc") / name, debian / "etc" / name)
    return pathlib.Path("/home/visitor")


class Visit:
    def __init__(self, folder, display, debian):
        self.folder, self.display = folder, display
        self.window = False  # whether the command that was typed last has one
        self.output = ""     # of that command
        home = add_user(debian) if debian else folder
        self.home = debian / home.relative_to("/") if debian else folder
        self.clone = self.home / "gst-cudascan"
        (self.home / "bin").mkdir()
        self.program("nvidia-smi", "exit 1")  # the page is for a machine without a GPU
        if not debian and not shutil.which("sudo"):
            self.program("sudo", 'PATH=$PATH:/usr/sbin:/sbin exec "$@"')
        (self.home / ".gitconfig").write_text(
            f'[url "file://{ROOT}"]\n\tinsteadOf = https://ADDRESS\n'
            f"[safe]\n\tdirectory = {ROOT}/.git\n")
        start = ["/bin/bash", "--norc"]
        if debian:
            start = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation",
                     "private", "/bin/bash", "-ec", IN_DEBIAN, "bash", str(debian), str(ROOT)]
        kept = {name: value for name, value in os.environ.items()
                if name == "CXXFLAGS" or name.lower().endswith("_proxy")}
        self.shell = pexpect.spawn(start[0], start[1:], cwd=folder, encoding="utf-8",
                                   codec_errors="replace", dimensions=(50, 1000), env={
            **kept, "HOME": str(home), "SHELL": "/bin/bash", "LANG": "C.UTF-8",
            "PATH": f"{home}/bin:/usr/local/bin:/usr/bin:/bin",
            # With every prompt, also in a shell that a command starts.
            "PROMPT_COMMAND": 'echo "status $?"',
            "TERM": "dumb", "PAGER": "cat", "DISPLAY": display, "NO_AT_BRIDGE": "1"})
        self.shell.logfile_read = sys.stdout
        self.shell.expect(STATUS)

    def program(self, name, line):
        path = self.home / "bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def screen(self):
        return np.asarray(ImageGrab.grab(xdisplay=self.display).convert("L")).astype(int)

    def type(self, command):
        """Types it, and waits for its end or for a window."""
        self.close()
        self.shell.sendline(command)
        end = time.monotonic() + 60 * MINUTES
        self.output = ""
        while True:
            ended = self.shell.expect([STATUS, pexpect.TIMEOUT], timeout=0.5) == 0
            if ended:
                self.output = re.sub(r"\x1b\[[\d;]*[A-Za-z]|\r", "", self.shell.before)
                assert self.shell.match[1] == "0", f"{command}: status {self.shell.match[1]}"
                return
            assert time.monotonic() < end, f"{command}: not done in {MINUTES} minutes"
            if self.screen().any():
                self.window = True
                return

    def close(self):
        """Ends the program that has a window."""
        if not self.window:
            return
        self.shell.sendcontrol("c")
        end = time.monotonic() + 30
        while self.screen().any():
            assert time.monotonic() < end, "the window stays after Ctrl+C"
            time.sleep(0.2)
        self.shell.expect(STATUS)
        self.window = False

    def end(self):
        """Ends the shell and what runs in it."""
        with contextlib.suppress(OSError):
            os.killpg(os.tcgetpgrp(self.shell.child_fd), signal.SIGKILL)
        self.shell.close(force=True)

    def prints(self, expected):
        pattern = re.escape(expected.strip()).replace(r"\.\.\.", ".*")
        assert re.search(pattern, self.output, re.S), f"not printed:\n{expected}"

    def see(self, name, true):
        """Waits until `true(screen)`, and keeps a picture of the window."""
        assert self.window, f"{name}: there is no window"
        end = time.monotonic() + 60
        while True:
            screen = self.screen()
            seen = true(screen)
            if seen or time.monotonic() > end:
                Image.fromarray(screen.astype(np.uint8)).save(self.folder / f"{name}.png")
                assert seen, f"{name}: the window does not show what it should"
                return screen
            time.sleep(0.5)


def grays(part):
    """The share of samples that are neither black nor white."""
    return np.mean((part > 40) & (part < 215))


def halves(screen):
    """The page in cudascan-view, left and right of the line between before and after. There are
    dark bars on both sides of it. Nothing if there is no page."""
    dark = np.pad((screen[100:500] < 16).all(axis=0), 1).astype(int)
    begins, ends = (np.flatnonzero(np.diff(dark) == step) for step in (1, -1))
    bars = [(begin, end) for begin, end in zip(begins, ends) if end - begin > 50]
    left, right = (bars[0][1], bars[1][0]) if len(bars) > 1 else (0, 0)
    middle = (left + right) // 2
    return screen[100:500, left + 10:middle - 10], screen[100:500, middle + 10:right - 10]


def before_and_after(screen):
    before, after = halves(screen)
    return (after.shape[1] > 50 and grays(before) > 0.5 and grays(after) < 0.25
            and np.mean(after > 250) > 0.5)


def check_page(visit):
    clean = gray(visit.clone / "build/sample-clean.png")
    assert is_bilevel(clean) and 0.05 < np.mean(clean == 0) < 0.1, "the page is not clean"
    assert tilt(clean) > 0.25, "the sample is straight already"
    subprocess.run(["pdfimages", "-png", visit.clone / "build/page.pdf", visit.folder / "page"],
                   check=True)
    straight = gray(visit.folder / "page-000.png")
    assert is_bilevel(straight), "the page of the PDF is not black and white"
    assert abs(tilt(straight)) <= 0.1, f"the page of the PDF climbs by {tilt(straight)} degrees"


def check_window(visit):
    visit.see("window", before_and_after)


def check_pipeline(visit):
    def ring(screen):
        white = np.mean(screen[:240, :320] > 200)
        return 0.002 < white < 0.2 and grays(screen[:240, :320]) < 0.01
    first = visit.see("ring", ring)
    visit.see("ring-later", lambda screen: ring(screen) and (screen != first).any())


def check_filter(visit):
    ink, clean = (gray(visit.clone / "build" / name) for name in ("ink.png", "sample-clean.png"))
    assert is_bilevel(ink) and agreement(ink, clean) > 0.97, "the filter's page is not clean"
    visit.see("filter", before_and_after)


def check_changed_filter(visit):
    def much_ink(screen):
        after = halves(screen)[1]
        return after.size and np.mean(after < 100) > 0.2
    visit.see("filter-changed", much_ink)


def check_program(visit):
    ink = float(re.findall(r"([\d.]+) % ink", visit.output)[-1])
    clean = gray(visit.clone / "build/sample-clean.png")
    assert abs(ink - 100 * np.mean(clean == 0)) < 1e-3, f"{ink} % is not the ink of the page"


# What is looked at when: a part, and the step after which.
CHECKS = {(1, "output", 2): check_page, (2, "command", 1): check_window,
          (3, "command", 2): check_pipeline, (4, "command", 2): check_filter,
          (4, "changed", 1): check_changed_filter, (5, "output", 1): check_program}


def take(visit, text):
    """Takes the steps of the page in order."""
    open_checks, part, counts, begun = dict(CHECKS), 0, {}, time.monotonic()

    def end_part():
        visit.close()
        print(f"\n== Part {part} took {time.monotonic() - begun:.0f} s", flush=True)

    for step in STEPS.finditer(text):
        kind = step.lastgroup
        if kind == "part":
            if part:
                end_part()
            part, counts, begun = int(step["part"].split(".")[0]), {}, time.monotonic()
        elif kind == "file":
            (visit.clone / step["name"]).write_text(step["file"])
        elif kind == "changed":
            path = visit.clone / step["changed"]
            assert step["old"] in path.read_text(), f"{path.name} has no {step['old']}"
            path.write_text(path.read_text().replace(step["old"], step["new"]))
        elif kind == "output":
            visit.prints(step["output"])
        else:
            visit.type(step["command"])
        counts[kind] = counts.get(kind, 0) + 1
        check = open_checks.pop((part, kind, counts[kind]), None)
        if check:
            check(visit)
    end_part()
    assert not open_checks, f"the page has no longer what these look at: {list(open_checks)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--debian", type=pathlib.Path, metavar="ROOT",
                        help="in this folder with a whole Debian, as a new user")
    parser.add_argument("folder", type=pathlib.Path, help="for pictures; must be empty")
    arguments = parser.parse_args()
    folder, debian = arguments.folder.resolve(), arguments.debian and arguments.debian.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder}: must be empty")
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1500x1000x24",
                               "-nolisten", "tcp", "-noreset"], pass_fds=[write],
                              stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as display:
        display = ":" + display.readline().strip()
    visit = None
    try:
        visit = Visit(folder, display, debian)
        take(visit, (ROOT / "docs/tutorial.md").read_text(encoding="utf-8"))
    except (AssertionError, pexpect.ExceptionPexpect) as error:
        sys.exit(f"\n{error}")
    finally:
        if visit:
            visit.end()
        server.terminate()
        server.wait()
    print("\n== The tutorial works as it stands")


if __name__ == "__main__":
    main()
