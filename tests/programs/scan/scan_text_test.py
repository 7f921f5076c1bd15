# SPDX-License-Identifier: LGPL-2.1-or-later
"""The text of PDFs: tesseract's, where it stands, and what happens when there is none."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

import archive
import printed
import program
import scans
from scans import np

if np is not None:
    from PIL import Image, ImageDraw, ImageFont

LINES = ["The harbour was quiet", "before the morning", "ferries arrived here."]
DPI = 150


def languages():
    if not shutil.which("tesseract"):
        return []
    return program.run(["tesseract", "--list-langs"]).stdout.splitlines()[1:]


def has_tools():
    return (bool(shutil.which("pdftotext") and shutil.which("pdfimages")) and archive.has_qpdf() and
            "eng" in languages() and printed.has_print())


def sheet(lines):
    """Black lines of print on a white sheet, 600 by 500 pixels."""
    files = printed.page_maker.font_files()
    name = next(name for name in printed.page_maker.PROPORTIONAL["b"] if name in files)
    font = ImageFont.truetype(str(files[name]), 40)
    page = Image.new("L", (600, 500), 255)
    draw = ImageDraw.Draw(page)
    for number, line in enumerate(lines):
        draw.text((60, 80 + 110 * number), line, font=font, fill=0)
    return page


@unittest.skipUnless(has_tools(), "tesseract-ocr, poppler-utils, qpdf or fonts are not installed")
class Text(scans.Case):
    def words(self, name, page=1):
        """The words of a page with their boxes in points, from the top, and the page's size."""
        said = program.run(["pdftotext", "-bbox", "-f", page, "-l", page, name, "-"],
                           cwd=self.folder).stdout
        size = re.search(r'<page width="([\d.]+)" height="([\d.]+)"', said).groups()
        found = re.findall(r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)<',
                           said)
        return [(word, [float(side) for side in box]) for *box, word in found], \
            [float(side) for side in size]

    def check(self, name, lines, page=1):
        """The words must be there, in the boxes must be the ink, and in each box some of it."""
        found, (width, height) = self.words(name, page)
        self.assertEqual([word for word, _ in found], " ".join(lines).split())
        program.run(["pdfimages", "-png", "-f", page, "-l", page, name, "image"], cwd=self.folder)
        ink = scans.ink(self.folder / "image-000.png")
        x, y = ink.shape[1] / width, ink.shape[0] / height
        rest = ink.copy()
        for word, (left, top, right, bottom) in found:
            rows, columns = ([int(round(side * scale)) for side in sides] for sides, scale in
                             (((top, bottom), y), ((left, right), x)))
            # The box ends at the line on which letters stand. In its width tesseract counts the
            # space after the word.
            letter = (columns[1] - columns[0]) // len(word)
            part = (slice(max(0, rows[0] - 3), rows[1] + (rows[1] - rows[0]) // 2),
                    slice(max(0, columns[0] - 3), columns[1] + letter + 6))
            share = ink[part].any(axis=0).mean()
            self.assertGreater(share, 0.6, word)
            rest[part] = False
        self.assertLess(rest.sum(), 0.02 * ink.sum())
        return archive.check(self, self.folder / name)

    def test_words_stand_where_their_ink_is(self):
        photo = Image.new("L", (800, 700), 20)
        photo.paste(sheet(LINES), (100, 90))
        photo = photo.rotate(2.5, resample=Image.BICUBIC, fillcolor=20)
        self.save(photo, "in/1.png", dpi=(DPI, DPI))
        self.save(sheet(LINES[:1]).resize((600, 250)), "in/2.png", dpi=(DPI, DPI / 2))
        self.save(Image.new("L", (600, 500), 230), "in/3.png", dpi=(DPI, DPI))
        stats = self.measured("in", "-o", "book.pdf", "--ocr=eng", "--crop=page", "--verbose")
        by_name = {page["input"]: page for page in stats["page_list"]}
        self.assertEqual([by_name[f"in/{n}.png"]["text"] for n in (1, 2, 3)], [True, True, False])
        first = by_name["in/1.png"]
        self.assertGreater(first["text_ms"], 0)
        self.assertTrue(first["turned"] and first["crop"][0] > 40, first)
        pdf = self.check("book.pdf", LINES)
        self.assertEqual(self.words("book.pdf", 3)[0], [])
        self.assertEqual(pdf.root["/Lang"], "u:en")
        self.assertEqual(" ".join(word for word, _ in self.words("book.pdf", 2)[0]), LINES[0])
        # The font is there once.
        fonts = [found for found in pdf.objects.values()
                 if found.get("stream", {}).get("dict", {}).get("/Length1")]
        self.assertEqual(len(fonts), 1)
        self.assertEqual([path.name for path in self.folder.glob("book*")], ["book.pdf"])

    def test_with_jbig2(self):
        self.save(sheet(LINES[:1]), "1.png", dpi=(DPI, DPI))
        self.scan("1.png", "-o", "book.pdf", "--ocr=eng", "--compression=jbig2", "--language=en-GB",
                  "--no-straighten")
        self.assertEqual(self.check("book.pdf", LINES[:1]).root["/Lang"], "u:en-GB")


@unittest.skipUnless(archive.has_qpdf() and shutil.which("pdftotext"),
                     "qpdf or poppler-utils is not installed")
class Program(scans.Case):
    """With a program in the place of tesseract."""

    def setUp(self):
        super().setUp()
        for number in range(2):
            self.save(scans.text_page(200, 220, seed=number), f"in/{number}.png")
        self.bin = self.folder / "bin"
        self.bin.mkdir()

    def program(self, pages):
        """@param pages  what it does with pages"""
        path = self.bin / "tesseract"
        path.write_text('#!/bin/sh\ncase "$1" in\n--list-langs) echo Languages:; echo eng; '
                        f"echo deu;;\n*) {pages};;\nesac\n")
        path.chmod(0o755)
        return {"PATH": f"{self.bin}:{os.environ['PATH']}"}

    def page(self, text="word"):
        """A PDF with a text of one page, as short as the check of files allows."""
        (self.folder / "text.pdf").write_text(
            "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
            "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
            "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 124 175]/Contents 4 0 R/Resources"
            "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Courier>>>>>>>>endobj\n"
            f"4 0 obj<</Length {len(text) + 34}>>stream\n"
            f"BT 3 Tr /F 9 Tf 20 90 Td ({text}) Tj ET\nendstream endobj\n"
            "trailer<</Root 1 0 R>>\n%%EOF\n")
        return f"cat {self.folder}/text.pdf"

    def plain_size(self):
        self.scan("in", "-o", "plain.pdf")
        return (self.folder / "plain.pdf").stat().st_size

    def test_no_program(self):
        self.bin.rmdir()
        said = self.scan("in", "-o", "book.pdf", "--ocr=eng", status=3, env={"PATH": "/nowhere"})
        self.assertIn("--ocr=eng: tesseract: No such file or directory; install it (package "
                      "tesseract-ocr), or leave out --ocr", said)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["in"])

    def test_no_language(self):
        env = self.program("exit 1")
        said = self.scan("in", "-o", "book.pdf", "--ocr=deu+chi_sim", status=3, env=env)
        self.assertIn("--ocr=deu+chi_sim: tesseract has no language chi_sim; it has deu, eng; "
                      "install it (package tesseract-ocr-chi-sim)", said)
        self.assertFalse((self.folder / "book.pdf").exists())

    def test_how_it_is_called(self):
        env = self.program('echo "$@" $OMP_THREAD_LIMIT >>calls; cat >page; exit 3')
        self.scan("in/0.png", "-o", "book.pdf", "--ocr=eng+deu", "--resolution=200", status=1,
                  env=env)
        self.assertEqual((self.folder / "calls").read_text(),
                         "- - -l eng+deu -c textonly_pdf=1 --dpi 200 pdf 1\n")
        self.scan("in/0.png", "-o", "out", "--resolution=200")
        self.assertEqual((self.folder / "page").read_bytes(), (self.out / "0.tif").read_bytes())

    def test_small_print_is_read_in_gray(self):
        env = self.program("cat >page; exit 1")
        page = scans.turned(scans.text_page(), 2).point(lambda level: 60 + level // 2)
        self.save(page, "page.png")
        for words, is_gray in ((["--resolution=249"], True), (["--resolution=250"], False),
                               (["--resolution=249", "--page-size=A4"], False)):
            words += ["--crop=content"]
            self.scan("page.png", "-o", f"{len(words)}{is_gray}.pdf", "--ocr=eng", *words,
                      status=1, env=env)
            self.scan("page.png", "-o", "out", *words)
            made = self.out / sorted(self.outputs())[-1]
            if not is_gray:
                self.assertEqual((self.folder / "page").read_bytes(), made.read_bytes())
            else:
                with Image.open(self.folder / "page") as read:
                    self.assertEqual((read.format, read.mode), ("PPM", "L"))
                    levels = np.array(read)
                ink = scans.ink(made)
                self.assertEqual(levels.shape, ink.shape)
                self.assertNotEqual(ink.shape, (page.height, page.width))
                self.assertGreater(scans.overlap(levels < 128, ink), 0.8)
            shutil.rmtree(self.out)

    def test_pages_on_which_it_fails(self):
        for does, why in (("echo Trouble >&2; exit 3", "tesseract: exit status 3: Trouble"),
                          ("kill -9 $$", "tesseract: ended by signal 9"),
                          ("true", "tesseract has written no PDF"),
                          (f"{self.page()} | head -n 7", "tesseract has written no PDF")):
            env = self.program(f"if [ -e once ]; then {self.page()}; else touch once; {does}; fi")
            (self.folder / "once").unlink(missing_ok=True)
            (self.folder / "book.pdf").unlink(missing_ok=True)
            stats = self.measured("in", "-o", "book.pdf", "--ocr=eng", "--jobs=1", status=1,
                                  env=env)
            said = self.scan("in", "-o", "book.pdf", "--ocr=eng", "--resume", env=env)
            self.assertIn("already exists", said)
            first, second = sorted(stats["page_list"], key=lambda page: page["input"])
            self.assertEqual((first["text_problem"], first["text"]), (why, False))
            self.assertEqual((second["text"], "text_problem" in second), (True, False))
            said = program.run(["qpdf", "--show-npages", self.folder / "book.pdf"]).stdout
            self.assertEqual(said.strip(), "2")
            said = program.run(["pdftotext", self.folder / "book.pdf", "-"]).stdout
            self.assertEqual(said.split(), ["word"])

    def test_texts_of_a_killed_run_are_for_its_settings_only(self):
        self.page("old")
        env = self.program("exit 1")
        for words, status in (([], 0), (["--ocr=eng"], 1)):
            pages = self.folder / "book.pdf.pages"
            pages.mkdir()
            for number in range(2):
                shutil.copy(self.folder / "text.pdf", pages / f"{number}.tif.text")
            (self.folder / "book.pdf").unlink(missing_ok=True)
            self.scan("in", "-o", "book.pdf", "--resume", *words, status=status, env=env)
            self.assertFalse(pages.exists())
            said = program.run(["pdftotext", self.folder / "book.pdf", "-"]).stdout
            self.assertNotIn("old", said)

    def test_summary(self):
        said = self.scan("in", "-o", "book.pdf", "--ocr=eng", status=1, env=self.program("exit 1"))
        self.assertIn("without text: in/0.png: tesseract: exit status 1", said)
        self.assertIn(", 2 without their text", said)
        self.assertIn("2 pages in book.pdf", said)
        said = self.scan("in", "-o", "book.pdf", "--resume")
        self.assertIn("book.pdf was made with other settings and stays", said)

    def test_ctrl_c_finishes_pages(self):
        env = {**os.environ, **self.program(f"touch begun; sleep 0.5; {self.page()}")}
        run = subprocess.Popen([scans.SCAN, "--backend=cpu", "--jobs=1", "in", "-o", "book.pdf",
                                "--ocr=eng"], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, start_new_session=True)
        program.wait_until((self.folder / "begun").exists, "tesseract")
        os.killpg(run.pid, signal.SIGINT)
        said = run.communicate(timeout=30)[1]
        self.assertEqual(run.returncode, 130, said)
        pages = self.folder / "book.pdf.pages"
        self.assertEqual(sorted(path.name for path in pages.iterdir() if path.suffix != ".journal"),
                         ["0.tif", "0.tif.text"])

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_killed_at_each_moment_and_resumed(self):
        (self.folder / "in/1.png").unlink()
        env = self.program(self.page())
        words = ["in", "--ocr=eng", "--title=Pages"]
        self.scan(*words, "-o", "alone.pdf", env=env)
        expected = (self.folder / "alone.pdf").read_bytes()
        self.assertTrue((self.folder / "alone.pdf").stat().st_size > 100 + self.plain_size())
        stop = {**os.environ, **env, "LD_PRELOAD": os.environ.get("STOP_AT_MODULE", "")}
        for moment in range(100):
            book = f"book{moment}.pdf"
            run = subprocess.run([scans.SCAN, "--backend=cpu", "--jobs=1", *words, "-o", book],
                                 cwd=self.folder, stdin=subprocess.DEVNULL, timeout=60,
                                 stderr=subprocess.DEVNULL, env={**stop, "STOP_AT": str(moment)})
            if run.returncode == 0:
                break
            for _ in range(2):
                self.scan(*words, "-o", book, "--resume", env=env)
            self.assertEqual((self.folder / book).read_bytes(), expected, moment)
            self.assertFalse(pathlib.Path(f"{self.folder / book}.pages").exists(), moment)
        self.assertGreater(moment, 12)


if __name__ == "__main__":
    program.main()
