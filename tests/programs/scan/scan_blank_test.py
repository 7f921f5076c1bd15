# SPDX-License-Identifier: LGPL-2.1-or-later
"""Blank pages: which ones are found, and where they go."""
import importlib
import pathlib
import unittest

import printed
import program
import scans
from scans import np

if np is not None:
    from PIL import Image, ImageDraw

    scan_maker = importlib.import_module("scan_maker")


def noisy(level, seed=1, width=620, height=877):
    levels = np.random.default_rng(seed).normal(level, 6, (height, width))
    return Image.fromarray(levels.clip(0, 255).astype(np.uint8))


class Found(scans.Case):
    def verdicts(self, pages):
        for name, page in pages.items():
            self.save(page, f"in/{name}.png", dpi=(75, 75))
        stats = self.measured("in", "-o", self.out, "--blank=aside")
        return {pathlib.Path(page["input"]).stem: page["blank"] for page in stats["page_list"]}

    def test_what_is_no_content(self):
        shaded = np.asarray(noisy(200)) * np.linspace(1, 0.5, 620)[None, :]
        through = noisy(210)
        back = scans.text_page(seed=5).transpose(Image.FLIP_LEFT_RIGHT)
        through = np.asarray(through) - np.where(np.asarray(back) == 0, 30, 0)
        specks, surround = noisy(220), noisy(220)
        for x in range(50, 600, 37):
            ImageDraw.Draw(specks).rectangle([x, 2 * x % 800, x + 1, 2 * x % 800 + 1], fill=20)
        surround = np.array(surround)
        surround[:, :50] = surround[-70:] = 10
        found = self.verdicts({
            "white": Image.new("L", (620, 877), 255), "gray": Image.new("L", (620, 877), 180),
            "noise": noisy(200), "shaded": Image.fromarray(shaded.astype(np.uint8)),
            "through": Image.fromarray(through.astype(np.uint8)), "specks": specks,
            "surround": Image.fromarray(surround), "bilevel": noisy(220).convert("1", dither=0),
            "deep": Image.fromarray(np.asarray(noisy(200)).astype(np.uint16) * 257)})
        self.assertEqual(found, dict.fromkeys(found, True))
        self.assertEqual(len(found), 9)

    def test_what_is_content(self):
        pages = {"text": scans.text_page(), "picture": noisy(220), "digit": noisy(200),
                 "black": Image.new("L", (620, 877), 0)}
        ImageDraw.Draw(pages["picture"]).rectangle([200, 200, 420, 500], fill=60)
        digit = ImageDraw.Draw(pages["digit"])  # a 7 of 2.4 mm
        digit.line([(310, 800), (314, 800), (311, 806)], fill=30)
        pages["bilevel"] = pages["text"].convert("1")
        found = self.verdicts(pages)
        self.assertEqual(found, dict.fromkeys(pages, False))

    @unittest.skipUnless(printed.has_print(), "the fonts or texts are not installed")
    def test_made_scans(self):
        truth = {}
        for seed in range(10):
            for scan in (scan_maker.make(seed + 3000, blank=True),
                         scan_maker.make(seed + 3000, kind=scan_maker.NEARLY[seed % 3])):
                name = f"{scan.name}-{scan.blank}"
                truth[name] = scan.blank
                self.save(scan.image, f"in/{name}.png", dpi=(scan.dpi, scan.dpi))
        stats = self.measured("in", "-o", self.out, "--blank=drop")
        found = {pathlib.Path(page["input"]).stem: page["blank"] for page in stats["page_list"]}
        self.assertEqual(found, truth)


