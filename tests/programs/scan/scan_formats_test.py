# SPDX-License-Identifier: LGPL-2.1-or-later
"""PNM and BMP files, which cudascan-scan reads without a library."""
import shutil
import struct

import program
import scans
from scans import KEEP, Inputs, encoded, np

if np is not None:
    from PIL import Image


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

    def test_sizes_that_no_file_has(self):
        for head, said in ((b"P6\n2147483647 2147483647\n65535\n", "the limit is 32768 a side"),
                           (b"P5\n32768 32768\n255\n", "the data ends in row 1 of 32768")):
            self.assertIn(f"left out: page.pnm: {said}" if "data" in said else said,
                          self.read(head + bytes(1000), status=1))

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


if __name__ == "__main__":
    program.main()
