# SPDX-License-Identifier: LGPL-2.1-or-later
"""What PDFs of cudascan-scan say of themselves, whether they are PDF/A-2b, and JBIG2."""
import os
import shutil
import unittest

import archive
import program
import scans
from scans import KEEP, np

if np is not None:
    from PIL import Image

TIME = 1_700_000_000  # 2023-11-14 22:13:20 UTC
PLAIN = [*KEEP, "--borders=keep", "--no-even-light"]


@unittest.skipUnless(archive.has_qpdf(), "qpdf is not installed")
class Facts(scans.Case):
    def setUp(self):
        super().setUp()
        for number in range(2):
            path = self.save(scans.text_page(310, 438, seed=number), f"in/leaf {number}r.png")
            os.utime(path, (TIME - number, TIME - number))

    def made(self, *words, name="book.pdf", **more):
        self.scan("in", "-o", name, *words, **more)
        return archive.check(self, self.folder / name)

    def test_what_is_said_without_options(self):
        pdf = self.made()
        version = "cudascan-scan " + self.scan("--version").split()[1]
        self.assertEqual(pdf.info(), {"Title": "book", "Creator": version, "Producer": version,
                                      "CreationDate": "D:20231114221320Z",
                                      "ModDate": "D:20231114221320Z"})
        self.assertEqual(pdf.labels(), ["leaf 0r", "leaf 1r"])
        self.assertNotIn("/Lang", pdf.root)
        self.assertIs(pdf.root["/ViewerPreferences"]["/DisplayDocTitle"], True)

    def test_what_is_given(self):
        given = {"title": "Größe <1> & 2", "author": "Ł. O'Neil", "subject": "日本 \"x\"",
                 "keywords": "a, b", "language": "pt-BR"}
        pdf = self.made(*(f"--{name}={value}" for name, value in given.items()))
        info = pdf.info()
        for name in ("title", "author", "subject", "keywords"):
            self.assertEqual(info[name.capitalize()], given[name])
        self.assertEqual(pdf.root["/Lang"], "u:pt-BR")

    def test_names_that_are_no_utf8_and_markup(self):
        name = os.fsencode(self.folder) + b"/in/<a>\xff\xef\xbf\xbe\x01.png"
        os.rename(self.folder / "in/leaf 0r.png", name)
        pdf = self.made(name="a&b.pdf")
        self.assertEqual(pdf.info()["Title"], "a&b")
        self.assertEqual(pdf.labels(), ["<a>?? ", "leaf 1r"])

    def test_labels_of_pages_in_files_and_again(self):
        pages = [scans.text_page(310, 438, seed=seed) for seed in range(2)]
        self.save(pages[0], "in/many.tif", save_all=True, append_images=pages[1:])
        labels = ["leaf 0r", "leaf 1r", "many-p001", "many-p002"]
        self.assertEqual(self.made().labels(), labels)
        self.scan("in", "in", "-o", "twice.pdf")
        self.assertEqual(archive.Document(self.folder / "twice.pdf").labels(), 2 * labels)

    def test_the_time(self):
        first = self.made().bytes
        self.assertEqual(self.made(name="again/book.pdf").bytes, first)
        said = self.made(name="epoch.pdf", env={"SOURCE_DATE_EPOCH": "86399"}).info()
        self.assertEqual(said["CreationDate"], "D:19700101235959Z")
        for value in ("x", "", "-1", "1e9", "253402300800"):
            said = self.scan("in", "-o", "x.pdf", status=3, env={"SOURCE_DATE_EPOCH": value})
            self.assertIn(f"SOURCE_DATE_EPOCH={value}: must be a number of seconds", said)
        os.utime(self.folder / "in/leaf 1r.png", (TIME + 60, TIME + 60))
        self.assertEqual(self.made(name="later/book.pdf").info()["ModDate"], "D:20231114221420Z")

    def test_pages_that_pdf_a_does_not_allow(self):
        for name, size, dpi in (("small", (12, 400), 300), ("large", (40, 14500), 72)):
            page = Image.new("L", size, 255)
            page.paste(0, (4, 100, 8, 200))
            self.save(page, f"{name}.png", dpi=(dpi, dpi))
            self.scan(f"{name}.png", "-o", f"{name}.pdf", *PLAIN)
            pdf = archive.Document(self.folder / f"{name}.pdf")
            self.assertIsNone(pdf.xmp_text("pdfaid:part"))
            self.assertEqual(pdf.info()["Title"], name)

    def test_wrong_usage(self):
        for words, said in ((["--title=x", "-o", "out"], "--title=x: is for PDFs; name an output"),
                            (["--compression=jbig2", "-o", "x.tif"], "jbig2: is for PDFs"),
                            (["--ocr=eng", "-o", "out"], "--ocr=eng: is for PDFs"),
                            (["--compression=lzw", "-o", "x.pdf"], "lzw: must be g4 or jbig2"),
                            (["--title=", "-o", "x.pdf"], "must be a text of one line"),
                            ([os.fsdecode(b"--title=\xff"), "-o", "x.pdf"], "must be a text"),
                            (["--author=a\nb", "-o", "x.pdf"], "must be a text of one line"),
                            (["--language=e", "-o", "x.pdf"], "must be a tag of BCP 47"),
                            (["--language=en_GB", "-o", "x.pdf"], "must be a tag of BCP 47"),
                            (["--language=en-", "-o", "x.pdf"], "must be a tag of BCP 47"),
                            (["--ocr=eng+", "-o", "x.pdf"], "must be languages of tesseract"),
                            (["--ocr=-x", "-o", "x.pdf"], "must be languages of tesseract")):
            with self.subTest(str(words)):
                self.assertIn(said, self.scan("in", *words, status=2))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["in"])

    def test_other_facts_make_another_file(self):
        self.scan("in", "-o", "book.pdf")
        self.assertIn("already exists", self.scan("in", "-o", "book.pdf", "--resume"))
        for number, words in enumerate((["--title=x"], ["--author=x"], ["--subject=x"],
                                        ["--keywords=x"], ["--language=en"],
                                        ["--compression=jbig2"], [f"--title={'x' * 1000}",
                                                                  f"--author={'x' * 1000}"]), 1):
            said = self.scan("in", "-o", "book.pdf", "--resume", *words)
            self.assertIn(f"2 pages in book-{number}.pdf", said)
            said = self.scan("in", "-o", "book.pdf", "--resume", *words)
            self.assertIn(f"book-{number}.pdf already exists", said)


