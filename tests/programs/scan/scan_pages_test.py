# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages through cudascan-scan: every format that it reads and writes, and each step."""
import re
import shutil
import unittest
import unittest.mock

import program
import scans
from scans import np

if np is not None:
    from PIL import Image, ImageDraw, TiffImagePlugin


class Reading(scans.Case):
    def check(self, name, page, least=0.999, **how):
        """A page with clear levels comes out unchanged."""
        expected = np.array(scans.text_page()) == 0
        path = self.save(page, name, **how)
        self.scan(path, "-o", self.out, *scans.KEEP)
        made = self.outputs()
        self.assertEqual(len(made), 1, made)
        self.assertGreater(scans.overlap(scans.ink(self.out / made[0]), expected), least)
        return self.out / made[0]

    def test_png(self):
        self.check("page.png", scans.text_page())

    def test_png_in_colour(self):
        self.check("page.png", scans.text_page().convert("RGB"))

    def test_png_with_a_palette(self):
        self.check("page.png", scans.text_page().convert("P"))

    def test_png_of_1_bit(self):
        self.check("page.png", scans.text_page().convert("1"), 1 - 1e-9)

    def test_png_of_16_bit(self):
        levels = np.array(scans.text_page()).astype(np.uint16) * 128 + 77
        self.check("page.png", Image.fromarray(levels))

    def test_levels_of_16_bit_are_kept_until_black_and_white(self):
        # Both levels are equal at 8 bits.
        levels = np.where(np.array(scans.text_page()) == 0, 0x8001, 0x80f0).astype(np.uint16)
        path = self.save(Image.fromarray(levels), "page.png")
        self.scan(path, "-o", self.out, *scans.KEEP, "--method=otsu")
        expected = np.array(scans.text_page()) == 0
        self.assertTrue((scans.ink(self.out / "page.tif") == expected).all())

    def test_transparency_is_white(self):
        gray = scans.text_page()
        page = Image.new("RGBA", gray.size, (0, 0, 0, 0))
        page.putalpha(Image.eval(gray, lambda level: 255 - level))
        self.check("page.png", page)

    def test_jpeg(self):
        self.check("page.jpg", scans.text_page(), 0.9, quality=95)

    def test_jpeg_in_cmyk(self):
        self.check("page.jpg", scans.text_page().convert("CMYK"), 0.8, quality=95)

    def test_jpeg_lies_as_its_orientation_says(self):
        exif = Image.Exif()
        exif[0x0112] = 6  # says: rotate clockwise by 90 degrees
        self.check("page.jpg", scans.text_page().transpose(Image.ROTATE_90), 0.9, quality=95,
                   exif=exif)

    def test_tiff_of_8_bit(self):
        self.check("page.tif", scans.text_page(), compression="tiff_lzw")

    def test_tiff_of_16_bit(self):
        levels = np.array(scans.text_page()).astype(np.uint16) * 257
        self.check("page.tiff", Image.fromarray(levels))

    def test_tiff_of_1_bit(self):
        self.check("page.tif", scans.text_page().convert("1"), 1 - 1e-9, compression="group4")

    def test_pnm(self):
        for name, mode in (("a.pgm", "L"), ("b.ppm", "RGB"), ("c.pbm", "1")):
            with self.subTest(name):
                shutil.rmtree(self.out, ignore_errors=True)
                self.check(name, scans.text_page().convert(mode))

    def test_jpeg_2000(self):
        self.check("page.jp2", scans.text_page(), 0.9)

    def test_every_page_of_a_tiff(self):
        pages = [scans.text_page(seed=seed).convert("1") for seed in (1, 2, 3)]
        path = self.save(pages[0], "book.tif", save_all=True, append_images=pages[1:],
                         compression="group4")
        self.scan(path, "-o", self.out, "--no-straighten", "--despeckle=0")
        self.assertEqual(self.outputs(), ["book-p001.tif", "book-p002.tif", "book-p003.tif"])
        for name, page in zip(self.outputs(), pages):
            self.assertTrue((scans.ink(self.out / name) == ~np.array(page)).all())

    def test_pages_of_one_level(self):
        for level, black in ((255, False), (230, False), (0, True)):
            for method in ("binarize", "nick", "otsu"):
                with self.subTest(f"{level} {method}"):
                    path = self.save(Image.new("L", (300, 400), level), "page.png")
                    shutil.rmtree(self.out, ignore_errors=True)
                    self.scan(path, "-o", self.out, "--method", method)
                    self.assertTrue((scans.ink(self.out / "page.tif") == black).all())

    def test_sizes_of_one_pixel_and_odd_ones(self):
        for size in ((1, 1), (1, 300), (333, 1), (17, 9), (251, 203)):
            with self.subTest(str(size)):
                self.save(Image.new("L", size, 200), f"{size[0]}x{size[1]}.png")
                self.scan(f"{size[0]}x{size[1]}.png", "-o", self.out)
                with Image.open(self.out / f"{size[0]}x{size[1]}.tif") as page:
                    self.assertEqual(page.size, size)


