# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages in gray, in colour, and with pictures and colour among text in black and white."""
import functools
import re
import shutil
import subprocess
import unittest
import zlib

import archive
import program
import scans

try:
    import numpy as np
    from PIL import Image, ImageCms, ImageDraw
except ImportError:
    np = None

DPI = (144, 144)  # so that pages have whole points
SIZE = (460, 600)
BOX = (80, 180, 300, 360)  # of the picture
STAMP = (330, 440, 390, 500)


def opened(path):
    with Image.open(path) as page:
        return np.array(page)


def picture(width, height, colour=False):
    """A smooth picture with dark and bright parts."""
    y, x = np.mgrid[0:height, 0:width]
    gray = 130 + 80 * np.sin(x / 23) * np.cos(y / 31) + 40 * np.sin(y / 7)
    gray[:height // 5] = 200
    if not colour:
        return Image.fromarray(gray.clip(0, 255).astype(np.uint8)).convert("RGB")
    levels = np.stack([gray, gray * 0.8, 255 - gray], axis=2)
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


@functools.lru_cache(maxsize=None)
def page_of(paper=(255, 255, 255), pictures="", stamp=False, seed=1):
    """A page of text on paper, with a picture, and a stamp as if it were put on it."""
    page = scans.text_page(*SIZE, seed=seed).convert("RGB")
    if pictures:
        page.paste("white", (BOX[0] - 12, BOX[1] - 12, BOX[2] + 12, BOX[3] + 12))
        page.paste(picture(BOX[2] - BOX[0], BOX[3] - BOX[1], pictures == "colour"), BOX[:2])
    if stamp:
        draw = ImageDraw.Draw(page)
        draw.rectangle([STAMP[0] - 12, STAMP[1] - 12, STAMP[2] + 12, STAMP[3] + 12], fill="white")
        draw.ellipse(STAMP, outline=(180, 30, 40), width=6)
    levels = np.asarray(page) * (np.array(paper) / 255)
    noise = np.random.default_rng(seed).normal(0, 2, levels.shape)
    return Image.fromarray((levels + noise).clip(0, 255).astype(np.uint8))


def part(page, box, inner=0):
    return page[box[1] + inner:box[3] - inner, box[0] + inner:box[2] - inner]


class Modes(scans.Case):
    ALWAYS = ("--enlarge=no",)  # sizes and levels are those of the input

    def made(self, page, mode, *words, name="page.tif", **how):
        """The page that a mode makes, and what the statistics say of it."""
        self.save(page, "page.png", dpi=DPI, **how)
        shutil.rmtree(self.out, ignore_errors=True)
        stats = self.measured("page.png", "-o", "out", f"--mode={mode}", *words)
        return opened(self.out / name), stats["page_list"][0]

    def test_gray(self):
        page = page_of((240, 225, 180), pictures="colour")
        made, facts = self.made(page, "gray", "--no-straighten")
        self.assertEqual((made.shape, made.dtype), ((600, 460), np.uint8))
        self.assertEqual(facts["mode"], "gray")
        # Paper becomes white, black stays black, and a picture is as dark as on white paper.
        self.assertGreater(np.median(made), 243)
        text = np.array(scans.text_page(*SIZE)) == 0
        text[160:380] = False
        self.assertLess(np.median(made[text]), 5)
        on_white = np.array(page_of(pictures="colour").convert("L")).astype(int)
        self.assertLess(np.abs(part(made, BOX).astype(int) - part(on_white, BOX)).mean(), 12)
        with Image.open(self.out / "page.tif") as tiff:
            self.assertEqual(tiff.tag_v2[259], 8)  # Deflate
            self.assertEqual(tiff.info["dpi"], DPI)

    def test_levels_as_they_are(self):
        page = page_of((240, 225, 180), pictures="colour")
        made, _ = self.made(page, "color", "--no-straighten", "--no-even-light")
        np.testing.assert_array_equal(made, np.array(page))
        made, _ = self.made(page, "color", "--no-straighten", "--no-even-light", "--format=png",
                            name="page.png")
        np.testing.assert_array_equal(made, np.array(page))

    def test_colour_on_yellow_paper(self):
        made, facts = self.made(page_of((240, 225, 180), "colour", stamp=True), "color",
                                "--no-straighten")
        self.assertEqual(facts["mode"], "color")
        self.assertGreater(np.median(made[:, :, 2]), 243)  # it was 180
        white = np.array(page_of(pictures="colour", stamp=True)).astype(int)
        for box in (BOX, STAMP):
            self.assertLess(np.abs(part(made, box).astype(int) - part(white, box)).mean(), 14)

    def test_the_border_becomes_paper(self):
        glass = Image.new("RGB", (620, 760), (15, 20, 25))
        glass.paste(page_of((240, 225, 180)), (80, 80))
        glass = glass.rotate(2, Image.BICUBIC, fillcolor=(15, 20, 25))
        for mode in ("gray", "color"):
            made, facts = self.made(glass, mode)
            self.assertTrue(facts["turned"])
            self.assertGreater(facts["border"], 0.1)
            self.assertGreater(made[:40].mean(), 240)
            self.assertGreater(made[:, :40].mean(), 240)
            kept, _ = self.made(glass, mode, "--borders=keep", "--no-even-light")
            self.assertLess(kept[:40].mean(), 60)

    def test_16_bits_become_8_without_their_border(self):
        levels = np.full((760, 620), 15 * 257, np.uint16)
        levels[80:680, 80:540] = np.asarray(page_of().convert("L")).astype(np.uint16) * 257
        made, facts = self.made(Image.fromarray(levels), "gray")
        self.assertGreater(facts["border"], 0.1)
        self.assertEqual(made.dtype, np.uint8)
        self.assertGreater(made[:40].mean(), 240)
        narrow, _ = self.made(Image.fromarray((levels // 257).astype(np.uint8)), "gray")
        self.assertLess(np.abs(made.astype(int) - narrow).max(), 4)

    def test_16_bits_become_8(self):
        levels = np.arange(65536, dtype=np.uint16).reshape(256, 256)
        made, _ = self.made(Image.fromarray(levels), "gray", "--no-straighten", "--no-even-light",
                            "--borders=keep")
        np.testing.assert_array_equal(made, np.floor(levels * (255 / 65535) + 0.5))

    def test_mixed(self):
        for pictures, stamp, shape in (("gray", False, 2), ("colour", False, 3), ("", True, 3),
                                       ("gray", True, 3)):
            with self.subTest(pictures=pictures, stamp=stamp):
                page = page_of((240, 225, 180), pictures, stamp)
                made, facts = self.made(page, "mixed", "--no-straighten")
                self.assertEqual((facts["mode"], made.ndim), ("mixed", shape))
                self.assertEqual(facts["colour"] > 0, shape == 3)
                self.assertEqual(len(facts["picture_boxes"]), 1 if pictures else 0)
                white = np.array(page_of(pictures=pictures, stamp=stamp).convert(
                    "RGB" if shape == 3 else "L")).astype(int)
                outside = np.ones(made.shape[:2], bool)
                for box in ([BOX] if pictures else []) + ([STAMP] if stamp else []):
                    self.assertLess(np.abs(part(made, box).astype(int) - part(white, box)).mean(),
                                    14)
                    outside[box[1] - 12:box[3] + 12, box[0] - 12:box[2] + 12] = False
                self.assertEqual(set(made[outside].ravel()), {0, 255})
                self.scan("page.png", "-o", "bw", "--no-straighten")
                ink = scans.ink(self.folder / "bw/page.tif")
                dark = made == 0 if made.ndim == 2 else (made == 0).all(axis=2)
                np.testing.assert_array_equal(dark[outside], ink[outside])
                if stamp:  # the paper around it is as white as elsewhere
                    near = part(made, STAMP, -8)
                    pale = (np.ptp(near, axis=2) < 32) & ~part(ink, STAMP, -8)
                    self.assertGreater(pale.sum(), 1000)
                    self.assertEqual(set(near[pale].ravel()), {255})
                shutil.rmtree(self.folder / "bw")

    def test_boxes_of_pictures(self):
        _, facts = self.made(page_of((247, 238, 214), "gray"), "auto", "--no-straighten")
        box = facts["picture_boxes"][0]
        for found, true in zip(box, BOX):
            self.assertLessEqual(abs(found - true), 4)
        share = (BOX[2] - BOX[0]) * (BOX[3] - BOX[1]) / (SIZE[0] * SIZE[1])
        self.assertAlmostEqual(facts["pictures"], share, delta=0.01)

    def test_auto_leaves_text_alone(self):
        shade = np.linspace(1, 0.4, SIZE[0])[None, :, None]
        for name, page in (
                ("white", page_of()), ("yellow", page_of((236, 210, 160))),
                ("shade", Image.fromarray((np.asarray(page_of((240, 225, 190))) * shade).astype(
                    np.uint8))),
                ("heading", scans.text_page(*SIZE)), ("bilevel", scans.text_page(*SIZE)),
                ("empty", Image.new("RGB", SIZE, (230, 210, 160)))):
            if name == "heading":  # strokes of 2.5 mm, and a filled box
                draw = ImageDraw.Draw(page)
                draw.rectangle([50, 100, 430, 300], fill=255)
                for x in range(70, 290, 50):
                    draw.rectangle([x, 120, x + 9, 280], fill=0)
                draw.rectangle([310, 120, 410, 280], fill=0)
            made, facts = self.made(page, "auto", "--no-straighten")
            self.assertEqual((facts["mode"], made.dtype), ("bw", bool), name)
            self.scan("page.png", "-o", "bw", "--no-straighten")
            self.assertEqual((self.out / "page.tif").read_bytes(),
                             (self.folder / "bw/page.tif").read_bytes())
            shutil.rmtree(self.folder / "bw")

    def test_auto_chooses(self):
        self.assertEqual(self.made(page_of(pictures="gray"), "auto")[1]["mode"], "mixed")
        self.assertEqual(self.made(page_of(stamp=True), "auto")[1]["mode"], "mixed")
        whole = Image.new("RGB", SIZE, "white")
        for colour, mode in ((False, "gray"), (True, "color")):
            whole.paste(picture(400, 530, colour), (30, 35))
            made, facts = self.made(whole, "auto", "--no-straighten")
            self.assertEqual(facts["mode"], mode)
            self.assertEqual(made.ndim, 3 if colour else 2)
        self.save(page_of(stamp=True), "page.png", dpi=DPI)
        said = self.scan("page.png", "-o", "said", "--mode=auto", "-v")
        self.assertRegex(said, r"  as mixed  colour 0\.\d\d %  ")

    def test_gpus_make_the_same_pages(self):
        glass = Image.new("RGB", (620, 760), (15, 20, 25))
        glass.paste(page_of((240, 225, 180), "colour", stamp=True), (80, 80))
        self.save(glass.rotate(1.5, Image.BICUBIC, fillcolor=(15, 20, 25)), "in/page.png", dpi=DPI)
        for mode in ("gray", "color", "mixed"):
            words = ["in", f"--mode={mode}", "--crop=page"]
            result = program.run([scans.SCAN, "--backend=cuda", *words, "-o", f"gpu-{mode}"],
                                 cwd=self.folder)
            if result.returncode == 3:
                self.skipTest("no GPU")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.scan(*words, "-o", f"cpu-{mode}")
            self.assertEqual(self.contents(self.folder / f"gpu-{mode}"),
                             self.contents(self.folder / f"cpu-{mode}"))

    def test_wrong_usage_and_settings(self):
        self.save(page_of(), "page.png")
        said = self.scan("page.png", "-o", "out", "--mode=grey", status=2)
        self.assertIn("--mode=grey: must be bw, gray, color, mixed or auto", said)
        said = self.scan("page.png", "-o", "out", "--mode=gray", "--jpeg-quality=50", status=2)
        self.assertIn("--jpeg-quality=50: no JPEG is made", said)
        self.scan("page.png", "-o", "out")
        before = self.contents()
        self.assertIn("1 done before", self.scan("page.png", "-o", "out", "--resume", "--mode=bw"))
        for mode in ("gray", "color", "mixed", "auto"):
            said = self.scan("page.png", "-o", "out", "--resume", f"--mode={mode}")
            self.assertIn("1 page was made with other settings and is made again", said)
        self.assertEqual(self.contents()["page.tif"], before["page.tif"])


class Books(scans.Case):
    ALWAYS = ("--enlarge=no",)  # sizes and levels are those of the input

    def setUp(self):
        super().setUp()
        self.save(page_of(), "in/0.png", dpi=DPI)
        self.save(page_of((240, 225, 180), "gray", seed=2), "in/1.png", dpi=DPI)
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        self.save(page_of((240, 225, 180), "colour", True, seed=3), "in/2.png", dpi=DPI,
                  icc_profile=profile)
        self.profile = profile

    def test_tiff(self):
        self.scan("in", "-o", "out", "--mode=auto")
        self.scan("in", "-o", "book.tif", "--mode=auto")
        with Image.open(self.folder / "book.tif") as book:
            self.assertEqual(book.n_frames, 3)
            for number, mode in enumerate(("1", "L", "RGB")):
                book.seek(number)
                self.assertEqual((book.mode, book.info["dpi"]), (mode, DPI))
                np.testing.assert_array_equal(np.array(book), opened(self.out / f"{number}.tif"))
                self.assertEqual(book.tag_v2.get(34675), self.profile if number == 2 else None)

    def drawn(self, name, dpi=DPI[0]):
        """The pages of a PDF as poppler draws them."""
        subprocess.run(["pdftoppm", "-r", str(dpi), "-png", name, "drawn"], cwd=self.folder,
                       check=True)
        return [opened(path) for path in sorted(self.folder.glob("drawn-*.png"))]

    def images(self, name):
        """The images of a PDF as they are stored."""
        subprocess.run(["pdfimages", "-all", name, "stored"], cwd=self.folder, check=True)
        subprocess.run(["pdfimages", "-png", name, "plain"], cwd=self.folder, check=True)
        paths = sorted(p for p in self.folder.glob("stored-*") if p.suffix != ".params")
        return [opened(path if path.suffix == ".jpg"
                       else self.folder / f"plain-{path.stem[-3:]}.png") for path in paths]

    def assert_alike(self, drawn, expected):
        """Poppler may shift images by a part of a pixel."""
        def blurred(page):
            height, width = page.shape[0] // 10, page.shape[1] // 10
            page = page[:10 * height, :10 * width].astype(float)
            return page.reshape(height, 10, width, 10, 3).mean(axis=(1, 3))

        self.assertEqual(drawn.shape, expected.shape)
        self.assertLess(np.abs(blurred(drawn) - blurred(expected)).mean(), 5)

    @unittest.skipIf(shutil.which("pdftoppm") is None, "poppler-utils is not installed")
    def test_layers_of_a_pdf(self):
        self.scan("in", "-o", "out", "--mode=mixed")
        self.scan("in", "-o", "book.pdf", "--mode=mixed")
        (self.folder / "again").mkdir()
        self.scan("in", "-o", "again/book.pdf", "--mode=mixed", "--jobs=3")
        data = (self.folder / "book.pdf").read_bytes()
        self.assertEqual(data, (self.folder / "again/book.pdf").read_bytes())
        archive.check(self, self.folder / "book.pdf")
        listed = subprocess.run(["pdfimages", "-list", "book.pdf"], cwd=self.folder, check=True,
                                capture_output=True, text=True).stdout
        kinds = [line.split()[2:9] for line in listed.splitlines()[2:]]
        self.assertEqual([kind[0] for kind in kinds],
                         ["image", "image", "stencil", "image", "stencil"])
        self.assertEqual([line.split()[8] for line in listed.splitlines()[2:]],
                         ["ccitt", "jpeg", "ccitt", "jpeg", "ccitt"])
        self.assertEqual([kind[3] for kind in kinds[1::2]], ["gray", "icc"])
        for number, page in enumerate(self.drawn("book.pdf")):
            expected = np.array(Image.open(self.out / f"{number}.tif").convert("RGB"))
            self.assert_alike(page, expected)
        # The mask is the ink outside pictures and stamps.
        images = self.images("book.pdf")
        made = opened(self.out / "1.tif")
        mask = images[2] != 0  # where it is painted
        inside = np.zeros(mask.shape, bool)
        inside[BOX[1] - 4:BOX[3] + 4, BOX[0] - 4:BOX[2] + 4] = True
        np.testing.assert_array_equal(mask[~inside], (made == 0)[~inside])
        self.assertEqual(part(mask, BOX, 4).sum(), 0)
        under = images[1].astype(int)
        self.assertLess(np.abs(part(under, BOX) - part(made.astype(int), BOX)).mean(), 3)
        self.assertGreater(under[~inside].min(), 240)

    def test_under_the_text_are_fewer_pixels(self):
        page = page_of((240, 225, 180), "gray").resize((921, 1201))
        self.save(page, "large.png", dpi=(200, 200))
        self.scan("large.png", "-o", "large.pdf", "--mode=mixed", "--no-straighten")
        data = (self.folder / "large.pdf").read_bytes()
        text = b"\n".join([data] + [zlib.decompress(part) for part in re.findall(
            rb"stream\n(x.*?)\nendstream", data, re.S)])
        self.assertIn(b"/Width 921", text)
        self.assertIn(b"/Width 461", text)
        # 461 times 2 pixels are one more than the page has.
        self.assertRegex(text, rb"q 1\.00108\d* 0 0 1\.00083\d* 0 -0\.00083\d* cm /Under Do Q "
                               rb"0 g /Scan Do Q")

    @unittest.skipIf(shutil.which("pdftoppm") is None, "poppler-utils is not installed")
    def test_gray_and_colour_in_a_pdf(self):
        sizes = []
        for quality in ([], ["--jpeg-quality=30"]):
            name = f"book{len(sizes)}.pdf"
            self.scan("in/2.png", "-o", name, "--mode=color", *quality)
            sizes.append((self.folder / name).stat().st_size)
        self.assertLess(sizes[1], sizes[0] * 0.8)
        self.scan("in/2.png", "-o", "out", "--mode=color")
        self.assert_alike(self.drawn("book0.pdf")[0], opened(self.out / "2.tif"))
        stored = self.images("book0.pdf")[0].astype(int)
        self.assertLess(np.abs(stored - opened(self.out / "2.tif")).mean(), 4)
        self.scan("in/2.png", "-o", "gray.pdf", "--mode=gray")
        listed = subprocess.run(["pdfimages", "-list", "gray.pdf"], cwd=self.folder, check=True,
                                capture_output=True, text=True).stdout
        self.assertEqual(listed.splitlines()[2].split()[5:9], ["gray", "1", "8", "jpeg"])

    def test_one_page_to_standard_output(self):
        result = subprocess.run([scans.SCAN, "in/1.png", "-o", "-", "--mode=gray", "--format=png",
                                 *self.ALWAYS],
                                cwd=self.folder, capture_output=True, check=True)
        (self.folder / "page.png").write_bytes(result.stdout)
        self.scan("in/1.png", "-o", "out", "--mode=gray", "--format=png")
        self.assertEqual(result.stdout, (self.out / "1.png").read_bytes())


if __name__ == "__main__":
    program.main()
