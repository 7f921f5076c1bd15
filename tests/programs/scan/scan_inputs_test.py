# SPDX-License-Identifier: LGPL-2.1-or-later
"""What cudascan-scan reads: formats by their content, files with several pages, headers that are
compared with what was decoded, and what is left out of folders."""
import shutil
import struct
import unittest

import program
import scans
from scans import KEEP, Inputs, encoded, np

if np is not None:
    from PIL import Image, features


class Content(Inputs):
    def kinds(self):
        page = self.pages[0]
        kinds = {"png": encoded(page, "png"), "jpg": encoded(page, "jpeg", quality=95),
                 "tif": encoded(page, "tiff"), "pgm": encoded(page, "ppm"),
                 "bmp": encoded(page, "bmp"), "gif": encoded(page, "gif"),
                 "pdf": encoded(page, "pdf", resolution=100)}
        if features.check("jpg_2000"):
            kinds["jp2"] = encoded(page, "jpeg2000")
            kinds["j2k"] = encoded(page, "jpeg2000", no_jp2=True)
        if features.check("webp"):
            kinds["webp"] = encoded(page, "webp", quality=95)
            kinds["lossless.webp"] = encoded(page, "webp", lossless=True)
        return kinds

    def test_kinds_are_known_by_their_content(self):
        kinds = self.kinds()
        for number, (kind, data) in enumerate(sorted(kinds.items())):
            self.write(f"in/plain{number:02}-{kind.replace('.', '-')}", data)
            self.write(f"in/wrong{number:02}.{'png' if kind != 'png' else 'jpg'}", data)
        self.scan("in", "-o", "out", *KEEP)
        self.assertEqual(len(self.outputs()), 2 * len(kinds))
        for made in self.outputs():
            self.check(made, self.pages[0], 0.9)

    def test_what_is_ignored_in_folders_is_said(self):
        self.write("in/page.png", encoded(self.pages[0], "png"))
        for name, data in {"notes.txt": b"words", "picture.svg": b"<svg/>", "empty": b"",
                           "BM.doc": b"BM is a word of a text that is long enough",
                           "P5": b"P5.5 is no page"}.items():
            self.write(f"in/{name}", data)
        (self.folder / "in/inner").mkdir()
        (self.folder / "in/loop").symlink_to(".")
        expected = {"in/notes.txt": "not an image or a PDF",
                    "in/picture.svg": "not an image or a PDF", "in/empty": "not an image or a PDF",
                    "in/BM.doc": "not an image or a PDF", "in/P5": "not an image or a PDF",
                    "in/inner": "a folder; --recursive looks into it",
                    "in/loop": "a link to a folder"}
        lines = {f"ignored: {path}: {why}" for path, why in expected.items()}
        for words in (["--dry-run"], []):
            said = self.scan("in", "-o", "out", *words)
            self.assertEqual(lines, {line for line in said.splitlines()
                                     if line.startswith("ignored: ")})
        self.assertIn(f"{len(lines)} ignored", said)
        stats = self.measured("in", "-o", "out", "--quiet")
        self.assertEqual({file["path"]: file["why"] for file in stats["ignored"]}, expected)
        self.assertEqual(self.scan("in", "-o", "out", "--quiet"), "")
        (self.folder / "in/page.png").unlink()
        said = self.scan("in", "-o", "out", status=3)
        self.assertIn("in: no images found", said)
        self.assertIn("ignored: in/notes.txt: not an image or a PDF", said)

    def test_pages_with_the_name_of_the_output_are_read(self):
        for number, name in enumerate(("page.tif", "page-1.tif", "page-2.tif")):
            self.write(f"in/{name}", encoded(self.pages[number], "tiff"))
        self.assertNotIn("ignored", self.scan("in", "-o", "in/page.tif"))
        self.assertEqual(sorted(path.name for path in (self.folder / "in").iterdir()),
                         ["page-1.tif", "page-2.tif", "page-3.tif", "page.tif"])
        with Image.open(self.folder / "in/page-3.tif") as book:
            self.assertEqual(book.n_frames, 3)
        said = self.scan("in", "-o", "in/page.tif")
        self.assertIn("ignored: in/page-3.tif: it is the output of a run", said)
        self.assertIn("3 pages in in/page-4.tif", said)

    def test_outputs_in_subfolders(self):
        for name in ("in/page.png", "in/scans.pages/page.png"):
            self.write(name, encoded(self.pages[0], "png"))
        self.scan("in", "-o", "in/out", "--recursive")
        said = self.scan("in", "-o", "in/again", "--recursive")
        self.assertIn("2 pages in", said)
        self.assertIn("ignored: in/out: it is the output of a run", said)

    def test_many_ignored_files(self):
        self.write("in/page.png", encoded(self.pages[0], "png"))
        for number in range(30):
            self.write(f"in/{number}.txt", b"words")
        said = self.scan("in", "-o", "out")
        self.assertEqual(said.count("not an image or a PDF"), 20)
        self.assertIn("ignored: 10 others; --verbose, --dry-run and --stats name them", said)
        self.assertEqual(self.scan("in", "-o", "out", "-v").count("not an image or a PDF"), 30)

    def test_outputs_in_the_folder_are_no_inputs(self):
        self.write("page.png", encoded(self.pages[0], "png"))
        for name in ("book.pdf", "book-1.pdf", "book-2.pdf"):
            said = self.scan(".", "-o", "book.pdf")
            self.assertIn("1 page in", said)
            self.assertTrue((self.folder / name).exists())
        self.assertIn("ignored: ./book-1.pdf: it is the output of a run", said)
        self.scan("book-1.pdf", "-o", "out", "--resolution=75")
        self.assertEqual(self.outputs(), ["book-1.tif"])


