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
from unittest import mock

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
    from cudascan_archive import scan, volume
    from cudascan_archive.manifest import Volume
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
        """A program in place of cudascan-scan --serve that notes each run, does what `script`
        says, and then lets cudascan-scan make the run. "$out" is the folder that it writes to."""
        path = self.folder / name
        path.write_text(
            '#!/bin/bash\n'
            f'[ "$1" = --serve ] || exec "{scans.SCAN}" "$@"\n'
            'exec 3>&1 1>&2\n'
            'while IFS= read -r -d "" count; do\n'
            '  words=()\n'
            '  while [ ${#words[@]} -lt $count ]; do\n'
            '    IFS= read -r -d "" word; words+=("$word")\n'
            '    case $word in --output=*) out=${word#*=};; esac\n'
            '  done\n'
            f'  echo "$out" >>{self.folder}/calls\n'
            f'{script}\n'
            f'  setpriv --pdeathsig KILL -- "{scans.SCAN}" "${{words[@]}}" 3>&-\n'
            '  echo $? >&3\n'
            'done\n')
        path.chmod(0o755)
        return str(path)

    @staticmethod
    def make_volume(one, setup, on_page=lambda: None):
        """Makes a volume by a process of its own; what follows from it."""
        maker = scan.Program(setup.program)
        try:
            return volume.make(one, setup, maker, on_page)
        finally:
            maker.end()

    def calls(self):
        """How many runs the program has made, by volume."""
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


class OneVolume(Case):
    """The volume `a`, which is made without a cluster."""

    def setUp(self):
        super().setUp()
        self.source = self.volume("a")
        self.one = Volume("a", str(self.source))

    def setup_of(self, **more):
        self.number = getattr(self, "number", 0) + 1
        facts = {"dest": str(self.out), "run": f"run{self.number}", "version": version(),
                 "program": scans.SCAN, "options": self.options,
                 "scratch": str(self.folder / "scratch"), **more}
        return volume.Setup(**facts)

    def make(self, one=None, status="complete", setup=None, **more):
        result = self.make_volume(one or self.one, setup or self.setup_of(**more))
        self.assertEqual(result["status"], status, result)
        return result

    def made(self, name="a"):
        return self.tree(self.out / "volumes" / name)

    def check(self, name="a", *words):
        self.assertEqual(self.made(name), self.alone(name, *words))
        self.check_records()

    def killed_at(self, moment, setup, before=None):
        """Makes the volume in a process that ends after this many calls that change files."""
        child = os.fork()
        if child == 0:
            left = [moment]

            def counted(function):
                def call(*words, **more):
                    done = function(*words, **more)
                    if left[0] == 0:
                        os._exit(9)
                    left[0] -= 1
                    return done
                return call
            try:
                if before:
                    before().start()
                else:
                    for name in ("replace", "rename", "fsync", "makedirs", "unlink", "rmdir"):
                        mock.patch.object(os, name, counted(getattr(os, name))).start()
                self.make_volume(self.one, setup)
            finally:
                os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
