# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs of cudascan-scan over many pages: names, finished pages, errors, and runs that end early."""
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

import program
import scans
from scans import np

if np is not None:
    from PIL import Image

SMALL = (124, 175)
PAGES = 200  # pages for runs that are ended early


def whole(path):
    """Whether a page can be decoded completely."""
    try:
        scans.ink(path)
        return True
    except OSError:
        return False


class Names(scans.Case):
    def test_what_is_there_is_not_overwritten(self):
        self.save(scans.text_page(), "page.png")
        self.out.mkdir()
        (self.out / "page.tif").write_text("mine")
        self.scan("page.png", "-o", "out")
        self.scan("page.png", "-o", "out")
        self.assertEqual(self.outputs(), ["page-1.tif", "page-2.tif", "page.tif"])
        self.assertEqual((self.out / "page.tif").read_text(), "mine")

    def test_pages_of_one_name_get_numbers_in_their_order(self):
        for folder, seed in (("a", 1), ("b", 2), ("c", 3)):
            self.save(scans.text_page(seed=seed), f"{folder}/page.png")
        self.scan("a", "b/page.png", "c", "-o", "out", "--no-straighten", "--despeckle=0",
                  "--jobs=3")
        for name, seed in (("page.tif", 1), ("page-1.tif", 2), ("page-2.tif", 3)):
            self.assertTrue((scans.ink(self.out / name) ==
                             (np.array(scans.text_page(seed=seed)) == 0)).all())

    def test_folders(self):
        small = Image.new("L", SMALL, 255)
        for name in ("p10.png", "p2.PNG", "p1.png", ".hidden.png", "inner/p3.png", ".git/p4.png"):
            self.save(small, f"in/{name}", format="png")
        (self.folder / "in/notes.txt").write_text("no image")
        said = self.scan("in", "-o", "out", "--dry-run")
        self.assertEqual([line.split(" -> ")[0] for line in said.splitlines()],
                         ["in/p1.png", "in/p2.PNG", "in/p10.png",
                          "ignored: in/notes.txt: not an image or a PDF",
                          "ignored: in/inner: a folder; --recursive looks into it"])
        said = self.scan("in", "-o", "out", "--dry-run", "--recursive")
        self.assertEqual(said.splitlines()[3].split(" -> ")[0], "in/inner/p3.png")
        self.assertEqual(len(said.splitlines()), 5)

    def test_pdf_is_not_overwritten(self):
        self.save(scans.text_page(), "page.png")
        (self.folder / "book.pdf").write_text("mine")
        self.scan("page.png", "-o", "book.pdf")
        self.assertEqual((self.folder / "book.pdf").read_text(), "mine")
        self.assertTrue((self.folder / "book-1.pdf").read_bytes().startswith(b"%PDF"))


