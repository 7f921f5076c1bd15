# SPDX-License-Identifier: LGPL-2.1-or-later
"""Further files of each page, in its own levels with the geometry of the black and white page."""
import hashlib
import os
import struct

import program
import scans

try:
    import numpy as np
    from PIL import Image, ImageCms
except ImportError:
    np = None

ALL = ["--also=gray.tif,gray.jp2,gray.png,gray.jpg", "--also=color.tif,color.jp2,color.png",
       "--also=color.jpg"]
LOSSLESS = ("tif", "jp2", "png")


def opened(path):
    with Image.open(path) as page:
        return np.array(page)


def luma(colour):
    """Rec. 601 with 16-bit weights, rounded."""
    weights = np.array([19595, 38470, 7471])
    return ((colour.astype(np.int64) * weights).sum(axis=2) + 32768 >> 16).astype(colour.dtype)


def coloured(width=300, height=200, seed=1):
    """Text on yellow paper with a coloured picture of smooth levels."""
    page = np.array(scans.text_page(width, height, seed=seed).convert("RGB"))
    page[:, :, 2] = page[:, :, 2] * 0.8
    y, x = np.mgrid[0:60, 0:90]
    page[20:80, 30:120] = np.stack([x * 2, y * 4, 255 - x - y], axis=2)
    return page


