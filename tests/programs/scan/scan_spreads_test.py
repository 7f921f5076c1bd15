# SPDX-License-Identifier: LGPL-2.1-or-later
"""Open books that cudascan-scan splits into two pages, and pages that it leaves whole."""
import subprocess

import program
import scans

try:
    import numpy as np
    from PIL import Image
except ImportError:
    np = None

WIDTH, HEIGHT = scans.WIDTH, scans.HEIGHT
AUTO = "--split=auto"
MM = 75 / 25.4
NEAR = 6  # pixels; 2 mm


def darkened(page, at, depth, wide=3 * MM):
    """The shadow of a fold: an image where each row has it at at(row)."""
    levels = np.asarray(page, np.float32)
    rows = np.arange(page.height)[:, None]
    away = np.abs(np.arange(page.width)[None, :] + 0.5 - at(rows + 0.5))
    levels = levels * (1 - depth * np.exp(-away / wide))
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


def open_book(left=None, right=None, depth=0.5, angle=0):
    """Two pages next to each other, with the shadow of the fold between them."""
    pages = [page or scans.text_page(seed=seed) for seed, page in enumerate((left, right))]
    book = Image.new("L", (2 * WIDTH, HEIGHT), 255)
    for x, page in zip((0, WIDTH), pages):
        book.paste(page, (x, 0))
    book = darkened(book, lambda y: WIDTH + 0 * y, depth)
    return scans.turned(book, angle) if angle else book


def blank():
    return Image.new("L", (WIDTH, HEIGHT), 255)


def two_columns():
    page = Image.new("L", (2 * WIDTH, HEIGHT), 255)
    for x in (40, WIDTH + 6):  # a gap of 12 pixels, 4 mm, and margins of 40
        page.paste(scans.text_page(seed=x).crop((60, 0, WIDTH - 66 + 60, HEIGHT)).resize(
            (WIDTH - 46, HEIGHT)), (x, 0))
    return page