class SeveralPages(Inputs):
    def check_all(self, name, data, least=0.97):
        shutil.rmtree(self.out, ignore_errors=True)
        self.write(name, data)
        said = self.scan(name, "-o", "out", *KEEP)
        stem = name.partition(".")[0]
        self.assertEqual(self.outputs(), [f"{stem}-p00{i}.tif" for i in (1, 2, 3)], said)
        for number, page in enumerate(self.pages):
            self.check(f"{stem}-p00{number + 1}.tif", page, least)

    def test_gif(self):
        self.check_all("book.gif", encoded(self.pages[0], "gif", save_all=True,
                                           append_images=self.pages[1:]))

    def test_webp(self):
        if not features.check("webp_anim"):
            self.skipTest("Pillow writes no WebP")
        self.check_all("book.webp", encoded(self.pages[0], "webp", save_all=True, lossless=True,
                                            append_images=self.pages[1:]))

    def test_tiff(self):
        self.check_all("book.tif", encoded(self.pages[0], "tiff", save_all=True,
                                           append_images=self.pages[1:]))

    def test_pdf_keeps_the_resolution_of_its_images(self):
        small = self.pages[0].resize((300, 400))
        data = encoded(self.pages[0].convert("RGB"), "pdf", save_all=True, resolution=150,
                       append_images=[small.convert("RGB"), *self.pages[1:]])
        self.write("book.pdf", data)
        self.scan("book.pdf", "-o", "out", *KEEP)
        for number, page in ((1, self.pages[0]), (3, self.pages[1]), (4, self.pages[2])):
            self.check(f"book-p00{number}.tif", page, 0.9)
            with Image.open(self.out / f"book-p00{number}.tif") as made:
                self.assertEqual(float(made.tag_v2[282]), 150)
        with Image.open(self.out / "book-p002.tif") as made:
            self.assertEqual(made.size, (300, 400))

    def test_own_pdfs_come_back_with_the_same_pixels(self):
        for number, size in enumerate(((620, 877), (1240, 1754), (827, 1169))):
            page = scans.text_page(*size, seed=number)
            self.save(page, f"in/{number}.png", dpi=(72 * size[0] // 594,) * 2)
        self.scan("in", "-o", "book.pdf", *KEEP)
        self.scan("in", "-o", "out", *KEEP)
        self.scan("book.pdf", "-o", "again", *KEEP)
        for number in range(3):
            first = self.out / f"{number}.tif"
            again = self.folder / f"again/book-p00{number + 1}.tif"
            self.assertTrue((scans.ink(first) == scans.ink(again)).all(), number)
            with Image.open(first) as one, Image.open(again) as other:
                self.assertEqual(one.tag_v2[282], other.tag_v2[282])

    def test_pdf_of_text_has_the_resolution_asked_for(self):
        text = b"BT /F 40 Tf 40 100 Td (Words) Tj ET"
        objects = [b"<< /Type /Catalog /Pages 2 0 R >>",
                   b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                   b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 288 144] /Contents 4 0 R "
                   b"/Resources << /Font << /F << /Type /Font /Subtype /Type1 "
                   b"/BaseFont /Helvetica >> >> >> >>",
                   b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text)]
        data, places = b"%PDF-1.4\n", []
        for number, body in enumerate(objects, 1):
            places.append(len(data))
            data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        table = b"".join(b"%010d 00000 n \n" % place for place in places)
        data += (b"xref\n0 5\n0000000000 65535 f \n" + table +
                 b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(data))
        self.write("text.pdf", data)
        for words, dpi in (([], 300), (["--resolution=100"], 100)):
            self.scan("text.pdf", "-o", f"out{dpi}", "--enlarge=no", *words)
            with Image.open(self.folder / f"out{dpi}/text.tif") as page:
                self.assertEqual(page.size, (4 * dpi, 2 * dpi))
                self.assertEqual(float(page.tag_v2[282]), dpi)
            share = scans.ink(self.folder / f"out{dpi}/text.tif").mean()
            self.assertTrue(0.01 < share < 0.2, share)

    def test_pdfs_that_cannot_be_read(self):
        self.write("broken.pdf", b"%PDF-1.4\nno objects")
        self.assertIn("left out: broken.pdf: ", self.scan("broken.pdf", "-o", "out", status=1))

    @unittest.skipUnless(shutil.which("qpdf"), "qpdf is not installed")
    def test_pdfs_with_a_password(self):
        self.write("open.pdf", encoded(self.pages[0], "pdf"))
        program.run(["qpdf", "--encrypt", "secret", "secret", "256", "--", "open.pdf",
                     "locked.pdf"], cwd=self.folder)
        said = self.scan("locked.pdf", "-o", "out", status=1)
        self.assertIn("left out: locked.pdf: invalid password", said)