class Runs(scans.Case):
    def test_dry_run_writes_nothing(self):
        self.save(scans.text_page(), "in/page.png")
        before = sorted(self.folder.rglob("*"))
        said = self.scan("in", "-o", "out", "--dry-run")
        self.assertIn("in/page.png -> out/page.tif", said)
        said = self.scan("in", "-o", "book.pdf", "-n")
        self.assertIn("-> book.pdf", said)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_resume_makes_what_is_missing(self):
        for number in range(4):
            self.save(scans.text_page(seed=number), f"in/{number}.png")
        (self.folder / "in/2.png").rename(self.folder / "2.png")
        self.scan("in", "-o", "out")
        times = {name: (self.out / name).stat().st_mtime_ns for name in self.outputs()}
        shutil.move(self.folder / "2.png", self.folder / "in/2.png")
        (self.out / "3.tif").unlink()
        said = self.scan("in", "-o", "out", "--resume")
        self.assertIn("2 pages", said)
        self.assertIn("2 done before", said)
        self.assertEqual(self.outputs(), ["0.tif", "1.tif", "2.tif", "3.tif"])
        for name in ("0.tif", "1.tif"):
            self.assertEqual((self.out / name).stat().st_mtime_ns, times[name])
        self.assertIn("0 pages", self.scan("in", "-o", "out", "--resume"))

    def test_resume_knows_pages_whose_names_collide(self):
        for folder, seed in (("a", 1), ("b", 2)):
            self.save(scans.text_page(seed=seed), f"{folder}/page.png")
        self.out.mkdir()
        (self.out / "page.tif").write_text("mine")
        self.scan("b", "-o", "out", "--no-straighten", "--despeckle=0")
        self.scan("a", "b", "a/page.png", "-o", "out", "--resume", "--no-straighten",
                  "--despeckle=0")
        self.assertEqual(self.outputs(), ["page-1.tif", "page-2.tif", "page-3.tif", "page.tif"])
        for name, seed in (("page-1.tif", 2), ("page-2.tif", 1), ("page-3.tif", 1)):
            self.assertTrue((scans.ink(self.out / name) ==
                             (np.array(scans.text_page(seed=seed)) == 0)).all())
        self.assertIn("0 pages", self.scan("a", "b", "a/page.png", "-o", "out", "--resume",
                                           "--no-straighten", "--despeckle=0"))

    def test_resume_makes_changed_files_again(self):
        path = self.save(scans.text_page(seed=1), "page.png")
        self.scan(path, "-o", "out")
        self.save(scans.text_page(seed=2), "page.png")
        self.scan(path, "-o", "out", "--resume")
        self.assertEqual(self.outputs(), ["page-1.tif", "page.tif"])

    def test_spoiled_journals_are_passed_over(self):
        path = self.save(scans.text_page(), "page.png")
        self.scan(path, "-o", "out")
        with open(self.out / ".cudascan-scan.journal", "ab") as journal:
            journal.write(b"\xff\x00junk\t\n0\t0\t12")
        other = self.save(scans.text_page(seed=2), "other.png")
        self.scan(path, other, "-o", "out", "--resume")
        self.assertIn("2 done before", self.scan(path, other, "-o", "out", "--resume"))

    def test_jobs_make_the_same_bytes(self):
        for number in range(6):
            self.save(scans.turned(scans.text_page(seed=number), number - 3), f"in/{number}.png")
        for jobs in (1, 4):
            self.scan("in", "-o", f"out{jobs}", "--jobs", jobs)
            self.scan("in", "-o", f"{jobs}/book.pdf", "--jobs", jobs)
        for name in self.outputs(self.folder / "out1"):
            self.assertEqual(*((self.folder / out / name).read_bytes() for out in ("out1", "out4")),
                             name)
        self.assertEqual((self.folder / "1/book.pdf").read_bytes(),
                         (self.folder / "4/book.pdf").read_bytes())

    def test_a_thousand_pages(self):
        page = self.save(scans.text_page(*SMALL), "page.png")
        (self.folder / "in").mkdir()
        for number in range(1000):
            os.link(page, self.folder / f"in/{number}.png")
        self.scan("in", "-o", "out", "--quiet")
        self.assertEqual(len(self.outputs()), 1000)
        self.assertEqual(len({(self.out / name).read_bytes() for name in self.outputs()}), 1)
        self.assertIn("1000 done before", self.scan("in", "-o", "out", "--resume"))

    def test_a_line_for_each_page_and_a_sum(self):
        for number in range(3):
            self.save(scans.text_page(seed=number), f"in/{number}.png")
        lines = self.scan("in", "-o", "out", "--jobs=1").splitlines()
        self.assertEqual(lines[0], "1/3 in/0.png -> out/0.tif")
        self.assertRegex(lines[3], r"^3 pages in [\d.]+ s, [\d.]+ pages/s$")
        self.assertEqual(self.scan("in", "-o", "out", "--quiet"), "")
        said = self.scan("in", "-o", "out", "-v")
        self.assertRegex(said, r"confidence [\d.]+\).*ms: read [\d.]+, straighten")

    def test_bar_on_a_terminal(self):
        for number in range(3):
            self.save(scans.text_page(seed=number), f"in/{number}.png")
        master, slave = os.openpty()
        result = subprocess.run([scans.SCAN, "--backend=cpu", "in", "-o", "out"], stderr=slave,
                                cwd=self.folder, stdin=subprocess.DEVNULL, timeout=60)
        os.close(slave)
        said = os.read(master, 65536).decode()
        os.close(master)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(said, r"\r.*\[#+\] 3 of 3 pages  [\d.]+/s  0:00 left")
        self.assertNotIn("in/0.png", said)