class Writing(scans.Case):
    def test_tiff_is_group_4_with_white_0_and_keeps_the_resolution(self):
        path = self.save(scans.text_page(), "page.png", dpi=(300, 150))
        self.scan(path, "-o", self.out)
        with Image.open(self.out / "page.tif") as page:
            self.assertEqual(page.info["compression"], "group4")
            self.assertEqual(page.tag_v2[262], 0)
            self.assertEqual([round(float(page.tag_v2[tag]), 3) for tag in (282, 283)], [300, 150])
            self.assertEqual(page.tag_v2[296], 2)

    def test_the_code_is_that_of_libtiff(self):
        path = self.save(scans.turned(scans.text_page(), 1), "page.png")
        self.scan(path, "-o", self.out)
        again = self.folder / "again.tif"
        one_strip = unittest.mock.patch.object(TiffImagePlugin, "STRIP_SIZE", 1 << 30)
        with Image.open(self.out / "page.tif") as page, one_strip:
            page.save(again, compression="group4", tiffinfo={262: 0})

        def code(path):
            with Image.open(path) as page:
                (begin,), (size,) = page.tag_v2[273], page.tag_v2[279]
            return path.read_bytes()[begin:begin + size]
        self.assertEqual(code(self.out / "page.tif"), code(again))

    def test_resolution_of_files_that_do_not_say_theirs(self):
        for suffix in ("pgm", "png", "jpg"):
            path = self.save(scans.text_page(), f"{suffix}.{suffix}")
            self.scan(path, "-o", self.out, "--resolution=200")
            with Image.open(self.out / f"{suffix}.tif") as page:
                self.assertEqual(float(page.tag_v2[282]), 200, suffix)

    def test_png_of_1_bit(self):
        path = self.save(scans.text_page(), "page.png", dpi=(300, 300))
        self.scan(path, "-o", self.out, "--format=png", "--no-straighten", "--despeckle=0")
        with Image.open(self.out / "page.png") as page:
            self.assertEqual(page.mode, "1")
            self.assertEqual(round(page.info["dpi"][0]), 300)
        self.assertTrue((scans.ink(self.out / "page.png") ==
                         (np.array(scans.text_page()) == 0)).all())

    def test_formats_have_the_same_pixels(self):
        path = self.save(scans.turned(scans.text_page(), 1), "page.png")
        for kind in ("tiff", "png"):
            self.scan(path, "-o", self.out, "--format", kind)
        self.assertTrue((scans.ink(self.out / "page.tif") ==
                         scans.ink(self.out / "page.png")).all())

    @unittest.skipUnless(shutil.which("qpdf") and shutil.which("pdfimages"),
                         "qpdf or poppler-utils is not installed")
    def test_pdf(self):
        pages = [scans.text_page(seed=seed) for seed in range(3)]
        for number, page in enumerate(pages):
            self.save(page, f"in/page{number + 8}.png", dpi=(75, 150))
        self.scan("in", "-o", "book.pdf", "--no-straighten", "--despeckle=0")
        self.assertEqual(program.run(["qpdf", "--check", self.folder / "book.pdf"]).returncode, 0)
        facts = program.run(["pdfinfo", self.folder / "book.pdf"]).stdout
        self.assertRegex(facts, r"Pages:\s+3\n")
        width, height = map(float, re.search(r"Page size:\s+([\d.]+) x ([\d.]+)", facts).groups())
        self.assertAlmostEqual(width, 620 * 72 / 75, delta=0.1)
        self.assertAlmostEqual(height, 877 * 72 / 150, delta=0.1)
        listed = program.run(["pdfimages", "-list", self.folder / "book.pdf"]).stdout
        self.assertEqual(listed.count(" ccitt "), 3, listed)
        program.run(["pdfimages", "-png", self.folder / "book.pdf", self.folder / "again"])
        for number, page in enumerate(pages):  # in the order page8, page9, page10
            again = scans.ink(self.folder / f"again-{number:03}.png")
            self.assertTrue((again == (np.array(page) == 0)).all(), number)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir() if "book" in p.name),
                         ["book.pdf"])


