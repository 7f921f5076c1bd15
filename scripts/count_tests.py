#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums up the test cases of `meson test`: scripts/count_tests.py BUILD/meson-logs ...

Prints "N passed, N failed" (and ", N skipped" if there are any) and fails when something failed or
when nothing passed. A program that failed without a failed case, because it crashed, hung or leaked
at its end, counts as one failure.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

passed, failed, skipped = 0, 0, 0
for folder in map(pathlib.Path, sys.argv[1:]):
    failures = {}  # by program
    for suite in ElementTree.parse(folder / "testlog.junit.xml").iter("testsuite"):
        # The name is "project.program.Suite" for GoogleTest, otherwise "project" with a case for
        # each program. A program's name may be "project:suite / program".
        names = suite.get("name").split(".")
        for case in suite.iter("testcase"):
            program = (names[1] if len(names) > 1 else case.get("name")).split(" / ")[-1]
            failures.setdefault(program, 0)
            if case.find("failure") is not None or case.find("error") is not None:
                failures[program] += 1
            elif case.find("skipped") is not None:
                skipped += 1
            elif case.get("status") != "notrun":
                passed += 1
    for line in (folder / "testlog.json").read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        program = run["name"].split(" / ")[-1]
        if run["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") and not failures.get(program):
            failures[program] = 1
            # A hung program without a report of its cases appears as neither passed nor failed.
            passed -= run["result"] in ("TIMEOUT", "INTERRUPT")
    failed += sum(failures.values())

print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(failed > 0 or passed <= 0)
