# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan with scanners that name things differently: both sides, sizes of paper and
resolutions. With SANE's test backend and with a driver of our own, sheets_driver.cpp."""
import os

import program
import scanners
import scans
from scans import np

PLAIN = ["--no-straighten", "--borders=keep", "--method=otsu", "--despeckle=0"]


class Sheets(scanners.Case):
    """Our own driver: two sheets in a feeder, whose backs are fed upside down."""

    def setUp(self):
        super().setUp()
        if "CUDASCAN_SANE_DRIVERS" not in os.environ:
            self.skipTest("our own driver was not built")
        self.configure(backends="sheets\n")
        drivers = [os.environ["CUDASCAN_SANE_DRIVERS"], os.environ.get("LD_LIBRARY_PATH")]
        self.environment["LD_LIBRARY_PATH"] = ":".join(filter(None, drivers))

    def squares(self):
        """For each page where its black square is, such as "top left"."""
        found = []
        for name in self.outputs():
            ink = scans.ink(self.out / name)
            self.assertLess(ink.mean(), 0.2, name)
            y, x = (axis.mean() for axis in np.nonzero(ink))
            found.append(("top " if y < ink.shape[0] / 2 else "bottom ") +
                         ("left" if x < ink.shape[1] / 2 else "right"))
        return found

    def both(self, device, *words):
        said = self.scan(f"--device=sheets:{device}", "--duplex", "-o", "out", *PLAIN, *words)
        found = self.squares()
        self.assertRegex(said, rf"\b{len(found)} pages? in")
        return found

    def test_both_sides_in_order(self):
        for device in ("source", "choice", "switch"):
            with self.subTest(device):
                self.out = self.folder / "out"
                self.assertEqual(self.both(device), ["top left", "bottom right"] * 2)
                for page in self.out.iterdir():
                    page.unlink()

    def test_backs_that_are_upside_down(self):
        self.assertEqual(self.both("choice", "--backs=upside-down"), ["top left"] * 4)

    def test_a_number_of_sides(self):
        self.assertEqual(self.both("source", "--pages=3"),
                         ["top left", "bottom right", "top left"])

    def test_one_side_by_default(self):
        self.scan("--device=sheets:source", "--source=adf", "-o", "out", *PLAIN)
        self.assertEqual(self.squares(), ["top left"] * 2)

    def test_feeder_named_and_both_sides(self):
        self.assertEqual(len(self.both("source", "--source=ADF")), 4)

    def test_both_sides_of_the_glass(self):
        said = self.scan("--device=sheets:source", "--duplex", "--source=Flatbed", "-o", "out",
                         status=3)
        self.assertIn("--duplex: source Flatbed of sheets:source scans one side; leave out "
                      "--source, or name one of: Card Duplex, ADF, ADF Duplex", said)

    def test_resolution_that_it_lacks(self):
        said = self.scan("--device=sheets:source", "-o", "out", "--pages=1", *PLAIN)
        self.assertEqual(said.count("sheets:source scans with 200 instead of 300 dpi"), 1)
        with scans.Image.open(self.out / "scan-0001.tif") as page:
            self.assertEqual(float(page.tag_v2[282]), 200)
        for words in (["--quiet"], ["--resolution=100"], ["--scan-option=resolution=100"]):
            self.assertNotIn("instead", self.scan("--device=sheets:source", "-n", "-o", "out",
                                                  *words))
        said = self.scan("--device=sheets:source", "-o", "out", "--resolution=1201", status=3)
        self.assertIn("--resolution=1201: sheets:source scans with 100, 200, 600 dpi", said)

    def test_resolution_that_it_does_not_say(self):
        said = self.scan("--device=sheets:switch", "-o", "out", "--resolution=200", "--pages=1",
                         *PLAIN)
        self.assertIn("sheets:switch does not say its resolution; the pages state 200 dpi", said)
        with scans.Image.open(self.out / "scan-0001.tif") as page:
            self.assertEqual(float(page.tag_v2[282]), 200)

    def test_paper(self):
        """Areas in millimetres, in pixels, and as a part of a page; the origin is set, too."""
        for device, dpi, words in (("source", 200, ["--source=ADF"]), ("choice", 250, []),
                                   ("switch", 200, [])):
            self.scan(f"--device=sheets:{device}", "--paper=A5", f"--resolution={dpi}", "-o",
                      f"{device}.png", *PLAIN, *words, "--pages=1")
            with scans.Image.open(self.folder / f"{device}.png") as page:
                for side, length in zip(page.size, (148, 210)):
                    self.assertAlmostEqual(side, length * dpi / 25.4, delta=1)

    def test_paper_that_is_a_little_larger_than_the_glass(self):
        self.scan("--device=sheets:source", "--paper=A4", "--resolution=200", "-o", "a4.png",
                  *PLAIN)
        with scans.Image.open(self.folder / "a4.png") as page:
            self.assertEqual(page.size, (round(209 / 0.127), round(297 / 0.127)))

    def test_paper_that_is_too_large(self):
        said = self.scan("--device=sheets:source", "--paper=A3", "-o", "out", status=3)
        self.assertIn("--paper=A3: sheets:source scans at most 209 x 864 mm from Flatbed, and this "
                      "is 297 x 420 mm; name a smaller --paper or another --source", said)

    def test_what_they_offer(self):
        said = self.scan("--list-devices", "-v")
        for line in ("sheets:choice  Noname sheets virtual device",
                     "  source ADF Duplex: up to 209 x 864 mm, 100, 200, 600 dpi",
                     "  source Flatbed (used unless --source names another): up to 209 x",
                     "  paper: up to 216 x 864 mm, any resolution",
                     "  modes (--scan-option=mode=NAME): Black & White, Gray[Error Diffusion], "):
            self.assertIn(line, said)
        self.assertEqual(said.count("both sides (--duplex): yes"), 3)