@unittest.skipUnless(archive.has_qpdf() and shutil.which("pdfimages"),
                     "qpdf or poppler-utils is not installed")
class Jbig2(scans.Case):
    def images(self, name):
        program.run(["pdfimages", "-png", name, name.removesuffix(".pdf")], cwd=self.folder)
        return [scans.ink(path) for path in
                sorted(self.folder.glob(name.removesuffix(".pdf") + "-*.png"))]

    def test_all_widths_and_densities(self):
        random = np.random.default_rng(7)
        pages = []
        for number, width in enumerate((*range(1, 34), 63, 64, 65, 127, 128, 129, 255, 256, 257)):
            height = (1, 2, 3, 5, 40)[number % 5]
            page = random.random((height, width)) < (0.01, 0.1, 0.5, 0.9, 0.99)[number // 5 % 5]
            page[height // 2:height // 2 + 4] = page[height // 2]  # rows that are repeated
            pages.append(page)
        blocks = np.zeros((300, 500), bool)
        blocks[20:50, 33:300] = blocks[:, 490:] = blocks[299] = True
        pages += [blocks, ~blocks, random.random((300, 500)) < 0.5]
        for number, page in enumerate(pages):
            self.save(Image.fromarray((~page).astype(np.uint8) * 255), f"in/{number}.png")
        self.scan("in", "-o", "book.pdf", "--compression=jbig2", *PLAIN)
        made = self.images("book.pdf")
        self.assertEqual(len(made), len(pages))
        for number, (page, again) in enumerate(zip(pages, made)):
            self.assertTrue(np.array_equal(page, again), number)

    def test_pages_of_text_are_smaller_and_the_same(self):
        for number in range(3):
            self.save(scans.text_page(1240, 1754, seed=number), f"in/{number}.png")
        self.scan("in", "-o", "g4.pdf", *KEEP)
        for jobs in (1, 3):
            self.scan("in", "-o", f"{jobs}/book.pdf", "--compression=jbig2", "--jobs", jobs, *KEEP)
        first, other = (self.folder / f"{jobs}/book.pdf" for jobs in (1, 3))
        self.assertEqual(first.read_bytes(), other.read_bytes())
        self.assertLess(first.stat().st_size,
                        0.8 * (self.folder / "g4.pdf").stat().st_size)
        archive.check(self, first)
        shutil.copy(first, self.folder / "book.pdf")
        for page, again in zip(self.images("g4.pdf"), self.images("book.pdf")):
            self.assertTrue(np.array_equal(page, again))


if __name__ == "__main__":
    program.main()