class Wrong(scans.Case):
    def test_pages_that_cannot_be_read_are_left_out(self):
        good = self.save(scans.text_page(), "in/good.png")
        noise = np.random.default_rng(3).integers(0, 255, (600, 500)).astype(np.uint8)
        bad = {"empty.png": b"", "text.png": b"no image at all"}
        for kind, how in (("png", {}), ("jpg", {}), ("tif", {"compression": "tiff_lzw"}),
                          ("pgm", {}), ("jp2", {})):
            whole_file = self.save(Image.fromarray(noise), f"whole.{kind}", **how).read_bytes()
            bad[f"cut-{kind}.{kind}"] = whole_file[:len(whole_file) // 2]
        for name, data in bad.items():
            (self.folder / "in" / name).write_bytes(data)
        os.symlink("nowhere", self.folder / "in/dangling.png")
        (self.folder / "in/pipe.png").mkdir()
        said = self.scan("in", "missing.png", "-o", "out", status=1)
        self.assertEqual(self.outputs(), [good.with_suffix(".tif").name])
        for name in [*bad, "dangling.png"]:
            self.assertRegex(said, f"left out: in/{name}: .")
        self.assertIn("left out: missing.png: ", said)
        self.assertIn("in/empty.png: the file is empty", said)
        self.assertIn("in/text.png: not a PNG, JPEG, TIFF, PNM, JPEG 2000, BMP, GIF, WebP or PDF "
                      "file", said)
        self.assertIn(f"{len(bad) + 2} left out", said)

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "root may read everything")
    def test_files_that_may_not_be_read(self):
        good, secret = self.save(scans.text_page(), "good.png"), self.save(scans.text_page(),
                                                                           "secret.png")
        secret.chmod(0)
        self.out.mkdir()
        for path in (self.folder, self.out):
            path.chmod(0o777)
        command = [scans.SCAN, "--backend=cpu", good, secret, "-o", self.out]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=65534", "--clear-groups", *command]
        result = program.run(command)
        if "setpriv" in result.stderr or result.returncode == 127:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("secret.png", result.stderr)
        self.assertEqual(self.outputs(), ["good.tif"])

    def test_pages_that_are_too_large(self):
        (self.folder / "wide.pgm").write_bytes(b"P5\n40000 1\n255\n" + bytes(40000))
        said = self.scan("wide.pgm", "-o", "out", status=1)
        self.assertIn("wide.pgm: 40000x1 pixels; the limit is 32768 a side", said)

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers take more memory than the limit has")
    def test_pages_after_one_that_did_not_fit_into_memory(self):
        # Its pixels alone are too many: what fails is no small piece of a library that would abort.
        large = np.tile(np.array(scans.text_page(1000, 1000).convert("1")), (11, 30))
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        for number in (1, 3, 4):
            self.save(scans.text_page(seed=number), f"in/{number}.png")
        self.save(Image.fromarray(large), "in/2.png")
        said = self.scan("in", "-o", "out", "--jobs=1", status=1, preexec_fn=limit)
        self.assertRegex(said, "left out: in/2.png: .*memory")
        self.assertEqual(self.outputs(), ["1.tif", "3.tif", "4.tif"])
        self.scan("in/3.png", "-o", "alone")
        self.assertEqual((self.out / "3.tif").read_bytes(),
                         (self.folder / "alone/3.tif").read_bytes())

    def test_nothing_to_do(self):
        (self.folder / "in").mkdir()
        self.assertIn("in: no images found", self.scan("in", "-o", "out", status=3))

    def test_output_that_is_no_folder(self):
        self.save(scans.text_page(), "page.png")
        (self.folder / "file").write_text("mine")
        self.assertIn("--output=file: is not a folder",
                      self.scan("page.png", "-o", "file", status=3))
        self.assertIn("--output", self.scan("page.png", "-o", "file/inner", status=3))

    def test_wrong_usage_names_option_value_and_remedy(self):
        for words, said in (([], "no INPUT"), (["page.png"], "no OUTPUT"),
                            (["--method=nick", "--window=4"], "--window = 4"),
                            (["--method=nick", "--k=9"], "--k = 9"),
                            (["--window=9"], "add --method=nick"),
                            (["--method=best"], "--method=best: must be one of"),
                            (["--method=otsu", "--window=9"], "does not support --window"),
                            (["--max-angle=11"], "--max-angle=11: must be degrees, 0.1 to 10"),
                            (["--max-angle=nan"], "--max-angle"),
                            (["--despeckle=65"], "--despeckle=65: must be"),
                            (["--jobs=-1"], "--jobs=-1: must be"),
                            (["--format=gif"], "--format=gif: must be tiff or png"),
                            (["--backend=gpu"], "--backend=gpu: must be auto, cuda or cpu"),
                            (["--source=ADF"], "add --scan"),
                            (["--scan", "page.png"], "use either files or a scanner"),
                            (["--scan", "--resume"], "--resume is for files"),
                            (["--scan-option=x", "--scan"], "must be NAME=VALUE"),
                            (["--resolution=0"], "--resolution=0: must be 30 to 9600 dpi"),
                            (["--wrong"], "--wrong")):
            if words not in ([], ["page.png"]):
                words = [*words, "-o", "out", *([] if "--scan" in words else ["page.png"])]
            with self.subTest(str(words)):
                answer = program.run([scans.SCAN, *words], cwd=self.folder)
                self.assertEqual(answer.returncode, 2, answer.stderr)
                self.assertIn(said, answer.stderr)

    def test_help_says_the_exit_status(self):
        self.assertIn("Exit status: 0 all pages were written; 1 some pages failed",
                      self.scan("--help"))

    def test_version(self):
        self.assertRegex(self.scan("--version"), r"^cudascan-scan [0-9.]+\n$")

    def test_full_disk_leaves_no_half_page(self):
        blank = self.save(Image.new("L", (600, 600), 255), "in/a.png")
        noise = np.random.default_rng(4).integers(0, 2, (1200, 1200)).astype(np.uint8) * 255
        self.save(Image.fromarray(noise), "in/b.png")
        self.save(Image.open(blank), "in/c.png")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        said = self.scan("in", "-o", "out", "--despeckle=0", status=1, preexec_fn=limit)
        self.assertIn("left out: in/b.png: cannot write: File too large", said)
        self.assertEqual(self.outputs(), ["a.tif", "c.tif"])

    def test_full_disk_while_the_pdf_is_written(self):
        noise = np.random.default_rng(4).integers(0, 2, (300, 300)).astype(np.uint8) * 255
        for number in range(4):
            self.save(Image.fromarray(noise), f"in/{number}.png")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))
        self.scan("in", "-o", "book.pdf", "--despeckle=0", status=3, preexec_fn=limit)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["book.pdf.pages", "in"])
        said = self.scan("in", "-o", "book.pdf", "--despeckle=0", "--resume")
        self.assertIn("4 done before", said)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["book.pdf", "in"])


