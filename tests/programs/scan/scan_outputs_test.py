# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where cudascan-scan writes to: files of one page or of all, standard output, and full disks."""
import io
import os
import shutil
import subprocess
import unittest

import program
import scans
from scans import KEEP, np

if np is not None:
    from PIL import Image, ImageSequence

SMALL = (124, 175)


class Files(scans.Case):
    def setUp(self):
        super().setUp()
        self.pages = [scans.text_page(seed=seed) for seed in range(3)]

    def save_all(self):
        for number, page in enumerate(self.pages):
            self.save(page, f"in/{number}.png", dpi=(300, 150.5))

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def check_tiff(self, path, pages):
        with Image.open(path) as made:
            self.assertEqual(made.n_frames, len(pages))
            for number, (frame, page) in enumerate(zip(ImageSequence.Iterator(made), pages)):
                tags = frame.tag_v2
                self.assertEqual(frame.info["compression"], "group4")
                self.assertEqual((tags[262], tags[254], tags[296]), (0, 2, 2))
                self.assertEqual(tags[297], (number, len(pages)))
                self.assertRegex(tags[305], r"^cudascan-scan [\d.]+ --format=tiff ")
                self.assertEqual(float(tags[282]), 300)
                self.assertAlmostEqual(float(tags[283]), 150.5, delta=0.01)
                ink = np.array(frame.convert("L")) == 0
                self.assertTrue((ink == (np.array(page) == 0)).all(), number)

    def test_tiff_of_all_pages(self):
        self.save_all()
        for name in ("book.tif", "book.TIFF"):
            said = self.scan("in", "-o", name, *KEEP)
            self.assertIn(f"3 pages in {name}", said)
            self.check_tiff(self.folder / name, self.pages)
        self.assertEqual(self.names(), ["book.TIFF", "book.tif", "in"])

    def test_libtiff_has_nothing_to_say_about_it(self):
        self.save_all()
        self.scan("in", "-o", "book.tif", *KEEP)
        said = self.scan("book.tif", "-o", "out", *KEEP)
        self.assertNotIn("warning", said)
        self.assertEqual(len(self.outputs()), 3)

    def test_one_page(self):
        self.save(self.pages[0], "page.png", dpi=(300, 150.5))
        self.scan("page.png", "-o", "made/page.tif", *KEEP)
        self.check_tiff(self.folder / "made/page.tif", self.pages[:1])
        self.scan("page.png", "-o", "made/page.png", *KEEP)
        self.scan("page.png", "-o", "out", "--format=png", *KEEP)
        self.assertEqual((self.folder / "made/page.png").read_bytes(),
                         (self.out / "page.png").read_bytes())
        self.assertEqual(sorted(path.name for path in (self.folder / "made").iterdir()),
                         ["page.png", "page.tif"])

    def test_what_is_there_is_not_overwritten(self):
        self.save(self.pages[0], "in/page.jpg", quality=95)
        for name in ("book.tif", "book.png"):
            (self.folder / name).write_text("mine")
            (self.folder / "book-1").with_suffix(name[-4:]).mkdir()
            self.scan("in", "-o", name)
            self.assertEqual((self.folder / name).read_text(), "mine")
            self.assertTrue((self.folder / f"book-2{name[-4:]}").is_file())
            said = self.scan("in", "-o", name, "--resume")
            self.assertIn(f"{name} already exists", said)

    def test_several_pages_and_a_png(self):
        self.save_all()
        for output, words in (("book.png", []), ("-", []), ("book.png", ["--dry-run"])):
            said = self.scan("in", "-o", output, *words, status=2)
            self.assertIn("3 pages: ", said)
            self.assertIn("holds one page; name a folder, NAME.tif or NAME.pdf for several", said)
        self.assertEqual(self.names(), ["in"])

    def test_wrong_usage(self):
        for words, said in ((["-o", "x.tif", "--format=png"], "--format=png: a TIFF file"),
                            (["-o", "x.png", "--format=tiff"], "x.png is a PNG file"),
                            (["-o", "x.pdf", "--format=tiff"], "--format=tiff: a PDF"),
                            (["-o", "x.jpg"], "--output=x.jpg: pages are written as"),
                            (["-o", "-", "--resume"], "standard output has no finished pages"),
                            (["-", "-o", "x"], "standard input can be read only once")):
            with self.subTest(str(words)):
                self.assertIn(said, self.scan("-" if "x" in words else "page.png", *words,
                                              status=2))

    def test_folders_with_a_suffix(self):
        self.save(self.pages[0], "page.png")
        for name in ("batch.v2", "x.tif/", "x.jpg/"):
            self.scan("page.png", "-o", name)
            self.assertTrue((self.folder / name / "page.tif").is_file(), name)
        (self.folder / "y.gif").mkdir()
        self.scan("page.png", "-o", "y.gif")
        self.assertTrue((self.folder / "y.gif/page.tif").is_file())


