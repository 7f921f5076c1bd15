# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages that lie on their side or upside down: --orientation."""
import pathlib
import sys
import unittest

import printed
import program
import scans
from scans import np

if np is not None:
    from PIL import Image


def upright_page():
    """Bars like letters; a third rise above the others and few reach below."""
    return scans.text_page(1240, 1754)


class Orientation(scans.Case):
    def records(self, *words):
        stats = self.measured("in", "-o", self.out, "--despeckle=0", *words)
        return {pathlib.Path(page["input"]).stem: page for page in stats["page_list"]}

    def save_all(self, page, name="page", **more):
        for turns in range(4):
            self.save(page.rotate(90 * turns, expand=True), f"in/{name}{90 * turns}.png", **more)

    def test_quarter_turns_are_undone_exactly(self):
        page = upright_page()
        self.save_all(page)
        found = self.records("--orientation=auto")
        expected = np.array(page) == 0
        for degrees in (0, 90, 180, 270):
            record = found[f"page{degrees}"]
            self.assertEqual(record["orientation"], degrees)
            self.assertGreater(record["orientation_confidence"], 0.5)
            self.assertNotIn("not_upright", record)
            self.assertTrue((scans.ink(self.out / f"page{degrees}.tif") == expected).all(), degrees)

    def test_deep_pages_and_their_resolutions_are_turned_too(self):
        levels = np.array(upright_page()).astype(np.uint16) * 257
        for degrees, turns in ((90, 1), (270, 3)):
            self.save(Image.fromarray(np.ascontiguousarray(np.rot90(levels, turns))),
                      f"in/page{degrees}.png", dpi=(100, 200))
        found = self.records("--orientation=auto")
        for name, record in found.items():
            self.assertEqual(f"page{record['orientation']}", name)
            with Image.open(self.out / f"{name}.tif") as page:
                self.assertEqual([round(float(page.tag_v2[tag])) for tag in (282, 283)], [200, 100])
            self.assertTrue((scans.ink(self.out / f"{name}.tif") == (levels == 0)).all(), name)

    def test_angles_are_those_after_the_turn(self):
        for degrees in (90, 180, 270):
            page = scans.turned(upright_page(), 2).rotate(degrees, expand=True)
            self.save(page, f"in/page{degrees}.png")
        for name, record in self.records("--orientation=auto").items():
            self.assertEqual(f"page{record['orientation']}", name)
            self.assertTrue(record["turned"], record)
            self.assertAlmostEqual(record["angle"], 2, delta=0.1)

    def test_pages_are_kept_unless_asked_for(self):
        self.save(upright_page().rotate(180), "in/page.png")
        for words in ([], ["--orientation=keep"]):
            self.assertEqual(self.records(*words)["page"]["orientation"], 0)
        said = self.scan("in/page.png", "-o", self.out, "--orientation=auto", "-v")
        self.assertRegex(said, r"lay turned by 180 degrees \(confidence 0\.\d\d\)")
        said = self.scan("in/page.png", "-o", self.out, "--orientation=on", status=2)
        self.assertIn("--orientation=on: must be keep or auto", said)

    def test_what_tells_nothing_is_kept(self):
        capitals = Image.new("L", (1240, 1754), 255)
        staves = Image.new("L", (1240, 1754), 255)
        levels = np.array(capitals)
        rng = np.random.default_rng(8)
        for y in range(150, 1600, 50):  # letters of one height
            for x in range(150 + rng.integers(0, 15), 1050, 15):
                if rng.random() < 0.85:
                    levels[y:y + 18, x:x + 9] = 0
                    levels[y + 5:y + 13, x + 3:x + 6] = 255
        capitals = Image.fromarray(levels)
        levels = np.array(staves)
        for y in range(150, 1600, 120):
            for line in range(5):
                levels[y + 12 * line:y + 12 * line + 2, 100:1140] = 0
        staves = Image.fromarray(levels)
        typed = Image.new("L", (1240, 1754), 255)  # letters stand below each other
        for y in range(150, 1600, 30):
            for x in range(150, 1090, 30):
                typed.paste(0, (x, y, x + 15, y + 15))
        noise = Image.fromarray(rng.integers(0, 255, (800, 700)).astype(np.uint8))
        for name, page in (("capitals", capitals), ("staves", staves), ("noise", noise),
                           ("typed", typed)):
            self.save_all(page, name)
        self.save(scans.text_page(150, 150), "in/tiny.png")
        found = self.records("--orientation=auto")
        for name, record in found.items():
            self.assertEqual(record["orientation"], 0, name)
            self.assertIn("not_upright", record, name)
        for name, reason in (("capitals0", "no letters tell top from bottom"),
                             ("capitals90", "on its side, but no letters tell top from bottom"),
                             ("noise0", "no clear lines"),
                             ("tiny", "the page is too small to measure")):
            self.assertEqual(found[name]["not_upright"], reason, name)

    def test_gpus_turn_the_same_pages(self):
        self.save_all(scans.turned(upright_page(), -1.5), dpi=(150, 150))
        words = ["--backend=cuda", "--orientation=auto", "--despeckle=0", "in", "-o", "gpu"]
        result = program.run([scans.SCAN, *words], cwd=self.folder)
        if result.returncode != 0:
            self.assertEqual(result.returncode, 3, result.stderr)
            self.skipTest("no GPU")
        self.records("--orientation=auto")
        for name in self.outputs():
            self.assertEqual((self.folder / "gpu" / name).read_bytes(),
                             (self.out / name).read_bytes(), name)

    @unittest.skipUnless(printed.has_print(), "the fonts or texts are not installed")
    def test_printed_pages(self):
        kinds, right = ("book", "columns", "small", "letter", "table", "listing"), 0
        for seed, kind in enumerate(kinds):
            for turns in (0, 1 + seed % 3):
                page = printed.page_maker.make(2100 + seed, kind=kind, dpi=150, turns=turns,
                                                  how="plain")
                self.save(page.image, f"in/{90 * turns}-{kind}.png", dpi=(150, 150))
        for name, record in self.records("--orientation=auto").items():
            true = int(name.split("-")[0])
            self.assertIn(record["orientation"], (0, true), name)
            right += true != 0 and record["orientation"] == true
        self.assertGreaterEqual(right, 3)

    @unittest.skipUnless(printed.has_print(), "the fonts or texts are not installed")
    def test_measurements_are_printed_as_tables(self):
        script = pathlib.Path(printed.page_maker.__file__).with_name("measure_pages.py")
        folder = pathlib.Path(scans.SCAN).parent
        result = program.run([sys.executable, "-B", script, "--folder", folder, "--pages=2",
                              "--first=243", "--tools=cudascan-scan", "--list"])
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in (r"\| cudascan-scan \| printed \| 2 \| \d \| [12] \| 0 \|",
                    r"\| cudascan-scan --orientation=auto \| \w+ \| 1 \| 0 \| 1 \| [01] \| 0 \|"):
            self.assertRegex(result.stdout, row)
        wrong = program.run([sys.executable, "-B", script, "--measures=weight"])
        self.assertIn("--measures=weight: must be of skew, orientation", wrong.stderr)


if __name__ == "__main__":
    program.main()