class Outputs(scans.Case):
    def setUp(self):
        super().setUp()
        for number, page in enumerate((noisy(200), scans.text_page(), noisy(230, 2),
                                       scans.text_page(seed=3))):
            self.save(page, f"in/{number}.png", dpi=(75, 75))

    def names(self):
        return sorted(str(p.relative_to(self.out)) for p in self.out.rglob("*.tif"))

    def test_they_are_kept(self):
        stats = self.measured("in", "-o", self.out)
        self.assertEqual(self.names(), ["0.tif", "1.tif", "2.tif", "3.tif"])
        self.assertNotIn("blank", stats["page_list"][0])
        self.scan("in", "-o", "keep", "--blank=keep")
        self.assertEqual(self.contents(), self.contents(self.folder / "keep"))

    def test_they_are_dropped_and_resume_knows_it(self):
        self.scan("in", "-o", "keep")
        stats = self.measured("in", "-o", self.out, "--blank=drop", "--jobs=1")
        self.assertEqual(self.names(), ["1.tif", "3.tif"])
        self.assertEqual(stats["blank"], 2)
        self.assertEqual([(page["blank"], page["output"]) for page in stats["page_list"]],
                         [(True, ""), (False, f"{self.out}/1.tif"), (True, ""),
                          (False, f"{self.out}/3.tif")])
        for name in self.names():
            self.assertEqual((self.out / name).read_bytes(),
                             (self.folder / "keep" / name).read_bytes())
        said = self.scan("in", "-o", self.out, "--blank=drop", "--resume", "-n")
        self.assertIn("in/0.png is blank and stays left out", said)
        said = self.scan("in", "-o", self.out, "--blank=drop", "--resume")
        self.assertIn("0 pages in", said)
        self.assertIn("4 done before", said)
        self.save(scans.text_page(seed=8), "in/0.png", dpi=(75, 75))  # it is another page now
        said = self.scan("in", "-o", self.out, "--blank=drop", "--resume")
        self.assertIn("3 done before", said)
        self.assertEqual(self.names(), ["0.tif", "1.tif", "3.tif"])
        said = self.scan("in", "-o", self.out, "--resume")
        self.assertIn("3 pages were made with other settings and are made again", said)

    def test_they_are_put_aside_and_resume_knows_it(self):
        said = self.scan("in", "-o", self.out, "--blank=aside", "-v")
        self.assertIn("4 pages in", said)
        self.assertIn(", 2 of them blank", said)
        self.assertRegex(said, r"in/0.png -> \S*out/blank/0.tif .* blank ")
        expected = ["1.tif", "3.tif", "blank/0.tif", "blank/2.tif"]
        self.assertEqual(self.names(), expected)
        said = self.scan("in", "-o", self.out, "--blank=aside", "--resume")
        self.assertIn("4 done before", said)
        self.assertEqual(self.names(), expected)
        (self.out / "blank/0.tif").unlink()
        said = self.scan("in", "-o", self.out, "--blank=aside", "--resume")
        self.assertIn("3 done before", said)
        self.assertEqual(self.names(), expected)
        self.scan("in", "-o", self.out, "--blank=aside")
        self.assertEqual(self.names(), ["1-1.tif", "1.tif", "3-1.tif", "3.tif", "blank/0-1.tif",
                                        "blank/0.tif", "blank/2-1.tif", "blank/2.tif"])

    def test_they_come_last_in_one_file(self):
        self.scan("in", "-o", "aside", "--blank=aside")
        for words in ([], ["--resume"]):
            with self.subTest(str(words)):
                (self.folder / "book.tif").unlink(missing_ok=True)
                self.scan("in", "-o", "book.tif", "--blank=aside", *words)
                with Image.open(self.folder / "book.tif") as book:
                    self.assertEqual(book.n_frames, 4)
                    for number, name in enumerate(("1.tif", "3.tif", "blank/0.tif",
                                                   "blank/2.tif")):
                        book.seek(number)
                        ink = np.array(book.convert("L")) == 0
                        self.assertTrue((ink == scans.ink(self.folder / "aside" / name)).all())
                self.assertFalse((self.folder / "book.tif.pages").exists())
        self.scan("in", "-o", "short.tif", "--blank=drop")
        with Image.open(self.folder / "short.tif") as book:
            self.assertEqual(book.n_frames, 2)

    def test_unfinished_file(self):
        self.scan("in", "-o", "book.tif.pages", "--blank=aside")  # as a killed run leaves it
        self.scan("in", "-o", "book.tif", "--blank=aside", "--resume")
        self.scan("in", "-o", "alone.tif", "--blank=aside")
        self.assertEqual((self.folder / "book.tif").read_bytes(),
                         (self.folder / "alone.tif").read_bytes())
        self.assertFalse((self.folder / "book.tif.pages").exists())

    def test_nothing_is_left(self):
        said = self.scan("in/0.png", "-o", "book.pdf", "--blank=drop")
        self.assertIn("1 of them blank", said)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["in"])

    def test_links_are_refused(self):
        self.out.mkdir()
        (self.folder / "elsewhere").mkdir()
        (self.out / "blank").symlink_to(self.folder / "elsewhere")
        said = self.scan("in", "-o", self.out, "--blank=aside", status=1)
        self.assertRegex(said, r"--blank=aside: \S*out/blank is not a folder")
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])
        self.assertEqual(sorted(p.name for p in self.out.glob("*.tif")), ["1.tif", "3.tif"])

    def test_wrong_usage(self):
        said = self.scan("in", "-o", self.out, "--blank=away", status=2)
        self.assertIn("--blank=away: must be keep, drop or aside", said)


if __name__ == "__main__":
    program.main()
