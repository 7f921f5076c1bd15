# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cropping to the sheet and to the content, margins, and sizes of paper."""
import pathlib
import unittest

import printed
import program
import scans
from scans import np

if np is not None:
    from PIL import Image, ImageDraw

    import measure_scans
    import scan_maker

MM = 150 / 25.4


class Glass(scans.Case):
    def setUp(self):
        super().setUp()
        self.sheet = scans.text_page(700, 900)  # ink from (60, 57) to about (640, 840)
        glass = np.full((1300, 1000), 8.0)
        glass[220:1120, 130:830] = np.where(np.array(self.sheet) == 0, 30, 230)
        glass += np.random.default_rng(1).normal(0, 4, glass.shape)
        self.glass = Image.fromarray(glass.clip(0, 255).astype(np.uint8))
        self.save(self.glass, "page.png", dpi=(150, 150))
        rows, columns = np.where(np.array(self.sheet) == 0)
        self.content = (columns.min() + 130, rows.min() + 220, columns.max() + 131,
                        rows.max() + 221)

    def made(self, *words, name="page.png", **how):
        """The size of the page, its ink, and the box."""
        record = self.measured(name, "-o", self.out, "--enlarge=no", *words,
                               **how)["page_list"][0]
        ink = scans.ink(record["output"])
        return ink, record["crop"]

    def near(self, box, other, most):
        for side, right in zip(box, other):
            self.assertAlmostEqual(side, right, delta=most, msg=f"{box} {other}")


class Crop(Glass):
    def test_nothing_is_cropped_by_default(self):
        ink, box = self.made()
        self.assertEqual(ink.shape, (1300, 1000))
        self.assertEqual(box, [0, 0, 1000, 1300])
        self.made("--crop=no")
        self.assertEqual(*[(self.out / name).read_bytes() for name in ("page.tif", "page-1.tif")])

    def test_to_the_sheet(self):
        whole, _ = self.made()
        ink, box = self.made("--crop=page", "--margin=0")
        self.near(box, (130, 220, 830, 1120), 8)
        self.assertTrue((ink == whole[box[1]:box[3], box[0]:box[2]]).all())
        _, wider = self.made("--crop=page")  # 6.35 mm
        edge = round(6.35 * MM)
        self.assertEqual(wider, [box[0] - edge, box[1] - edge, box[2] + edge, box[3] + edge])
        ink, widest = self.made("--crop=page", "--margin=100")
        self.assertEqual(widest, [0, 0, 1000, 1300])
        self.assertTrue((ink == whole).all())
        _, kept = self.made("--crop=page", "--margin=0", "--borders=keep")
        self.assertEqual(kept, box)

    def test_to_the_content(self):
        ink, box = self.made("--crop=content", "--margin=0")
        self.near(box, self.content, 3)
        self.assertEqual(ink.shape, (box[3] - box[1], box[2] - box[0]))
        _, wider = self.made("--crop=content", "--margin=2")
        edge = round(2 * MM)
        self.assertEqual(wider, [box[0] - edge, box[1] - edge, box[2] + edge, box[3] + edge])

    def test_specks_are_no_content(self):
        page = self.glass.copy()
        for x, y in ((150, 240), (800, 260), (160, 1100), (810, 700)):
            ImageDraw.Draw(page).rectangle([x, y, x + 1, y + 1], fill=20)
        self.save(page, "page.png", dpi=(150, 150))
        _, box = self.made("--crop=content", "--margin=0")
        self.near(box, self.content, 3)

    def test_boxes_are_those_of_the_straightened_page(self):
        self.save(self.glass.rotate(3, Image.BICUBIC, fillcolor=8), "page.png", dpi=(150, 150))
        _, box = self.made("--crop=page", "--margin=0")
        self.near(box, (130, 220, 830, 1120), 10)
        ink, box = self.made("--crop=content", "--margin=0")
        self.near(box, self.content, 4)
        rows, columns = np.where(ink)  # the ink fills the box
        self.near((columns.min(), rows.min(), columns.max(), rows.max()),
                  (0, 0, ink.shape[1] - 1, ink.shape[0] - 1), 4)

    def test_margins_follow_each_resolution(self):
        self.save(self.glass, "page.png", dpi=(150, 300))
        _, tight = self.made("--crop=content", "--margin=0")
        _, box = self.made("--crop=content", "--margin=5")
        self.assertEqual([tight[0] - box[0], tight[1] - box[1]], [round(5 * MM), round(10 * MM)])

    def test_pages_without_border_or_ink_stay_whole(self):
        blank = np.random.default_rng(2).normal(220, 4, (900, 700)).astype(np.uint8)
        self.save(Image.fromarray(blank), "page.png")
        for name, page in (("blank", Image.fromarray(blank)), ("sheet", self.sheet),
                           ("white", Image.new("L", (700, 900), 255)),
                           ("tiny", Image.new("L", (40, 30), 200))):
            self.save(page, f"{name}.png", dpi=(150, 150))
            _, box = self.made("--crop=page", name=f"{name}.png")
            self.assertEqual(box, [0, 0, *page.size])
            if name != "sheet":
                self.assertEqual(self.made("--crop=content", name=f"{name}.png")[1], box)

    @unittest.skipUnless(printed.has_print(), "the fonts or texts are not installed")
    def test_made_scans(self):
        for seed in range(8):
            scan = scan_maker.make(3000 + seed)
            self.save(scan.image, f"in/{seed}.png", dpi=(scan.dpi, scan.dpi))
        for what in ("page", "content"):
            stats = self.measured("in", "-o", what, f"--crop={what}", "--margin=0")
            for page in stats["page_list"]:
                scan = scan_maker.make(3000 + int(pathlib.Path(page["input"]).stem))
                straight = page["turned"] or abs(scan.angle) < 0.1
                true = scan.page(straight) if what == "page" else scan.content(straight)
                self.assertGreater(measure_scans.common(measure_scans.box_of(page), true), 0.93,
                                   scan.name)

    def test_gpus_make_the_same_pages(self):
        self.save(self.glass.rotate(2, Image.BICUBIC, fillcolor=8), "in/page.png", dpi=(150, 150))
        blank = np.random.default_rng(2).normal(200, 4, (900, 700)).astype(np.uint8)
        self.save(Image.fromarray(blank), "in/blank.png", dpi=(150, 150))
        words = ["in", "--crop=content", "--page-size=A4", "--blank=aside"]
        result = program.run([scans.SCAN, "--backend=cuda", *words, "-o", "gpu"], cwd=self.folder)
        if result.returncode == 3:
            self.skipTest("no GPU")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.scan(*words, "-o", "out")
        for name in ("page.tif", "blank/blank.tif"):
            self.assertEqual((self.folder / "gpu" / name).read_bytes(),
                             (self.out / name).read_bytes(), name)

    def test_it_is_said_and_wrong_usage(self):
        said = self.scan("page.png", "-o", self.out, "-v", "--crop=page", "--enlarge=no")
        self.assertRegex(said, r"  cropped to 7\d\dx9\d\d at \d+,1\d\d  ")
        for words, text in ((["--crop=sheet"], "--crop=sheet: must be no, page or content"),
                            (["--margin=3"], "--margin is for --crop; add it"),
                            (["--crop=page", "--margin=-1"], "--margin=-1: must be millimetres"),
                            (["--page-size=A9"], "--page-size=A9: must be A3, A4, A5, letter"),
                            (["--page-size=5x100"], "--page-size=5x100: must be"),
                            (["--page-size=100x"], "--page-size=100x: must be"),
                            (["--page-size=100x100mm"], "--page-size=100x100mm: must be")):
            self.assertIn(text, self.scan("page.png", "-o", self.out, *words, status=2))