class Streams(scans.Case):
    def run_bytes(self, *words, data=b"", status=0, **more):
        result = subprocess.run([scans.SCAN, "--backend=cpu", *words], cwd=self.folder, input=data,
                                capture_output=True, timeout=60, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout, result.stderr.decode()

    def test_from_standard_input_to_standard_output(self):
        page = scans.text_page()
        path = self.save(page, "page.png")
        self.scan("page.png", "-o", "out", *KEEP)
        self.scan("page.png", "-o", "out", "--format=png", *KEEP)
        for words, name in (([], "page.tif"), (["--format=png"], "page.png"),
                            (["--format=tiff"], "page.tif")):
            made, _ = self.run_bytes("-", "-o", "-", *KEEP, *words, data=path.read_bytes())
            self.assertEqual(made, (self.out / name).read_bytes())
            with Image.open(io.BytesIO(made)) as again:
                ink = np.array(again.convert("L")) == 0
            self.assertTrue((ink == (np.array(page) == 0)).all())
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["out", "page.png"])

    def test_standard_input_into_files(self):
        pages = [scans.text_page(seed=seed) for seed in range(2)]
        file = io.BytesIO()
        pages[0].save(file, "tiff", save_all=True, append_images=pages[1:])
        self.run_bytes("-", "-o", "out", *KEEP, data=file.getvalue())
        self.assertEqual(self.outputs(), ["stdin-p001.tif", "stdin-p002.tif"])
        _, said = self.run_bytes("-", "-o", "out", "--resume", *KEEP, data=file.getvalue())
        self.assertIn("2 done before", said)
        for kind in ("pdf", "webp", "gif", "bmp", "jpeg"):
            file = io.BytesIO()
            pages[0].save(file, kind)
            self.run_bytes("-", "-o", f"{kind}.tif", data=file.getvalue())
            self.assertTrue((self.folder / f"{kind}.tif").exists())

    def test_what_is_wrong_is_said_and_nothing_is_written(self):
        made, said = self.run_bytes("-", "-o", "-", data=b"no image", status=1)
        self.assertEqual(made, b"")
        self.assertIn("left out: standard input: not a PNG", said)
        made, said = self.run_bytes("-", "-o", "-", status=1)
        self.assertIn("left out: standard input: the file is empty", said)

    def test_terminals_get_no_page(self):
        self.save(scans.text_page(), "page.png")
        master, slave = os.openpty()
        result = subprocess.run([scans.SCAN, "page.png", "-o", "-"], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE)
        os.close(slave)
        os.close(master)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"standard output is a terminal", result.stderr)

    def test_pipes_that_are_closed(self):
        self.save(scans.text_page(), "page.png")
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([scans.SCAN, "--backend=cpu", "page.png", "-o", "-"],
                                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=writer,
                                stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"left out: page.png: cannot write: Broken pipe", result.stderr)