class Signals(scans.Case):
    def begin(self, *words, pages=PAGES):
        page = self.save(scans.text_page(), "page.png")
        (self.folder / "in").mkdir(exist_ok=True)
        for number in range(pages):
            if not (self.folder / f"in/{number}.png").exists():
                os.link(page, self.folder / f"in/{number}.png")
        return subprocess.Popen([scans.SCAN, "--backend=cpu", "--jobs=2", "in", *words],
                                cwd=self.folder,
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait_for_pages(self, folder, count=1):
        program.wait_until(lambda: len(list(folder.glob("*.tif"))) >= count, "a page")

    def test_terminated_runs_leave_whole_pages_and_go_on(self):
        for number, name in ((signal.SIGTERM, "terminated"), (signal.SIGINT, "interrupted")):
            with self.subTest(name):
                shutil.rmtree(self.out, ignore_errors=True)
                run = self.begin("-o", "out")
                self.wait_for_pages(self.out, 3)
                run.send_signal(number)
                said = run.communicate(timeout=30)[1]
                self.assertEqual(run.returncode, 128 + number, said)
                self.assertIn("interrupted", said)
                made = self.outputs()
                self.assertLess(len(made), PAGES)
                self.assertTrue(all(whole(self.out / page) for page in made))
        self.scan("in", "-o", "out", "--resume", "--quiet")
        self.assertEqual(len(self.outputs()), PAGES)

    def test_killed_at_any_time_there_are_only_whole_pages(self):
        for wait in (0.0, 0.013, 0.029, 0.055, 0.09):
            with self.subTest(str(wait)):
                shutil.rmtree(self.out, ignore_errors=True)
                run = self.begin("-o", "out")
                self.wait_for_pages(self.out)
                time.sleep(wait)
                run.kill()
                run.communicate(timeout=30)
                self.assertEqual(run.returncode, -signal.SIGKILL)
                pages = [name for name in self.outputs() if name.endswith(".tif")]
                self.assertTrue(all(whole(self.out / page) for page in pages))
        (self.out / ".cudascan-scan-1-0.tmp").write_bytes(b"half a page")
        self.scan("in", "-o", "out", "--resume", "--quiet")
        self.assertEqual(self.outputs(), sorted(f"{number}.tif" for number in range(PAGES)))

    def test_pdf_goes_on_where_it_was_killed(self):
        run = self.begin("-o", "book.pdf")
        self.wait_for_pages(self.folder / "book.pdf.pages", 5)
        run.terminate()
        said = run.communicate(timeout=30)[1]
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, said)
        self.assertIn("--resume continues with them", said)
        self.assertFalse((self.folder / "book.pdf").exists())
        self.assertRegex(self.scan("in", "-o", "book.pdf", "--resume", "--quiet"), r"^$")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["book.pdf", "in", "page.png"])
        self.assertIn("already exists", self.scan("in", "-o", "book.pdf", "--resume"))


if __name__ == "__main__":
    program.main()