class PageSize(Glass):
    def test_sizes(self):
        for name, size in (("A4", (1240, 1754)), ("A5", (874, 1240)), ("letter", (1275, 1650)),
                           ("legal", (1275, 2100)), ("150x170.5", (886, 1007))):
            ink, box = self.made("--crop=content", f"--page-size={name}")
            self.assertEqual(ink.shape[::-1], size, name)
            cropped, _ = self.made("--crop=content", "--margin=0")
            rows, columns = np.where(ink)
            self.near((columns.min() + columns.max(), rows.min() + rows.max()), size, 12)
            self.assertEqual(ink.sum(), cropped.sum())
            self.assertEqual(box, self.made("--crop=content")[1])

    def test_the_whole_page_is_put_on_paper(self):
        ink, _ = self.made()
        put, _ = self.made("--page-size=200x250")
        self.assertEqual(put.shape, (1476, 1181))
        self.assertTrue((put[88:1388, 90:1090] == ink).all())
        self.assertEqual(put.sum(), ink.sum())

    def test_only_white_is_cut_off(self):
        ink, _ = self.made()
        put, _ = self.made("--page-size=130x200")  # less than the image, more than the sheet
        self.assertEqual(put.shape, (1181, 768))
        self.assertEqual(put.sum(), ink.sum())
        said = self.scan("page.png", "-o", self.out, "--page-size=60x200", status=1)
        self.assertIn("left out: page.png: the content is larger than --page-size", said)
        said = self.scan("page.png", "-o", self.out, "--page-size=200x60", status=1)
        self.assertIn("the content is larger than --page-size", said)


if __name__ == "__main__":
    program.main()