class Spreads(scans.Case):
    ALWAYS = ("--enlarge=no",)  # sizes and levels are those of the input

    def one(self, page, *words):
        """The statistics of the pages that come of an image."""
        self.save(page, "in/page.png")
        return self.measured("in/page.png", "-o", "out", *words)["page_list"]

    def by_part(self, page, *words):
        return {record["part"]: record for record in self.one(page, *words)}

    def test_folds(self):
        for depth in (0.08, 0.3, 0.9):
            with self.subTest(depth):
                parts = self.by_part(open_book(depth=depth), AUTO, "--resume")
                self.assertEqual(set(parts), {"left", "right"})
                for record in parts.values():
                    self.assertEqual(record["gutter_by"], "fold")
                    for end in record["gutter"]:
                        self.assertLessEqual(abs(end - WIDTH), NEAR / 3)
        self.assertEqual(parts["left"]["output"], "out/page-left-2.tif")

    def test_slanted_gutter(self):
        book = open_book(angle=2.5)
        parts = self.by_part(book, AUTO)
        top, bottom = parts["left"]["gutter"]
        aside = np.tan(np.radians(2.5)) * HEIGHT / 2
        self.assertLessEqual(abs(top - (WIDTH - aside)), NEAR / 2)
        self.assertLessEqual(abs(bottom - (WIDTH + aside)), NEAR / 2)
        for part, seed in (("left", 0), ("right", 1)):  # nothing of the neighbour is left
            self.assertAlmostEqual(parts[part]["angle"], 2.5, delta=0.15)
            made = scans.ink(self.out / f"page-{part}.tif")
            true = scans.ink(self.save(scans.text_page(seed=seed), "true.png"))
            self.assertLess(abs(made.sum() / true.sum() - 1), 0.3)
            self.assertFalse(made[:, :40].any() or made[:, -40:].any())

    def test_each_page_has_its_own_angle(self):
        left, right = (scans.turned(scans.text_page(seed=seed), angle)
                       for seed, angle in ((3, 1.2), (4, -0.9)))
        parts = self.by_part(open_book(left, right), AUTO)
        self.assertAlmostEqual(parts["left"]["angle"], 1.2, delta=0.1)
        self.assertAlmostEqual(parts["right"]["angle"], -0.9, delta=0.1)

    def test_gap_without_a_fold(self):
        record, _ = self.one(open_book(depth=0), AUTO)
        self.assertEqual(record["gutter_by"], "gap")
        for end in record["gutter"]:  # a line of text may end 40 pixels earlier
            self.assertLessEqual(abs(end - WIDTH), 20 + NEAR)

    def test_the_shadow_becomes_paper(self):
        # A threshold for the page would turn it black.
        self.one(open_book(depth=0.8), AUTO, "--no-even-light", "--method=otsu", "--borders=keep")
        for part, seed in (("left", 0), ("right", 1)):
            true = np.asarray(scans.text_page(seed=seed)) < 128
            made = scans.ink(self.out / f"page-{part}.tif")
            self.assertFalse(made[:, :40].any() or made[:, -40:].any())
            width = min(made.shape[1], WIDTH)
            edge = slice(0, width) if part == "left" else slice(-width, None)
            self.assertGreater(scans.overlap(made[:, edge], true[:, edge]), 0.9)

    def test_other_levels(self):
        book = open_book(depth=0.6)
        deep = np.asarray(book).astype(np.uint16) * 257
        self.save(Image.fromarray(deep), "in/deep.png")
        self.save(book.point(lambda level: 255 * (level > 120)), "in/bilevel.png")
        self.save(book, "in/page.png")
        self.scan("in", "-o", "out", AUTO)
        self.assertEqual(self.outputs(), [f"{name}-{part}.tif" for name in
                                          ("bilevel", "deep", "page")
                                          for part in ("left", "right")])
        for part in ("left", "right"):
            pages = [scans.ink(self.out / f"{name}-{part}.tif") for name in ("deep", "page")]
            self.assertGreater(scans.overlap(*pages), 0.99)

    def test_single_pages_stay_whole(self):
        wide = scans.text_page(2 * WIDTH, HEIGHT)
        ruled = darkened(two_columns(), lambda y: np.where((y > 70) & (y < HEIGHT - 70), WIDTH,
                                                           -9999), 1, 1)
        for name, page in (("upright", scans.text_page()), ("wide", wide),
                           ("columns", two_columns()), ("ruled", ruled), ("blank", blank())):
            self.save(page, f"in/{name}.png")
        noise = np.random.default_rng(1).integers(0, 255, (20, 30)).astype(np.uint8)
        self.save(Image.fromarray(noise).resize((2 * WIDTH, HEIGHT), Image.BICUBIC), "in/photo.png")
        records = self.measured("in", "-o", "out", AUTO)["page_list"]
        said = {record["input"]: record.get("not_split") for record in records}
        self.assertEqual(said, {"in/blank.png": "the image is empty",
                                "in/columns.png": "no gutter was found",
                                "in/photo.png": "most of it is no paper",
                                "in/ruled.png": "no gutter was found",
                                "in/upright.png": "it does not have the shape of two pages",
                                "in/wide.png": "no gutter was found"})
        self.scan("in", "-o", "off")
        self.assertEqual(self.contents(), self.contents(self.folder / "off"))

    def test_always(self):
        first, second = self.one(scans.text_page(), "--split=left-right", "--jobs=1",
                                 "--no-straighten")
        self.assertEqual([first["part"], second["part"]], ["left", "right"])
        self.assertEqual((first["gutter"], first["gutter_by"]), ([310, 310], "middle"))
        whole = np.asarray(scans.text_page()) < 128
        for part, columns in (("left", slice(0, 270)), ("right", slice(350, None))):
            made = scans.ink(self.out / f"page-{part}.tif")
            self.assertEqual(made.shape[1], 310)
            away = slice(0, 270) if part == "left" else slice(40, None)
            self.assertGreater(scans.overlap(made[:, away], whole[:, columns]), 0.99)

    def test_order_in_a_file_of_all_pages(self):
        for number in range(2):
            left = scans.text_page(seed=number)
            self.save(open_book(left, blank()), f"in/{number}.png")
        for split, full in (("left-right", [0, 2]), ("right-left", [1, 3])):
            self.scan("in", "-o", f"{split}.tif", f"--split={split}")
            with Image.open(self.folder / f"{split}.tif") as book:
                self.assertEqual(book.n_frames, 4)
                for frame in range(4):
                    book.seek(frame)
                    black = (np.asarray(book.convert("L")) == 0).any()
                    self.assertEqual(black, frame in full)

    def test_results_do_not_depend_on_jobs(self):
        for number in range(3):
            self.save(open_book(angle=number), f"in/{number}.png")
        self.scan("in", "-o", "out", AUTO, "--jobs=1")
        self.scan("in", "-o", "many", AUTO, "--jobs=4")
        self.assertEqual(self.contents(), self.contents(self.folder / "many"))

    def test_gpus_make_the_same_pages(self):
        self.save(open_book(angle=1, depth=0.8), "in/page.png")
        result = program.run([scans.SCAN, "--backend=cuda", "in", AUTO, "-o", "gpu"],
                             cwd=self.folder)
        if result.returncode == 3:
            self.skipTest("no GPU")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.scan("in", "-o", "out", AUTO)
        self.assertEqual(self.contents(), self.contents(self.folder / "gpu"))


