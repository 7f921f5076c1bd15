# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of cudascan-archive: volumes, and what a single machine makes of them.

They run in the Python that scripts/archive_python.sh makes, if it is there: Debian has no Ray."""
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import uuid

PYTHON = os.environ.get("ARCHIVE_PYTHON", "")
if os.path.exists(PYTHON) and os.path.realpath(sys.prefix) != os.path.realpath(
        pathlib.Path(PYTHON).parent.parent):
    os.execv(PYTHON, [PYTHON, *sys.argv])

# A token for the clusters of these tests, or Ray makes one in the home folder.
os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=uuid.uuid4().hex)

import scans

HOW = "run scripts/archive_python.sh BUILD_FOLDER"
WHY_NOT = ""
try:
    import fsspec
    import pyarrow
    import ray
    assert fsspec and ray
except ImportError as error:
    WHY_NOT = f"{error.name} is not installed: {HOW}"
    pyarrow = None

KEEP = scans.KEEP
MAIN = [sys.executable, "-m", "cudascan_archive.main"]


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@functools.cache
def version():
    """Of the cudascan-scan under test."""
    return subprocess.run([scans.SCAN, "--version"], capture_output=True, text=True, timeout=60,
                          check=True).stdout.split()[-1]


def text_page(seed):
    return scans.text_page(248, 350, seed=seed)


class Case(scans.Case):
    """Volumes in `in/`, an archive in `out/`."""

    options = " ".join(KEEP)

    def setUp(self):
        super().setUp()
        if WHY_NOT:
            self.skipTest(WHY_NOT)

    def volume(self, name, pages=2, first=1):
        for number in range(pages):
            self.save(text_page(first + number), f"in/{name}/{number}.png")
        return self.folder / "in" / name

    def program(self, script, name="program"):
        """A program in place of cudascan-scan that notes its call, does what `script` says, and
        then becomes cudascan-scan. "$out" is the folder that it writes to."""
        path = self.folder / name
        path.write_text('#!/bin/bash\n'
                        'for word; do case $word in --output=*) out=${word#*=};; '
                        f'--version|--dry-run) exec "{scans.SCAN}" "$@";; esac; done\n'
                        f'echo "$out" >>{self.folder}/calls\n'
                        f'{script}\nexec "{scans.SCAN}" "$@"\n')
        path.chmod(0o755)
        return str(path)

    def calls(self):
        """How often the program has been called, by volume."""
        try:
            lines = (self.folder / "calls").read_text().split()
        except FileNotFoundError:
            return {}
        names = [pathlib.Path(line).parent.name for line in lines]
        return {name: names.count(name) for name in names}

    def alone(self, name, *words, source=None):
        """{file: bytes} that cudascan-scan makes of a volume by itself."""
        target = self.folder / "alone" / name
        shutil.rmtree(target, ignore_errors=True)
        self.scan(source or self.folder / "in" / name, "-o", f"{target}/", *KEEP, *words)
        return self.tree(target)

    @staticmethod
    def tree(folder):
        """{file: bytes} of a folder and its subfolders, without the journal."""
        return {str(path.relative_to(folder)): path.read_bytes()
                for path in sorted(pathlib.Path(folder).rglob("*"))
                if path.is_file() and path.name != scans.JOURNAL}

    def rows(self, kind, archive=None):
        """The rows of all records of a kind, in order."""
        import pyarrow.dataset
        folder = (archive or self.out) / "records" / kind
        return sorted(pyarrow.dataset.dataset(folder).to_table().to_pylist(),
                      key=lambda row: (row["volume"], row.get("output", "")))

    def check_records(self, archive=None):
        """Each file has one row, and each row with an output its file, with that checksum."""
        archive = archive or self.out
        files = {f"{row['volume']}/{file['output']}": file["sha256"]
                 for row in self.rows("pages", archive) for file in (row, *row["also"])
                 if file["output"]}
        self.assertEqual(files, {name: hashlib.sha256(data).hexdigest()
                                 for name, data in self.tree(archive / "volumes").items()})
        leftovers = [str(path) for path in archive.rglob("*")
                     if path.is_file() and path.name.startswith(".") and
                     path.name != scans.JOURNAL]
        self.assertEqual(leftovers, [])

    def manifest(self, rows, name="manifest.csv"):
        path = self.folder / name
        path.write_text("volume,input,options\n" +
                        "".join(",".join((*row, "", "")[:3]) + "\n" for row in rows))
        return path

    def archive(self, *words, status=0, timeout=120):
        """Runs the program in a process of its own, and returns what it says."""
        run = subprocess.run([*MAIN, *map(str, words)], cwd=self.folder, capture_output=True,
                             text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        said = run.stdout + run.stderr
        self.assertEqual(run.returncode, status, said)
        return said
