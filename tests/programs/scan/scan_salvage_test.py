# SPDX-License-Identifier: LGPL-2.1-or-later
"""Damaged and truncated files: an error of cudascan-scan; with --salvage, what is left of them."""
import io
import shutil

import program
import scans
from scans import KEEP, np

if np is not None:
    from PIL import Image

ROWS = scans.HEIGHT


class Salvage(scans.Case):
    def setUp(self):
        super().setUp()
        self.page = scans.text_page()
        self.ink = np.array(self.page) == 0

    def encoded(self, kind, page=None, **how):
        file = io.BytesIO()
        (page or self.page).save(file, format=kind, **how)
        return file.getvalue()

    def salvage(self, name, data):
        """Returns the ink of the page and what the statistics say of it."""
        (self.folder / name).write_bytes(data)
        shutil.rmtree(self.out, ignore_errors=True)
        said = self.scan(name, "-o", "out", *KEEP, status=1)
        self.assertIn(f"left out: {name}: ", said)
        self.assertEqual(self.outputs(), [])
        said = self.scan(name, "-o", "out", *KEEP, "--salvage", "--stats=stats.json", status=1)
        stats = self.statistics()
        record = stats["page_list"][0]
        self.assertTrue(record["salvaged"])
        self.assertTrue(record["damage"])
        self.assertEqual((stats["salvaged"], stats["pages"], stats["failed"]), (1, 1, 0))
        self.assertEqual(record["rows"], ROWS)
        self.assertIn(f"salvaged: {name}: {record['rows_kept']} of {ROWS} rows: ", said)
        self.assertIn("1 salvaged", said)
        return scans.ink(self.out / self.outputs()[0]), record["rows_kept"]

    def check(self, name, data, least, most, share=0.9):
        """The page must be right in its first rows and white in the others."""
        made, kept = self.salvage(name, data)
        self.assertTrue(least * ROWS <= kept <= most * ROWS, kept)
        self.assertGreaterEqual(scans.overlap(made[:kept], self.ink[:kept]), share)
        self.assertEqual(made[kept:].sum(), 0)

    def test_jpeg(self):
        data = self.encoded("jpeg", quality=95)
        self.check("page.jpg", data[:len(data) // 2], 0.3, 0.7)
        self.check("page.jpg", data[:-2000], 0.9, 0.999)

    def test_jpeg_in_several_scans(self):
        # Half of the data is enough for all rows, in less detail.
        data = self.encoded("jpeg", quality=95, progressive=True)
        self.check("page.jpg", data[:len(data) * 3 // 4], 1, 1, 0.8)

    def test_png(self):
        # One strip of noise in each row, so that the file is long enough to be cut.
        levels = np.array(self.page)
        levels[:, :40] = np.random.default_rng(1).integers(250, 256, (ROWS, 40))
        data = self.encoded("png", Image.fromarray(levels))
        self.check("page.png", data[:len(data) * 3 // 4], 0.1, 0.8)

    def test_pnm_and_bmp(self):
        data = self.encoded("ppm")
        self.check("page.pgm", data[:len(data) // 2], 0.499, 0.5, 1)
        data = self.encoded("bmp")
        made, kept = self.salvage("page.bmp", data[:len(data) // 2])  # begins with the lowest row
        self.assertTrue((made[-kept:] == self.ink[-kept:]).all())
        self.assertEqual(made[:-kept].sum(), 0)

    def test_tiff_loses_only_the_strips_that_are_damaged(self):
        data = bytearray(self.encoded("tiff", compression="tiff_lzw"))
        with Image.open(io.BytesIO(bytes(data))) as page:
            rows, places = page.tag_v2[278], page.tag_v2[273]
        damaged = len(places) // 2
        data[places[damaged] + 10:places[damaged] + 40] = b"\xff" * 30
        made, kept = self.salvage("page.tif", bytes(data))
        expected = self.ink.copy()
        expected[damaged * rows:(damaged + 1) * rows] = False
        self.assertTrue((made == expected).all())
        self.assertEqual(kept, ROWS - rows)

    def test_nothing_is_left(self):
        jpeg = self.encoded("jpeg")
        for name, data in (("a.jpg", jpeg[:jpeg.index(b"\xff\xda") + 16]),
                           ("a.png", b"\x89PNG\r\n\x1a\n"), ("a.pgm", b"P5\n620 877\n255\n"),
                           ("a.jp2", b"\0\0\0\x0cjP  \r\n\x87\n")):
            with self.subTest(name):
                (self.folder / name).write_bytes(data)
                said = self.scan(name, "-o", "out", "--salvage", status=1)
                self.assertIn(f"left out: {name}: ", said)
                self.assertEqual(self.outputs(), [])

    def test_messages_are_those_of_the_page(self):
        words = {"png": "vipspng", "gif": "gifload_source", "jp2": "jp2kload_source"}
        (self.folder / "in").mkdir()
        for kind, name in (("png", "png"), ("gif", "gif"), ("jpeg2000", "jp2")):
            data = self.encoded(kind)
            for number in range(30):
                (self.folder / f"in/{number}.{name}").write_bytes(data[:len(data) // 2])
        said = self.scan("in", "-o", "out", "--jobs=8", status=1)
        lines = [line for line in said.splitlines() if line.startswith("left out: ")]
        self.assertEqual(len(lines), 90)
        for line in lines:
            name, problem = line.removeprefix("left out: in/").split(": ", 1)
            for part in problem.split("; "):
                self.assertTrue(part.startswith(words[name[-3:]]), line)

    def test_whole_pages_are_not_touched(self):
        (self.folder / "page.jpg").write_bytes(self.encoded("jpeg", quality=95))
        for out, words in (("out", []), ("again", ["--salvage"])):
            self.scan("page.jpg", "-o", out, *words)
        self.assertEqual(self.contents(), self.contents(self.folder / "again"))


if __name__ == "__main__":
    program.main()
