# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan killed and resumed: the final result equals that of an undisturbed run."""
import os
import random
import signal
import subprocess
import time
import unittest

import program
import scans

SMALL = (124, 175)
PAGES = 40
KILLS = 15


class Kills(scans.Case):
    def pages(self, count):
        for number in range(count):
            self.save(scans.text_page(*SMALL, seed=number), f"in/{number}.png")

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


class AtRandom(Kills):
    def setUp(self):
        super().setUp()
        self.pages(PAGES)
        seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        print(f"# SEED={seed} repeats {self.id()}", flush=True)
        self.random = random.Random(seed)

    def resume_until_it_is_done(self, *words):
        begin = time.monotonic()
        self.scan("--dry-run", "in", "-o", "none")
        start = time.monotonic() - begin
        self.scan("in", "-o", "alone" + words[0].removeprefix("out"), "--quiet", *words[1:])
        whole = time.monotonic() - begin - start
        kills = 0
        for _ in range(KILLS):
            run = subprocess.Popen([scans.SCAN, "--backend=cpu", "--jobs=2", "in", "--resume", "-o",
                                    *words],
                                   cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            time.sleep(start / 2 + self.random.uniform(0, 3 * whole / KILLS))
            run.kill()
            kills += run.wait(timeout=30) == -signal.SIGKILL
        self.assertGreater(kills, 0)
        self.scan("in", "--resume", "--quiet", "-o", *words)

    def test_pages(self):
        self.resume_until_it_is_done("out")
        self.assertEqual(self.contents(), self.contents(self.folder / "alone"))

    def test_pdf(self):
        self.resume_until_it_is_done("out.pdf", "--title=Pages")
        self.assertEqual(self.names(), ["alone.pdf", "in", "out.pdf"])
        self.assertEqual(*((self.folder / name).read_bytes() for name in ("out.pdf", "alone.pdf")))


@unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
class EachMoment(Kills):
    """Kills the program at each call that creates, renames, removes or syncs a file."""

    def killed(self, *words, **when):
        """Returns whether the run was killed before its end."""
        when["LD_PRELOAD"] = os.environ["STOP_AT_MODULE"]
        run = subprocess.run([scans.SCAN, "--backend=cpu", "--jobs=1", *words], cwd=self.folder,
                             timeout=60, env={**os.environ, **when}, stdin=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.assertIn(run.returncode, (0, -signal.SIGKILL))
        return run.returncode != 0

    def check(self, output, look, *words, pages=3):
        self.pages(pages)
        self.scan("in", "-o", f"alone{output}", *words)
        moment = 0
        while self.killed("in", "-o", f"book{moment}{output}", *words, STOP_AT=str(moment)):
            with self.subTest(moment):
                self.scan("in", "-o", f"book{moment}{output}", "--resume", *words)
                # A second run has nothing to do, wherever the first one was killed.
                self.scan("in", "-o", f"book{moment}{output}", "--resume", *words)
                self.assertEqual(look(f"book{moment}{output}"), look(f"alone{output}"))
            moment += 1
        self.assertGreater(moment, 3 * pages)
        return moment

    def test_pages(self):
        self.check("", lambda name: self.contents(self.folder / name))

    def test_pdf(self):
        moments = self.check(".pdf", lambda name: (self.folder / name).read_bytes(),
                             "--title=Pages")
        books = [f"book{moment}.pdf" for moment in range(moments + 1)]
        self.assertEqual(self.names(), sorted(["alone.pdf", "in", *books]))

    def test_tiff(self):
        moments = self.check(".tif", lambda name: (self.folder / name).read_bytes())
        books = [f"book{moment}.tif" for moment in range(moments + 1)]
        self.assertEqual(self.names(), sorted(["alone.tif", "in", *books]))

    def test_two_pages_of_one_image(self):
        self.check("", lambda name: self.contents(self.folder / name), "--split=right-left",
                   pages=1)
        self.assertEqual(self.outputs(self.folder / "alone"), ["0-left.tif", "0-right.tif"])

    def test_tiff_of_two_pages_of_one_image(self):
        self.check(".tif", lambda name: (self.folder / name).read_bytes(), "--split=right-left",
                   pages=1)

    def test_png_with_the_name_of_its_input(self):
        self.save(scans.text_page(*SMALL), "book.png")
        self.scan("book.png", "-o", "alone.png")
        moment = 0
        while self.killed("book.png", "-o", f"made{moment}/book.png", STOP_AT=str(moment)):
            with self.subTest(moment):
                folder = self.folder / f"made{moment}"
                for _ in range(2):
                    self.scan("book.png", "-o", f"made{moment}/book.png", "--resume")
                self.assertEqual([path.name for path in folder.iterdir()], ["book.png"])
                self.assertEqual((folder / "book.png").read_bytes(),
                                 (self.folder / "alone.png").read_bytes())
            moment += 1
        self.assertGreater(moment, 5)

    def test_unfinished_files_have_names_that_nobody_can_guess(self):
        self.pages(1)
        self.out.mkdir()
        names = set()
        for moment in range(9):
            self.assertTrue(self.killed("in", "-o", "out", STOP_AT=str(moment)))
            left = [name for name in self.outputs() if name != "0.tif"]
            for name in left:
                self.assertRegex(name, r"^\.cudascan-scan-[0-9a-f]{32}\.tmp$")
                names.add(name)
            if len(names) == 3:
                break
        self.assertEqual(len(names), 3)
        self.scan("in", "-o", "out")
        self.assertEqual(self.outputs(), ["0.tif"])

    def test_names_that_others_took_meanwhile_are_theirs(self):
        self.pages(2)
        self.scan("in", "-o", "alone/out.pdf")
        self.scan("in", "-o", "alone")
        self.assertTrue(self.killed("in", "-o", "out", STOP_TAKEN="1"))
        self.assertEqual((self.out / "0.tif").read_bytes(), b"")
        self.scan("in", "-o", "out", "--resume")
        alone = self.contents(self.folder / "alone")
        self.assertEqual(self.contents(), {"0.tif": b"", "0-1.tif": alone["0.tif"],
                                           "1.tif": alone["1.tif"]})
        self.assertTrue(self.killed("in", "-o", "out.pdf", STOP_TAKEN="1"))
        self.scan("in", "-o", "out.pdf", "--resume")
        self.assertEqual((self.folder / "out.pdf").read_bytes(),
                         (self.folder / "alone/out.pdf").read_bytes())
        self.assertEqual((self.folder / "out.pdf.pages/0.tif").read_bytes(), b"")


if __name__ == "__main__":
    program.main()
