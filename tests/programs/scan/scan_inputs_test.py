# SPDX-License-Identifier: LGPL-2.1-or-later
"""What cudascan-scan reads: formats by their content, files with several pages, headers that are
compared with what was decoded, and what is left out of folders."""
import io
import shutil
import struct
import unittest

import program
import scans
from scans import np

if np is not None:
    from PIL import Image, features

KEEP = ["--no-straighten", "--despeckle=0"]  # a page with clear levels comes out unchanged


def encoded(page, kind, **how):
    file = io.BytesIO()
    page.save(file, format=kind, **how)
    return file.getvalue()


class Inputs(scans.Case):
    def setUp(self):
        super().setUp()
        self.pages = [scans.text_page(seed=seed) for seed in range(3)]

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def check(self, made, page, least=1):
        """The output must have the ink of this page."""
        expected = np.array(page.convert("L")) < 128
        ink = scans.ink(self.out / made)
        self.assertEqual(ink.shape, expected.shape)
        self.assertGreaterEqual(scans.overlap(ink, expected), least, made)


class Pnm(Inputs):
    """Every kind of PNM, written by hand as netpbm describes it."""

    def read(self, data, status=0, words=()):
        shutil.rmtree(self.out, ignore_errors=True)
        self.write("page.pnm", data)
        return self.scan("page.pnm", "-o", "out", *KEEP, *words, status=status)

    def test_headers(self):
        levels = np.array(self.pages[0])
        for head in (b"P5\n620 877\n255\n", b"P5 620 877 255 ", b"P5\n#a\n#b\n620 877\n255\n",
                     b"P5\n620\n#a\n877\n# b\n#c\n255\n", b"P5\n620 877\n255#c\n",
                     b"P5\t620\r877\n\n255\n", b"P5#a\n620 877 255\n"):
            with self.subTest(head):
                self.read(head + levels.tobytes())
                self.check("page.tif", self.pages[0])

    def test_two_comments_keep_the_width(self):
        self.read(b"P5\n#a\n#b\n2480 1000\n255\n" + b"\xc8" * 2480000)
        with Image.open(self.out / "page.tif") as page:
            self.assertEqual(page.size, (2480, 1000))

    def test_kinds(self):
        ink = np.array(self.pages[0]) == 0
        height, width = ink.shape
        size = f"{width} {height}\n".encode()
        rgb = np.repeat(np.where(ink, 0, 9)[:, :, None], 3, axis=2).astype(np.uint8)
        text = lambda values: "\n".join(" ".join(map(str, row)) for row in values).encode()
        bits = "\n".join("".join("10"[int(not p)] for p in row) for row in ink).encode()
        deep = np.where(ink, 0, 1000).astype(">u2")
        for name, data in {
                "P1": b"P1\n" + size + bits,
                "P2": b"P2\n" + size + b"7\n" + text(np.where(ink, 0, 7)),
                "P2 deep": b"P2\n" + size + b"1000\n" + text(deep),
                "P3": b"P3\n" + size + b"9\n" + text(rgb.reshape(height, -1)),
                "P4": b"P4\n" + size + np.packbits(ink, axis=1).tobytes(),
                "P5 deep": b"P5\n" + size + b"1000\n" + deep.tobytes(),
                "P6": b"P6\n" + size + b"9\n" + rgb.tobytes(),
                "P6 deep": b"P6\n" + size + b"65535\n" + (rgb.astype(">u2") * 7281).tobytes(),
        }.items():
            with self.subTest(name):
                self.read(data)
                self.check("page.tif", self.pages[0])

    def test_levels_are_scaled(self):
        # The mean of the page splits at half of the range only if 15 became 255.
        levels = np.tile(np.array([0, 15], np.uint8), (10, 50))
        self.read(b"P5\n100 10\n15\n" + levels.tobytes())
        self.assertTrue((scans.ink(self.out / "page.tif") == (levels == 0)).all())

    def test_several_images_in_a_file(self):
        data = b"".join(f"P{kind}\n620 877\n".encode() + rest for kind, rest in (
            (5, b"255\n" + self.pages[0].tobytes()),
            (4, self.pages[1].point(lambda level: 255 - level).convert("1").tobytes()),
            (6, b"255\n" + self.pages[2].convert("RGB").tobytes())))
        self.read(data)
        self.assertEqual(self.outputs(), [f"page-p00{i}.tif" for i in (1, 2, 3)])
        for number, page in enumerate(self.pages):
            self.check(f"page-p00{number + 1}.tif", page)

    def test_what_follows_is_said(self):
        said = self.read(b"P5\n620 877\n255\n" + self.pages[0].tobytes() + b"junk", status=1)
        self.assertIn("left out: page.pnm: after page 1 there are 4 bytes that are no page", said)
        self.check("page.tif", self.pages[0])

    def test_truncated(self):
        data = b"P5\n620 877\n255\n" + self.pages[0].tobytes()[:620 * 400 + 100]
        said = self.read(data, status=1)
        self.assertIn("page.pnm: the data ends in row 401 of 877", said)

    def test_damaged_headers(self):
        for head in (b"P5\n", b"P5\n620\n", b"P5\n0 5\n255\n", b"P5\n5 5\n70000\n",
                     b"P5\n-5 5\n255\n", b"P5\n99999999999 5\n255\n", b"P5 5 5 255x"):
            with self.subTest(head):
                said = self.read(head + b"abcdefgh", status=1)
                self.assertIn("page.pnm: the header of the PNM file is damaged", said)