class Headers(Inputs):
    """Files whose headers contradict what libvips reads, or that have lost pages."""

    def test_list_of_pages_that_breaks_off(self):
        whole = encoded(self.pages[0], "tiff", save_all=True, append_images=self.pages[1:])
        links = []
        at = struct.unpack_from("<I", whole, 4)[0]
        while at:
            links.append(at + 2 + 12 * struct.unpack_from("<H", whole, at)[0])
            at = struct.unpack_from("<I", whole, links[-1])[0]
        for name, link in (("far", len(whole) + 1000), ("loop", links[0] - 12),
                           ("text", 8 + 4000)):
            with self.subTest(name):
                shutil.rmtree(self.out, ignore_errors=True)
                data = bytearray(whole)
                struct.pack_into("<I", data, links[1], link)
                self.write("book.tif", bytes(data))
                said = self.scan("book.tif", "-o", "out", *KEEP, status=1)
                self.assertIn("left out: book.tif: the list of pages is damaged after page 2; "
                              "later pages are lost", said)
                self.assertEqual(self.outputs(), ["book-p001.tif", "book-p002.tif"])
                self.assertIn("cannot be read: book.tif: the list of pages is damaged",
                              self.scan("book.tif", "-o", "out", "-n", status=1))

    def with_entry(self, data, tag, kind, value):
        """A TIFF file whose directory has one more entry, at its end."""
        at = struct.unpack_from("<I", data, 4)[0]
        count = struct.unpack_from("<H", data, at)[0]
        entries = data[at + 2:at + 2 + 12 * count] + struct.pack("<HHII", tag, kind, 1, value)
        directory = struct.pack("<H", count + 1) + entries + bytes(4)
        return data[:4] + struct.pack("<I", len(data)) + data[8:] + directory

    def test_sizes_are_compared(self):
        # The width is there twice, and libtiff takes the first.
        data = self.with_entry(encoded(self.pages[0], "tiff"), 256, 4, 4000)
        self.write("page.tif", data)
        for words in ([], ["--salvage"]):
            said = self.scan("page.tif", "-o", "out", *words, status=1)
            self.assertIn("left out: page.tif: ", said)
            self.assertIn("its header says 4000x877 pixels, but libvips reads 620x877", said)

    def test_warnings_of_libvips_are_said(self):
        # A tag that libtiff does not know.
        self.write("page.tif", self.with_entry(encoded(self.pages[0], "tiff"), 60000, 4, 7))
        stats = self.measured("page.tif", "-o", "out", *KEEP)
        self.assertEqual(len(stats["page_list"][0]["warnings"]), 1)
        self.assertIn("60000", stats["page_list"][0]["warnings"][0])
        said = self.scan("page.tif", "-o", "out")
        self.assertRegex(said, r"warning: page.tif: .*60000")
        self.check("page.tif", self.pages[0])

    def test_bytes_between_the_segments_of_a_jpeg_are_said(self):
        data = encoded(self.pages[0], "jpeg", quality=95)
        for at in (20, data.index(b"\xff\xda")):  # after the first segment, before the last
            self.write("page.jpg", data[:at] + bytes(3) + data[at:])
            stats = self.measured("page.jpg", "-o", "out")
            self.assertIn("3 extraneous bytes before marker", stats["page_list"][0]["warnings"][0])
        self.write("page.jpg", data)
        self.scan("page.jpg", "-o", "out")
        self.assertEqual(len(set(self.contents().values())), 1)

    def test_orientations(self):
        # Pillow turns by the same numbers.
        from PIL import ImageOps
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            path = self.write("page.jpg", encoded(self.pages[0], "jpeg", quality=95, exif=exif))
            shutil.rmtree(self.out, ignore_errors=True)
            self.scan("page.jpg", "-o", "out", *KEEP)
            with Image.open(path) as page:
                self.check("page.tif", ImageOps.exif_transpose(page), 0.95)


if __name__ == "__main__":
    program.main()