class TestBackend(scanners.Case):
    def test_what_it_offers(self):
        said = self.scan("--list-devices", "--verbose")
        for line in ("source Automatic Document Feeder: up to 200 x 200 mm, 1 to 1200 dpi",
                     "both sides (--duplex): no", "modes (--scan-option=mode=NAME): Gray, Color"):
            self.assertIn(f"\n  {line}\n", said)
        self.assertNotIn("source", self.scan("--list-devices"))

    def test_paper(self):
        self.scan("--scan", "--paper=150x190", "--resolution=200", "-o", "page.png", *PLAIN)
        with scans.Image.open(self.folder / "page.png") as page:
            self.assertEqual(page.size, (int(150 / 0.127), int(190 / 0.127)))

    def test_paper_of_the_scanner_and_of_the_output(self):
        self.scan("--scan", "--paper=100x100", "--page-size=A5", "--resolution=200", "-o",
                  "page.png", *PLAIN)
        with scans.Image.open(self.folder / "page.png") as page:
            self.assertEqual(page.size, (1165, 1654))
        ink = scans.ink(self.folder / "page.png")
        self.assertFalse(ink[:400].any() or ink[-400:].any())
        self.assertTrue(ink[600:1000].any())

    def test_resolution_out_of_range(self):
        said = self.scan("--scan", "-n", "-o", "out", "--resolution=2400")
        self.assertIn("test:0 scans with 1200 instead of 2400 dpi", said)
        said = self.scan("--scan", "-o", "out", "--resolution=2401", status=3)
        self.assertIn("--resolution=2401: test:0 scans with 1 to 1200 dpi", said)

    def test_both_sides_of_a_scanner_that_has_one(self):
        said = self.scan("--scan", "--duplex", "-o", "out", status=3)
        self.assertIn("--duplex: test:0 has no source and no option for both sides; its sources: "
                      "Flatbed, Automatic Document Feeder", said)

    def test_the_feeder_by_another_name(self):
        self.assertIn("10 pages in", self.scan("--scan", "--source=adf", "-o", "out", *PLAIN))

    def test_remedies(self):
        for code, remedy in (("JAMMED", "take the paper out"), ("COVER_OPEN", "close it"),
                             ("NO_DOCS", "put paper into the feeder, or name another --source"),
                             ("DEVICE_BUSY", "another program uses it"),
                             ("ACCESS_DENIED", "the members of the group scanner")):
            self.assertIn(remedy, self.scan(
                "--scan", "-o", "out", f"--scan-option=read-return-value=SANE_STATUS_{code}",
                status=3))

    def test_frames_that_are_not_supported(self):
        for words in (["--scan-option=mode=Color", "--scan-option=three-pass=yes"],
                      ["--scan-option=mode=Color", "--scan-option=depth=1"]):
            self.assertIn("choose another with --scan-option=mode=Gray",
                          self.scan("--scan", "-o", "out", *words, status=3))


class Options(scans.Case):
    def test_values(self):
        for words, said in ((["--paper=A9"], "--paper=A9: must be A3, A4, A5, letter, legal, or "),
                            (["--backs=left", "--duplex"],
                             "--backs=left: must be upright or upside-down"),
                            (["--backs=upside-down"], "--backs is for --duplex; add it")):
            self.assertIn(said, self.scan("--scan", "-o", "out", *words, status=2))
        for word in ("--duplex", "--paper=A4", "--backs=upright"):
            said = self.scan("in.png", "-o", "out", word, status=2)
            self.assertIn("--duplex, --backs and --paper are for scanners; add --scan", said)
            self.assertIn("--page-size", said)


if __name__ == "__main__":
    program.main()
