# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan in folders that others can write to: links and journals that an attacker has
prepared, and runs in containers."""
import fcntl
import os
import shutil
import subprocess
import unittest

import program
import scans

SMALL = (124, 175)
PAGES = 12  # pages for runs at the same time
CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]


def can_unshare(words):
    return bool(shutil.which("unshare")) and program.run([*words, "true"]).returncode == 0


class Planted(scans.Case):
    """Links to a file and to a free name, under every name that the program may create."""

    def setUp(self):
        super().setUp()
        self.page = self.save(scans.text_page(), "page.png")
        self.victim, self.free = self.folder / "victim", self.folder / "free"
        self.victim.write_text("mine")
        self.out.mkdir()

    def check(self, link, *words, status=0, **more):
        """A run with this link must have this exit status and must not write through the link."""
        for target in (self.victim, self.free):
            with self.subTest(f"{link} -> {target.name}"):
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)
                said = self.scan("page.png", *words, status=status, **more)
                self.assertEqual(self.victim.read_text(), "mine")
                self.assertFalse(self.free.exists())
                self.assertTrue(link.is_symlink())
                link.unlink()
                if status:
                    self.assertIn(link.name, said)

    def test_pages(self):
        self.check(self.out / "page.tif", "-o", "out")
        self.assertEqual(self.outputs(), ["page-1.tif", "page-2.tif"])

    def test_journal(self):
        self.check(self.out / scans.JOURNAL, "-o", "out", status=3)
        self.check(self.out / scans.JOURNAL, "-o", "out", "--resume", status=3)

    def test_unfinished_files_whose_names_can_be_guessed(self):
        for target in (self.victim, self.free):
            plant = lambda: [os.symlink(target,
                                        self.out / f".cudascan-scan-{os.getpid()}-{count}.tmp")
                             for count in range(3)]
            self.scan("page.png", "-o", "out", preexec_fn=plant)
            self.assertEqual(self.victim.read_text(), "mine")
            self.assertFalse(self.free.exists())

    def test_pdf(self):
        self.check(self.folder / "book.pdf", "-o", "book.pdf")
        self.assertTrue((self.folder / "book-2.pdf").read_bytes().startswith(b"%PDF"))

    def test_work_folder_of_a_pdf(self):
        other = self.folder / "other"
        other.mkdir()
        link = self.folder / "book.pdf.pages"
        link.symlink_to(other)
        said = self.scan("page.png", "-o", "book.pdf", "--resume", status=3)
        self.assertIn("book.pdf.pages: is not a folder; remove it", said)
        self.scan("page.png", "-o", "book.pdf")
        self.assertTrue((self.folder / "book-1.pdf").exists())
        self.assertEqual(list(other.iterdir()), [])
        self.assertTrue(link.is_symlink())

    def test_files_in_the_work_folder(self):
        pages = self.folder / "book.pdf.pages"
        self.check(pages / scans.JOURNAL, "-o", "book.pdf", "--resume", status=3)
        self.check(pages / "book.pdf", "-o", "book.pdf", "--resume", status=3)

    def test_statistics(self):
        self.check(self.out / "stats.json", "-o", "out", "--stats=out/stats.json", status=3)
        pipe = subprocess.run([scans.SCAN, "--backend=cpu", "page.png", "-o", "out",
                               "--stats=/dev/stdout"],
                              cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60)
        self.assertEqual(pipe.returncode, 0, pipe.stderr)
        self.assertIn(b'"pages": 1', pipe.stdout)

    def test_pipes_are_not_waited_for(self):
        os.mkfifo(self.out / ".cudascan-scan-1-0.tmp")
        self.scan("page.png", "-o", "out")
        (self.out / scans.JOURNAL).unlink()
        os.mkfifo(self.out / scans.JOURNAL)
        said = self.scan("page.png", "-o", "out", status=3)
        self.assertIn(f"{scans.JOURNAL}: is not a regular file; remove it", said)


class Journals(scans.Case):
    """--resume with a journal that was forged by somebody who knows the input files."""

    def setUp(self):
        super().setUp()
        self.page = self.save(scans.text_page(), "page.png")
        self.victim = self.folder / "victim.tif"
        scans.text_page(seed=7).convert("1").save(self.victim, compression="group4")
        self.before = self.victim.read_bytes()
        self.lines = []
        self.scan("page.png", "-o", "alone/book.pdf")

    def write(self, folder, output):
        """Copies the journal of a real run and changes the name of the output in it."""
        if not self.lines:
            self.scan("page.png", "-o", "probe")
            self.lines = (self.folder / "probe" / scans.JOURNAL).read_bytes().splitlines()
            self.assertIn(b"page.tif", [line.split(b"\t")[4:5] for line in self.lines][-1])
        folder.mkdir()
        words = [line.split(b"\t") for line in self.lines]
        for line in words:
            if line[4:5] == [b"page.tif"]:
                line[4] = os.fsencode(output)
        (folder / scans.JOURNAL).write_bytes(b"\n".join(b"\t".join(line) for line in words) + b"\n")

    def check(self, output, plant=lambda folder: None):
        with self.subTest(output):
            pages = self.folder / "book.pdf.pages"
            for folder in (pages, self.out):
                shutil.rmtree(folder, ignore_errors=True)
            (self.folder / "book.pdf").unlink(missing_ok=True)
            self.victim.write_bytes(self.before)
            self.write(pages, output)
            plant(pages)
            said = self.scan("page.png", "-o", "book.pdf", "--resume")
            self.assertIn("1 page in", said)
            self.assertNotIn("done before", said)
            self.assertEqual(self.victim.read_bytes(), self.before)
            self.assertEqual((self.folder / "book.pdf").read_bytes(),
                             (self.folder / "alone/book.pdf").read_bytes())
            self.write(self.out, output)
            plant(self.out)
            self.scan("page.png", "-o", "out", "--resume")
            self.assertIn("page.tif", self.outputs())
            self.assertEqual(self.victim.read_bytes(), self.before)

    def test_names_outside_of_the_folder(self):
        for output in ("../victim.tif", str(self.victim), "inner/../../victim.tif",
                       "./../victim.tif", ".", "..",
                       "", "%2e%2e/victim.tif", "..%2fvictim.tif", "a%00b", scans.JOURNAL):
            self.check(output, lambda folder: (folder / "inner").mkdir())

    def test_what_is_no_regular_file(self):
        self.check("link.tif", lambda folder: (folder / "link.tif").symlink_to("../victim.tif"))
        self.check("pipe.tif", lambda folder: os.mkfifo(folder / "pipe.tif"))
        self.check("folder.tif", lambda folder: (folder / "folder.tif").mkdir())


class Locks(scans.Case):
    def lock(self, path):
        file = os.open(path, os.O_RDONLY)
        self.addCleanup(os.close, file)
        fcntl.flock(file, fcntl.LOCK_EX)

    def test_unfinished_files_of_living_runs_stay(self):
        self.save(scans.text_page(), "page.png")
        self.out.mkdir()
        for name in ("living", "killed"):
            (self.out / f".cudascan-scan-{name}.tmp").write_bytes(b"half a page")
        self.lock(self.out / ".cudascan-scan-living.tmp")
        self.scan("page.png", "-o", "out")
        self.assertEqual(self.outputs(), [".cudascan-scan-living.tmp", "page.tif"])

    def test_a_pdf_belongs_to_one_run(self):
        self.save(scans.text_page(), "page.png")
        pages = self.folder / "book.pdf.pages"
        pages.mkdir()
        self.lock(pages)
        said = self.scan("page.png", "-o", "book.pdf", "--resume", status=3)
        self.assertIn("--output=book.pdf: another run is making this file; wait until it ends",
                      said)
        self.scan("page.png", "-o", "book.pdf")
        self.assertTrue((self.folder / "book-1.pdf").exists())


    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_file_systems_without_locks(self):
        none = {**os.environ, "LD_PRELOAD": os.environ["STOP_AT_MODULE"], "NO_LOCKS": "1"}
        self.save(scans.text_page(), "page.png")
        self.out.mkdir()
        (self.out / ".cudascan-scan-1.tmp").write_bytes(b"half a page, perhaps of a living run")
        self.scan("page.png", "-o", "out", env=none)
        self.assertEqual(self.outputs(), [".cudascan-scan-1.tmp", "page.tif"])
        self.scan("page.png", "-o", "book.pdf", "--resume", env=none)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["book.pdf", "out", "page.png"])


@unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
class Swapped(scans.Case):
    def test_pages_are_removed_only_in_the_folder_of_the_pdf(self):
        self.save(scans.text_page(*SMALL), "in/0.png")
        hold, other = self.folder / "hold", self.folder / "other"
        for moment in range(5, 14):
            with self.subTest(moment):
                pages = self.folder / f"book{moment}.pdf.pages"
                other.mkdir(exist_ok=True)
                (other / "0.tif").write_text("mine")
                run = subprocess.Popen([scans.SCAN, "--backend=cpu", "in", "-o", pages.stem],
                                       cwd=self.folder, env={
                    **os.environ, "LD_PRELOAD": os.environ["STOP_AT_MODULE"],
                    "STOP_AT": str(moment),
                    "HOLD": str(hold)}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                program.wait_until(lambda: hold.exists() or run.poll() is not None, "the moment")
                if pages.exists():
                    pages.rename(self.folder / f"moved{moment}")
                    pages.symlink_to(other)
                hold.unlink(missing_ok=True)
                run.wait(timeout=60)
                self.assertEqual((other / "0.tif").read_text(), "mine")


class SideBySide(scans.Case):
    """Runs that do not see each other, as in containers: all have the same process ID."""

    def setUp(self):
        super().setUp()
        self.container = next((words for words in (CONTAINER,
                                                   [*CONTAINER, "--user", "--map-root-user"])
                               if can_unshare(words)), None)
        if not self.container:
            self.skipTest("unshare --pid is not permitted")
        self.alone = []
        for name in ("a", "b"):
            for number in range(PAGES):
                self.save(scans.text_page(*SMALL, seed=f"{name}{number}"), f"{name}/{number}.png")
            self.scan(name, "-o", f"alone-{name}", "--quiet")
            self.alone += self.contents(self.folder / f"alone-{name}").values()

    def begin(self, *words, **more):
        run = subprocess.Popen([*self.container, scans.SCAN, "--backend=cpu", "--jobs=2", *words],
                               text=True,
                               cwd=self.folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               **more)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        return run

    def end(self, *runs, status=0):
        for run in runs:
            said = run.communicate(timeout=60)[1]
            self.assertEqual(run.returncode, status, said)

    def check(self):
        self.assertEqual(sorted(self.contents().values()), sorted(self.alone))
        for name in ("a", "b"):
            self.assertIn(f"{PAGES} done before", self.scan(name, "-o", "out", "--resume"))

    def test_one_folder(self):
        for late in (False, True, False, True):
            with self.subTest("one after the other" if late else "both at once"):
                shutil.rmtree(self.out, ignore_errors=True)
                first = self.begin("a", "-o", "out")
                if late:  # the second cleans up while the first writes
                    program.wait_until(lambda: list(self.out.glob("*.tif")), "a page")
                self.end(first, self.begin("b", "-o", "out"))
                self.check()

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_one_run_within_each_moment_of_the_other(self):
        hold = self.folder / "hold"
        for moment in range(8):
            with self.subTest(moment):
                shutil.rmtree(self.out, ignore_errors=True)
                first = self.begin("a", "-o", "out", env={
                    **os.environ, "LD_PRELOAD": os.environ["STOP_AT_MODULE"],
                    "STOP_AT": str(moment), "HOLD": str(hold)})
                program.wait_until(hold.exists, "the moment")
                try:
                    self.end(self.begin("b", "-o", "out"))
                finally:
                    hold.unlink()
                self.end(first)
                self.check()

    def test_one_pdf(self):
        self.scan("a", "-o", "alone/book.pdf", "--quiet")
        expected = (self.folder / "alone/book.pdf").read_bytes()
        self.end(*[self.begin("a", "-o", "book.pdf") for _ in range(3)])
        made = sorted(path.name for path in self.folder.glob("book*"))
        self.assertEqual(made, ["book-1.pdf", "book-2.pdf", "book.pdf"])
        for name in made:
            self.assertEqual((self.folder / name).read_bytes(), expected)


if __name__ == "__main__":
    program.main()