class Levels(scans.Case):
    ALWAYS = ("--enlarge=no",)  # sizes and levels are those of the input

    def test_gray_and_colour_are_exact(self):
        page = coloured()
        self.save(Image.fromarray(page), "c.png", dpi=(200, 200))
        self.save(Image.fromarray(luma(page)), "g.png", dpi=(200, 200))
        self.scan("c.png", "g.png", "-o", "out", *scans.KEEP, *ALL)
        for kind in LOSSLESS:
            np.testing.assert_array_equal(opened(self.out / f"c.color.{kind}"), page)
            for name in ("c.gray", "g.gray", "g.color"):
                np.testing.assert_array_equal(opened(self.out / f"{name}.{kind}"), luma(page))
        for name in ("c.color", "c.gray"):
            made = opened(self.out / f"{name}.jpg").astype(int)
            expected = page if name == "c.color" else luma(page)
            self.assertLess(np.abs(made - expected).mean(), 6)
            self.assertGreater(np.abs(made - expected).max(), 0)
        self.assertEqual(Image.open(self.out / "c.tif").size, (300, 200))

    def test_16_bit_colour_and_gray(self):
        y, x = np.mgrid[0:90, 0:120]
        page = np.stack([x * 500 + y, y * 700 + x, (x * y * 7) % 65536], axis=2).astype(">u2")
        ppm = b"P6\n120 90\n65535\n" + page.tobytes()
        (self.folder / "c.ppm").write_bytes(ppm)
        (self.folder / "g.pgm").write_bytes(b"P5 120 90 65535\n" + page[:, :, 2].tobytes())
        self.scan("c.ppm", "g.pgm", "-o", "out", "--no-straighten",
                  "--also=color.png,gray.tif,gray.png,color.tif,gray.jpg")
        gray = opened(self.out / "g.gray.tif")
        self.assertEqual(gray.dtype, np.uint16)
        np.testing.assert_array_equal(gray, page[:, :, 2])
        np.testing.assert_array_equal(opened(self.out / "g.gray.png"), page[:, :, 2])
        np.testing.assert_array_equal(opened(self.out / "c.gray.tif"), luma(page))
        # PIL has no colour of 16 bit. The program reads it back.
        for name in ("c.color.png", "c.color.tif"):
            self.scan(self.out / name, "-o", name + ".out", "--also=gray.tif", "--no-straighten")
            back = opened(self.folder / f"{name}.out/c.color.gray.tif")
            np.testing.assert_array_equal(back, luma(page), name)
        self.assertEqual(opened(self.out / "g.gray.jpg").dtype, np.uint8)

    def test_the_header_of_the_tiff(self):
        page = self.save(Image.fromarray(coloured()), "in/one.png", dpi=(200, 150))
        pages = [Image.fromarray(luma(coloured(seed=seed))) for seed in range(2)]
        pages[0].save(self.folder / "in/two.tif", save_all=True, append_images=pages[1:],
                      dpi=(300, 300))
        for folder in ("out", "again"):
            self.scan("in", "-o", folder, "--also=color.tif,gray.tif")
            os.utime(page, (1e9, 1e9))  # the time of a file is not in the bytes
        self.assertEqual(self.contents(), self.contents(self.folder / "again"))
        with Image.open(self.out / "one.color.tif") as made:
            tags = {tag: made.tag_v2[tag] for tag in made.tag_v2}
        self.assertEqual(self.out.joinpath("one.color.tif").read_bytes()[:4], b"II*\0")
        self.assertEqual(tags[258], (8, 8, 8))
        self.assertEqual([tags[tag] for tag in (259, 262, 274, 277, 284, 296)], [1, 2, 1, 3, 1, 2])
        self.assertEqual((tags[282], tags[283]), (200, 150))
        self.assertEqual(tags[269], "one.png")
        self.assertRegex(tags[305], "^cudascan-scan [0-9.]+ --format=tiff --also=gray.tif,color.")
        self.assertNotIn(306, tags)  # DateTime
        self.assertNotIn(285, tags)
        with Image.open(self.out / "two-p002.gray.tif") as made:
            self.assertEqual((made.tag_v2[269], made.tag_v2[285]), ("two.tif", "page 2 of 2"))
            self.assertEqual((made.tag_v2[259], made.tag_v2[262], made.tag_v2[277]), (1, 1, 1))

    def test_resolution_and_profile(self):
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        page = Image.fromarray(coloured())
        self.save(page, "rgb.png", dpi=(250, 250), icc_profile=profile)
        self.save(page.convert("L"), "wrong.png", dpi=(250, 250), icc_profile=profile)
        gray = profile[:16] + b"GRAY" + profile[20:]
        self.save(page.convert("L"), "gray.tif", dpi=(250, 250), icc_profile=gray)
        self.scan("rgb.png", "wrong.png", "gray.tif", "-o", "out", *ALL)
        for kind in ("tif", "png", "jpg"):
            for name, expected in (("rgb.color", profile), ("rgb.gray", None),
                                   ("wrong.gray", None)):
                with Image.open(self.out / f"{name}.{kind}") as made:
                    self.assertEqual(made.info.get("icc_profile"), expected, (name, kind))
                    self.assertAlmostEqual(float(made.info["dpi"][0]), 250, delta=0.1)
        with Image.open(self.out / "gray.gray.tif") as made:
            self.assertEqual(made.info.get("icc_profile"), gray)
        data = (self.out / "rgb.color.jp2").read_bytes()
        self.assertTrue(profile in data)
        # 250 dpi are 250 / 254 * 10^4 pixels a metre.
        self.assertTrue(struct.pack(">I4sI4sHHHHbb", 26, b"res ", 18, b"resc", 250, 254, 250, 254,
                                    4, 4) in data)
        with Image.open(self.out / "rgb.color.jp2") as made:
            np.testing.assert_array_equal(np.array(made), coloured())

    def test_each_reader_keeps_colour(self):
        page = coloured()
        image = Image.fromarray(page)
        self.save(image, "in/bitmap.bmp")
        self.save(image.quantize(200), "in/palette.bmp")
        self.save(image, "in/pnm.ppm")
        self.save(image, "in/strips.tif")
        self.save(image, "in/webp.webp", lossless=True)
        self.save(image, "in/whole.jpg", quality=95)
        data = (self.folder / "in/whole.jpg").read_bytes()
        (self.folder / "in/half.jpg").write_bytes(data[:len(data) * 2 // 3])
        self.scan("in", "-o", "out", "--also=color.png,gray.png", "--salvage", status=1)
        for name in ("bitmap", "pnm", "strips", "webp"):
            np.testing.assert_array_equal(opened(self.out / f"{name}.color.png"), page, name)
        palette = np.array(image.quantize(200).convert("RGB"))
        np.testing.assert_array_equal(opened(self.out / "palette.color.png"), palette)
        half = opened(self.out / "half.color.png")
        whole = opened(self.out / "whole.color.png")
        np.testing.assert_array_equal(half[:80], whole[:80])
        np.testing.assert_array_equal(half[-16:], np.full_like(half[-16:], 255))
        np.testing.assert_array_equal(opened(self.out / "half.gray.png"), luma(half))


class Geometry(scans.Case):
    ALWAYS = ("--enlarge=no",)  # sizes and levels are those of the input

    def setUp(self):
        super().setUp()
        # A turned sheet on dark glass, with a red mark.
        sheet = scans.text_page(700, 900).convert("RGB")
        sheet.paste((200, 30, 30), (560, 700, 640, 780))
        glass = Image.new("RGB", (900, 1100), (20, 20, 20))
        glass.paste(sheet, (90, 80))
        self.glass = glass.rotate(2, Image.BICUBIC, fillcolor=(20, 20, 20))

    def check_ink(self, name, kind, least=0.85):
        """What is dark in the levels is black in the page."""
        levels = opened(self.out / f"{name}.{kind}")
        page = scans.ink(self.out / f"{name}.tif")
        self.assertEqual(levels.shape[:2], page.shape)
        dark = (luma(levels) if levels.ndim == 3 else levels) < 110
        inner = np.s_[150:-150, 150:-150]
        self.assertGreater(scans.overlap(dark[inner], page[inner]), least, (name, kind))
        return levels

    def test_angle_crop_and_paper(self):
        self.save(self.glass, "page.png", dpi=(100, 100))
        for words in ([], ["--crop=page"], ["--crop=content", "--page-size=A4"],
                      ["--crop=page", "--page-size=180x235"]):
            self.out = self.folder / ("out" + "".join(words))
            stats = self.measured("page.png", "-o", self.out, "--also=gray.tif,color.png", *words)
            self.assertTrue(stats["page_list"][0]["turned"])
            gray = self.check_ink("page", "gray.tif")
            colour = self.check_ink("page", "color.png")
            # They differ where the interpolation leaves the range.
            self.assertLess(np.abs(luma(colour).astype(int) - gray).mean(), 0.5)
            red = (colour[:, :, 0] > 150) & (colour[:, :, 1] < 80)
            self.assertEqual(abs(red.sum() - 80 * 80) < 300, True)
            if not words:  # a master keeps the border, the page does not
                self.assertLess(gray[:20].mean(), 40)
                self.assertEqual(scans.ink(self.out / "page.tif")[:20].sum(), 0)
            if "--page-size=A4" in words:
                self.assertEqual(gray.shape, (1169, 827))
                self.assertEqual(gray[0, 0], 255)

    def test_enlarged_pages(self):
        self.ALWAYS = ()
        self.save(self.glass, "page.png", dpi=(100, 100))
        stats = self.measured("page.png", "-o", "out", "--crop=page", "--also=gray.tif,color.png")
        self.assertEqual(stats["page_list"][0]["enlarged"], 3)
        self.check_ink("page", "gray.tif", least=0.75)
        self.check_ink("page", "color.png", least=0.75)

    def test_halves_of_open_books(self):
        book = Image.new("RGB", (1400, 900), (235, 235, 235))
        for x in (0, 700):
            book.paste(scans.text_page(620, 820).convert("RGB"), (x + 40, 40))
        book.paste((200, 30, 30), (1200, 700, 1280, 780))
        self.save(book, "book.png", dpi=(200, 200))
        self.scan("book.png", "-o", "out", "--split=left-right", "--also=gray.tif,color.png")
        self.check_ink("book-left", "gray.tif")
        colour = self.check_ink("book-right", "color.png", least=0.7)
        red = (colour[:, :, 0] > 150) & (colour[:, :, 1] < 80)
        self.assertLess(abs(red.sum() - 80 * 80), 300)
        self.assertEqual(self.outputs(), sorted(f"book-{half}.{kind}" for half in ("left", "right")
                                                for kind in ("tif", "gray.tif", "color.png")))

    def test_straightened_lines(self):
        y, x = np.mgrid[:900, :700]
        page = np.asarray(scans.text_page(700, 900).convert("L"))
        bent = page[np.clip(y + 12 * np.sin(x / 700 * np.pi), 0, 899).astype(int), x]
        self.save(Image.fromarray(bent), "page.png", dpi=(200, 200))
        stats = self.measured("page.png", "-o", "out", "--dewarp", "--also=gray.tif")
        self.assertTrue(stats["page_list"][0]["dewarped"], stats["page_list"][0])
        self.check_ink("page", "gray.tif")

    def test_quarter_turns_lose_nothing(self):
        page = Image.fromarray(coloured())
        exif = Image.Exif()
        exif[274] = 6  # to be turned clockwise
        self.save(page, "exif.png", exif=exif)
        self.scan("exif.png", "-o", "out", "--also=color.png,gray.png", "--no-straighten")
        upright = np.array(page.transpose(Image.ROTATE_270))
        np.testing.assert_array_equal(opened(self.out / "exif.color.png"), upright)
        np.testing.assert_array_equal(opened(self.out / "exif.gray.png"), luma(upright))

    def test_pages_that_are_turned_upright(self):
        page = np.array(scans.text_page(1000, 1400).convert("RGB"))
        page[:, :, 1] = np.maximum(page[:, :, 1], 40)
        lying = np.rot90(page)
        self.save(Image.fromarray(lying), "page.png")
        stats = self.measured("page.png", "-o", "out", "--also=color.tif", "--orientation=auto",
                              "--no-straighten")
        turns = stats["page_list"][0]["orientation"]
        self.assertIn(turns, (0, 90, 270))  # letters like these may not tell
        np.testing.assert_array_equal(opened(self.out / "page.color.tif"),
                                      np.rot90(lying, -turns // 90))

    def test_empty_pages(self):
        self.save(Image.new("L", (300, 200), 240), "white.png")
        self.scan("white.png", "-o", "out", "--also=gray.tif", "--blank=aside")
        self.assertEqual(sorted(os.listdir(self.out / "blank")), ["white.gray.tif", "white.tif"])
        self.assertEqual(set(opened(self.out / "blank/white.gray.tif").ravel()), {240})
        # A name may be found taken only when the second file gets it; the first gives its own back.
        blank = self.folder / "again/blank"
        blank.mkdir(parents=True)
        (blank / "white.gray.tif").write_text("mine")
        self.scan("white.png", "-o", "again", "--also=gray.tif", "--blank=aside")
        self.assertEqual(sorted(os.listdir(blank)),
                         ["white-1.gray.tif", "white-1.tif", "white.gray.tif"])
        self.assertEqual((blank / "white.gray.tif").read_text(), "mine")
        self.assertEqual((blank / "white-1.tif").read_bytes(),
                         (self.out / "blank/white.tif").read_bytes())
        self.scan("white.png", "-o", "dropped", "--also=gray.tif", "--blank=drop")
        self.assertEqual(self.outputs(self.folder / "dropped"), [])

    def test_gpus_make_the_same_files(self):
        self.save(self.glass, "in/page.png", dpi=(100, 100))
        gray = np.asarray(self.glass.convert("L")).astype(np.uint16) * 257
        self.save(Image.fromarray(gray), "in/wide.png")
        words = ["in", "--crop=page", "--also=color.tif,gray.tif"]
        result = program.run([scans.SCAN, "--backend=cuda", *words, "-o", "gpu"], cwd=self.folder)
        if result.returncode == 3:
            self.skipTest("no GPU")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.scan(*words, "-o", "out")
        self.assertEqual(self.contents(self.folder / "gpu"), self.contents())


class Files(scans.Case):
    ALWAYS = ("--enlarge=no",)  # sizes and levels are those of the input

    def setUp(self):
        super().setUp()
        for number in range(2):
            self.save(scans.text_page(124, 175, seed=number), f"in/{number}.png")

    def test_names_are_free_together(self):
        self.out.mkdir()
        (self.out / "0.gray.tif").write_text("mine")
        (self.out / "1.tif").write_text("mine")
        said = self.scan("in", "-o", "out", "-n", "--also=gray.tif")
        self.assertIn("in/0.png -> out/0-1.tif\n    and out/0-1.gray.tif", said)
        self.scan("in", "-o", "out", "--also=gray.tif,color.png")
        self.assertEqual(self.outputs(), sorted(
            ["0.gray.tif", "1.tif"] + [f"{n}-1.{end}" for n in (0, 1)
                                       for end in ("tif", "gray.tif", "color.png")]))
        self.assertEqual((self.out / "0.gray.tif").read_text(), "mine")
        self.assertEqual((self.out / "1.tif").read_text(), "mine")

    def test_statistics_and_journal(self):
        stats = self.measured("in", "-o", "out", "--also=gray.tif,color.png")
        journal = (self.out / scans.JOURNAL).read_text()
        for page in stats["page_list"]:
            names = [os.path.basename(file["output"]) for file in page["also"]]
            stem = os.path.basename(page["output"])[:-4]
            self.assertEqual(names, [f"{stem}.gray.tif", f"{stem}.color.png"])
            for file in page["also"]:
                data = (self.folder / file["output"]).read_bytes()
                self.assertEqual(file["sha256"], hashlib.sha256(data).hexdigest())
                self.assertIn(f"\t{os.path.basename(file['output'])}\t{file['sha256']}\t", journal)

    def test_resume_makes_what_is_missing(self):
        words = ["in", "-o", "out", "--also=gray.tif,color.png", "--resume"]
        self.scan(*words)
        before = self.contents()
        self.assertIn("2 done before", self.scan(*words))
        for name in ("0.gray.tif", "1.tif"):
            (self.out / name).unlink()
            self.assertIn("1 done before", self.scan(*words))
            self.assertEqual(self.contents(), before)
        (self.out / "0.gray.tif").write_text("mine")  # then it is another file
        self.scan(*words)
        self.assertEqual(self.contents(), {**before, "0.gray.tif": b"mine"})
        (self.out / "1.tif").unlink()
        (self.out / "1.color.png").write_text("mine")
        self.scan(*words)
        self.assertEqual(self.contents()["1-1.tif"], before["1.tif"])
        self.assertEqual(self.contents()["1-1.color.png"], before["1.color.png"])

    def test_a_file_of_all_pages_has_a_folder_next_to_it(self):
        self.scan("in", "-o", "book.pdf", "--also=gray.tif")
        folder = self.folder / "book.pdf.also"
        self.assertEqual(self.outputs(folder), ["0.gray.tif", "1.gray.tif"])
        self.assertIn("already exists", self.scan("in", "-o", "book.pdf", "--also=gray.tif",
                                                  "--resume"))
        self.scan("in", "-o", "book.pdf", "--also=gray.tif")
        self.assertEqual(self.contents(folder), self.contents(self.folder / "book-1.pdf.also"))
        said = self.scan(".", "-o", "book.tif", "--also=gray.tif", "--recursive", "-n")
        self.assertIn("ignored: ./book.pdf.also: it is the output of a run", said)
        self.scan("in/0.png", "-o", "one.png", "--also=gray.jpg")
        self.assertEqual(self.outputs(self.folder / "one.png.also"), ["0.gray.jpg"])

    def test_no_folder_through_a_link(self):
        (self.folder / "elsewhere").mkdir()
        (self.folder / "book.pdf.also").symlink_to("elsewhere")
        self.scan("in", "-o", "book.pdf", "--also=gray.tif", "--resume", status=3)
        self.assertEqual(os.listdir(self.folder / "elsewhere"), [])

    def test_wrong_usage(self):
        for words, text in (
                (["--also=gray"], "--also=gray: must be gray or color and tif, jp2, png or jpg"),
                (["--also=gray.gif"], "--also=gray.gif: must be"),
                (["--also="], "--also=: must be"),
                (["--also=gray.tif,"], "--also=: must be"),
                (["--also=gray.tif", "--also=gray.tif"], "--also=gray.tif: is given twice"),
                (["--also=gray.jpg", "--jpeg-quality=101"], "--jpeg-quality=101: must be 1 to 100"),
                (["--also=gray.tif", "--jpeg-quality=80"], "--jpeg-quality=80: no JPEG is made"),
                (["--also=gray.tif", "-o", "-"],
                 "--also=gray.tif: standard output holds one file")):
            self.assertIn(text, self.scan("in/0.png", "-o", "out", *words, status=2))

    def test_settings_count(self):
        self.scan("in/0.png", "-o", "out")
        for words in (["--also=gray.tif"], ["--also=gray.tif,color.png"], ["--also=gray.jpg"],
                      ["--also=gray.jpg", "--jpeg-quality=50"]):
            said = self.scan("in/0.png", "-o", "out", "--resume", *words)
            self.assertIn("1 page was made with other settings and is made again", said, words)
        said = self.scan("in/0.png", "-o", "out", "--resume", "--also=color.png,gray.tif")
        self.assertIn("1 done before", said)



if __name__ == "__main__":
    program.main()