class Bmp(Inputs):
    def read(self, data, status=0):
        shutil.rmtree(self.out, ignore_errors=True)
        self.write("page.bmp", data)
        return self.scan("page.bmp", "-o", "out", *KEEP, status=status)

    def test_kinds_of_pillow(self):
        for mode in ("1", "L", "P", "RGB", "RGBA"):
            with self.subTest(mode):
                self.read(encoded(self.pages[0].convert(mode), "bmp", dpi=(200, 200)))
                self.check("page.tif", self.pages[0])
                with Image.open(self.out / "page.tif") as page:
                    self.assertAlmostEqual(float(page.tag_v2[282]), 200, delta=0.1)

    def bitmap(self, bits, rows, compression=0, top=False, masks=b"", palette=b"", old=False):
        """A bitmap of 4 x 2 pixels."""
        height = -2 if top else 2
        head = struct.pack("<IHHHH", 12, 4, 2, 1, bits) if old else struct.pack(
            "<IiiHHIIiiII", 40, 4, height, 1, bits, compression, 0, 0, 0, 0, 0)
        body = head + masks + palette
        return b"BM" + struct.pack("<IHHI", 0, 0, 0, 14 + len(body)) + body + b"".join(rows)

    def test_layouts(self):
        # The upper row is black, the lower one black, white, white, white.
        four = b"\0\0\0\0" + b"\xff\xff\xff\0" + bytes(14 * 4)
        for name, data in {
                "4 bit": self.bitmap(4, [b"\x01\x11\0\0", b"\0\0\0\0"], palette=four),
                "4 bit from the top": self.bitmap(4, [b"\0\0\0\0", b"\x01\x11\0\0"], top=True,
                                                  palette=four),
                "16 bit": self.bitmap(16, [struct.pack("<4H", 0, *[0x7fff] * 3), bytes(8)]),
                "16 bit with masks": self.bitmap(
                    16, [struct.pack("<4H", 0, *[0xffff] * 3), bytes(8)], 3,
                    masks=struct.pack("<3I", 0xf800, 0x7e0, 0x1f)),
                "old, 24 bit": self.bitmap(24, [bytes(3) + b"\xff" * 9, bytes(12)], old=True),
                "32 bit with masks": self.bitmap(
                    32, [struct.pack("<4I", 0, *[0xffffff00] * 3), bytes(16)], 3,
                    masks=struct.pack("<3I", 0xff000000, 0xff0000, 0xff00)),
        }.items():
            with self.subTest(name):
                self.read(data)
                self.assertEqual(scans.ink(self.out / "page.tif").tolist(),
                                 [[True] * 4, [True, False, False, False]])

    def test_compressed_and_truncated_ones_are_errors(self):
        said = self.read(self.bitmap(8, [b"\4\1\0\1"], 1), status=1)
        self.assertIn("page.bmp: a BMP file with 8 bits a pixel and compression 1 is not supported",
                      said)
        data = encoded(self.pages[0], "bmp")
        self.assertIn("page.bmp: the data ends in row", self.read(data[:len(data) // 2], status=1))


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
            self.assertIn("1 pages in", said)
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
            self.scan("text.pdf", "-o", f"out{dpi}", *words)
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
