# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by tests of programs: prints unittest's cases as TAP for `meson test`, and runs programs.

A test file ends with `program.main()`. Each case is a line "ok N - name" or "not ok N - name"; a
skipped case has its reason after "# SKIP". Arguments are names of cases to run, as for unittest.
"""
import os
import pathlib
import subprocess
import sys
import time
import unittest


class TapResult(unittest.TestResult):
    """Prints a line for each case as soon as it has ended. Errors go to standard error, as
    `meson test --print-errorlogs` shows that but not comments in TAP."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def line(self, ok, test, note=""):
        self.count += 1
        words = "ok" if ok else "not ok"
        print(f"{words} {self.count} - {test.id().removeprefix('__main__.')}{note}", flush=True)

    def wrong(self, test, error):
        self.line(False, test)
        print(self._exc_info_to_string(error, test), file=sys.stderr, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line(True, test)

    def addError(self, test, error):
        super().addError(test, error)
        self.wrong(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.wrong(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.wrong(subtest, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(True, test, " # SKIP " + reason)


def main():
    """Runs the cases of the calling file, or those named on the command line."""
    loader = unittest.defaultTestLoader
    module = sys.modules["__main__"]
    names = sys.argv[1:]
    suite = loader.loadTestsFromNames(names,
                                      module) if names else loader.loadTestsFromModule(module)
    result = TapResult()
    suite.run(result)
    print(f"1..{result.count}", flush=True)
    sys.exit(not result.wasSuccessful())


def run(command, timeout=60, **more):
    """Runs `command` and returns the text of both outputs. A program that hangs is a failure."""
    environment = {**os.environ, **more.pop("env", {})}
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          capture_output=True,
                          text=True, errors="replace", timeout=timeout, env=environment, **more)


def wait_until(true, what, seconds=30):
    """Waits until `true()` is true. After the time limit, fails with a message about `what`."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not in {seconds} s")
        time.sleep(0.005)


def wait_for_handler(process, number):
    """Waits until the program has a handler for this signal; earlier, the signal would kill it."""
    def caught():
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
        return int(mask, 16) >> (number - 1) & 1
    wait_until(caught, "a handler of signal " + str(number))