class FullDisk(scans.Case):
    PAGES = 60

    def setUp(self):
        super().setUp()
        page = self.save(scans.text_page(*SMALL), "in/0.png")
        for number in range(1, self.PAGES):
            os.link(page, self.folder / f"in/{number}.png")
        self.scan("in/0.png", "-o", "alone")
        self.page = (self.folder / "alone/0.tif").read_bytes()

    def check(self, said, folder):
        """The run must have ended early, with whole pages and nothing else."""
        self.assertIn("No space left on device; no more pages can be written", said)
        self.assertNotIn("left out", said)
        self.assertEqual(said.count("No space left"), 1)
        made = [path for path in folder.iterdir() if path.name != scans.JOURNAL]
        self.assertTrue(2 < len(made) < self.PAGES, len(made))
        for path in made:
            self.assertEqual(path.read_bytes(), self.page)
        return len(made)

    def full(self, *words, at):
        return self.scan("in", *words, "--jobs=2", "--stats=/dev/stderr", status=4, env={
            "LD_PRELOAD": os.environ["STOP_AT_MODULE"], "FULL_AT": str(at)})

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_the_run_ends_at_once(self):
        for at in range(10 * len(self.page), 11 * len(self.page), 97):
            shutil.rmtree(self.out, ignore_errors=True)
            made = self.check(self.full("-o", "out", at=at), self.out)
            self.assertLessEqual(made, 11)
        self.assertIn(f"{made} done before", self.scan("in", "-o", "out", "--resume"))
        self.assertEqual(len(self.outputs()), self.PAGES)

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_files_of_all_pages(self):
        for name in ("book.pdf", "book.tif"):
            said = self.full("-o", name, at=10 * len(self.page))
            self.check(said, self.folder / f"{name}.pages")
            self.assertIn(f"{name}.pages keeps the finished pages; --resume continues", said)
            self.scan("in", "-o", name, "--resume")
            self.scan("in", "-o", f"alone/{name}")
            self.assertEqual((self.folder / name).read_bytes(),
                             (self.folder / f"alone/{name}").read_bytes())

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_while_the_file_of_all_pages_is_written(self):
        self.scan("in", "-o", "out")
        at = sum(path.stat().st_size for path in self.out.iterdir()) + 100
        for name in ("book.pdf", "book.tif"):
            said = self.full("-o", name, at=at)
            self.assertIn("No space left on device", said)
            self.assertFalse((self.folder / name).exists())
            pages = self.folder / f"{name}.pages"
            self.assertEqual(len(list(pages.glob("*.tif"))), self.PAGES)
            self.assertEqual(list(pages.glob(".*.tmp")), [])
            self.assertIn(f"{self.PAGES} done before", self.scan("in", "-o", name, "--resume"))

    def test_a_real_disk(self):
        mount = "mount -t tmpfs -o size=64k none disk"
        unshare = next((words for words in (["unshare", "--mount"],
                                            ["unshare", "--mount", "--user", "--map-root-user"])
                        if shutil.which("unshare") and
                        program.run([*words, "sh", "-c", mount.replace("disk", str(self.folder))])
                        .returncode == 0), None)
        if not unshare:
            self.skipTest("mount is not permitted")
        (self.folder / "disk").mkdir()
        noise = np.random.default_rng(1).integers(0, 2, (300, 300)).astype(np.uint8) * 255
        for number in range(20):
            self.save(Image.fromarray(noise), f"noise/{number:02}.png")
        script = (f"{mount}; {scans.SCAN} --backend=cpu --despeckle=0 noise -o disk/out; "
                  "echo status $?; ls -A disk/out")
        said = program.run([*unshare, "sh", "-c", script], cwd=self.folder)
        self.assertIn("status 4", said.stdout, said.stderr)
        self.assertIn("No space left on device; no more pages can be written", said.stderr)
        self.assertNotIn(".tmp", said.stdout)
        self.assertIn(".tif", said.stdout)


if __name__ == "__main__":
    program.main()