class Records(scans.Case):
    """Names, journal and messages."""
    ALWAYS = ("--enlarge=no",)  # sizes and levels are those of the input

    def test_names(self):
        self.save(open_book(), "in/page.tif", save_all=True, append_images=[scans.text_page()])
        self.save(scans.text_page(seed=5), "in/page-p001-left.png")
        said = self.scan("in", "-o", "out", AUTO, "--dry-run")
        self.assertIn("in/page.tif page 1 of 2 -> out/page-p001.tif, or out/page-p001-left-1.tif "
                      "and out/page-p001-right.tif if it is an open book\n", said)
        said = self.scan("in", "-o", "out", "--split=left-right", "--dry-run")
        self.assertIn("in/page-p001-left.png -> out/page-p001-left-left.tif and "
                      "out/page-p001-left-right.tif\n", said)
        said = self.scan("in", "-o", "out", AUTO, "--jobs=1")
        self.assertIn("in/page.tif page 1 of 2, left page -> out/page-p001-left-1.tif", said)
        self.assertIn("4/4 in/page.tif page 2 of 2 -> out/page-p002.tif", said)
        self.assertEqual(self.outputs(), ["page-p001-left-1.tif", "page-p001-left.tif",
                                          "page-p001-right.tif", "page-p002.tif"])

    def test_resume(self):
        for number in range(2):
            self.save(open_book(angle=number), f"in/{number}.png")
        self.save(scans.text_page(), "in/single.png")
        self.scan("in", "-o", "out", AUTO)
        before = self.contents()
        self.assertIn("5 done before", self.scan("in", "-o", "out", AUTO, "--resume"))
        (self.out / "0-right.tif").unlink()
        said = self.scan("in", "-o", "out", AUTO, "--resume", "--dry-run")
        self.assertIn("in/0.png -> out/0-left.tif and out/0-right.tif\n", said)
        self.assertIn("in/1.png -> out/1-left.tif and out/1-right.tif (done)", said)
        said = self.scan("in", "-o", "out", AUTO, "--resume")
        self.assertIn("1/1 in/0.png, right page -> out/0-right.tif", said)
        self.assertIn("1 page in", said)
        self.assertIn("4 done before", said)
        self.assertEqual(self.contents(), before)

    def test_pages_of_other_settings(self):
        self.save(open_book(), "in/0.png")
        self.scan("in", "-o", "out")
        stats = self.measured("in", "-o", "out", "--resume", AUTO)
        self.assertEqual([page["made_with_other_settings"] for page in stats["page_list"]],
                         [["0.tif"]] * 2)
        self.assertEqual(self.outputs(), ["0-left.tif", "0-right.tif", "0.tif"])
        said = self.scan("in", "-o", "out", "--resume", "--split=left-right", "--dry-run")
        self.assertIn("made before with other settings", said)

    def test_blank_pages(self):
        self.save(open_book(right=blank(), depth=0.7), "in/0.png")
        stats = self.measured("in", "-o", "out", AUTO, "--blank=drop")
        self.assertEqual((stats["pages"], stats["blank"]), (2, 1))
        self.assertEqual(self.outputs(), ["0-left.tif"])
        said = self.scan("in", "-o", "out", AUTO, "--blank=drop", "--resume")
        self.assertIn("2 done before", said)
        said = self.scan("in", "-o", "out", AUTO, "--blank=drop", "--resume", "-n")
        self.assertIn("out/0-left.tif and nothing, as it is blank (done)", said)
        self.scan("in", "-o", "book.tif", AUTO, "--blank=aside")
        with Image.open(self.folder / "book.tif") as book:
            self.assertEqual(book.n_frames, 2)

    def test_outputs_of_one_page(self):
        self.save(open_book(), "in/0.png")
        for output in ("-", "x.png"):
            result = subprocess.run([scans.SCAN, "--backend=cpu", "in", "-o", output, AUTO],
                                    cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"in/0.png: is an open book of two pages: ", result.stderr)
            self.assertIn(b"holds one page; name a folder, NAME.tif or NAME.pdf for several, or "
                          b"use --split=no", result.stderr)
            self.assertEqual(result.stdout, b"")
        said = self.scan("in", "-o", "x.png", "--split=right-left", status=2)
        self.assertIn("--split=right-left makes two pages: x.png holds one page; name a folder",
                      said)
        self.save(scans.text_page(), "page.png")
        self.scan("page.png", "-o", "x.png", AUTO)

    def test_wrong_values(self):
        said = self.scan("in", "-o", "out", "--split=both", status=2)
        self.assertIn("--split=both: must be no, auto, left-right or right-left", said)

    def test_verbose(self):
        self.save(open_book(), "in/0.png")
        self.save(scans.text_page(), "in/1.png")
        said = self.scan("in", "-o", "out", AUTO, "--verbose")
        self.assertRegex(said, r"0-left\.tif  split at 6\d\d to 6\d\d \(fold\)  150 dpi")
        self.assertIn("not split: it does not have the shape of two pages", said)


if __name__ == "__main__":
    program.main()