class Steps(scans.Case):
    def test_pages_are_straightened_within_a_tenth_of_a_degree(self):
        straight = scans.text_page(1240, 1754)
        angles = {"a": 0.4, "b": -1.7, "c": 3.3, "d": -6.8, "e": 9.1}
        for name, angle in angles.items():
            self.save(scans.turned(straight, angle), f"in/{name}.png")
        stats = self.measured("in", "-o", self.out, "--enlarge=no")
        expected = np.array(straight) == 0
        for record in stats["page_list"]:
            name = record["output"][-5]
            self.assertTrue(record["turned"], record)
            self.assertAlmostEqual(record["angle"], angles[name], delta=0.1)
            inner = (slice(300, -300), slice(250, -250))  # the corners are lost
            made = scans.ink(self.out / f"{name}.tif")
            self.assertGreater(scans.overlap(made[inner], expected[inner]), 0.7)

    def test_staves_are_straightened(self):
        page = Image.new("L", (1240, 1754), 255)
        draw = ImageDraw.Draw(page)
        for stave in range(150, 1600, 170):
            for line in range(5):
                draw.line([(100, stave + 16 * line), (1140, stave + 16 * line)], fill=0, width=3)
        self.save(scans.turned(page, -2.6), "music.png")
        record = self.measured("music.png", "-o", self.out)["page_list"][0]
        self.assertTrue(record["turned"])
        self.assertAlmostEqual(record["angle"], -2.6, delta=0.1)

    def test_what_has_no_direction_is_not_turned(self):
        rng = np.random.default_rng(1)
        blank = np.clip(rng.normal(235, 4, (1754, 1240)), 0, 255).astype(np.uint8)
        shaded = (blank * np.linspace(1, 0.7, 1240)[None, :]).astype(np.uint8)
        blots = Image.new("L", (1240, 1754), 255)
        for _ in range(60):
            x, y, r = rng.integers(100, 1100), rng.integers(100, 1600), rng.integers(5, 60)
            ImageDraw.Draw(blots).ellipse([x - r, y - r, x + r, y + r], fill=0)
        self.save(Image.fromarray(blank), "in/blank.png")
        self.save(Image.fromarray(shaded), "in/shaded.png")
        self.save(blots, "in/blots.png")
        for record in self.measured("in", "-o", self.out)["page_list"]:
            self.assertFalse(record["turned"], record)
        for name in ("blank.tif", "shaded.tif"):
            self.assertEqual(scans.ink(self.out / name).sum(), 0, name)

    def test_straightening_can_be_limited_and_turned_off(self):
        self.save(scans.turned(scans.text_page(), 3), "page.png")
        for words, turned in ((["--max-angle=2"], False), (["--max-angle=4"], True),
                              (["--min-confidence=1"], False), (["--no-straighten"], False)):
            with self.subTest(str(words)):
                record = self.measured("page.png", "-o", self.out, *words)["page_list"][0]
                self.assertEqual(record["turned"], turned)

    def test_specks_go_and_thin_strokes_stay(self):
        page = Image.new("L", (300, 300), 255)
        draw = ImageDraw.Draw(page)
        for x in range(20, 280, 20):
            draw.point((x, 20), fill=0)                        # one pixel
            draw.rectangle([x, 40, x + 1, 41], fill=0)         # two by two
            draw.rectangle([x, 60, x + 2, 62], fill=0)         # three by three
        for end in ((280, 100), (20, 280), (200, 280)):
            draw.line([(20, 100), end], fill=0, width=1)
        self.save(page, "page.png")
        self.scan("page.png", "-o", self.out, "--no-straighten")
        made, given = scans.ink(self.out / "page.tif"), np.array(page) == 0
        self.assertEqual(made[:50].sum(), 0)
        self.assertTrue((made[50:98] == given[50:98]).all())
        self.assertTrue((made[100, 20:280]).all())
        self.assertTrue((made[100:280, 20]).all())
        self.scan("page.png", "-o", self.out, "--no-straighten", "--despeckle=0")
        self.assertTrue((scans.ink(self.out / "page-1.tif") == given).all())
        self.scan("page.png", "-o", self.out, "--no-straighten", "--despeckle=4")
        self.assertEqual(scans.ink(self.out / "page-2.tif")[:90].sum(), 0)

    def test_uneven_light_is_evened_out(self):
        levels = np.array(scans.text_page()).astype(float)
        light = np.linspace(1, 0.35, scans.WIDTH)[None, :]
        page = np.where(levels == 0, 90, 240) * light
        self.save(Image.fromarray(page.astype(np.uint8)), "page.png", dpi=(75, 75))
        words = ["page.png", "-o", self.out, "--method=otsu", *scans.KEEP]
        self.scan(*words, "--no-even-light")
        self.scan(*words)
        expected = levels == 0
        self.assertLess(scans.overlap(scans.ink(self.out / "page.tif"), expected), 0.6)
        self.assertGreater(scans.overlap(scans.ink(self.out / "page-1.tif"), expected), 0.98)

    def test_gpus_make_the_same_pages_or_are_said_to_be_missing(self):
        levels = np.array(scans.turned(scans.text_page(), 2)).astype(np.uint16) * 257
        for page, name in ((Image.fromarray(levels), "deep"),
                           (scans.turned(scans.text_page(), -3), "page"),
                           (scans.text_page().convert("1"), "bilevel")):
            self.save(page, f"in/{name}.png")
        exif = Image.Exif()
        exif[0x0112] = 6
        self.save(scans.turned(scans.text_page(), 1).transpose(Image.ROTATE_90), "in/side.jpg",
                  exif=exif)
        self.save(scans.text_page(), "in/page.bmp")
        self.save(scans.text_page(), "in/page.pgm")
        result = program.run([scans.SCAN, "--backend=cuda", "in", "-o", "gpu"], cwd=self.folder)
        if result.returncode != 0:
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("--backend=cuda: no CUDA device can be opened", result.stderr)
            self.skipTest("no GPU")
        self.assertRegex(result.stderr, r"GPU busy [\d.]+ %")
        self.scan("in", "-o", "out")
        for name in self.outputs():
            self.assertEqual((self.folder / "gpu" / name).read_bytes(),
                             (self.out / name).read_bytes(), name)

    def test_without_a_method_the_page_is_measured(self):
        # Pale words under a light that falls to a third, and a black margin.
        levels = np.array(scans.text_page()).astype(float)
        page = np.where(levels == 0, 150, 230) * np.linspace(1, 0.35, scans.WIDTH)[None, :]
        page[:, :40] = 3
        self.save(Image.fromarray(page.astype(np.uint8)), "page.png", dpi=(75, 75))
        words = ["page.png", "-o", self.out, *scans.KEEP]
        for light in ([], ["--no-even-light"]):
            self.scan(*words, *light)
        self.scan(*words, "--method=binarize")
        made = [scans.ink(self.out / name) for name in ("page.tif", "page-1.tif", "page-2.tif")]
        self.assertTrue((made[0] == made[2]).all())
        expected = levels == 0
        for ink in made[:2]:
            self.assertGreater(scans.overlap(ink[:, 60:], expected[:, 60:]), 0.95)
            self.assertLess(ink[:, :40].mean(), 0.05)

    def test_methods_and_their_settings_act(self):
        rng = np.random.default_rng(2)
        levels = np.clip(np.array(scans.text_page()) * 0.4 + 90 + rng.normal(0, 12, (877, 620)), 0,
                         255)
        self.save(Image.fromarray(levels.astype(np.uint8)), "page.png")
        black = {}
        for words in ([], ["--method=nick"], ["--method=nick", "--k=-0.1"],
                      ["--method=nick", "--window=15"], ["--method=sauvola"],
                      ["--method=sauvola", "--r=64"], ["--method=otsu"], ["--method=triangle"]):
            self.scan("page.png", "-o", self.out / str(len(black)), "--no-straighten", *words)
            black[" ".join(words)] = scans.ink(self.out / str(len(black)) / "page.tif").sum()
        self.assertEqual(len(set(black.values())), len(black), black)


if __name__ == "__main__":
    program.main()
