# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and checks the files of the benchmarks."""
import json
import lzma
import math
import re
import tarfile
import zlib

WRITERS = {"kernels": "cudascan-bench --json", "pipelines": "cudascan-pipeline-bench --json",
           "gswo": "gswo_figures.py --json"}
# Keys of rows that the page shows: words and numbers, if present and not null.
WORDS = ("section", "name", "backend", "operator", "series", "parameter", "published", "error",
         "note", "where", "element", "library")
NUMBERS = ("width", "height", "depth", "value", "us", "warm_us", "mpx_per_s", "floor_us", "goal_us",
           "peer_us", "ratio", "goal_ratio", "published_us", "published_speedup", "baseline_us",
           "speedup", "ms_per_pixel", "ms_offset", "r2", "baseline_ms_per_pixel",
           "baseline_ms_offset", "baseline_r2", "published_ms_per_pixel", "published_ms_offset",
           "fps", "streams", "cpu_us_per_frame", "syncs_per_frame", "fps_in", "frames", "dropped",
           "threads", "gpus", "tests", "passed", "skipped", "gb_per_s", "copy_us",
           "peer_copies_per_frame", "pages_per_second", "gpu_busy")
LINKS = "links between host and GPUs"
# A row of a later file replaces an earlier row that is equal in all of these.
IDENTITY = ("table", "section", "name", "width", "height", "depth", "backend", "series", "where",
            "streams", "gpus", "threads", "queues", "fps_in", "peer", "element", "library")
OBJECTS = ("latency_us", "sensor_us", "added_us", "breakdown_ms")
GSWO_NUMBERS = ("width", "height", "window")
GSWO_OBJECTS = ("published", "sequential_ms", "openacc_ms", "npp_kernel_ms", "warm_ms", "whole_ms",
                "openmp_ms", "pixels_different", "pixels_compared")


def of_several(row):
    """Whether the row is of a table that depends on how many GPUs the machine has."""
    return (row["table"] in ("gpus", LINKS) or row["table"].endswith(" several GPUs")
            or row["table"] == "scan" and number(row.get("gpus")))


class Unusable(Exception):
    """A sentence for the user: what cannot be used, and why."""


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


class Results:
    """All rows, in the order of the files, each with the machine it was measured on. `machines` has
    the tables and the machine of each file."""

    def __init__(self):
        self.machines, self.rows, self.gswo = [], [], []
        self.files, self.missing = 0, []  # how many were read, and what could not be measured

    def lack(self, sentence):
        self.missing.append(sentence)

    def read(self, kind, path, optional=False):
        """Adds a file; raises Unusable.
        @param optional  leave out a file without rows"""
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            raise Unusable(f"--{kind} {path}: file not found") from None
        except OSError as error:
            raise Unusable(f"--{kind} {path}: {error.strerror}") from None
        self._add(kind, f"--{kind} {path}", text, optional)

    def read_archive(self, path):
        """Adds all files NAME.json of a tar archive, in its order; raises Unusable. Nothing is
        unpacked to the disk."""
        name, found = f"--archive {path}", False
        try:
            with tarfile.open(path) as archive:
                for member in archive:
                    if member.isfile() and member.name.endswith(".json"):
                        found = True
                        text = archive.extractfile(member).read()
                        kind = "gswo" if re.search(rb'"cases"\s*:', text) else "kernels"
                        self._add(kind, f"{name}, {member.name}", text)
        except FileNotFoundError:
            raise Unusable(f"{name}: file not found") from None
        except OSError as error:
            raise Unusable(f"{name}: {error.strerror or error}") from None
        except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise Unusable(f"{name}: this is not a tar archive ({error}); it should have the files "
                           "of --json") from None
        if not found:
            raise Unusable(f"{name}: it has no file NAME.json; it should have the files of --json")

    def _add(self, kind, name, text, optional=False):
        try:
            content = json.loads(text.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise Unusable(f"{name}: this is not JSON ({error}); it should be what "
                           f"`{WRITERS[kind]}` writes") from None
        self._check(kind, name, content)
        if optional and not content["rows"]:
            return
        self.files += 1
        if kind == "gswo":
            self.gswo.append(content)
            self.machines.append((["gswo"], content["machine"]))
            return
        self.machines.append(([row["table"] for row in content["rows"]], content["machine"]))
        rows = [{**row, "machine": content["machine"]} for row in content["rows"]]
        measured = {self.identity(row) for row in rows}
        self.rows = [row for row in self.rows if self.identity(row) not in measured] + rows

    @staticmethod
    def identity(row):
        """The keys and values that two measurements of the same thing have in common."""
        gpus = row.get("machine", {}).get("gpus") if of_several(row) else None
        return (*(str(row.get(name)) for name in IDENTITY), gpus)

    @staticmethod
    def _check(kind, name, content):
        def refuse(what):
            raise Unusable(f"{name}: {what}; it should be what `{WRITERS[kind]}` writes")

        key = "cases" if kind == "gswo" else "rows"
        if not isinstance(content, dict):
            refuse(f'not an object with "machine" and "{key}"')
        for name, kind_of in (("machine", dict), (key, list)):
            if not isinstance(content.get(name), kind_of):
                refuse(f'"{name}" is missing or has the wrong type')
        needed = "filter" if kind == "gswo" else "table"
        for i, row in enumerate(content[key]):
            if not isinstance(row, dict) or not isinstance(row.get(needed), str):
                refuse(f'entry {i + 1} of "{key}" has no "{needed}"')
            of_gswo = kind == "gswo"
            for names, good, what in (
                    (() if of_gswo else WORDS, lambda v: isinstance(v, str), "text"),
                    (GSWO_NUMBERS if of_gswo else NUMBERS, number, "number"),
                    (GSWO_OBJECTS if of_gswo else OBJECTS,
                     lambda v: isinstance(v, dict), "object"),
                    (("figures",) if of_gswo else (), lambda v: isinstance(v, list), "list")):
                for name in names:
                    if row.get(name) is not None and not good(row[name]):
                        refuse(f'"{name}" of entry {i + 1} of "{key}" is not of type {what}')

    def of(self, table):
        return [row for row in self.rows if row["table"] == table]

    def tables(self, test):
        """Names of tables that pass, in the order of their first rows."""
        return list(dict.fromkeys(row["table"] for row in self.rows if test(row["table"])))
